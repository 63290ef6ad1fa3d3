// An MCP hook: calls a tool of a server with `input` and reads the tool's text as the answer.

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { HookError } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import { byteLength } from '../../core/base/text.js'
import type { Hook, HookContext, HookEvent } from '../../core/hooks/hook.js'
import { encode } from '../../systems/claude-code/encode.js'
import type { HookSpec, Surroundings } from '../hook-spec.js'
import { announce } from '../telling.js'
import type { ToolCall } from './mcp-servers.js'
import { readToolResult } from './tool-result.js'

/** The fields that only an MCP hook has. */
export interface McpToolHandler {
  /** Its name in the user's setting `mcp_servers`. */
  readonly server: string
  readonly tool: string
  /** The arguments of the tool. `${path.to.field}` in strings is replaced from the payload. Default: none. */
  readonly input?: Readonly<Record<string, unknown>>
  /** Shown while it runs. */
  readonly statusMessage?: string
}

export type CallTool = (call: ToolCall, context: HookContext) => Promise<CallToolResult>

export function mcpToolHook(
  spec: HookSpec<McpToolHandler>,
  surroundings: Surroundings,
  call: CallTool,
): Hook {
  const { hook, handler } = spec
  const run = async (event: HookEvent, context: HookContext) => {
    const payload = JSON.parse(encode(event)) as Readonly<Record<string, unknown>>
    const input = toolInput(handler.input ?? {}, payload, context.note)
    announce(spec, surroundings, context.note)
    const result = await call({ server: handler.server, tool: handler.tool, input }, context)
    const { onFailure, note } = context
    const asker = { name: hook.name, onFailure, late: hook.detached, tool: handler.tool }
    return readToolResult(event, result, asker, note)
  }
  return { ...hook, run }
}

// ---- the arguments of the tool --------------------------------------------------------------------------------

type Fields = { readonly [key: string]: unknown }

/** `${tool_input.command}`, `${tool_calls.0.tool_name}`. Anything else stays as it is written. */
const PLACEHOLDER = /\$\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}/g

const DEEPEST = 32
/** Limits how often the payload can be repeated. */
const MOST_BYTES = 1024 * 1024

interface Filling {
  readonly payload: Fields
  readonly missing: Set<string>
  left: number
}

/**
 * Replaces the placeholders in every string of `input`, however deep. Does not search replaced text again. A number or an
 * object is inserted as JSON. A missing field leaves nothing, with a note. Throws HOOK_FAILED if the input would exceed
 * its limits.
 */
export function toolInput(
  input: Fields,
  payload: Fields,
  note: HookContext['note'],
): Record<string, unknown> {
  const filling: Filling = { payload, missing: new Set(), left: MOST_BYTES }
  const filled = filledIn(input, filling, 0) as Record<string, unknown>
  for (const path of filling.missing) {
    const text = `its input names \${${path}}, which this event does not have, so it was left empty`
    note({ code: 'placeholder-empty', text })
  }
  return filled
}

function filledIn(value: unknown, filling: Filling, depth: number): unknown {
  if (typeof value === 'string') return filledText(value, filling)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST)
    throw new HookError('HOOK_FAILED', `its input is nested deeper than ${DEEPEST} levels`)
  if (Array.isArray(value)) return value.map((one) => filledIn(one, filling, depth + 1))
  // Built from entries, so that __proto__ is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, filledIn(one, filling, depth + 1)]),
  )
}

function filledText(text: string, filling: Filling): string {
  spend(filling, byteLength(text))
  return text.replace(PLACEHOLDER, (_, path: string) => {
    const found = fieldAt(filling.payload, path)
    if (found === undefined) {
      filling.missing.add(path)
      return ''
    }
    const put = typeof found === 'string' ? found : JSON.stringify(found)
    spend(filling, byteLength(put))
    return put
  })
}

function spend(filling: Filling, bytes: number): void {
  filling.left -= bytes
  if (filling.left >= 0) return
  throw new HookError('HOOK_FAILED', `its input would be larger than ${MOST_BYTES} bytes`, {
    hint: 'Use fewer placeholders, or smaller fields of the event.',
  })
}

/** Finds own fields of objects and numbered items of lists, nothing inherited. */
function fieldAt(payload: Fields, path: string): Json | undefined {
  let at: unknown = payload
  for (const key of path.split('.')) {
    const inside = Array.isArray(at) ? /^\d+$/.test(key) : isObject(at)
    if (!inside || !Object.hasOwn(at as object, key)) return undefined
    at = (at as Fields)[key]
  }
  return at as Json
}
