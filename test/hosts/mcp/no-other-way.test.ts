// Whatever an entry says: if setup calls it guarded, no way leads to the server but this program, and the way back leads to
// the same entry.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { readCommandLine } from '../../../src/cli/command.js'
import { command as mcp } from '../../../src/cli/commands/mcp.js'
import { MCP_CLIENTS, type McpClient, mcpFile } from '../../../src/hosts/mcp/clients.js'
import { behindProxy, proxiedIn, takenOut } from '../../../src/hosts/mcp/proxied-file.js'
import { PROXY_OPTIONS } from '../../../src/hosts/mcp/proxy-call.js'
import { serversIn } from '../../../src/hosts/mcp/server-file.js'
import { isDeciding } from '../../../src/pack/deciding-variables.js'
import { runs } from '../../property/runs.js'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const SETTING = { program: PROGRAM, project: '/home/me/project', decides: isDeciding }

type Entry = Record<string, unknown>

// ---- entries --------------------------------------------------------------------------------------------------

const PROGRAMS = [
  ['npx', '-y', 'server-files'],
  ['node', 'server.js', 'carabiner', 'mcp'],
  ['sh', '-c', 'exec evil', 'carabiner', 'mcp'],
  [PROGRAM.node, PROGRAM.script, 'mcp'],
  ['/usr/bin/node', '/usr/lib/node_modules/carabiner/dist/bin/carabiner.js', 'mcp'],
  ['node', 'carabiner.js', 'mcp'],
  ['node', '/home/me/project/carabiner.js', 'mcp'],
  ['./tools/carabiner', 'mcp'],
  ['tools/../carabiner', 'mcp'],
  ['carabiner', 'mcp'],
  ['npx', '--yes', 'carabiner@1', 'mcp'],
  ['uvx', 'carabiner', 'mcp'],
  ['carabiner', 'serve', 'mcp'],
] as const

const OPTIONS = [
  ...[
    '--name=x',
    '--name=-x',
    '--name',
    'x',
    '--was=type=http',
    '--was=args=[]',
    '--timeout=3',
    '--no-dialog',
  ],
  ...[
    '--trust-all',
    '--config=none.json',
    '--project=/tmp',
    '--header=A: b',
    '--port',
    '1',
    'serve',
    '--help',
  ],
  ...['--url=http://localhost:9/mcp', '--url', 'https://far.example/mcp', '--', 'evil'],
] as const

const words = fc
  .tuple(fc.constantFrom(...PROGRAMS), fc.array(fc.constantFrom(...OPTIONS), { maxLength: 5 }))
  .map(([program, options]): string[] => [...program, ...options])

const started = words.map(([command, ...args]): Entry => ({ command, args }))
const odd = fc.constantFrom<Entry>(
  { command: 'notes' },
  { command: 'notes', args: [] },
  { command: '' },
  { command: 5 },
  { command: 'x', args: 'y' },
  { command: 'x', args: [1] },
  { command: { path: 'x' } },
)

const URLS = [
  'https://far.example/mcp',
  'http://localhost:3000/mcp',
  'https://far.example/sse',
  'https://far.example/mcp?apiKey=SECRET',
  'https://me:SECRET@far.example/mcp',
  'https://',
  'ws://far.example/mcp',
  'unix:/tmp/socket',
] as const

const urls = fc.constantFrom(...URLS)
/** Once in so many times. */
const once = <T>(times: number, values: fc.Arbitrary<T>) =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values })

const other = fc
  .record({
    type: once(3, fc.constantFrom('stdio', 'http', 'streamable-http', 'sse', 'ws', '')),
    url: once(5, urls),
    httpUrl: once(10, urls),
    serverUrl: once(10, urls),
    tcp: once(20, urls),
    uses: once(20, fc.constant('org/server')),
    source: once(20, fc.constantFrom('custom', 'extension')),
    oauth: once(20, fc.constant({})),
    headers: once(
      3,
      fc.constantFrom<unknown>({}, { Authorization: 'Bearer SECRET' }, { 'X-A': 'b', 'X-B': '$V' }, { a: 1 }),
    ),
    requestOptions: once(
      3,
      fc.constantFrom<unknown>({}, { headers: { A: 'b' } }, { headers: {} }, { timeout: 3 }),
    ),
    http_headers: once(3, fc.constantFrom<unknown>({}, { A: 'b' })),
    bearer_token_env_var: once(3, fc.constantFrom('TOKEN', 'NOT A NAME')),
    env_vars: once(3, fc.constantFrom<unknown>([], ['TOKEN'], ['OTHER'])),
    env: once(
      3,
      fc.constantFrom<unknown>(
        ...[{}, { A: '1' }, { PATH: '/tmp/evil' }, { CARABINER_HEADER_1: 'mine' }],
        ...[{ HOME: '/tmp/evil' }, { NODE_OPTIONS: '--require ./evil.js' }, { CARABINER_OFF: '1' }],
      ),
    ),
    envFile: once(20, fc.constant('.env')),
    timeout: once(3, fc.constant(3)),
  })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)))

