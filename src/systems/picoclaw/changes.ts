// The changes in an answer: the patch over the event's data, and the message to the user.

import { type Data, isObject, type Json, sameJson } from '../../core/base/json.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import {
  AFTER_LLM_FIELDS,
  AFTER_TOOL_FIELDS,
  CALL_FIELDS,
  innerObject,
  isText,
  REQUEST_FIELDS,
  type Reading,
  told,
} from './answer.js'
import { encodeCall } from './encode.js'
import type { Intercept } from './protocol.js'
import { carriedFields, kindOf, RESULT_FIELDS, returnedResult, type ToolResult } from './tool-result.js'

export type Effects = Pick<HookResult, 'data' | 'userMessage' | 'userMessageLevel'>

/** The object that holds an answer's changes. */
export const CHANGED_OBJECT = {
  before_llm: 'request',
  after_llm: 'response',
  before_tool: 'call',
  after_tool: 'result',
} as const satisfies Record<Exclude<Intercept, 'approve_tool'>, string>

type Interceptor = keyof typeof CHANGED_OBJECT
type Patch = Record<string, Json>

/** Compares the answer with what was sent. A field that comes back as it was is not a change. */
export function changesOf(reading: Reading, event: HookEvent, source: Data): Effects {
  const intercept = reading.intercept as Interceptor
  if (source[CHANGED_OBJECT[intercept]] === undefined) return {}
  const sent = encodeCall(intercept, event)
  switch (intercept) {
    case 'before_llm':
      return patched(requestPatch(reading, source, sent))
    case 'after_llm':
      return patched(responsePatch(reading, source, sent))
    case 'before_tool': {
      const call = innerObject(reading, source, 'call', CALL_FIELDS)
      return call ? patched(callPatch(reading, 'call', call, sent)) : {}
    }
    case 'after_tool':
      return afterTool(reading, event, source, sent)
  }
}

function patched(data: Patch): Effects {
  return Object.keys(data).length > 0 ? { data } : {}
}

// ---- the model ------------------------------------------------------------------------------------------------

const REQUEST_PATCH = ['model', 'messages', 'tools', 'options', 'graceful_terminal'] as const

function requestPatch(reading: Reading, source: Data, sent: Data): Patch {
  const request = innerObject(reading, source, 'request', REQUEST_FIELDS)
  if (!request) return {}
  noteStanding(reading, 'request', request, sent)
  const patch: Patch = {}
  for (const key of REQUEST_PATCH) {
    const value = request[key]
    if (value === undefined || value === '' || sameJson(value, sent[key])) continue
    if (Array.isArray(value) && !isLikeList(value, sent[key])) {
      reading.problems.push(`request.${key} must be a list of objects, got ${told(value)}`)
    } else patch[key] = value
  }
  return patch
}

/** A host may have messages that are not objects. */
function isLikeList(list: readonly Json[], sent: Json | undefined): boolean {
  const objectsOnly = Array.isArray(sent) && sent.every(isObject)
  return !objectsOnly || list.every(isObject)
}

/** `response` is the message itself or, in current versions, the params that were sent with the message inside. */
function responsePatch(reading: Reading, source: Data, sent: Data): Patch {
  const given = source.response
  if (!isNestedResponse(given, sent.response)) return responseChange(reading, 'response', given, sent)
  const outer = innerObject(reading, source, 'response', AFTER_LLM_FIELDS)
  if (!outer) return {}
  noteStanding(reading, 'response', outer, sent)
  const { model, response } = outer
  return {
    ...(isText(model) && model !== sent.model && { model }),
    ...responseChange(reading, 'response.response', response, sent),
  }
}

function isNestedResponse(given: Json | undefined, sent: Json | undefined): boolean {
  if (!isObject(given) || !Object.hasOwn(given, 'response')) return false
  const isMessage = ['role', 'content', 'tool_calls'].some((key) => Object.hasOwn(given, key))
  return !isMessage && !(isObject(sent) && Object.hasOwn(sent, 'response'))
}

