import { describe, expect, it } from 'vitest'
import { guarded, guardedIn, unguarded } from '../../src/hosts/mcp-config.js'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const file = (text: string, key = 'mcpServers') => ({ path: '/home/me/mcp.json', text, key })

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
    const { after, changed } = guarded(file(TEXT), PROGRAM)
    expect(changed).toEqual(['files', 'my.notes'])
    expect(after).toContain('// mine\n  "theme": "dark",')
    const { mcpServers } = JSON.parse(after.replace(/^\s*\/\/.*$/m, ''))
    expect(mcpServers).toEqual({
      files: {
        env: { TOKEN: 't' },
        command: PROGRAM.node,
        args: [
          ...[PROGRAM.script, 'mcp', '--name', 'files', '--'],
          ...['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'],
        ],
      },
      'my.notes': {
        command: PROGRAM.node,
        args: [PROGRAM.script, 'mcp', '--name', 'my_notes', '--', 'notes'],
      },
    })
    expect(guardedIn(file(after))).toEqual(['files', 'my.notes'])
  })

  it('are put behind it once', () => {
    const { after } = guarded(file(TEXT), PROGRAM)
    expect(guarded(file(after), PROGRAM)).toEqual({
      after,
      changed: [],
      left: [],
      already: ['files', 'my.notes'],
    })
  })

  it('come back as they were', () => {
    const { after } = guarded(file(TEXT), PROGRAM)
    const back = unguarded(file(after))
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
    const { after } = guarded(at, PROGRAM)
    const { linear } = JSON.parse(after).servers
    expect(linear).toEqual({
      type: 'stdio',
      command: PROGRAM.node,
      args: [
        ...[PROGRAM.script, 'mcp', '--name', 'linear', '--url', 'https://mcp.example.com/mcp'],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
        ...['--header', 'Authorization: ${CARABINER_HEADER_1}'],
      ],
      env: { CARABINER_HEADER_1: 'Bearer s3' },
    })
    expect(JSON.parse(unguarded({ ...at, text: after }).after)).toEqual({ servers })
  })

  it.each([
    [{ url: 'https://mcp.example.com/mcp' }, 'browser'],
    [{ url: 'https://mcp.example.com/sse', headers: { a: 'b' } }, 'SSE'],
    [{ args: [] }, 'neither'],
    ['npx', 'not an object'],
  ])('are left alone if they cannot be guarded: %j', (entry, why) => {
    const before = JSON.stringify({ mcpServers: { one: entry } })
    const { after, left } = guarded(file(before), PROGRAM)
    expect(after).toBe(before)
    expect(left[0]?.why).toContain(why)
  })

  it('are not touched in a file that cannot be read', () => {
    expect(() => guarded(file('{ "mcpServers": '), PROGRAM)).toThrow('is not JSON')
    expect(() => guarded(file('{ "mcpServers": [] }'), PROGRAM)).toThrow('not an object')
  })
})