const remote = ({ address = 'url' }: McpClient) => urls.map((url): Entry => ({ [address]: url }))

const entriesOf = (client: McpClient) =>
  fc
    .tuple(fc.oneof(started, odd, remote(client), remote(client)), other)
    .map(([server, rest]): Entry => ({ ...rest, ...server }))

// ---- files ----------------------------------------------------------------------------------------------------

const PATHS: Readonly<Record<string, string>> = { continue: 'config.yaml', codex: 'config.toml' }

/** As the agent has it. */
function fileOf(client: McpClient, name: string, entry: Entry) {
  const path = `/home/me/${PATHS[client.name] ?? 'mcp.json'}`
  const value = client.name === 'continue' ? [{ name, ...entry }] : { [name]: entry }
  return mcpFile(client, path, textOf(client, path, value, name, entry))
}

function textOf({ key }: McpClient, path: string, value: unknown, name: string, entry: Entry): string {
  if (!path.endsWith('.toml')) return JSON.stringify({ [key]: value }, null, 2)
  const toml = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(toml).join(', ')}]`
    if (typeof one !== 'object' || one === null) return JSON.stringify(one)
    return `{ ${Object.entries(one)
      .map(([field, inner]) => `${field} = ${toml(inner)}`)
      .join(', ')} }`
  }
  const lines = Object.entries(entry).map(([field, inner]) => `${field} = ${toml(inner)}`)
  return [`[${key}.${JSON.stringify(name)}]`, ...lines, ''].join('\n')
}

/** Everything in an entry by which some agent might reach a server. */
function waysIn({ name: client }: McpClient, entry: Entry): readonly string[] {
  const { command, type = 'stdio', source = 'custom', uses } = entry
  return [
    ...(command === undefined ? [] : ['command']),
    ...Object.keys(entry).filter((name) => /ur[li]$|^tcp$/i.test(name)),
    ...(type === 'stdio' ? [] : ['type']),
    ...(source === 'custom' || client === 'continue' || client === 'codex' ? [] : ['source']),
    ...(client === 'continue' && uses !== undefined ? ['uses'] : []),
  ]
}

// ---- the property ---------------------------------------------------------------------------------------------

it('has the options of the command', () => {
  expect(Object.keys(PROXY_OPTIONS).sort()).toEqual(Object.keys(mcp.options).sort())
})

it.each(MCP_CLIENTS.map((client) => [client.name, client] as const))('in %s', (_, client) => {
  void fc.assert(
    fc.property(
      fc.constantFrom('files', 'my.notes', '-x', '--trust-all', 'ü'),
      entriesOf(client),
      (name, given) => {
        const file = fileOf(client, name, given)
        const [before] = serversIn(file)
        const { after, changed, left, already } = behindProxy(file, SETTING)
        expect(changed.length + left.length + already.length).toBe(1)
        if (changed.length === 0) expect(after).toBe(file.text)
        if (left.length > 0) return

        const guarded = { ...file, text: after }
        const entry = serversIn(guarded)[0]?.entry as Entry
        expect(waysIn(client, entry)).toEqual(['command'])
        const {
          command,
          args,
          env = {},
          envFile,
        } = entry as { command: string; args: string[]; env: object; envFile: unknown }
        const [own, ...rest] = command === 'carabiner' ? [...args] : [...args.slice(1)]
        expect([command, own]).toEqual(command === 'carabiner' ? ['carabiner', 'mcp'] : [PROGRAM.node, 'mcp'])
        if (command === 'carabiner') expect(env).not.toHaveProperty('PATH')
        else expect(args[0]).toBe(PROGRAM.script)
        for (const [variable, value] of Object.entries(env)) expect(isDeciding(variable, value)).toBe(false)
        expect(envFile).toBeUndefined()

        // The program takes the words, and they choose no other hooks and show no secret.
        const { options, positionals } = readCommandLine(mcp, rest)
        expect((options.url === undefined) === positionals.length > 0).toBe(true)
        expect([options.config, options.plugin, options['trust-all'], options.project]).toEqual([
          [],
          [],
          false,
          undefined,
        ])
        expect(args.join(' ')).not.toContain('SECRET')

        // Once is enough.
        expect(behindProxy(guarded, SETTING)).toMatchObject({ after, already: [name] })
        expect(proxiedIn(guarded, SETTING)).toEqual([name])

        // And back, unless it was a proxy already.
        if (proxiedIn(file, SETTING).length > 0) return
        expect(takenOut(file, SETTING)).toMatchObject({ after: file.text, changed: [] })
        const back = takenOut(guarded, SETTING)
        expect(back.changed).toEqual([name])
        expect(serversIn({ ...file, text: back.after })).toMatchObject([{ name, entry: before?.entry }])
        expect(serversIn({ ...file, text: back.after })[0]?.entry).toEqual(before?.entry)
      },
    ),
    { numRuns: runs(250) },
  )
})
