// `carabiner serve --stdio`: the engine for an agent in any language, over standard input and output.

import type { MergedSettings } from '../../config/merged-settings.js'
import { plainText } from '../../core/base/text.js'
import type { ParamsOf } from '../../service/stdio/protocol.js'
import { serve } from '../../service/stdio/service.js'
import type { Command } from '../command.js'
import { Interruption } from '../interruption.js'
import { isTerminal } from '../print/terminal.js'
import type { ResidentAudit } from '../project-audit.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { residentHooks } from '../resident/resident-hooks.js'
import { protocolStreams } from '../resident/streams.js'
import { SOURCE_OPTIONS, type Sources } from '../sources.js'
import { version } from '../version.js'

const STDIN = 0

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
    const streams = protocolStreams(stdin, output)
    const audits: ResidentAudit[] = []
    const fault = await serve({
      ...streams,
      version,
      open: (hello, embedder) => {
        const settings = hello.settings as Partial<MergedSettings> | undefined
        return residentHooks({ ...options, ...placesOf(hello) }, { embedder, audits, log, settings })
      },
      log,
      signal: interruption.signal,
    })
    for (const audit of audits) await audit.end()
    interruption.end(false)
    if (fault !== undefined) throw new Refusal('NOT_READ', fault)
    return EXIT.ok
  },
}

function placesOf({ projectDir, workFolders }: ParamsOf<'hello'>): Partial<Sources> {
  return { ...(projectDir !== undefined && { project: projectDir }), ...(workFolders && { workFolders }) }
}
