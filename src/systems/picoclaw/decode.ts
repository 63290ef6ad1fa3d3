// Reads a resident hook's answer. Throws for a failure; the kernel decides what a failure counts as.

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

/** The protocol's actions, and those that HookResult has besides. */
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

/** What each action closes with. */
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

/** Both may change the call; the protocol's own field counts more. */
function joined(said: Said, changes: Effects): Effects {
  return said.data && changes.data ? { ...changes, data: { ...said.data, ...changes.data } } : changes
}

/** A word that refuses, asks or stops counts wherever it stands: it must not be lost. */
function closingOf({ intercept, note }: Reading, source: Data): Closing | undefined {
  const exact = ACTIONS.find((one) => one === source.action)
  const own = exact && CLOSINGS[exact]
  if (exact === 'deny_tool' && intercept !== 'before_tool') {
    const text = `deny_tool is an action of hook.before_tool; it counts on ${INTERCEPTS[intercept].method} as a deny; use abort_turn`
    note({ code: 'answer-misplaced', text })
  }
  const found = closingAmong(entriesOf(source))
  if (!found || (own && rankOf(own) >= rankOf(found.means))) return own
  const right = found.means === 'deny' ? 'deny_tool' : found.means
  note({ code: 'answer-misplaced', text: `${found.said} counts as "action":"${right}"; write that` })
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

/** HookResult's own fields. `response` is the protocol's own after a model call, and says nothing without `respond`. */
function saidKeys(intercept: Intercept, source: Data): readonly string[] {
  const action = ACTIONS.some((one) => one === source.action) ? 'continue' : undefined
  return Object.keys(source).filter((key) => {
    if (key === 'response') return source.action === 'respond' && intercept !== 'after_llm'
    return isSaid(key, action) && key !== 'reason'
  })
}

/** What it says in HookResult's words, beside its verdict. */
function saidBeside({ intercept, problems }: Reading, source: Data): Omit<Said, 'action' | 'response'> {
  const own = saidKeys(intercept, source).map((key) => [key, source[key]])
  const {
    action: _,
    response,
    ...said
  } = saidIn({ ...Object.fromEntries(own), action: 'continue' }, problems)
  return said
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

/** What closes counts on every method: it must never be lost. */
function closed(closing: Closing, given: string | undefined, effects: Beside, source: Data): HookResult {
  const { permission: _, ...rest } = effects
  const reason = given ?? closingAmong(entriesOf(source))?.reason
  if (closing !== 'ask_user') return { ...rest, action: closing, reason: reason ?? NO_REASON[closing] }
  const terms = approvalTerms([source], [])
  const approvalPrompt = isText(terms.approvalPrompt) ? terms.approvalPrompt : (reason ?? NO_REASON.ask_user)
  return { ...rest, action: 'ask_user', ...terms, approvalPrompt, ...(reason !== undefined && { reason }) }
}

/** Malformed fields are a failure, unless what closes stands without them. */
function failOrNote({ intercept, problems, note }: Reading, closing: Closing | undefined): void {
  if (!closing) throw invalid(intercept, problems.join('; '))
  for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the ${closing} stands` })
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
  const { permission: _, data: __, ...said } = saidBeside(reading, source)
  const more = { ...said, ...(reason !== undefined && { reason }) }
  noteUnusedCall(reading, event, source)
  // HookResult's own field for it, which may be any JSON.
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
  const text = `a call beside respond changes nothing: ${changed.map((key) => `call.${key}`).join(', ')} is ignored`
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
      `"approved":true beside "action":${told(action)}: an approver approves or refuses, no more`,
    )
  }
  if (problems.length > 0) throw invalid(intercept, problems.join('; '))
  return going({}, reason)
}

/** Its own word is `approved`; every other that closes stands as well, whatever is beside it. */
function closingOfApprover(reading: Reading, source: Data): Closing | undefined {
  const { approved, action } = source
  const found = closingAmong(entriesOf(source))
  if (!found) return undefined
  if (approved !== false) {
    const text = `${found.said} counts, but an approver answers "approved":true or "approved":false`
    reading.note({ code: 'answer-misplaced', text })
  } else if (action !== undefined && action !== '') {
    const text = `"action":${told(action)} is not read on hook.approve_tool; "approved":false counts`
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
