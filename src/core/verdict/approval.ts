// Asking a person: one question for all hooks that ask, one answer, grants for "allow always".

import { randomUUID } from 'node:crypto'
import { callDigest, callOf, digest, grantDigest } from '../base/digest.js'
import { type Data, frozenCopy, isObject, type Json } from '../base/json.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { timestamp } from '../base/time.js'
import type { HookResult } from '../events/result.js'
import type { Hook, SessionInfo } from '../hooks/hook.js'
import type { ApprovalAnswer, Question } from '../hooks/outcome.js'

/** A hook that asks, and how. */
export interface Asking {
  readonly hook: Hook
  readonly answer: HookResult
}

/** The approver's answer: one of the options, alone or with more. */
export type Reply =
  | string
  | {
      readonly option: string
      readonly reason?: string
      readonly by?: string
      /** A patch over the event data: the person edited the call. It is judged again. */
      readonly data?: object
      /** When the grant of an "allow always" ends, ISO-8601. */
      readonly expires?: string
      /** Proves to the store of grants that a person said "always". It is not stored. */
      readonly proof?: string
      /** Everybody who allowed it. The approver vouches that they are different people. */
      readonly people?: readonly string[]
    }

/** Nobody has answered yet. The outcome stays `ask_user`, and its reason says how to get an answer. */
export interface Unanswered {
  readonly unanswered: string
}

/** Asks a person and returns the choice. The signal is aborted when nothing waits for the answer any more. */
export type Approver = (
  question: Question,
  signal: AbortSignal,
) => Reply | Unanswered | Promise<Reply | Unanswered>

/** One "allow always" of the user, bound to a hook, an event, a tool, a directory and a call. */
export interface Grant {
  readonly id: string
  readonly hook: string
  readonly event: string
  readonly tool: string
  readonly cwd: string
  readonly digest: string
  /** The beginning of the call's input, without secrets, for lists of grants. */
  readonly about?: string
  /** Who said "always". */
  readonly by?: string
  readonly created: string
  readonly expires?: string
}

const DEFAULT_TIMEOUT = 300
const LONGEST_ABOUT = 200
const DEFAULT_PROMPT = 'Allow this operation?'
const DEFAULT_OPTIONS = ['Allow', 'Deny']

const ALLOWS = /^allow\b/i
export const ALLOWS_ALWAYS = /^allow always\b/i

/** Makes one question for all hooks that ask: the shortest timeout, deny by default if any hook says so, "always" only if all offer it. */
export function questionFor(
  event: string,
  { id: session, cwd }: Pick<SessionInfo, 'id' | 'cwd'>,
  data: Data,
  asking: readonly Asking[],
  now: number,
): Question {
  const timeout = Math.min(...asking.map(({ answer }) => answer.approvalTimeout ?? DEFAULT_TIMEOUT))
  const offers = asking.flatMap(({ answer }) => optionsOf(answer.approvalOptions))
  const always = asking.every(offersAlways)
  const options = [...new Set(offers)].filter((option) => always || !ALLOWS_ALWAYS.test(option))
  if (!options.some((option) => /^deny\b/i.test(option))) options.push('Deny')
  const exact = callDigest(event, data)
  const people = Math.max(...asking.map(peopleFor))
  const several: Pick<Question, 'people'> & Data = people > 1 ? { people } : {}
  const asks = asking.map((one) => ({
    hook: one.hook.name,
    prompt: withoutSecrets(plainText(one.answer.approvalPrompt ?? DEFAULT_PROMPT)),
    ...(one.answer.reason && { reason: withoutSecrets(plainText(one.answer.reason)) }),
  }))
  const hooks = asking.map(({ hook }, i) => ({
    id: hook.id,
    content: hook.content ?? null,
    prompt: asks[i]?.prompt ?? '',
  }))
  const question: Question = {
    id: randomUUID(),
    event,
    session,
    ...(cwd !== undefined && { cwd }),
    digest: exact,
    binding: digest({ exact, beside: besideOf(data), session, cwd: cwd ?? null, hooks, options, ...several }),
    call: shownCall(data),
    asks,
    options,
    timeout,
    default:
      people === 1 && asking.every(({ answer }) => answer.approvalDefault === 'allow') ? 'allow' : 'deny',
    ...several,
    expires: timestamp(now + timeout * 1000),
  }
  return frozenCopy(question, 'the question') as unknown as Question
}

/** How many different people must allow the call for this hook. */
export function peopleFor({ answer }: Asking): number {
  return answer.approvalPeople ?? 1
}

/** Fields that say who calls which tool. If one of them differs, the same input means something else. */
export const BESIDE = [
  'agent_id',
  'agent_type',
  'host_tool_name',
  'mcp_server',
  'channel',
  'chat_id',
] as const

function besideOf(data: Data): Data {
  const fields = BESIDE.filter((key) => (data[key] ?? null) !== null)
  return Object.fromEntries(fields.map((key) => [key, data[key] as Json]))
}

/** The call, its caller and its id. The id tells two equal calls apart, but a retry has a new one, so no answer is bound to it. */
function shownCall(data: Data): Data {
  const call = callOf(data)
  if (typeof data.tool_name !== 'string') return call
  const id: Data = typeof data.tool_use_id === 'string' ? { tool_use_id: data.tool_use_id } : {}
  return { ...call, ...id, ...besideOf(data) }
}

/** A misspelt edit must not approve the unedited call. */
const REPLY_KEYS: readonly string[] = ['option', 'reason', 'by', 'data', 'expires', 'proof', 'people']

