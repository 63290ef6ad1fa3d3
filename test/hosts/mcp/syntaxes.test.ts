// Every client, every syntax: the same servers are put behind the proxy and taken out again, and nothing else is touched.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MCP_CLIENTS, mcpFile } from '../../../src/hosts/mcp/clients.js'
import { behindProxy, proxiedIn, takenOut } from '../../../src/hosts/mcp/proxied-file.js'
import { type McpFile, serversIn } from '../../../src/hosts/mcp/server-file.js'
import { isDeciding } from '../../../src/pack/deciding-variables.js'
import { removeAll } from '../../trust/hostile-project.js'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const SETTING = { program: PROGRAM, project: '/home/me/project', decides: isDeciding }
const proxy = (name: string, ...words: unknown[]) => [PROGRAM.script, 'mcp', `--name=${name}`, ...words]

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

const entriesIn = (file: McpFile) =>
  Object.fromEntries(serversIn(file).map(({ name, entry }) => [name, entry]))

describe.each(MCP_CLIENTS.map((client) => [client.name, client] as const))('%s', (_, client) => {
  it('has its servers put behind the proxy in every file, and taken out again', () => {
    const paths = new Map(client.files(place()).map((path) => [extname(path), path]))
    expect(paths.size).toBeGreaterThan(0)
    for (const path of paths.values()) {
      const textFor = TEXTS[extname(path)]
      if (!textFor) throw new Error(`no text for ${path}`)
      const given = textFor(client.key).replace('"url"', `"${client.address ?? 'url'}"`)
      for (const text of [given, given.replaceAll('\n', '\r\n')]) {
        const file = mcpFile(client, path, text)
        const before = entriesIn(file)
        const { after, changed, left, already } = behindProxy(file, SETTING)
        expect(changed.toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(left).toEqual([{ name: 'login', why: expect.stringContaining('browser') }])
        expect(already).toEqual([])

        const behind = mcpFile(client, path, after)
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
        expect(proxiedIn(behind, SETTING).toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(behindProxy(behind, SETTING)).toMatchObject({ after, changed: [] })

        const back = takenOut(behind, SETTING)
        expect(back.changed.toSorted()).toEqual(['files', 'flat', 'my.notes'])
        expect(entriesIn(mcpFile(client, path, back.after))).toEqual(before)
        // Only the quotes of the command may differ from the text before.
        const bare = (one: string) => one.replace(/(command ?[:=] )["']?(\w+)["']?/g, '$1$2')
        expect(bare(back.after)).toBe(bare(text))
      }
    }
  })
})

const codex = {
  path: '/home/me/.codex/config.toml',
  key: 'mcp_servers',
  form: 'codex' as const,
  address: 'url',
}
const continues = {
  path: '/home/me/.continue/config.yaml',
  key: 'mcpServers',
  form: 'continue' as const,
  address: 'url',
}

describe('a server at an address', () => {
  it('of Codex gets its token from the variable that Codex would take', () => {
    const text = `[mcp_servers.linear]
url = "https://mcp.linear.app/mcp" # the address
bearer_token_env_var = "LINEAR"
http_headers = { X-Team = "a" }
enabled = true
`
    const { after, changed } = behindProxy({ ...codex, text }, SETTING)
    expect(changed).toEqual(['linear'])
    expect(parse(after)).toEqual({
      mcp_servers: {
        linear: {
          command: PROGRAM.node,
          args: proxy(
            ...(['linear', '--url=https://mcp.linear.app/mcp'] as const),
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
            ...['--header=X-Team: ${CARABINER_HEADER_1}', '--header=Authorization: Bearer ${LINEAR}'],
          ),
          env: { CARABINER_HEADER_1: 'a' },
          env_vars: ['LINEAR'],
          enabled: true,
        },
      },
    })
    expect(after).toContain('# the address')
    expect(parse(takenOut({ ...codex, text: after }, SETTING).after)).toEqual(parse(text))
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
    const { after } = behindProxy({ ...continues, text }, SETTING)
    expect(serversIn({ ...continues, text: after })).toMatchObject([
      {
        entry: {
          name: 'linear',
          command: PROGRAM.node,
          args: proxy(
            ...(['linear', '--was=type=streamable-http', '--url=https://mcp.linear.app/mcp'] as const),
            // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
            ...['--header=Authorization: ${CARABINER_HEADER_1}'],
          ),
          // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
          env: { CARABINER_HEADER_1: 'Bearer ${{ secrets.LINEAR }}' },
          connectionTimeout: 5,
        },
      },
    ])
    const back = takenOut({ ...continues, text: after }, SETTING).after
    expect(serversIn({ ...continues, text: back })[0]?.entry).toEqual(
      entriesIn({ ...continues, text }).linear,
    )
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
    ['an alias', '  - name: a\n    command: *cmd\n', 'not texts'],
    ['no arguments after args', '  - name: a\n    command: b\n    args:\n', 'not texts'],
  ])('in YAML: %s', (_, servers, why) => {
    const text = `mcpServers:\n${servers}`
    const { after, changed, left } = behindProxy({ ...continues, text }, SETTING)
    expect([after, changed]).toEqual([text, []])
    expect(left).toEqual([{ name: expect.any(String), why: expect.stringContaining(why) }])
  })

  it.each([
    ['an anchor', 'mcpServers: &all\n  - name: a\n', ':2'],
    ['text that is no YAML', 'mcpServers: [\n', ':2'],
    ['a second document', 'a: 1\n---\nmcpServers: []\n', ':2'],
    ['the key twice', 'mcpServers: []\nmcpServers: []\n', ':2'],
    ['a tab', 'mcpServers:\n\t- name: a\n', ':2'],
    ['an anchor before the key', '&x mcpServers:\n  - name: a\n    command: b\n', ':1'],
    ['a tag before the key', '!!str mcpServers:\n  - name: a\n    command: b\n', ':1'],
    ['a tag before another key', 'x: 1\n!!binary bWNwU2VydmVycw==: []\n', ':2'],
    ['an alias as a key', 'x: &k mcpServers\n*k : [{ name: a, command: b }]\n', ':2'],
    ['a merge at the top', 'x: &x\n  mcpServers:\n    - name: a\n      command: b\n<<: *x\n', ':5'],
    ['a merge, as YAML 1.1 has it', '%YAML 1.1\n---\nx: &x { mcpServers: [] }\n<<: *x\n', ':4'],
    ['a merge in a server', 'x: &x { url: y }\nmcpServers:\n  - <<: *x\n    name: a\n    command: b\n', ':3'],
    ['two servers of one name', 'mcpServers:\n  - name: a\n  - name: a\n', 'two servers'],
  ])('a whole file in YAML: %s', (_, text, where) => {
    expect(() => behindProxy({ ...continues, text }, SETTING)).toThrow(where)
  })

  it('in TOML: headers in a table of their own', () => {
    const text = '[mcp_servers.a]\nurl = "https://a.b/c"\n[mcp_servers.a.http_headers]\nX = "y"\n'
    const { after, left } = behindProxy({ ...codex, text }, SETTING)
    expect(after).toBe(text)
    expect(left).toEqual([{ name: 'a', why: expect.stringContaining('form') }])
  })

  it('a file that is not TOML', () => {
    expect(() => behindProxy({ ...codex, text: '[mcp_servers.a\n' }, SETTING)).toThrow('not valid TOML')
  })
})

it.each([
  ['a text over two lines', 'mcpServers:\n  - name: a\n    command: b\n      c\n'],
  ['braces around everything', '{ mcpServers: [{ name: a, command: "b c" }] }\n'],
  ['a question mark before the key', '? mcpServers\n: - name: a\n    command: "b c"\n'],
  ['an escaped key', '{"mcp\\u0053ervers": [{"name": "a", "command": "b c"}]}\n'],
  ['a merge key that is text', '"<<": x\nmcpServers: [{ name: a, command: b c }]\n'],
  ['an anchor elsewhere', 'x: &y 1\nmcpServers:\n- name: a\n  command: "b\\x20c"\n'],
])('YAML with %s is changed', (_, text) => {
  const { after, changed } = behindProxy({ ...continues, text }, SETTING)
  expect(changed).toEqual(['a'])
  const [server] = serversIn({ ...continues, text: takenOut({ ...continues, text: after }, SETTING).after })
  expect(server?.entry).toEqual({ name: 'a', command: 'b c' })
})

it.each(['name: x\n', '', '# nothing\n', 'mcpServers:\n', 'mcpServers: []\n'])(
  'a YAML file without servers: %j',
  (text) => {
    expect(behindProxy({ ...continues, text }, SETTING)).toEqual({
      after: text,
      changed: [],
      left: [],
      already: [],
    })
  },
)
