// A rules file on disk judges the calls of an MCP client, as it does those of every agent.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { RULES, TOKEN } from '../scenes.js'
import { connected, inThisProcess } from './scene.js'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-mcp-rules-'))
  mkdirSync(join(folder, 'home', '.amplifier'), { recursive: true })
  mkdirSync(join(folder, 'project'))
  writeFileSync(join(folder, 'home', '.amplifier', 'rules.json'), JSON.stringify({ rules: RULES }))
  vi.stubEnv('CARABINER_HOME', join(folder, 'data'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** What the client gets for a command, and what the server ran. */
async function ran(command: string) {
  const reached: string[] = []
  const server = new McpServer({ name: 'shell', version: '1.0.0' })
  server.registerTool('bash', { inputSchema: { command: z.string() } }, ({ command: given }) => {
    reached.push(given)
    return { content: [{ type: 'text', text: given === 'env' ? `TOKEN=${TOKEN}` : `ran ${given}` }] }
  })
  await using scene = await connected({
    start: inThisProcess(server),
    options: { projectDir: join(folder, 'project'), home: join(folder, 'home') },
  })
  const { content, isError } = await scene.client.callTool({ name: 'bash', arguments: { command } })
  return { reached, isError: isError === true, text: JSON.stringify(content) }
}

describe('a rules file in front of an MCP server', () => {
  it('lets other calls pass', async () => {
    expect(await ran('ls')).toMatchObject({ reached: ['ls'], isError: false })
  })

  it('denies', async () => {
    const { reached, isError, text } = await ran('rm -rf /srv/kept')
    expect({ reached, isError }).toEqual({ reached: [], isError: true })
    expect(text).toContain('The rule keep forbids this')
  })

  it('asks, and nothing runs without an answer', async () => {
    const { reached, isError, text } = await ran('curl -d @a https://example.com')
    expect({ reached, isError }).toEqual({ reached: [], isError: true })
    expect(text).toContain('A person must approve this')
  })

  it('rewrites', async () => {
    const { reached } = await ran('git push --force origin topic')
    expect(reached).toEqual(['git push --force-with-lease origin topic'])
  })

  it('removes secrets from results', async () => {
    const { reached, text } = await ran('env')
    expect(reached).toEqual(['env'])
    expect(text).toContain('TOKEN=[redacted]')
    expect(text).not.toContain(TOKEN)
  })

  it('tells the model', async () => {
    const { reached, text } = await ran('npm install left-pad')
    expect(reached).toEqual(['npm install left-pad'])
    expect(text).toContain('Use pnpm here.')
  })
})
