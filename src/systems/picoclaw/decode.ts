// Reads a resident hook's answer. Throws for a failure, and the kernel decides its effect.

import { HookError } from '../../core/base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../../core/base/json.js'
import { rankOf } from '../../core/events/actions.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { approvalTerms, isSaid, lacking, type Said, saidIn } from '../amplifier.js'
import { type Closing, closingAmong, entriesOf } from '../closing.js'
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

/** The protocol's actions, and the additional ones of HookResult. */
const ACTIONS = [
  'continue',
  'modify',
  'respond',
  'inject_context',
  'deny_tool',
  'deny',
  'ask_user',
  'abort_turn',
  'hard_abort',
] as const
type Action = (typeof ACTIONS)[number]

/** The closing meaning of each action. */
const CLOSINGS: Readonly<Partial<Record<Action, Closing>>> = {
  deny_tool: 'deny',
  deny: 'deny',
  ask_user: 'ask_user',
  abort_turn: 'abort_turn',
  hard_abort: 'hard_abort',
}

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
  const unknown = noteUnknownTop(reading, source, saidKeys(intercept, source))
  const closing = closingOf(reading, source)
  const action = closing ?? actionOf(reading, source)
  const reason = reasonOf(reading, source)
  if (!action) refuseVerdictless(intercept, unknown, reason)
  if (action === 'respond') return responded(reading, event, source, reason)
  const said = saidBeside(reading, source)
  const effects = { ...said, ...joined(said, changesOf(reading, event, source)) }
  const missing = action === 'inject_context' ? lacking({ ...said, action }) : undefined
  if (missing !== undefined) problems.push(missing)
  if (problems.length > 0) failOrNote(reading, closing)
  if (action === 'modify' && !effects.data) refuseIdle(reading, source)
  noteIdle(reading, source)
  return closing ? closed(closing, reason, effects, source) : going(effects, reason)
}

/** Both may change the call. The protocol's own field wins. */
function joined(said: Said, changes: Effects): Effects {
  return said.data && changes.data ? { ...changes, data: { ...said.data, ...changes.data } } : changes
}

/** A word that refuses, asks or stops counts wherever it is. It must never be lost. */
function closingOf({ intercept, note }: Reading, source: Data): Closing | undefined {
  const exact = ACTIONS.find((one) => one === source.action)
  const own = exact && CLOSINGS[exact]
  if (exact === 'deny_tool' && intercept !== 'before_tool') {
    const text = `deny_tool is an action of hook.before_tool; on ${INTERCEPTS[intercept].method} it counts as a deny; use abort_turn`
    note({ code: 'answer-misplaced', text, todo: 'Answer "action":"abort_turn".' })
  }
  const found = closingAmong(entriesOf(source))
  if (!found || (own && rankOf(own) >= rankOf(found.means))) return own
  const right = found.means === 'deny' ? 'deny_tool' : found.means
  const text = `${found.said} counts as "action":"${right}"; write that`
  note({ code: 'answer-misplaced', text, todo: `Answer "action":"${right}".` })
  return found.means
}

function actionOf({ intercept }: Reading, { action }: Data): Action | undefined {
  if (action === undefined || action === '') return undefined
  const known = ACTIONS.find((one) => one === action)
  if (known) return known
  const near = typeof action === 'string' ? likelyAction(action) : undefined
  const guess = near ? `; did you mean ${near}?` : ''
  throw invalid(
    intercept,
    `action ${told(action)} is unknown; it must be one of ${ACTIONS.join(', ')}${guess}`,
  )
}

/** HookResult's own fields. After a model call, `response` belongs to the protocol; elsewhere it needs `respond`. */
function saidKeys(intercept: Intercept, source: Data): readonly string[] {
  const action = ACTIONS.some((one) => one === source.action) ? 'continue' : undefined
  return Object.keys(source).filter((key) => {
    if (key === 'response') return source.action === 'respond' && intercept !== 'after_llm'
    return isSaid(key, action) && key !== 'reason'
  })
}

/** Its fields of HookResult, except for the verdict. */
function saidBeside({ intercept, problems }: Reading, source: Data): Omit<Said, 'action' | 'response'> {
  const own = saidKeys(intercept, source).map((key) => [key, source[key]])
  const {
    action: _,
    response,
    ...said
  } = saidIn({ ...Object.fromEntries(own), action: 'continue' }, problems)
  return said
}

/** A reason or a field of another system shows that a verdict was intended, so the answer must not count as an approval. */
function refuseVerdictless(
  intercept: Intercept,
  unknown: readonly string[],
  reason: string | undefined,
): void {
  const [first] = unknown
  if (first !== undefined) {
    const text = `it has no action, and an answer has no field ${told(first)}${meant(intercept, first)}`
    throw invalid(intercept, text)
  }
  if (reason !== undefined)
    throw invalid(intercept, 'it has no action, and a reason means nothing without one')
}

function reasonOf({ problems }: Reading, { reason }: Data): string | undefined {
  if (reason !== undefined && typeof reason !== 'string') {
    problems.push(`reason must be a string, got ${told(reason)}`)
  }
  return isText(reason) ? reason : undefined
}

type Beside = Omit<Said, 'action'>

function going(effects: Beside, reason: string | undefined): HookResult {
  const action = effects.data ? 'modify' : effects.contextInjection ? 'inject_context' : 'continue'
  return { ...effects, action, ...(reason !== undefined && { reason }) }
}

