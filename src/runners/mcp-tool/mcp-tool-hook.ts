// A hook that is a tool of an MCP server: called with what its `input` says, its text is its answer.

import type { Hook, HookContext, HookEvent } from '../../core/hooks/hook.js'
import { encode } from '../../systems/claude-code/encode.js'
import type { HookSpec, Surroundings } from '../hook-spec.js'
import { announce } from '../telling.js'
import type { McpServers } from './mcp-servers.js'
import { toolInput } from './tool-input.js'
import { readToolResult } from './tool-result.js'

/** The fields that only an MCP hook has. */
export interface McpToolHandler {
  /** As the user's settings call it (`mcp_servers`). */
  readonly server: string
  readonly tool: string
  /** What the tool is called with; `${path.to.field}` in its texts is replaced from the payload. Default: nothing. */
  readonly input?: Readonly<Record<string, unknown>>
  /** Shown while it runs. */
  readonly statusMessage?: string
}

export function mcpToolHook(
  spec: HookSpec<McpToolHandler>,
  surroundings: Surroundings,
  servers: McpServers,
): Hook {
  const { hook, handler } = spec
  const asker = { name: hook.name, onFailure: hook.onFailure, late: hook.detached, tool: handler.tool }
  const run = async (event: HookEvent, context: HookContext) => {
    const payload = JSON.parse(encode(event)) as Readonly<Record<string, unknown>>
    const input = toolInput(handler.input ?? {}, payload, context.note)
    announce(spec, surroundings, context.note)
    const result = await servers.call(handler.server, handler.tool, input, context)
    return readToolResult(event, result, asker, context.note)
  }
  return { ...hook, run }
}
