// Reads a resident hook's answer. Throws for a failure; the kernel decides what a failure counts as.

import { HookError } from '../../core/base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../../core/base/json.js'
import { abortTurn, deny, type HookResult, hardAbort, respond } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import {
  CALL_FIELDS,
  innerObject,
  isText,
  likelyAction,
  meant,
  type Note,
  noteUnknownTop,
  type Reading,
  told,
  withoutNulls,
} from './answer.js'
import { CHANGED_OBJECT, changesOf, type Effects, userMessage } from './changes.js'
import { encodeCall } from './encode.js'
import { INTERCEPTS, type Intercept } from './protocol.js'
import { RESULT_FIELDS } from './tool-result.js'

const ACTIONS = ['continue', 'modify', 'respond', 'deny_tool', 'abort_turn', 'hard_abort'] as const
type Action = (typeof ACTIONS)[number]
const STOPS = ['deny_tool', 'abort_turn', 'hard_abort'] as const satisfies readonly Action[]

/** Whether it is the plain answer that most calls get. */
export function goesOn(intercept: Intercept, result: Json): boolean {
  if (!isObject(result)) return false
  for (const key in result) if (key !== 'action' && key !== 'approved') return false
  return intercept === 'approve_tool'
    ? result.approved === true && result.action === undefined
    : result.action === 'continue' && result.approved === undefined
}

/** Throws HookError ANSWER_INVALID, and nothing else. */
export function decodeAnswer(intercept: Intercept, event: HookEvent, result: Json, note: Note): HookResult {
  if (!isObject(result)) throw invalid(intercept, `an answer must be an object, got ${told(result)}`)
  const reading: Reading = { intercept, note, problems: [], unknown: [] }
  const source = withoutNulls(result as Data)
  return intercept === 'approve_tool' ? approval(reading, source) : interception(reading, event, source)
}

// ---- interceptors ---------------------------------------------------------------------------------------------

function interception(reading: Reading, event: HookEvent, source: Data): HookResult {
  const { intercept, problems } = reading
  const unknown = noteUnknownTop(reading, source)
  const action = refusedElsewhere(reading, source) ?? actionOf(reading, source)
  const reason = reasonOf(reading, source)
  if (!action) refuseVerdictless(intercept, unknown, reason)
  if (action === 'respond') return responded(reading, event, source, reason)
  const effects = changesOf(reading, event, source)
  if (problems.length > 0) failOrNote(reading, action)
  if (action === 'modify' && !effects.data) refuseIdle(reading, source)
  noteIdle(reading, source)
  return stop(reading, action, reason, effects) ?? going(effects, reason)
}

/** A refusal in a field of another method or another system: it must not be lost. */
function refusedElsewhere({ note }: Reading, source: Data): Action | undefined {
  const stops = STOPS.find((one) => one === source.action)
  const [field] =
    Object.entries(source).find(([key, value]) => key !== 'action' && isRefusal(key, value)) ?? []
  if (stops || field === undefined) return stops
  const text = `${told(field)}:${told(source[field])} counts as "action":"deny_tool"; write that`
  note({ code: 'answer-misplaced', text })
  return 'deny_tool'
}

const VERDICTS: ReadonlySet<string> = new Set([
  'decision',
  'verdict',
  'permission',
  'permissionDecision',
  'behavior',
])

function isRefusal(key: string, value: Json): boolean {
  if (key === 'approved' || key === 'allowed') return value === false
  return VERDICTS.has(key) && typeof value === 'string' && likelyAction(value) === 'deny_tool'
}

function actionOf(reading: Reading, source: Data): Action | undefined {
  const { intercept } = reading
  const { action } = source
  if (action === undefined || action === '') return undefined
  const known = ACTIONS.find((one) => one === action)
  if (known) return known
  const stops = misspeltStop(reading, source)
  if (stops) return stops
  const near = typeof action === 'string' ? likelyAction(action) : undefined
  const guess = near ? `; did you mean ${near}?` : ''
  throw invalid(
    intercept,
    `action ${told(action)} is unknown; it must be one of ${ACTIONS.join(', ')}${guess}`,
  )
}