const NO_REASON: Readonly<Record<Closing, string>> = {
  deny: 'Denied by a hook that gave no reason',
  ask_user: 'A hook wants a person to decide',
  abort_turn: 'A hook ended the turn and gave no reason',
  hard_abort: 'A hook ended the agent and gave no reason',
}

/** A closing answer counts on every method. It must never be lost. */
function closed(closing: Closing, given: string | undefined, effects: Beside, source: Data): HookResult {
  const { permission: _, ...rest } = effects
  const reason = given ?? closingAmong(entriesOf(source))?.reason
  if (closing !== 'ask_user') return { ...rest, action: closing, reason: reason ?? NO_REASON[closing] }
  const terms = approvalTerms([source], [])
  const approvalPrompt = isText(terms.approvalPrompt) ? terms.approvalPrompt : (reason ?? NO_REASON.ask_user)
  return { ...rest, action: 'ask_user', ...terms, approvalPrompt, ...(reason !== undefined && { reason }) }
}

/** Malformed fields are a failure, unless the answer closes, which stands without them. */
function failOrNote({ intercept, problems, note }: Reading, closing: Closing | undefined): void {
  if (!closing) throw invalid(intercept, problems.join('; '))
  for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the ${closing} stands` })
}

/** If a hook wants a change but makes none, the original must not go on as if all was well. */
function refuseIdle({ intercept, unknown }: Reading, source: Data): void {
  const object = intercept === 'approve_tool' ? '' : CHANGED_OBJECT[intercept]
  if (source[object] === undefined) {
    throw invalid(intercept, `modify changes nothing without ${JSON.stringify(object)}`)
  }
  if (unknown.length > 0)
    throw invalid(intercept, `modify changes nothing: an answer has no field ${unknown.join(', ')}`)
}

function noteIdle({ intercept, note }: Reading, source: Data): void {
  if (intercept === 'before_tool' && source.result !== undefined) {
    note({ code: 'answer-misplaced', text: `"result" only counts with "action":"respond"; it is ignored` })
  }
}

/** A result instead of the tool's. A `call` beside it changes nothing. */
function responded(reading: Reading, event: HookEvent, source: Data, reason: string | undefined): HookResult {
  const { intercept, problems } = reading
  if (intercept !== 'before_tool') {
    throw invalid(intercept, 'respond answers instead of a tool, and only works on hook.before_tool')
  }
  const { permission: _, data: __, ...said } = saidBeside(reading, source)
  const more = { ...said, ...(reason !== undefined && { reason }) }
  noteUnusedCall(reading, event, source)
  // HookResult's own field, which may be any JSON.
  if (source.result === undefined && source.response !== undefined && problems.length === 0) {
    return { ...more, action: 'respond', response: source.response }
  }
  const result = innerObject(reading, source, 'result', RESULT_FIELDS)
  if (result === undefined && problems.length === 0) problems.push('respond needs "result"')
  if (result && result.for_llm === undefined && problems.length === 0)
    problems.push(`result.for_llm is missing`)
  if (problems.length > 0) throw invalid(intercept, problems.join('; '))
  return { ...more, ...userMessage(result ?? {}), action: 'respond', response: result as Data }
}

function noteUnusedCall(reading: Reading, event: HookEvent, source: Data): void {
  const call = innerObject(reading, source, 'call', CALL_FIELDS)
  if (!call) return
  const sent = encodeCall(reading.intercept, event)
  const changed = (['tool', 'arguments'] as const).filter(
    (key) => call[key] !== undefined && !sameJson(call[key], sent[key]),
  )
  if (changed.length === 0) return
  const text = `with respond, a call changes nothing: ${changed.map((key) => `call.${key}`).join(', ')} is ignored`
  reading.note({ code: 'verdict-ignored', text })
}

// ---- approvers ------------------------------------------------------------------------------------------------

/** Fields of an approver that tries to change the call. */
const CHANGES = ['call', 'request', 'result', 'response', 'tool', 'arguments']

function approval(reading: Reading, source: Data): HookResult {
  const { intercept, note, problems } = reading
  noteUnknownTop(reading, source, ['action', ...CHANGES, ...saidKeys(intercept, source)])
  const changes = CHANGES.filter((key) => source[key] !== undefined)
  if (changes.length > 0) {
    const text = `an approver may not change the call: ${changes.join(', ')} is ignored; use hook.before_tool`
    note({ code: 'verdict-ignored', text })
  }
  const reason = reasonOf(reading, source)
  const { approved, action } = source
  const closing = closingOfApprover(reading, source)
  if (closing) {
    for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the verdict stands` })
    return closed(closing, reason, {}, source)
  }
  if (approved !== true) problems.unshift(notApproved(source))
  else if (action !== undefined && action !== '' && action !== 'continue') {
    problems.unshift(
      `"approved":true contradicts "action":${told(action)}: an approver can only approve or refuse`,
    )
  }
  if (problems.length > 0) throw invalid(intercept, problems.join('; '))
  return going({}, reason)
}

/** Its own word is `approved`, but every other closing word counts too, whatever is beside it. */
function closingOfApprover(reading: Reading, source: Data): Closing | undefined {
  const { approved, action } = source
  const found = closingAmong(entriesOf(source))
  if (!found) return undefined
  if (approved !== false) {
    const text = `${found.said} counts, but an approver answers "approved":true or "approved":false`
    reading.note({ code: 'answer-misplaced', text })
  } else if (action !== undefined && action !== '') {
    const text = `"action":${told(action)} has no effect on hook.approve_tool; "approved":false counts`
    reading.note({ code: 'answer-misplaced', text })
  }
  return found.means
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