/** Options are cleaned as for a terminal, so that none can pass for another. */
function optionsOf(given: readonly string[] | undefined): readonly string[] {
  const options = (given ?? DEFAULT_OPTIONS).map((option) => plainText(option).replace(/\s+/g, ' ').trim())
  return options.filter((option) => option !== '')
}

interface ReadReply extends ApprovalAnswer {
  readonly data?: object
  readonly isOffered: boolean
  readonly proof?: string
}

/** Reads a reply. An option that was not offered is a deny; undefined if it is not a reply at all. */
export function readReply(question: Question, reply: unknown, at: string): ReadReply | undefined {
  const given = isObject(reply) ? reply : { option: reply }
  if (typeof given.option !== 'string') return undefined
  if (Object.keys(given).some((key) => !REPLY_KEYS.includes(key))) return undefined
  if (given.data !== undefined && given.data !== null && !isObject(given.data)) return undefined
  const option = given.option.trim()
  const offered = question.options.some((one) => one.toLowerCase() === option.toLowerCase())
  const people = given.people === undefined ? undefined : namesIn(given.people)
  if (given.people !== undefined && !people) return undefined
  return {
    decision: offered && ALLOWS.test(option) ? 'allow' : 'deny',
    isOffered: offered,
    option,
    ...(typeof given.reason === 'string' && { reason: given.reason }),
    by: typeof given.by === 'string' ? given.by : 'person',
    ...(people && { people }),
    at,
    ...(isObject(given.data) && { data: given.data }),
    ...(typeof given.expires === 'string' && { expires: given.expires }),
    ...(typeof given.proof === 'string' && { proof: given.proof }),
  }
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [...value] : undefined
}

/** How many different people these are. Names that differ only in case or spaces are one. */
export function countPeople(names: readonly string[]): number {
  return new Set(names.map((name) => name.normalize('NFKC').trim().toLowerCase())).size
}

/** Whether an allow of these people is enough for the question. */
export function isEnough({ people = 1 }: Question, allowedBy: readonly string[]): boolean {
  return people <= 1 || countPeople(allowedBy) >= people
}

/** Whether the approver says explicitly that nobody has answered yet. */
export function isUnanswered(reply: unknown): reply is Unanswered {
  return isObject(reply) && typeof reply.unanswered === 'string' && Object.keys(reply).length === 1
}

/** Why a call was not approved, for the model. */
export function refusalReason(question: Question, answer: ApprovalAnswer): string {
  const prompt = question.asks
    .map((ask) => ask.prompt)
    .join('; ')
    .slice(0, 200)
  const because = answer.reason ? ` (${answer.reason})` : ''
  if (answer.by === 'default' && answer.reason)
    return `Approval failed - denied by default: ${prompt}${because}`
  if (answer.by === 'default')
    return `Approval timeout - denied by default: ${prompt} (nobody answered within ${question.timeout} s; the hook's approvalTimeout sets how long)`
  if (answer.by === 'host') return `No approval system available: ${prompt}`
  return `User denied: ${prompt}${because}`
}

/** A call that hooks ask about, with its place and time. */
export interface AskedCall {
  readonly event: string
  readonly data: Data
  readonly cwd: string | undefined
  /** Milliseconds since 1970. */
  readonly now: number
}

export function grantFor(one: Asking, asked: AskedCall, { by, expires }: Partial<ApprovalAnswer>): Grant {
  const { data, now } = asked
  const about = withoutSecrets(plainText(JSON.stringify(data.tool_input ?? null))).slice(0, LONGEST_ABOUT)
  return {
    id: randomUUID(),
    ...boundTo(one, asked),
    about,
    ...(by !== undefined && { by }),
    created: timestamp(now),
    ...(expires !== undefined && { expires }),
  }
}

/** The grant that answers this hook. No grant answers a hook that no longer offers "always". */
export function grantOf(grants: readonly Grant[], one: Asking, asked: AskedCall): Grant | undefined {
  if (!offersAlways(one)) return undefined
  const bound = boundTo(one, asked)
  return grants.find(
    (grant) =>
      grant.hook === bound.hook &&
      grant.event === bound.event &&
      grant.tool === bound.tool &&
      grant.cwd === bound.cwd &&
      grant.digest === bound.digest &&
      (grant.expires === undefined || Date.parse(grant.expires) > asked.now),
  )
}

/** Where several people must allow each call, nobody allows it always. */
export function offersAlways(one: Asking): boolean {
  const { answer } = one
  if (peopleFor(one) > 1) return false
  return optionsOf(answer.approvalOptions).some((option) => ALLOWS_ALWAYS.test(option))
}

/** Uses the session's directory, so that a hook that changes `cwd` does not change where a grant applies. */
function boundTo({ hook }: Asking, { event, data, cwd }: AskedCall) {
  return {
    hook: hook.id,
    event,
    tool: String(data.tool_name ?? ''),
    cwd: cwd ?? '',
    digest: grantDigest(event, data),
  }
}

// ---- the effect of an option, whatever a hook calls it

export type Effect = 'allow' | 'always' | 'deny'

/** Uses readReply, so that the effect shown to a person is always the one that counts. */
export function effectOf(question: Question, option: string): Effect {
  if (readReply(question, option, '')?.decision !== 'allow') return 'deny'
  return ALLOWS_ALWAYS.test(option) ? 'always' : 'allow'
}

/** The first option with this effect; undefined if none is offered. */
export function optionFor(question: Question, effect: Effect): string | undefined {
  return question.options.find((option) => effectOf(question, option) === effect)
}

/** A deny is always among the options. An option that was not offered would be a deny too. */
export function denyOf(question: Question): string {
  return question.options.find((option) => /^deny\b/i.test(option)) ?? 'Deny'
}
