// `carabiner serve --stdio`: the engine for an agent in any language, over standard input and output.

import { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { keepStdoutClean } from '../../author/hook-process.js'
import { looserThan, type MergedSettings } from '../../config/merged-settings.js'
import { HookError } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'
import type { Embedder } from '../../core/session/embedder.js'
import type { ParamsOf } from '../../service/stdio/protocol.js'
import { type Opened, serve } from '../../service/stdio/service.js'
import { BYPASSED, bypassNotices, isBypassed } from '../bypass.js'
import type { Command } from '../command.js'
import { Interruption } from '../interruption.js'
import type { Output } from '../output.js'
import { isTerminal } from '../print/terminal.js'
import { ResidentAudit } from '../project-audit.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import {
  checkEnvironment,
  lossesOf,
  noticesOf,
  type OpenHooks,
  openHooks,
  projectFolder,
  SOURCE_OPTIONS,
  type Sources,
} from '../sources.js'
import { version } from '../version.js'

const STDIN = 0
const STDOUT = 1

const OPTIONS = {
  stdio: { type: 'boolean', help: 'Speak over standard input and output. Required.' },
  ...SOURCE_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'serve',
  summary: 'Guard the calls of an agent in any language, over JSON-RPC.',
  positionals: [],
  about:
    'An agent that is not written in TypeScript starts this program and sends it JSON-RPC 2.0, one message a line: hello, ' +
    'session.open, tool.begin before each tool call, and tool.finish after it. Standard output carries only the ' +
    'protocol; problems go to standard error. It ends when standard input ends: calls that were not finished fail as ' +
    'interrupted, and every hook process ends. No message can trust, enable or configure hooks. `carabiner docs serve` ' +
    'shows a whole agent in Python, and `carabiner docs protocol` lists the messages.',
  options: OPTIONS,
  exits: [
    [EXIT.ok, 'the agent closed standard input'],
    [EXIT.failed, 'the agent did not read the answers'],
  ],
  examples: [
    {
      does: 'What would an agent see?',
      line: `echo '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,"host":"me"}}' | carabiner serve --stdio`,
    },
  ],
  async run({ options }, output, { stdin }) {
    if (!options.stdio)
      throw usage(
        'serve needs --stdio',
        'An agent starts carabiner serve --stdio; carabiner docs serve shows how.',
      )
    const interruption = new Interruption()
    const log = (text: string) => void output.complain([plainText(`carabiner serve: ${text}`)])
    if (stdin === undefined && isTerminal(STDIN))
      log('waiting for JSON-RPC, one message a line; carabiner docs serve shows what an agent sends')
    const streams = stdin === undefined ? ofProcess() : inMemory(stdin, output)
    const audits: ResidentAudit[] = []
    const fault = await serve({
      ...streams,
      version,
      open: (hello, embedder) => opened({ ...options, ...placesOf(hello) }, hello, { embedder, audits, log }),
      log,
      signal: interruption.signal,
    })
    for (const audit of audits) await audit.end()
    interruption.end(false)
    if (fault !== undefined) throw new Refusal('NOT_READ', fault)
    return EXIT.ok
  },
}

/** Writing to `process.stdout` would stop the whole engine whenever the agent does not read. */
function ofProcess(): { readonly input: Readable; readonly output: Writable } {
  const output = asyncStdout()
  keepStdoutClean()
  return { input: process.stdin, output }
}

function asyncStdout(): Writable {
  try {
    return new Socket({ fd: STDOUT, readable: false, writable: true })
  } catch {
    return process.stdout // a file or a terminal, which does not block
  }
}

function inMemory(stdin: string, output: Output): { readonly input: Readable; readonly output: Writable } {
  return {
    input: Readable.from([Buffer.from(stdin)]),
    output: new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => void output.prompt(String(text)).then(() => done(), done),
    }),
  }
}

// ---- the hooks ------------------------------------------------------------------------------------------------

type Hello = ParamsOf<'hello'>

function placesOf({ projectDir, workFolders }: Hello): Partial<Sources> {
  return { ...(projectDir !== undefined && { project: projectDir }), ...(workFolders && { workFolders }) }
}

interface Surroundings {
  readonly embedder: Embedder
  /** What to write at the end. */
  readonly audits: ResidentAudit[]
  readonly log: (text: string) => void
}

async function opened(sources: Sources, { settings }: Hello, around: Surroundings): Promise<Opened> {
  const projectDir = projectFolder(sources)
  checkEnvironment(projectDir)
  const audit = new ResidentAudit(projectDir, () => hooks.settings, around.log)
  around.audits.push(audit)
  const wanted = settings as Partial<MergedSettings> | undefined
  const hooks: OpenHooks = await openHooks(sources, {
    ...around.embedder,
    audit: (record) => audit.write(record),
    auditCalls: (call) => audit.keep(call),
    ...(wanted && { settings: wanted, settingsTighten: true }),
    watch: true,
  })
  try {
    checkSettings(wanted, hooks)
    checkLosses(sources, hooks)
  } catch (error) {
    await hooks.close()
    throw error
  }
  if (!isBypassed(hooks)) return { hooks, projectDir, notices: bypassNotices(hooks) }
  around.log(BYPASSED.text)
  await hooks.close()
  return { hooks: await bypassing(hooks, audit, around), projectDir, notices: [BYPASSED] }
}

/** Without any hook. The audit records that nothing was judged. */
async function bypassing(
  { settings: { audit_on_failure } }: OpenHooks,
  audit: ResidentAudit,
  { embedder }: Surroundings,
): Promise<OpenHooks> {
  const { createHooks } = await import('../../runtime.js')
  return createHooks({
    ...embedder,
    globals: false,
    settings: { audit_on_failure },
    audit: ({ time, session, event }) =>
      audit.write({ kind: 'bypass', time, session, event, action: 'continue' }),
  })
}

/** A setting that is silently ignored would leave the agent with other rules than it asked for. */
function checkSettings(wanted: Partial<MergedSettings> = {}, { settings }: OpenHooks): void {
  const [looser] = looserThan(wanted, settings as unknown as Readonly<Record<string, unknown>>)
  if (looser === undefined) return
  throw new HookError('OPTIONS_INVALID', `hello: settings.${looser} would loosen the user's settings`, {
    hint: 'Remove it. The user can change it in ~/.amplifier/settings.json.',
  })
}

function checkLosses(sources: Sources, hooks: OpenHooks): void {
  const [lost] = lossesOf(sources, noticesOf(hooks))
  if (lost) throw new Refusal('CONFIG_INVALID', `A file that was named cannot be used: ${lost.text}`)
}
