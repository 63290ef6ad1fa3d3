// Asking a person: one question for all hooks that ask, one answer, grants for "allow always".

import { randomUUID } from 'node:crypto'
import type { Data } from '../base/json.js'
import { frozenCopy, isObject } from '../base/json.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { timestamp } from '../base/timestamp.js'
import type { HookResult } from '../events/result.js'
import type { Hook, SessionInfo } from '../hooks/hook.js'
import { callDigest, callOf, digest, grantDigest } from './digest.js'

/** A hook that asks, and how. */
export interface Asking {
  readonly hook: Hook
  readonly answer: HookResult
}

export interface Ask {
  /** The hook's name. */
  readonly hook: string
  readonly prompt: string
  readonly reason?: string
}

/** What a person is shown. */
export interface Question {
  readonly id: string
  readonly event: string
  readonly session: string
  /** Where the session works: the same command is another one elsewhere. */
  readonly cwd?: string
  /** Of the exact call: an answer counts for no other. */
  readonly digest: string
  /** Of call, session, directory and who asks what: an answer given elsewhere or later counts for nothing else. */
  readonly binding: string
  readonly call: Data
  readonly asks: readonly Ask[]
  /** An option allows if it begins with the word "allow". A deny is always among them. */
  readonly options: readonly string[]
  /** Seconds. */
  readonly timeout: number
  /** On time-out or error. */
  readonly default: 'allow' | 'deny'
  /** ISO-8601. */
  readonly expires: string
}

/** What the approver answers: one of the options, alone or with more. */
export type Reply =
  | string
  | {
      readonly option: string
      readonly reason?: string
      readonly by?: string
      /** A patch over the event data: the person edited the call. It is judged again. */
      readonly data?: object
      /** With "allow always": when the grant ends, ISO-8601. */
      readonly expires?: string
    }

/** Nobody has answered yet: the outcome stays `ask_user`, and its reason says what to do to get an answer. */
export interface Unanswered {
  readonly unanswered: string
}

/** Asks a person, and answers what was chosen. The signal says that nobody waits any more. */
export type Approver = (
  question: Question,
  signal: AbortSignal,
) => Reply | Unanswered | Promise<Reply | Unanswered>

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  /** What was chosen; absent where nobody chose (time-out, error, grant, hook). */
  readonly option?: string
  readonly reason?: string
  /** A person's name as the approver gives it, `person`, `grant`, `default`, `host`, or a hook's name. */
  readonly by: string
  readonly at: string
  /** When a grant that it makes ends. */
  readonly expires?: string
}

/** What was asked and, where somebody answered, what. */
export interface Approval {
  readonly question: Question
  readonly answer?: ApprovalAnswer
}

/** One "allow always": the user's, bound to hook, event, tool, directory and call. */
export interface Grant {
  readonly id: string
  readonly hook: string
  readonly event: string
  readonly tool: string
  readonly cwd: string
  readonly digest: string
  /** The beginning of the call's input, without secrets, for whoever lists them. */
  readonly about?: string
  readonly created: string
  readonly expires?: string
}

const DEFAULT_TIMEOUT = 300
const LONGEST_ABOUT = 200
const DEFAULT_PROMPT = 'Allow this operation?'
const DEFAULT_OPTIONS = ['Allow', 'Deny']

const ALLOWS = /^allow\b/i
export const ALLOWS_ALWAYS = /^allow always\b/i

