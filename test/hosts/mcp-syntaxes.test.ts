// Every client, every syntax: the same servers are put behind the proxy and taken out again, and nothing else is touched.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MCP_CLIENTS, type McpClient } from '../../src/hosts/mcp-clients.js'
import { guarded, guardedIn, unguarded } from '../../src/hosts/mcp-config.js'
import { type McpFile, serversIn } from '../../src/hosts/mcp-servers.js'
import { removeAll } from '../trust/hostile-project.js'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const proxy = (name: string, ...words: unknown[]) => [PROGRAM.script, 'mcp', '--name', name, ...words]

/** Three programs and an address that needs a browser, as each syntax has them, with everything around that must stay. */
const TEXTS: Readonly<Record<string, (key: string) => string>> = {
  '.json': (key) => `{
  // mine
  "theme": "dark",
  "${key}": {
    "files": {
      "command": "npx", // with a comment
      "args": [
        "-y", // yes
        "server-files",
        "." // here
      ],
      /* the environment */ "env": { "TOKEN": "t" }
    },
    "my.notes": { "command": "notes" },
    "flat": { "command": "uvx", "args": ["mcp-server-git"], "timeout": 3 },
    "login": { "url": "https://mcp.example.com/mcp" }
  }
}
`,
  '.yaml': (key) => `# mine
name: My assistant
rules:
  - |
    ${key}: this is text,
      command: and so is this
prompt: "#${key}"

${key}:
  # the first one
  - name: files # with a comment
    command: npx # npx
    args:
      - "-y" # yes
      - server-files
      # here
      - .
    env:
      TOKEN: \${{ secrets.TOKEN }}
  -   command: notes
      name: 'my.notes'
  - { name: flat, command: uvx, args: [mcp-server-git], timeout: 3 }
  - name: login
    url: https://mcp.example.com/mcp
models: [] # the end
`,
  '.toml': (key) => `# mine
model = "gpt-5" # with a comment
notes = """
[${key}.fake]
command = "text"
"""

[${key}.files]
command = 'npx' # npx
args = [
  "-y", # yes
  "server-files",
  ".", # here
]
startup_timeout_sec = 20

[${key}.files.env]
TOKEN = "t"

[${key}]
"my.notes".command = "notes"
flat = { command = "uvx", args = ["mcp-server-git"], timeout = 3 }

[${key}.login]
url = "https://mcp.example.com/mcp"

[tui]
theme = "dark" # the end
`,
}

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-mcp-')))
  onTestFinished(() => removeAll(root))
  const [home, project] = [join(root, 'home'), join(root, 'project')]
  for (const folder of [home, project])
    for (const name of ['mcpServers', 'agents', 'assistants']) {
      mkdirSync(join(folder, '.continue', name), { recursive: true })
      writeFileSync(join(folder, '.continue', name, 'one.yaml'), '')
    }
  writeFileSync(join(home, '.continue', 'mcpServers', 'one.json'), '')
  return { home, project, env: {}, platform: 'linux' as const }
}

const fileOf = ({ key, types }: McpClient, path: string, text: string) => ({
  path,
  key,
  text,
  ...(types && { types }),
})
const entriesIn = (file: McpFile) =>
  Object.fromEntries(serversIn(file).map(({ name, entry }) => [name, entry]))

