// Where agents keep their MCP servers, by system.

import { expect, it } from 'vitest'
import { mcpClientNamed } from '../../../src/hosts/mcp/clients.js'

const place = { home: '/home/me', project: '/work', env: {}, platform: 'linux' as const }
const filesOf = (name: string, other: object = {}) => mcpClientNamed(name)?.files({ ...place, ...other })

it('Roo Code has its own in the folder of VS Code', () => {
  const below = 'Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'
  expect(filesOf('roo-code')).toEqual(
    expect.arrayContaining([`/home/me/.config/${below}`, '/work/.roo/mcp.json']),
  )
  expect(filesOf('roo-code', { platform: 'darwin' })).toContain(
    `/home/me/Library/Application Support/${below}`,
  )
})

it('Claude Code has those of the user in its own file', () => {
  expect(filesOf('claude-code')).toEqual(['/home/me/.claude.json', '/work/.mcp.json'])
  expect(filesOf('claude-code', { env: { CLAUDE_CONFIG_DIR: '/cc' } })).toContain('/cc/.claude.json')
})
