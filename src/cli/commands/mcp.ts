// `carabiner mcp`: a proxy in front of any MCP server, so that hooks judge its calls in any agent.

import { resolve } from 'node:path'
import { MCP_EMBEDDER, proxy } from '../../adapters/mcp/proxy.js'
import { serverAtUrl } from '../../adapters/mcp/server-at-url.js'
import { type FoundName, nameFromCommand, nameFromUrl } from '../../adapters/mcp/server-name.js'
import { serverProcess } from '../../adapters/mcp/server-process.js'
import { HookError, textOf } from '../../core/base/errors.js'
import { keepSecret, withoutSecrets } from '../../core/base/secrets.js'
import { plainText, quoted } from '../../core/base/text.js'
import { callerEnv, callerFolder } from '../../files/caller.js'
import { normalized } from '../../hosts/mcp-tool-name.js'
import { watchGroupsBy } from '../../runners/process/launch.js'
import { GroupGuard } from '../../runners/program/group-guard.js'
import { type Command, type Options, secondsOf } from '../command.js'
import { Interruption } from '../interruption.js'
import type { ResidentAudit } from '../project-audit.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { residentHooks } from '../resident/resident-hooks.js'
import { protocolStreams } from '../resident/streams.js'
import { askFleetSoon } from '../ship-soon.js'
import { SOURCE_OPTIONS } from '../sources.js'

const OPTIONS = {
  url: { type: 'string', value: 'URL', help: 'The address of a server that speaks streamable HTTP.' },
  header: {
    type: 'string',
    multiple: true,
    value: 'NAME:VALUE',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is typed
    help: 'For --url; ${NAME} is a variable. Repeatable.',
  },
  name: {
    type: 'string',
    value: 'SERVER',
    help: 'Its name in mcp__SERVER__TOOL; default: from COMMAND.',
  },
  timeout: {
    type: 'string',
    value: 'SECONDS',
    help: 'How long the server may take to answer; default: 600.',
  },
  'no-dialog': {
    type: 'boolean',
    help: 'Ask through carabiner approvals, not in the client.',
  },
  was: {
    type: 'string',
    multiple: true,
    value: 'FIELD=VALUE',
    help: 'A field of the entry before setup --mcp, for --remove.',
    hidden: true,
  },
  ...SOURCE_OPTIONS,
} as const

const DEFAULT_TIMEOUT = 600

export const command: Command<typeof OPTIONS> = {
  name: 'mcp',
  summary: 'Guard the tools of an MCP server, for any agent.',
  positionals: ['[COMMAND…]'],
  about:
    'Stands between an agent and an MCP server: the agent starts `carabiner mcp -- COMMAND` instead of COMMAND. Hooks judge ' +
    'each tool call as mcp__SERVER__TOOL: they can deny it, change its arguments or its result, answer it, add context, ' +
    'or ask a person. They also see lists of tools, resources, prompts, and what the server asks of the model or the person. ' +
    'Everything else passes unchanged. If hooks cannot judge a call, it is refused. The server gets the environment as it is. ' +
    '`carabiner setup --mcp` changes the configuration of an agent.',
  options: OPTIONS,
  exits: [
    [EXIT.ok, 'the agent closed standard input'],
    [EXIT.failed, 'the server could not be started, or ended by itself'],
  ],
  examples: [
    {
      does: 'Guard a server that is a program.',
      line: 'carabiner mcp -- npx -y @modelcontextprotocol/server-filesystem .',
      needs: 'an agent that starts it',
    },
    {
      does: 'Guard a server at an address.',
      line: `carabiner mcp --name linear --url https://mcp.linear.app/mcp --header 'Authorization: Bearer \${TOKEN}'`,
      needs: 'an agent that starts it',
    },
  ],
  async run({ options, positionals }, output, { stdin }) {
    const target = targetOf(options, positionals)
    const timeout = secondsOf('timeout', options.timeout) ?? DEFAULT_TIMEOUT
    const log = (text: string) => void output.complain([plainText(`carabiner mcp: ${withoutSecrets(text)}`)])
    if (options.name === undefined)
      log(`hooks see its tools as mcp__${target.name}__TOOL; --name gives it another name`)
    const groups = new GroupGuard()
    watchGroupsBy((leader, gone) => groups.add(leader, gone))
    const interruption = new Interruption()
    const audits: ResidentAudit[] = []
    const embedder = { ...MCP_EMBEDDER, display: ({ text }: { readonly text: string }) => log(text) }
    // Before the server starts: without hooks there is nothing that may be passed on.
    const { hooks, projectDir } = await residentHooks(options, { embedder, audits, log })
    const fault = await proxy({
      ...protocolStreams(stdin, output),
      ...target,
      hooks,
      projectDir,
      timeoutMs: timeout * 1000,
      elicits: !options['no-dialog'],
      onRaised: () => askFleetSoon(),
      log,
      signal: interruption.signal,
    }).catch(async (error: unknown) => {
      await hooks.close()
      const hint = error instanceof HookError ? error.hint : undefined
      throw new Refusal('SERVER_UNUSABLE', withoutSecrets(textOf(error)), {
        ...(hint !== undefined && { hint }),
      })
    })
    for (const audit of audits) await audit.end()
    interruption.end(false)
    return fault === undefined ? EXIT.ok : EXIT.failed
  },
}

function targetOf({ url, header, name }: Options<typeof OPTIONS>, words: readonly string[]) {
  if (url !== undefined && words.length > 0) throw usage('Give a command or --url, not both')
  if (url === undefined && words.length === 0)
    throw usage('mcp needs a server', 'Write the command of the server after --, or its address after --url.')
  if (url === undefined && header.length > 0) throw usage('--header is for a server at --url')
  if (name !== undefined && normalized(name) !== name)
    throw usage(`--name must consist of letters, digits, - and _, got ${quoted(name)}`)
  if (url === undefined)
    return {
      start: serverProcess(words, resolve(callerFolder())),
      source: 'stdio' as const,
      name: name ?? clearName(nameFromCommand(words)),
    }
  const address = addressOf(url)
  return {
    start: serverAtUrl(address, headersOf(header)),
    source: 'http' as const,
    name: name ?? clearName(nameFromUrl(address)),
  }
}

function clearName(found: FoundName): string {
  if ('name' in found) return found.name
  throw usage(`mcp needs a name for this server: ${found.doubt}`, 'Give it with --name SERVER.')
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw usage('--url must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw usage('--url must not contain a password', `Use --header 'Authorization: Basic …'.`)
  return url
}

function headersOf(given: readonly string[]): Readonly<Record<string, string>> {
  const headers = given.map((text) => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/s.exec(text) ?? []
    if (name === undefined || value === undefined) throw usage('--header must be NAME:VALUE')
    const sent = withVariables(name, value)
    // The part after the scheme is secret too.
    keepSecret([sent, sent.replace(/^\S+\s+/, '')])
    return [name, sent] as const
  })
  return Object.fromEntries(headers)
}

/** Secrets of the command line are in every list of processes, so they may stand in the environment. */
function withVariables(header: string, text: string): string {
  return text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = callerEnv()[name]
    if (value !== undefined) return value
    throw usage(`--header ${header} names \${${name}}, which is not set`)
  })
}
