// The interface of approvals: questions that wait for a person. One process raises them, another answers, and each answer is used once.

import { canonicalJson, type Data } from '../core/base/json.js'
import type { MaybePromise } from '../core/base/promise.js'
import { cutText, plainText } from '../core/base/text.js'
import { timestamp } from '../core/base/time.js'
import type { Question } from '../core/hooks/outcome.js'
import { denyOf, type Effect, optionFor } from '../core/verdict/approval.js'

/**
 * The questions of all projects of one user. Every method may return its result or a promise, so callers await it. Every
 * method throws (or rejects with) an Error that says what happened, where, and what to do. The caller must then refuse the call.
 *
 * - `raise` is atomic: the same question is open once, however many processes raise it. See isSameQuestion.
 * - `answer` is atomic: the first answer counts, and later callers learn which one that was.
 * - `take` is atomic: only one taker uses an allow.
 * - Only an answer that a person gave through Carabiner counts. A forged, changed or expired one does not.
 * - `answer` throws if it would allow something and an agent runs the process, unless this process raised the question and
 *   declared at that time that it answers its own questions.
 * - On a machine with a list of approvers, or in a fleet, an allow counts only with the signature of one of them, both in `answer` and in
 *   `take`. A process that answers its own questions is exempt.
 * - If several people must allow a question, `answer` counts their signed allows, each person once, and the last one
 *   needed is the answer. One deny is an answer at once. `raise` throws if there are not so many people who may allow here.
 */
export interface Approvals {
  /** Throws if this project could write the answers itself. Call it before relying on any answer. */
  checkOutside(project: string): MaybePromise<void>

  /** Returns the same question if it is already open. Throws if too many questions of this project are open. */
  raise(question: Question, where: { readonly project: string }): MaybePromise<Raised>

  /** Needs the whole id: a prefix may match another question a moment later. */
  answer(id: string, given: AnswerGiven): MaybePromise<AnswerResult>

  /** The answer to exactly this question. An allow is used up; a deny holds until it expires. */
  take(question: Question): MaybePromise<Taken | undefined>

  /** Takes the answer as soon as it is given. Resolves to undefined when the time is up or the wait is aborted. */
  wait(question: Question, options: WaitOptions): Promise<Taken | undefined>

  /** The questions that wait for a person, the oldest first. Without `of`, those of all projects. */
  open(of?: OpenOf): MaybePromise<readonly Pending[]>

  /** How many questions wait, without reading them. */
  waiting(project: string): MaybePromise<{ readonly here: number; readonly elsewhere: number }>

  /** Finds a question by its id, or by a unique prefix of it. */
  get(typed: string): MaybePromise<Found>

  /** Announces that a person sees open questions as they arrive, until `end` is called or this process dies. */
  watching(): MaybePromise<Watching>

  isWatched(): MaybePromise<boolean>
}

/** Which open questions are wanted. */
export interface OpenOf {
  readonly project: string
  /** At most so many: those that expire first. */
  readonly most?: number
}

/** A question that waits, or waited, for a person. */
export interface Pending {
  /** The id that a person types: `k7f3-9qxd`. */
  readonly id: string
  readonly question: Question
  /** The directory of the project that raised it. */
  readonly project: string
  readonly raisedBy: { readonly pid: number; readonly host: string }
  /** ISO-8601. */
  readonly asked: string
  /** ISO-8601. From then on, no answer counts. */
  readonly expires: string
  /** The era of `expires`, if the system's clock was ever set back. If it is set back again, the question expires. */
  readonly era?: number
  /** The process that asked may answer, even if an agent started it. Only queues with the same option accept the answer. */
  readonly answersOwnQuestions?: true
}

export interface Raised extends Pending {
  /** False if the same question was already open. */
  readonly isNew: boolean
  /** Only a signature allows it: by a passkey on this machine, or by the people of its fleet. */
  readonly needs?: 'passkey' | 'fleet'
}

/** How a person answers: with an offered option, or with the effect it should have. */
export type AnswerGiven = {
  readonly reason?: string
  /** Who answers. If it is signed, the name of the signer counts instead. */
  readonly by: string
  readonly signature?: Signature
} & (
  | { readonly option: string; readonly decision?: never }
  | { readonly decision: Effect; readonly option?: never }
)

/** An answer as stored. */
export interface GivenAnswer {
  readonly id: string
  readonly binding: string
  /** One of the offered options. */
  readonly option: string
  readonly reason?: string
  /** Who answered. */
  readonly by: string
  /** ISO-8601. */
  readonly at: string
  /** ISO-8601. The answer counts until then. */
  readonly expires: string
  readonly signature?: Signature
  /** The allows before this one, if several people had to allow it. */
  readonly earlier?: readonly Vote[]
}

