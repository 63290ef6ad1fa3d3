// Events for each method of the protocol, and the decoding of answers written by hand.

import type { Data, Diagnostic, HookEvent, HookResult, Json, SessionInfo } from 'carabiner/core'
import { HookError, parseResult } from 'carabiner/core'
import { decodeAnswer } from '../../../src/systems/picoclaw/decode.js'
import type { Intercept } from '../../../src/systems/picoclaw/protocol.js'

/** The circumstances in the seed's examples. */
export const SESSION: SessionInfo = { id: 'session-1', turnId: 'turn-1', iteration: 0 }
export const PLACE = { session_id: 'session-1', agent_id: 'agent-1', channel: 'cli', chat_id: 'chat-1' }

export function eventOf(name: string, data: object, session: SessionInfo | undefined = SESSION): HookEvent {
  return { name, data: { hook_event_name: name, ...PLACE, ...data } as Data, session }
}

const ECHO = {
  type: 'function',
  function: { name: 'echo', description: 'echo text', parameters: { type: 'object' } },
}
export const REQUEST = {
  model: 'claude-sonnet',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [ECHO],
  options: { temperature: 0.7 },
}
export const MESSAGE = {
  role: 'assistant',
  content: 'Hi!',
  tool_calls: [{ id: 'tc-1', type: 'function', function: { name: 'echo', arguments: '{"text":"hi"}' } }],
}
export const CALL = { tool_name: 'echo_text', tool_input: { text: 'hello' } }
export const RESULT = {
  for_llm: 'echoed: hello',
  for_user: '',
  silent: false,
  is_error: false,
  async: false,
  media: [],
  artifact_tags: [],
  response_handled: false,
}

export const ran = (tool_response: Json) =>
  eventOf('PostToolUse', { ...CALL, tool_response, tool_result: tool_response, duration_ms: 15 })

/** An event of each method. */
export const ASKED = {
  before_llm: eventOf('ModelRequest', REQUEST),
  after_llm: eventOf('ModelResponse', { model: 'claude-sonnet', response: MESSAGE }),
  before_tool: eventOf('PreToolUse', CALL),
  after_tool: ran('echoed: hello'),
  approve_tool: eventOf('PreToolUse', CALL),
} as const satisfies Record<Intercept, HookEvent>

export const INTERCEPTORS = ['before_llm', 'after_llm', 'before_tool', 'after_tool'] as const

export interface Decoded {
  /** Undefined if the hook failed. */
  readonly result: HookResult | undefined
  readonly error: HookError | undefined
  readonly notes: readonly Diagnostic[]
  /** The codes of the notes. */
  readonly codes: readonly string[]
}

/** Rethrows anything but a failure of a hook. The engine's own check has passed a result, too. */
export function read(intercept: Intercept, answer: unknown, event: HookEvent = ASKED[intercept]): Decoded {
  const notes: Diagnostic[] = []
  let result: HookResult | undefined
  let error: HookError | undefined
  try {
    result = parseResult(
      decodeAnswer(intercept, event, answer as Json, (d) => notes.push(d)),
      notes as never,
    )
  } catch (thrown) {
    if (!(thrown instanceof HookError) || thrown.code !== 'ANSWER_INVALID') throw thrown
    error = thrown
  }
  return { result, error, notes, codes: notes.map(({ code }) => code) }
}
