// `carabiner open`: a page on this machine that shows what hooks do, as it happens.

import { plainText } from '../../core/base/text.js'
import { PortTaken } from '../../page/listener.js'
import { openPage, type Page } from '../../page/page-server.js'
import { type Command, secondsOf } from '../command.js'
import { Interruption } from '../interruption.js'
import { hasBrowser, startBrowser } from '../open/browser.js'
import { pageAnswers } from '../open/page-answers.js'
import type { Output } from '../output.js'
import { pageFiles } from '../page-files.js'
import { userName } from '../person.js'
import { shortPath } from '../print/lines.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

const IDLE_SECONDS = 1800

const OPTIONS = {
  project: PLACE_OPTIONS.project,
  port: { type: 'string', value: 'N', help: 'The port; default: the first free one from 7810 on.' },
  'no-browser': { type: 'boolean', help: 'Only print the link.' },
  idle: {
    type: 'string',
    value: 'SECONDS',
    help: `End after this long without an open tab; default: ${IDLE_SECONDS}.`,
  },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'open',
  summary: 'Watch hooks at work on a page in your browser.',
  positionals: [],
  about:
    'Serves a page on this machine only, and opens it with a link that works once. The page shows what carabiner audit ' +
    'shows, as it happens: every event, the hooks that ran and what they changed, and why the others did not run. ' +
    'Questions of hooks are denied there. Whatever loosens needs a passkey (carabiner approvers). Ctrl-C stops it. So does ' +
    'Stop on the page, and half an hour without an open tab.',
  options: OPTIONS,
  exits: [
    [EXIT.ok, 'the page was stopped'],
    [EXIT.failed, 'the port is taken'],
  ],
  examples: [
    { does: 'Look at this project.', line: 'carabiner open', needs: 'a browser' },
    {
      does: 'Print the link only, for a browser that you start yourself.',
      line: 'carabiner open --no-browser',
      needs: 'a browser',
    },
  ],
  async run({ options }, output, { commands, signal }) {
    const port = portOf(options.port)
    const idleMs = (secondsOf('idle', options.idle) ?? IDLE_SECONDS) * 1000
    const project = projectFolder(options)
    const onProblem = (text: string) => void output.complain([plainText(`carabiner open: ${text}`)])
    const interruption = new Interruption(signal)
    const ending = new Ending(interruption.signal)
    const page = await opened({
      assets: pageFiles('page'),
      ...pageAnswers({ commands, project, by: userName(), onProblem }),
      ...(port !== undefined && { port }),
      idleMs,
      onEnd: (why) => ending.end(why === 'idle' ? 'Nobody looks at the page any more.' : ''),
      onProblem,
    })
    let removeFile: (() => void) | undefined
    let why = ''
    try {
      const link = page.link()
      const isStarted = !options['no-browser'] && !output.json && hasBrowser()
      removeFile = isStarted ? startBrowser(link, { port: page.port, project }) : undefined
      await tell(output, { page, project, link, isStarted: removeFile !== undefined })
      why = await ending.reached
    } finally {
      removeFile?.()
      await page.close()
      interruption.end(true)
    }
    if (!output.json) await output.print([`${why} The page is closed.`.trim()])
    return EXIT.ok
  },
}

/** The moment when the page should close, and why, unless a person said so. */
class Ending {
  readonly reached: Promise<string>
  end: (why: string) => void = () => undefined

  constructor(signal: AbortSignal) {
    this.reached = new Promise((resolve) => {
      this.end = resolve
    })
    if (signal.aborted) this.end('')
    signal.addEventListener('abort', () => this.end(''), { once: true })
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1024 && Number(text) <= 65_535) return Number(text)
  throw usage(`--port must be a number from 1024 to 65535, got ${JSON.stringify(text)}`)
}

async function opened(options: Parameters<typeof openPage>[0]): Promise<Page> {
  try {
    return await openPage(options)
  } catch (error) {
    if (!(error instanceof PortTaken)) throw error
    throw new Refusal('PORT_TAKEN', `Another program listens on ${error.message}`, {
      hint: 'Choose another one with --port N, or leave the option out.',
    })
  }
}

interface Told {
  readonly page: Page
  readonly project: string
  readonly link: string
  readonly isStarted: boolean
}

async function tell(output: Output, { page, project, link, isStarted }: Told): Promise<void> {
  await output.result({ project, origin: page.origin, port: page.port, link }, (paint) => [
    `Serving ${paint.bold(plainText(shortPath(project)))} at ${page.origin}, for this machine only. Ctrl-C stops it.`,
    `${isStarted ? 'Your browser opens it. If not, this link works once' : 'Open this link; it works once'}: ${link}`,
  ])
}
