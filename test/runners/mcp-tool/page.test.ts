// docs/write/mcp-hooks.md: its settings, its hook and its server, put together as they stand.

import { symlinkSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import type { McpToolHandler } from '../../../src/runners/mcp-tool/mcp-tool-hook.js'
import type { StdioSettings } from '../../../src/runners/mcp-tool/server-settings.js'
import { ROOT, readPage } from '../../docs/markdown.js'
import { Lobby } from './lobby.js'

const [settings, hooks, server] = readPage('docs/write/mcp-hooks.md').blocks.map(({ text }) => text)
const { mcp_servers: servers } = (
  JSON.parse(settings ?? '') as Hooks<{ mcp_servers: Record<string, StdioSettings> }>
).hooks
const [handler] = (JSON.parse(hooks ?? '') as Hooks<{ PreToolUse: [{ hooks: [McpToolHandler] }] }>).hooks
  .PreToolUse[0].hooks

interface Hooks<T> {
  readonly hooks: T
}

const lobby = new Lobby()
afterAll(() => lobby.close())

it('denies what it says it denies', async () => {
  const { workshop } = lobby
  symlinkSync(`${ROOT}node_modules`, workshop.path('node_modules'))
  workshop.file('policy.mjs', server ?? '')
  const policy = servers.policy as StdioSettings
  process.env.POLICY_TOKEN = 'a token'
  lobby.settings = { policy: { ...policy, command: process.execPath, cwd: workshop.folder } }
  const ask = (command: string) => lobby.ask(handler.tool, handler, { tool_input: { command } }).answer
  expect(await ask('git push --force')).toMatchObject({ action: 'deny', reason: 'Use --force-with-lease' })
  expect(await ask('git push')).toMatchObject({ action: 'continue' })
  delete process.env.POLICY_TOKEN
})