/** A misspelt deny must not be lost either. */
function misspeltStop({ note }: Reading, { action }: Data): Action | undefined {
  const near = typeof action === 'string' ? likelyAction(action) : undefined
  const stops = STOPS.find((one) => one === near)
  if (stops) note({ code: 'answer-misplaced', text: `action ${told(action)} counts as ${stops}; write that` })
  return stops
}

/** A reason, or a field of another system, shows that a verdict was meant: it must not look like an approval. */
function refuseVerdictless(
  intercept: Intercept,
  unknown: readonly string[],
  reason: string | undefined,
): void {
  const [first] = unknown
  if (first !== undefined) {
    const text = `there is no action, and no answer has ${told(first)}${meant(intercept, first)}`
    throw invalid(intercept, text)
  }
  if (reason !== undefined)
    throw invalid(intercept, 'there is no action, and a reason says nothing without one')
}

function reasonOf({ problems }: Reading, { reason }: Data): string | undefined {
  if (reason !== undefined && typeof reason !== 'string') {
    problems.push(`reason must be a string, got ${told(reason)}`)
  }
  return isText(reason) ? reason : undefined
}

function going(effects: Effects, reason: string | undefined): HookResult {
  return { ...effects, action: effects.data ? 'modify' : 'continue', ...(reason !== undefined && { reason }) }
}

/** A deny or an abort counts on every method: it must never be lost. */
function stop(
  { intercept, note }: Reading,
  action: Action | undefined,
  reason: string | undefined,
  effects: Effects = {},
): HookResult | undefined {
  switch (action) {
    case 'deny_tool':
      if (intercept !== 'before_tool') {
        const instead = intercept === 'approve_tool' ? '"approved":false' : 'abort_turn'
        const text = `deny_tool is an action of hook.before_tool; it counts on ${INTERCEPTS[intercept].method} as a deny; use ${instead}`
        note({ code: 'answer-misplaced', text })
      }
      return deny(reason ?? 'Denied by a hook that gave no reason', effects)
    case 'abort_turn':
      return abortTurn(reason ?? 'A hook ended the turn and gave no reason', effects)
    case 'hard_abort':
      return hardAbort(reason ?? 'A hook ended the agent and gave no reason', effects)
    default:
      return undefined
  }
}