/** One question for all who ask: shortest time-out, deny by default if any says so, "always" only if all offer it. */
export function questionFor(
  event: string,
  { id: session, cwd }: Pick<SessionInfo, 'id' | 'cwd'>,
  data: Data,
  asking: readonly Asking[],
  now: number,
): Question {
  const timeout = Math.min(...asking.map(({ answer }) => answer.approvalTimeout ?? DEFAULT_TIMEOUT))
  const offers = asking.map(({ answer }) => optionsOf(answer.approvalOptions))
  const options = [...new Set(offers.flat())].filter(
    (option) =>
      !ALLOWS_ALWAYS.test(option) || offers.every((offer) => offer.some((one) => ALLOWS_ALWAYS.test(one))),
  )
  if (!options.some((option) => /^deny\b/i.test(option))) options.push('Deny')
  const exact = callDigest(event, data)
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
    binding: digest({ exact, session, cwd: cwd ?? null, hooks, options }),
    call: callOf(data),
    asks,
    options,
    timeout,
    default: asking.every(({ answer }) => answer.approvalDefault === 'allow') ? 'allow' : 'deny',
    expires: timestamp(now + timeout * 1000),
  }
  return frozenCopy(question, 'the question') as unknown as Question
}

/** A misspelt edit must not approve the call as it was. */
const REPLY_KEYS: readonly string[] = ['option', 'reason', 'by', 'data', 'expires']

/** As a terminal shows them, so that no option can pass for another. */
function optionsOf(given: readonly string[] | undefined): readonly string[] {
  const options = (given ?? DEFAULT_OPTIONS).map((option) => plainText(option).replace(/\s+/g, ' ').trim())
  return options.filter((option) => option !== '')
}

/** Reads a reply. What was not offered is a deny; undefined for what is no reply at all. */
export function readReply(
  question: Question,
  reply: unknown,
  at: string,
): (ApprovalAnswer & { readonly data?: object; readonly isOffered: boolean }) | undefined {
  const given = isObject(reply) ? reply : { option: reply }
  if (typeof given.option !== 'string') return undefined
  if (Object.keys(given).some((key) => !REPLY_KEYS.includes(key))) return undefined
  if (given.data !== undefined && given.data !== null && !isObject(given.data)) return undefined
  const option = given.option.trim()
  const offered = question.options.some((one) => one.toLowerCase() === option.toLowerCase())
  return {
    decision: offered && ALLOWS.test(option) ? 'allow' : 'deny',
    isOffered: offered,
    option,
    ...(typeof given.reason === 'string' && { reason: given.reason }),
    by: typeof given.by === 'string' ? given.by : 'person',
    at,
    ...(isObject(given.data) && { data: given.data }),
    ...(typeof given.expires === 'string' && { expires: given.expires }),
  }
}

/** Whether the approver says, in so many words, that nobody has answered yet. */
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
  if (answer.by === 'default') return `Approval timeout - denied by default: ${prompt}`
  if (answer.by === 'host') return `No approval system available: ${prompt}`
  return `User denied: ${prompt}${because}`
}

export function grantFor(
  one: Asking,
  event: string,
  data: Data,
  cwd: string | undefined,
  now: number,
  expires?: string,
): Grant {
  const about = withoutSecrets(plainText(JSON.stringify(data.tool_input ?? null))).slice(0, LONGEST_ABOUT)
  const grant = { id: randomUUID(), ...boundTo(one, event, data, cwd), about, created: timestamp(now) }
  return expires === undefined ? grant : { ...grant, expires }
}

export function isGranted(
  grants: readonly Grant[],
  one: Asking,
  event: string,
  data: Data,
  cwd: string | undefined,
  now: number,
): boolean {
  const bound = boundTo(one, event, data, cwd)
  return grants.some(
    (grant) =>
      grant.hook === bound.hook &&
      grant.event === bound.event &&
      grant.tool === bound.tool &&
      grant.cwd === bound.cwd &&
      grant.digest === bound.digest &&
      (grant.expires === undefined || Date.parse(grant.expires) > now),
  )
}

/** The directory is the session's: a hook that changes `cwd` does not change where a grant holds. */
function boundTo({ hook }: Asking, event: string, data: Data, cwd: string | undefined) {
  return {
    hook: hook.id,
    event,
    tool: String(data.tool_name ?? ''),
    cwd: cwd ?? '',
    digest: grantDigest(event, data),
  }
}