/** The allow of one of several people. */
export interface Vote extends Pick<GivenAnswer, 'option' | 'by' | 'at'> {
  readonly signature: Signature
}

/** A person's signature on one answer. */
export type Signature = PasskeySignature | KeySignature

/** What a passkey returned. Every field but `kind` and `nonce` is base64url. */
export interface PasskeySignature {
  readonly kind?: 'passkey'
  /** The passkey. */
  readonly id: string
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
  /** Part of what was signed. */
  readonly nonce: string
}

/** By an Ed25519 key of a person in a fleet. */
export interface KeySignature {
  readonly kind: 'ed25519'
  /** The public key, base64url. */
  readonly id: string
  readonly signature: string
  readonly nonce: string
}

/** An answer that counts. */
export interface Taken extends GivenAnswer {
  readonly decision: 'allow' | 'deny'
  /** Everybody who allowed it, if several people had to. */
  readonly people?: readonly string[]
  /** Present for "allow always". Lets the store of grants keep it, even in an agent's shell. */
  readonly proof?: string
}

export type AnswerResult =
  | { readonly status: 'answered'; readonly pending: Pending; readonly answer: GivenAnswer }
  /** It is an allow, and that many more people have to allow it. */
  | { readonly status: 'counted'; readonly pending: Pending; readonly more: number }
  /** Somebody was faster. `answer` is theirs, and `used` tells whether it was used. */
  | {
      readonly status: 'too-late'
      readonly pending: Pending
      readonly answer: GivenAnswer
      readonly used: boolean
    }
  | { readonly status: 'expired'; readonly pending: Pending }
  /** It would allow something without a signature that counts. */
  | { readonly status: 'not-signed'; readonly why: string }
  /** The question has no such option. */
  | { readonly status: 'not-offered'; readonly options: readonly string[] }
  | { readonly status: 'unknown'; readonly nearest?: string }

export type Found =
  | {
      readonly status: 'open' | 'answered' | 'used' | 'expired'
      readonly pending: Pending
      readonly answer?: GivenAnswer
      /** Who has allowed an open question so far, if several people have to. */
      readonly allowed?: readonly string[]
    }
  | { readonly status: 'ambiguous'; readonly ids: readonly string[] }
  | { readonly status: 'unknown'; readonly nearest?: string }

export interface WaitOptions {
  /** Abort it to stop waiting. Then no answer is taken. */
  readonly signal?: AbortSignal
  /** On the clock of `performance.now()`. */
  readonly until: number
  /** Called now and then. False ends the wait. */
  readonly isWorthwhile?: () => MaybePromise<boolean>
}

export interface Watching {
  /** Idempotent. */
  end(): MaybePromise<void>
}

// ---- rules that every implementation shares -------------------------------------------------------------------

const LONGEST_REASON = 4096
const LONGEST_NAME = 200

/** The meaning of a person's answer to this question. Undefined if the question offers no such option. */
export function answerTo(pending: Pending, given: AnswerGiven, now: number): GivenAnswer | undefined {
  const { id, question, expires } = pending
  const option = optionIn(question, given)
  if (option === undefined) return undefined
  const reason = boundedText(given.reason ?? '', LONGEST_REASON)
  const by = boundedText(given.by, LONGEST_NAME) || 'person'
  const { signature } = given
  return {
    id,
    binding: question.binding,
    option,
    by,
    at: timestamp(now),
    expires,
    ...(reason !== '' && { reason }),
    ...(signature && { signature }),
  }
}

/**
 * Whether both questions show the person the same, so that one answer serves both. A binding alone proves nothing,
 * because whoever raises a question chooses it. Reasons may differ: a hook may put the time in them.
 */
export function isSameQuestion(one: Question, other: Question): boolean {
  return one.binding === other.binding && canonicalJson(shownOf(one)) === canonicalJson(shownOf(other))
}

/** Everything of a question that a person is shown and that decides what the answer is for. */
export function shownOf({ event, session, cwd, digest, call, asks, options, people }: Question): Data {
  const { tool_use_id: _, ...same } = call
  const asked = asks.map(({ hook, prompt }) => ({ hook, prompt }))
  const several: Data = people === undefined ? {} : { people }
  return { event, session, cwd: cwd ?? null, digest, call: same, asked, options, ...several }
}

function optionIn(question: Question, { option, decision }: AnswerGiven): string | undefined {
  if (decision === 'deny') return denyOf(question)
  if (decision !== undefined) return optionFor(question, decision)
  const typed = (option ?? '').trim().toLowerCase()
  return question.options.find((one) => one.toLowerCase() === typed)
}

function boundedText(text: string, bytes: number): string {
  const plain = plainText(text).trim()
  return Buffer.byteLength(plain) <= bytes ? plain : cutText(plain, bytes, '…')
}
