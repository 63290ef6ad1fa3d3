import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { behindProxy, proxiedIn, takenOut } from '../../../src/hosts/mcp/proxied-file.js'
import { isDeciding } from '../../../src/pack/deciding-variables.js'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const SETTING = { program: PROGRAM, project: '/home/me/project', decides: isDeciding }
const file = (text: string, key = 'mcpServers') => ({
  path: '/home/me/mcp.json',
  text,
  key,
  form: 'plain' as const,
  address: 'url',
})

const TEXT = `{
  // mine
  "theme": "dark",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
      "env": { "TOKEN": "t" }
    },
    "my.notes": { "command": "notes" }
  }
}
`

describe('the servers of an agent', () => {
  it('are started by carabiner mcp, and everything else stays', () => {
    const { after, changed } = behindProxy(file(TEXT), SETTING)
    expect(changed).toEqual(['files', 'my.notes'])
    expect(after).toContain('// mine\n  "theme": "dark",')
    const { mcpServers } = JSON.parse(after.replace(/^\s*\/\/.*$/m, ''))
    expect(mcpServers).toEqual({
      files: {
        env: { TOKEN: 't' },
        command: PROGRAM.node,
        args: [
          ...[PROGRAM.script, 'mcp', '--name=files', '--'],
          ...['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'],
        ],
      },
      'my.notes': {
        command: PROGRAM.node,
        args: [PROGRAM.script, 'mcp', '--name=my_notes', '--', 'notes'],
      },
    })
    expect(proxiedIn(file(after), SETTING)).toEqual(['files', 'my.notes'])
  })

  it('are put behind it once', () => {
    const { after } = behindProxy(file(TEXT), SETTING)
    expect(behindProxy(file(after), SETTING)).toEqual({
      after,
      changed: [],
      left: [],
      already: ['files', 'my.notes'],
    })
  })

  it('come back as they were', () => {
    const { after } = behindProxy(file(TEXT), SETTING)
    const back = takenOut(file(after), SETTING)
    expect(back.changed).toEqual(['files', 'my.notes'])
    const read = (text: string) => JSON.parse(text.replace(/^\s*\/\/.*$/m, ''))
    expect(read(back.after)).toEqual(read(TEXT))
  })

  it('at an address keep their headers out of the command line', () => {
    const servers = {
      linear: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: 'Bearer s3' } },
    }
    const before = JSON.stringify({ servers }, null, 2)
    const at = { ...file(before, 'servers'), types: { stdio: 'stdio', http: 'http' } }
    const { after } = behindProxy(at, SETTING)
    const { linear } = JSON.parse(after).servers
    expect(linear).toEqual({
      type: 'stdio',
      command: PROGRAM.node,
      args: [
        ...[PROGRAM.script, 'mcp', '--name=linear', '--url=https://mcp.example.com/mcp'],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
        ...['--header=Authorization: ${CARABINER_HEADER_1}'],
      ],
      env: { CARABINER_HEADER_1: 'Bearer s3' },
    })
    expect(JSON.parse(takenOut({ ...at, text: after }, SETTING).after)).toEqual({ servers })
  })

  it.each([
    [{ url: 'https://mcp.example.com/mcp' }, 'browser'],
    [{ url: 'https://mcp.example.com/sse', headers: { a: 'b' } }, 'SSE'],
    [{ args: [] }, 'neither'],
    ['npx', 'not an object'],
  ])('are left alone if they cannot be guarded: %j', (entry, why) => {
    const before = JSON.stringify({ mcpServers: { one: entry } })
    const { after, left } = behindProxy(file(before), SETTING)
    expect(after).toBe(before)
    expect(left[0]?.why).toContain(why)
  })

  it('at an address stay as they are where the proxy could not reach it', () => {
    const text =
      '{ "mcpServers": { "far": { "url": "https://mcp.example.com/mcp", "headers": { "A": "b" } }, "near": { "command": "x" } } }'
    const { changed, left } = behindProxy(file(text), { ...SETTING, missing: 'npm install it' })
    expect(changed).toEqual(['near'])
    expect(left).toEqual([{ name: 'far', why: 'servers at an address need a library: npm install it' }])
  })

  it.each([
    ['"cwd": "/usr"', 'its cwd may be outside the project, where other hooks would judge its calls'],
    ['"cwd": "../other"', 'its cwd may be outside the project, where other hooks would judge its calls'],
    ['"cwd": "${env:HOME}"', 'its cwd may be outside the project, where other hooks would judge its calls'],
    ['"cwd": "~/other"', 'its cwd may be outside the project, where other hooks would judge its calls'],
    ['"env": { "PATH": "/tmp" }', 'its env sets PATH, which decides what programs hooks start'],
  ])('of a project stay as they are with %s, and those of the user do not', (field, why) => {
    const text = `{ "mcpServers": { "x": { "command": "x", ${field} } } }`
    expect(behindProxy(file(text), SETTING).changed).toEqual(['x'])
    const { changed, left } = behindProxy(file(text), { ...SETTING, isOfProject: true })
    expect({ changed, left }).toEqual({ changed: [], left: [{ name: 'x', why }] })
  })

  it.each(['"cwd": "sub"', '"cwd": "${workspaceFolder}/sub"', '"cwd": "/home/me/project"'])(
    'of a project are put behind it with %s',
    (field) => {
      const text = `{ "mcpServers": { "x": { "command": "x", ${field} } } }`
      expect(behindProxy(file(text), { ...SETTING, isOfProject: true }).changed).toEqual(['x'])
    },
  )

  it('of a project stay as they are if a link in it leads their cwd elsewhere', () => {
    const project = mkdtempSync(join(tmpdir(), 'linked-'))
    onTestFinished(() => rmSync(project, { recursive: true }))
    symlinkSync('/', join(project, 'elsewhere'))
    const text = '{ "mcpServers": { "x": { "command": "x", "cwd": "elsewhere" } } }'
    const { left } = behindProxy(file(text), { ...SETTING, project, isOfProject: true })
    expect(left).toEqual([{ name: 'x', why: expect.stringContaining('outside the project') }])
  })

  it.each([
    ...['--require ./x.js', '"--require" ./x.js', '--re"quire"=./x.js', '--experimental_loader=./x.js'],
    ...['--inspect', '--snapshot-blob=x', '--max-old-space-size=99 -r ./x.js', '--no-warnings"-r" ./x.js'],
  ])('stay as they are with the Node options %s', (NODE_OPTIONS) => {
    const text = JSON.stringify({ mcpServers: { x: { command: 'x', env: { NODE_OPTIONS } } } })
    expect(behindProxy(file(text), SETTING).left[0]?.why).toContain('NODE_OPTIONS')
  })

  it.each(['', '--max-old-space-size=4096', '--max_old_space_size=99 --no-warnings '])(
    'are put behind it with the Node options %j',
    (NODE_OPTIONS) => {
      const text = JSON.stringify({ mcpServers: { x: { command: 'x', env: { NODE_OPTIONS } } } })
      expect(behindProxy(file(text), SETTING).changed).toEqual(['x'])
    },
  )

  it('are not touched in a file that cannot be read', () => {
    expect(() => behindProxy(file('{ "mcpServers": '), SETTING)).toThrow('is not JSON')
    expect(() => behindProxy(file('{ "mcpServers": [] }'), SETTING)).toThrow('not an object')
  })

  it.each([
    ...[
      '{ "a": { "command": "x" }, "a": { "command": "y" } }',
      '{ "a": { "command": "x", "command": "y" } }',
    ],
    ...['{ "a": { "command": "x" }, "\\u0061": { "command": "y" } }', '{}, "mcpServers": {}'],
    '{ "a": { "command": "x", "env": { "NODE_OPTIONS": "-r ./x" }, "env": {} } }',
  ])('are not touched in a file that has a key twice, of which agents may take either: %s', (servers) => {
    expect(() => behindProxy(file(`{ "mcpServers": ${servers} }`), SETTING)).toThrow('is there twice')
  })
})