function responseChange(reading: Reading, path: string, value: Json | undefined, sent: Data): Patch {
  if (value === undefined || sameJson(value, sent.response)) return {}
  if (isObject(value) || kindOf(value) === kindOf(sent.response)) return { response: value }
  reading.problems.push(`${path} must be an object such as {"role":"assistant",…}, got ${told(value)}`)
  return {}
}

// ---- tools ----------------------------------------------------------------------------------------------------

interface CallChange {
  readonly tool?: string
  readonly arguments?: Data
}

function callPatch(reading: Reading, path: string, call: CallChange & Data, sent: Data): Patch {
  noteStanding(reading, path, call, sent)
  const { tool, arguments: input } = call
  return {
    ...(isText(tool) && tool !== sent.tool && { tool_name: tool }),
    ...(input !== undefined && !sameJson(input, sent.arguments) && { tool_input: input }),
  }
}

/** `result` is the tool's result itself, or the params that were sent with the result inside. */
function afterTool(reading: Reading, event: HookEvent, source: Data, sent: Data): Effects {
  if (!isNestedResult(source.result)) {
    const given = innerObject(reading, source, 'result', RESULT_FIELDS)
    return given ? resultEffects(reading, event, given, sent) : {}
  }
  const outer = innerObject(reading, source, 'result', AFTER_TOOL_FIELDS)
  if (!outer) return {}
  const call = callPatch(reading, 'result', outer, sent)
  const given = innerObject(reading, outer, 'result.result', RESULT_FIELDS)
  const effects = given ? resultEffects(reading, event, given, sent) : {}
  return { ...effects, ...patched({ ...call, ...effects.data }) }
}

function isNestedResult(given: Json | undefined): boolean {
  if (!isObject(given) || Object.hasOwn(given, 'for_llm')) return false
  return Object.keys(AFTER_TOOL_FIELDS).some((key) => Object.hasOwn(given, key))
}

function resultEffects(reading: Reading, event: HookEvent, given: ToolResult & Data, sent: Data): Effects {
  const before = sent.result as Data
  const isNews = given.for_user !== before.for_user
  const spoken = isNews ? userMessage({ silent: before.silent === true, ...given }) : {}
  if (event.name === 'PostToolUseFailure') {
    const { for_llm: error } = given
    noteFailed(reading, given)
    return { ...spoken, ...patched(error === undefined || error === before.for_llm ? {} : { error }) }
  }
  const result = returnedResult(event.data.tool_response, given)
  return { ...spoken, ...patched(result === undefined ? {} : { tool_response: result }) }
}

/** The part of a result for the user, unless it is silent. */
export function userMessage({ for_user: text, silent }: ToolResult): Effects {
  return isText(text) && !silent ? { userMessage: text, userMessageLevel: 'info' } : {}
}

// ---- what cannot change ---------------------------------------------------------------------------------------

function noteStanding({ note }: Reading, path: string, given: Data, sent: Data): void {
  const moved = ['meta', 'channel', 'chat_id', 'duration'].filter(
    (key) => given[key] !== undefined && !sameJson(given[key], sent[key]),
  )
  if (moved.length === 0) return
  const fields = moved.map((key) => `${path}.${key}`).join(', ')
  note({ code: 'verdict-ignored', text: `${fields} cannot be changed; that part of the answer is ignored` })
}

/** A tool that threw has no result to carry these. */
function noteFailed({ note }: Reading, given: ToolResult): void {
  const carried = carriedFields(given).filter((key) => key !== 'is_error')
  const lost = given.is_error === false ? ['is_error', ...carried] : carried
  if (lost.length === 0) return
  const text = `the tool failed, so a hook can only change the text of its error; ${lost.join(', ')} is ignored`
  note({ code: 'verdict-ignored', text })
}
