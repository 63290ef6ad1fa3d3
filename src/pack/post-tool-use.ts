// After a tool call: records its sizes and duration, and saves the answer of an agent.

import type { InputOf } from '../author/hook-input.js'
import { type Data, isObject, type Json } from '../core/base/json.js'
import { bounded } from './answer.js'
import { saveAgentMemory, sessionOf } from './memory.js'
import type { PackHook } from './pack-hook.js'

export const postToolUse: PackHook = {
  name: 'post-tool-use',
  event: 'PostToolUse',
  also: ['PostToolUseFailure'],
  run(input, context) {
    if (input.event !== 'PostToolUse' && input.event !== 'PostToolUseFailure') return undefined
    context.state.append('metrics', metrics(input))
    if (input.event === 'PostToolUse') saveAgentMemory(input, context)
    return undefined
  },
}

/** Names and sizes, never contents. */
function metrics(input: InputOf<'PostToolUse'> | InputOf<'PostToolUseFailure'>): Data {
  const { duration_ms: duration } = input.extra
  const result = input.event === 'PostToolUse' ? input.toolResult : undefined
  return {
    event: input.event,
    session: sessionOf(input.sessionId),
    tool: bounded(input.toolName, 200),
    ok: input.event === 'PostToolUse' && !isFailure(result),
    inputBytes: sizeOf(input.toolInput),
    resultBytes: sizeOf(result),
    ...(typeof duration === 'number' && { ms: duration }),
  }
}

function isFailure(result: Json | undefined): boolean {
  return isObject(result) && (result.is_error === true || result.isError === true || result.success === false)
}

function sizeOf(value: Json | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}