describe.each(MCP_CLIENTS.map((client) => [client.name, client] as const))('%s', (_, client) => {
  it('has its servers put behind the proxy in every file, and taken out again', () => {
    const paths = client.files(place())
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths) {
      const textFor = TEXTS[extname(path)]
      if (!textFor) throw new Error(`no text for ${path}`)
      for (const text of [textFor(client.key), textFor(client.key).replaceAll('\n', '\r\n')]) {
        const file = fileOf(client, path, text)
        const before = entriesIn(file)
        const { after, changed, left, already } = guarded(file, PROGRAM)
        expect(changed.toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(left).toEqual([{ name: 'login', why: expect.stringContaining('browser') }])
        expect(already).toEqual([])

        const behind = fileOf(client, path, after)
        expect(entriesIn(behind)).toEqual({
          files: {
            ...(before.files as object),
            command: PROGRAM.node,
            args: proxy('files', '--', 'npx', '-y', 'server-files', '.'),
          },
          'my.notes': {
            ...(before['my.notes'] as object),
            command: PROGRAM.node,
            args: proxy('my_notes', '--', 'notes'),
          },
          flat: {
            ...(before.flat as object),
            command: PROGRAM.node,
            args: proxy('flat', '--', 'uvx', 'mcp-server-git'),
          },
          login: before.login,
        })
        expect(guardedIn(behind).toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(guarded(behind, PROGRAM)).toMatchObject({ after, changed: [] })

        const back = unguarded(behind)
        expect(back.changed.toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(entriesIn(fileOf(client, path, back.after))).toEqual(before)
        // Only the quotes of the command may differ from the text before.
        const bare = (one: string) => one.replace(/(command ?[:=] )["']?(\w+)["']?/g, '$1$2')
        expect(bare(back.after)).toBe(bare(text))
      }
    }
  })
})

const codex = { path: '/home/me/.codex/config.toml', key: 'mcp_servers' }
const continues = { path: '/home/me/.continue/config.yaml', key: 'mcpServers' }

describe('a server at an address', () => {
  it('of Codex gets its token from the variable that Codex would take', () => {
    const text = `[mcp_servers.linear]
url = "https://mcp.linear.app/mcp" # the address
bearer_token_env_var = "LINEAR"
http_headers = { X-Team = "a" }
enabled = true
`
    const { after, changed } = guarded({ ...codex, text }, PROGRAM)
    expect(changed).toEqual(['linear'])
    expect(parse(after)).toEqual({
      mcp_servers: {
        linear: {
          command: PROGRAM.node,
          args: proxy(
            ...(['linear', '--url', 'https://mcp.linear.app/mcp'] as const),
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
            ...['--header', 'X-Team: ${CARABINER_HEADER_1}', '--header', 'Authorization: Bearer ${LINEAR}'],
          ),
          env: { CARABINER_HEADER_1: 'a' },
          env_vars: ['LINEAR'],
          enabled: true,
        },
      },
    })
    expect(after).toContain('# the address')
    expect(parse(unguarded({ ...codex, text: after }).after)).toEqual(parse(text))
  })

  it('of Continue keeps its headers out of the command line', () => {
    const text = `mcpServers:
  - name: linear
    type: streamable-http
    url: https://mcp.linear.app/mcp
    requestOptions:
      headers:
        Authorization: Bearer \${{ secrets.LINEAR }}
    connectionTimeout: 5
`
    const { after } = guarded({ ...continues, text }, PROGRAM)
    expect(serversIn({ ...continues, text: after })).toMatchObject([
      {
        entry: {
          name: 'linear',
          command: PROGRAM.node,
          args: proxy(
            ...(['linear', '--url', 'https://mcp.linear.app/mcp'] as const),
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
            ...['--header', 'Authorization: ${CARABINER_HEADER_1}'],
          ),
          // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
          env: { CARABINER_HEADER_1: 'Bearer ${{ secrets.LINEAR }}' },
          connectionTimeout: 5,
        },
      },
    ])
    const { linear } = entriesIn({ ...continues, text }) as Record<string, Record<string, unknown>>
    const { type: _, ...entry } = linear ?? {}
    const back = unguarded({ ...continues, text: after }).after
    expect(serversIn({ ...continues, text: back })[0]?.entry).toEqual(entry)
  })
})

describe('is left alone, and said', () => {
  it.each([
    ['a server of the hub', '  - uses: org/server\n', 'hub'],
    [
      'options of a request',
      '  - name: a\n    url: https://a.b/c\n    requestOptions: { timeout: 3 }\n',
      'requestOptions',
    ],
    ['SSE', '  - name: a\n    type: sse\n    url: https://a.b/c\n', 'SSE'],
    ['an alias', '  - name: a\n    command: *cmd\n', 'neither'],
    ['no arguments after args', '  - name: a\n    command: b\n    args:\n', 'not a list'],
  ])('in YAML: %s', (_, servers, why) => {
    const text = `mcpServers:\n${servers}`
    const { after, changed, left } = guarded({ ...continues, text }, PROGRAM)
    expect([after, changed]).toEqual([text, []])
    expect(left).toEqual([{ name: expect.any(String), why: expect.stringContaining(why) }])
  })

  it.each([
    ['an anchor', 'mcpServers: &all\n  - name: a\n', ':1'],
    ['a text over two lines', 'mcpServers:\n  - name: a\n    command: b\n      c\n', ':4'],
    ['a second document', 'a: 1\n---\nmcpServers: []\n', ':2'],
    ['the key twice', 'mcpServers: []\nmcpServers: []\n', ':2'],
    ['braces around everything', '{ mcpServers: [] }\n', ':1'],
    ['a tab', 'mcpServers:\n\t- name: a\n', ':2'],
    ['two servers of one name', 'mcpServers:\n  - name: a\n  - name: a\n', 'two servers'],
  ])('a whole file in YAML: %s', (_, text, where) => {
    expect(() => guarded({ ...continues, text }, PROGRAM)).toThrow(where)
  })

  it('in TOML: headers in a table of their own', () => {
    const text = '[mcp_servers.a]\nurl = "https://a.b/c"\n[mcp_servers.a.http_headers]\nX = "y"\n'
    const { after, left } = guarded({ ...codex, text }, PROGRAM)
    expect(after).toBe(text)
    expect(left).toEqual([{ name: 'a', why: expect.stringContaining('form') }])
  })

  it('a file that is not TOML', () => {
    expect(() => guarded({ ...codex, text: '[mcp_servers.a\n' }, PROGRAM)).toThrow('not valid TOML')
  })
})

it.each(['name: x\n', '', '# nothing\n', 'mcpServers:\n', 'mcpServers: []\n'])(
  'a YAML file without servers: %j',
  (text) => {
    expect(guarded({ ...continues, text }, PROGRAM)).toEqual({
      after: text,
      changed: [],
      left: [],
      already: [],
    })
  },
)