/** Malformed fields are a failure, unless a refusal stands without them. */
function failOrNote({ intercept, problems, note }: Reading, action: Action | undefined): void {
  if (!STOPS.some((one) => one === action)) {
    throw invalid(intercept, problems.join('; '))
  }
  for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the ${action} stands` })
}

/** A hook that wants a change but makes none must not see the original go on as if all was well. */
function refuseIdle({ intercept, unknown }: Reading, source: Data): void {
  const object = intercept === 'approve_tool' ? '' : CHANGED_OBJECT[intercept]
  if (source[object] === undefined) {
    throw invalid(intercept, `modify changes nothing without ${JSON.stringify(object)}`)
  }
  if (unknown.length > 0)
    throw invalid(intercept, `modify changes nothing: no answer has ${unknown.join(', ')}`)
}

function noteIdle({ intercept, note }: Reading, source: Data): void {
  if (intercept === 'before_tool' && source.result !== undefined) {
    note({ code: 'answer-misplaced', text: `"result" counts only beside "action":"respond"; it is ignored` })
  }
}

/** A result in place of the tool's. A call beside it changes nothing. */
function responded(reading: Reading, event: HookEvent, source: Data, reason: string | undefined): HookResult {
  const { intercept, problems } = reading
  if (intercept !== 'before_tool') {
    throw invalid(intercept, 'respond answers in place of a tool, and works on hook.before_tool alone')
  }
  const result = innerObject(reading, source, 'result', RESULT_FIELDS)
  noteUnusedCall(reading, event, source)
  if (result === undefined && problems.length === 0) problems.push('respond needs "result"')
  if (result && result.for_llm === undefined && problems.length === 0)
    problems.push(`result.for_llm is missing`)
  if (problems.length > 0) throw invalid(intercept, problems.join('; '))
  return respond(result, { ...userMessage(result ?? {}), ...(reason !== undefined && { reason }) })
}

function noteUnusedCall(reading: Reading, event: HookEvent, source: Data): void {
  const call = innerObject(reading, source, 'call', CALL_FIELDS)
  if (!call) return
  const sent = encodeCall(reading.intercept, event)
  const changed = (['tool', 'arguments'] as const).filter(
    (key) => call[key] !== undefined && !sameJson(call[key], sent[key]),
  )
  if (changed.length === 0) return
  const text = `a call beside respond changes nothing: ${changed.map((key) => `call.${key}`).join(', ')} is ignored`
  reading.note({ code: 'verdict-ignored', text })
}

// ---- approvers ------------------------------------------------------------------------------------------------

/** Fields of an approver that tries to change the call. */
const CHANGES = ['call', 'request', 'result', 'response', 'tool', 'arguments']

function approval(reading: Reading, source: Data): HookResult {
  const { intercept, note, problems } = reading
  noteUnknownTop(reading, source, ['action', ...CHANGES])
  const changes = CHANGES.filter((key) => source[key] !== undefined)
  if (changes.length > 0) {
    const text = `an approver may not change the call: ${changes.join(', ')} is ignored; use hook.before_tool`
    note({ code: 'verdict-ignored', text })
  }
  const reason = reasonOf(reading, source)
  const refusal = refused(reading, source, reason)
  if (refusal) {
    for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the verdict stands` })
    return refusal
  }
  const { approved, action } = source
  if (approved !== true) problems.unshift(notApproved(source))
  else if (action !== undefined && action !== '' && action !== 'continue') {
    problems.unshift(
      `"approved":true beside "action":${told(action)}: an approver approves or refuses, no more`,
    )
  }
  if (problems.length > 0) throw invalid(intercept, problems.join('; '))
  return going({}, reason)
}

/** A refusal in either form stands, whatever is beside it. */
function refused(reading: Reading, source: Data, reason: string | undefined): HookResult | undefined {
  const action = ACTIONS.find((one) => one === source.action) ?? misspeltStop(reading, source)
  if (action === 'abort_turn' || action === 'hard_abort') {
    const text = `${action} is no answer of an approver ("approved" is); it counts all the same`
    reading.note({ code: 'answer-misplaced', text })
  }
  const stopped = stop(reading, action, reason)
  if (stopped || source.approved !== false) return stopped
  if (source.action !== undefined && source.action !== '') {
    const text = `"action":${told(source.action)} is not read on hook.approve_tool; "approved":false counts`
    reading.note({ code: 'answer-misplaced', text })
  }
  return deny(reason ?? 'Refused by an approver that gave no reason')
}

function notApproved({ approved }: Data): string {
  if (approved === undefined) return '"approved" is missing: it must be true or false'
  return `approved must be true or false, got ${told(approved)}`
}

// ---- words ----------------------------------------------------------------------------------------------------

const HINTS: Readonly<Record<Intercept, string>> = {
  before_llm: '{"action":"modify","request":{…}}',
  after_llm: '{"action":"modify","response":{…}}',
  before_tool:
    '{"action":"deny_tool","reason":"…"}, {"action":"modify","call":{…}} or {"action":"respond","result":{"for_llm":"…"}}',
  after_tool: '{"action":"modify","result":{"for_llm":"…"}}',
  approve_tool: '{"approved":true} or {"approved":false,"reason":"…"}',
}

function invalid(intercept: Intercept, what: string): HookError {
  const goOn = intercept === 'approve_tool' ? '' : '{"action":"continue"}, '
  const hint = `Answer ${INTERCEPTS[intercept].method} with ${goOn}${HINTS[intercept]}.`
  return new HookError('ANSWER_INVALID', what, { hint })
}
