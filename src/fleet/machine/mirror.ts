// Shows the open questions of this machine to the people of its fleet, and brings their answers into the queue, which checks them.

import { setTimeout } from 'node:timers/promises'
import { textOf } from '../../core/base/errors.js'
import { cutText, visible } from '../../core/base/text.js'
import { effectOf } from '../../core/verdict/approval.js'
import type { SignedPeople } from '../../files/fleet/people.js'
import { challengeOf, signerOf } from '../../store/approvals/signature.js'
import type { AnswerResult, Approvals, GivenAnswer, Pending } from '../../store/approvals.js'
import { localPasskeys, signersOf } from '../../store/approvers.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import {
  type AskAnswer,
  type FleetAnswer,
  MOST_WAIT_S,
  type RefusedCode,
  type RejectedAnswer,
  type SettleRequest,
  type SyncAnswer,
} from '../protocol.js'
import { type GatewayClient, Unavailable, Unreachable } from './gateway-client.js'

export interface MirrorOptions {
  readonly client: GatewayClient
  /** The queue of this machine. It is the truth, and checks every answer. */
  readonly queue: Approvals
  /** Learns the list of people, which it fetches if it was not sent: whoever was removed a moment ago must not allow. */
  readonly learnPeople: (sent?: SignedPeople) => Promise<unknown>
  /** Default `dataHome()`. */
  readonly dataDir?: string
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
  /** Puts an answer that counts on record. */
  readonly onAnswer?: (pending: Pending, answer: GivenAnswer) => Promise<void>
  /** Told why an answer does not count. */
  readonly onTrouble?: (text: string) => void
}

/** More places than any question has: no answer is wanted. */
const HELD = 1_000_000
const LOOK_EVERY_MS = 500
/** Together, they fit into one request. What has no place now is sent with the next one, or alone. */
const MOST = { open: 3000, held: 3000, askedBytes: 96 * 1024, settledBytes: 32 * 1024 }
/** Of one report of what became of questions. */
const MOST_SETTLE_BYTES = 128 * 1024
/** Of the words why an allow does not count. */
const LONGEST_WHY = 1000
/** A gateway that takes less than a small request takes nothing. */
const SMALLEST_SHARE = 1 / 64
/** What is wrong with one question keeps no other from the fleet. */
const OF_QUESTION: readonly RefusedCode[] = ['INVALID', 'TOO_LARGE']

export class Mirror {
  readonly #options: MirrorOptions
  /** How many answers of the fleet this process has seen of each question. */
  readonly #seen = new Map<string, number>()
  /** The newest questions that wait for nothing but their use. The gateway names again what is forgotten here. */
  readonly #held = new Set<string>()
  /** How much of a full request the gateway takes. */
  #share = 1
  /** Whether the last exchange brought nothing to do here. */
  #isQuiet = false
  /** Questions that the gateway said to have when they were sent. */
  readonly #known = new Set<string>()
  /** Questions that the gateway had once. */
  readonly #there = new Set<string>()
  /** Questions that the gateway does not take. They can be denied here. */
  readonly #refused = new Set<string>()
  /** Allows that do not count here, which the gateway was not told of yet. */
  #rejected: readonly RejectedAnswer[] = []
  /** Whether a deny could not be stored in the last exchange. */
  #isKeptLater = false
  /** The questions that were open when the gateway was asked last. */
  #shown: ReadonlySet<string> = new Set()

  constructor(options: MirrorOptions) {
    this.#options = options
  }

  /** Sends and fetches everything once; waits up to `seconds` for news if a question is open. Returns how many were open at the last look. */
  async exchange(seconds: number, signal?: AbortSignal): Promise<number> {
    this.#isKeptLater = false
    this.#isQuiet = false
    const open = await this.#open()
    this.#shown = new Set(open.map(({ id }) => id))
    const wait = open.length === 0 ? 0 : Math.min(seconds, MOST_WAIT_S)
    const all = await this.#settledAmong(this.#held)
    const { answer, settled } = await this.#sync(open, all, wait, signal)
    const { missing, answers, unsettled, people } = answer
    this.#isQuiet = answers.length === 0 && !open.some(({ id }) => missing.includes(id))
    // A gateway that does not know what came with it still has them as unsettled.
    for (const { id } of settled) this.#held.delete(id)
    // The gateway holds them for settled, or has them no more. It names again what is not.
    for (const id of missing) this.#held.delete(id)
    for (const pending of open) if (missing.includes(pending.id)) await this.#send(pending)
    if (answers.length > 0) await this.#learnPeople(people)
    for (const answer of answers) await this.#apply(answer)
    await this.#settle([...unsettled, ...this.#held])
    return answers.length === 0 ? open.length : (await this.#open()).length
  }

  /** Asks again for less if the gateway says that this is too much. */
  async #sync(
    open: readonly Pending[],
    all: SettleRequest['settled'],
    wait: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: SyncAnswer; readonly settled: SettleRequest['settled'] }> {
    for (;;) {
      const share = this.#share
      const [settled = []] = packed(all, MOST.settledBytes * share)
      const isTold = new Set(settled.map(({ id }) => id))
      const held = [...this.#held].filter((id) => !isTold.has(id)).slice(-MOST.held * share)
      const shown = open.slice(0, MOST.open * share)
      const waiting = Object.fromEntries([
        ...held.map((id) => [id, HELD] as const),
        ...shown.map(({ id }) => [id, this.#seen.get(id) ?? 0] as const),
      ])
      const body = { waiting, asks: this.#newAmong(shown, MOST.askedBytes * share), settled }
      try {
        const query = `wait=${wait}`
        const answer = await this.#options.client.ask<SyncAnswer>('sync', {
          ...{ query, body },
          ...(signal && { signal }),
        })
        for (const { id } of shown) if (!answer.missing.includes(id)) this.#there.add(id)
        return { answer, settled }
      } catch (error) {
        if (!(error instanceof GatewayRefusal) || error.code !== 'TOO_LARGE') throw error
        if (share <= SMALLEST_SHARE) throw new Unavailable(error.message, { cause: error })
        this.#share = share / 2
      }
    }
  }

  /** Whether there is anything to tell the fleet. Asks only the queue. */
  async isBusy(): Promise<boolean> {
    if ((await this.#open()).length > 0) return true
    for (const id of this.#held) if (await this.#settled(id)) return true
    return false
  }

  /** Goes on until no question is open. `pause` waits while the gateway does not answer. */
  async run(signal: AbortSignal, pause: (error: unknown) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const news = new AbortController()
      // A queue that cannot be read is told by the exchange, which reads it too.
      const looking = setInterval(() => this.#look(news).catch(() => news.abort()), LOOK_EVERY_MS)
      const began = performance.now()
      try {
        if ((await this.exchange(MOST_WAIT_S, AbortSignal.any([signal, news.signal]))) === 0) return
        // A gateway that does not let it wait must not be asked all the time.
        const isTooSoon = this.#isQuiet && performance.now() - began < LOOK_EVERY_MS
        if (this.#isKeptLater || isTooSoon)
          await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      } catch (error) {
        if (!news.signal.aborted && !signal.aborted) await pause(error)
      } finally {
        clearInterval(looking)
      }
    }
  }

  /** A new question does not wait for the answers to others. */
  async #look(news: AbortController): Promise<void> {
    const open = await this.#open()
    if (open.length !== this.#shown.size || open.some(({ id }) => !this.#shown.has(id))) news.abort()
  }

  async #open(): Promise<readonly Pending[]> {
    const open = await this.#options.queue.open()
    return open.filter(({ id, answersOwnQuestions }) => !answersOwnQuestions && !this.#refused.has(id))
  }

  /** Questions that the gateway may not have, as long as there is room for them. */
  #newAmong(open: readonly Pending[], most: number): readonly string[] {
    const asks: string[] = []
    let room = most
    for (const pending of open) {
      if (this.#there.has(pending.id)) continue
      const text = JSON.stringify(pending)
      room -= Buffer.byteLength(JSON.stringify(text))
      if (room < 0) break
      asks.push(text)
    }
    return asks
  }

  async #send(pending: Pending): Promise<void> {
    try {
      const { status } = await this.#options.client.ask<AskAnswer>('ask', { body: pending })
      // Another process of this machine has just sent it. If it is missing again, the gateway holds it for settled.
      const isSent = status === 'asked' || (status === 'known' && !this.#known.has(pending.id))
      if (status === 'known') this.#known.add(pending.id)
      if (!isSent) this.#refuse(pending, status === 'full' ? ': this machine has too many open' : '')
    } catch (error) {
      if (!(error instanceof GatewayRefusal) || !OF_QUESTION.includes(error.code)) throw error
      this.#refuse(pending, `: ${error.message}`)
    }
  }

  #refuse({ id }: Pending, why = ''): void {
    this.#refused.add(id)
    const here = this.#mayAllowHere()
      ? 'answer it on this machine'
      : 'it can only be denied on this machine; when it has expired, let the agent ask again'
    this.#trouble(`the fleet cannot answer ${id}${why}; ${here}`)
  }

  /** In a fleet, only with a passkey of the machine's own list. */
  #mayAllowHere(): boolean {
    const { dataDir, now } = this.#options
    try {
      const signers = signersOf({ dataDir, ...(now && { now }) })
      return signers !== undefined && localPasskeys(signers).length > 0
    } catch {
      return false
    }
  }

  /** Throws if the gateway does not answer: whoever is new on the list must not be taken for a stranger. */
  async #learnPeople(sent: SignedPeople | undefined): Promise<void> {
    try {
      await this.#options.learnPeople(sent)
    } catch (error) {
      if (error instanceof Unreachable) throw error
      this.#trouble(textOf(error))
    }
  }

  async #apply(answer: FleetAnswer): Promise<void> {
    const { id, place, option, by, reason, signature } = answer
    const found = await this.#options.queue.get(id)
    if (found.status !== 'open' || found.pending.id !== id) return
    const { pending } = found
    const isDeny = effectOf(pending.question, option) === 'deny'
    let result: AnswerResult
    try {
      result = await this.#options.queue.answer(id, {
        option,
        by: isDeny ? await this.#denier(pending, answer) : by,
        ...(reason !== undefined && { reason }),
        ...(signature && { signature }),
      })
    } catch (error) {
      if (isDeny) return this.#keepLater(answer, textOf(error))
      this.#reject(answer, textOf(error))
      this.#seen.set(id, place)
      return
    }
    this.#seen.set(id, place)
    if (result.status === 'answered') {
      this.#held.add(id)
      await this.#tell(result)
    } else if (result.status !== 'counted') this.#reject(answer, whyNot(result), isOver(result))
  }

  /** The gateway sends a deny again until it is here: it must not be lost because a disk is full. */
  #keepLater({ id, by }: FleetAnswer, why: string): void {
    this.#isKeptLater = true
    this.#trouble(`the deny of ${by} to ${id} cannot be stored yet: ${why}`)
  }

  async #tell({ pending, answer }: Extract<AnswerResult, { status: 'answered' }>): Promise<void> {
    try {
      await this.#options.onAnswer?.(pending, answer)
    } catch (error) {
      this.#trouble(`the answer to ${pending.id} counts, but ${textOf(error)}`)
    }
  }

  /** A question that is not over stays open, so that somebody else may answer it. */
  #reject({ id, place, by }: FleetAnswer, why: string, isOver = false): void {
    this.#trouble(`the answer of ${by} to ${id} does not count: ${why}`)
    const rejected = { id, place, why: cutText(visible(why), LONGEST_WHY, '…') }
    if (!isOver) this.#rejected = [...this.#rejected, rejected]
  }

  /** A deny always counts, but nobody is named who did not sign it. */
  async #denier(pending: Pending, { option, by, signature }: FleetAnswer): Promise<string> {
    const { dataDir, now } = this.#options
    try {
      const { approvers = [], asker } = signersOf({ dataDir, ...(now && { now }) }) ?? {}
      if (!signature) return `${by} (not signed)`
      const challenge = challengeOf(pending, { option, nonce: signature.nonce, asker })
      return (await signerOf(signature, challenge, approvers)).name
    } catch {
      return `${by} (not signed)`
    }
  }

  async #settle(ids: readonly string[]): Promise<void> {
    const all = new Set(ids)
    const settled = await this.#settledAmong(all)
    for (const id of all) this.#held.add(id)
    for (const { id } of settled) this.#held.delete(id)
    for (const id of [...this.#held].slice(0, -MOST.held)) this.#held.delete(id)
    const { client } = this.#options
    const rejected = this.#rejected
    for (const some of packed(settled, MOST_SETTLE_BYTES))
      await client.ask('settle', { body: { settled: some, rejected: [] } })
    for (const some of packed(rejected, MOST_SETTLE_BYTES))
      await client.ask('settle', { body: { settled: [], rejected: some } })
    this.#rejected = []
  }

  async #settledAmong(ids: Iterable<string>): Promise<SettleRequest['settled']> {
    const settled: SettleRequest['settled'][number][] = []
    for (const id of ids) {
      const how = await this.#settled(id)
      if (how) settled.push({ id, ...how })
    }
    return settled
  }

  /** Undefined as long as its answer may still be used. */
  async #settled(id: string): Promise<Omit<SettleRequest['settled'][number], 'id'> | undefined> {
    const found = await this.#options.queue.get(id)
    // Another user of this machine may have asked what is unknown here.
    if (found.status === 'open' || found.status === 'unknown' || found.status === 'ambiguous')
      return undefined
    if (found.status === 'expired') return { how: 'expired' }
    const { option = '' } = found.answer ?? {}
    // The gateway refuses a text that the database could not keep.
    const by = visible(found.answer?.by ?? '')
    if (found.status === 'used') return { how: 'used', by }
    return effectOf(found.pending.question, option) === 'deny' ? { how: 'denied', by } : undefined
  }

  #trouble(text: string): void {
    this.#options.onTrouble?.(text)
  }
}

function isOver({ status }: AnswerResult): boolean {
  return status === 'too-late' || status === 'expired' || status === 'unknown'
}

function whyNot(result: Exclude<AnswerResult, { readonly status: 'answered' | 'counted' }>): string {
  switch (result.status) {
    case 'too-late':
      return `${result.answer.by} was faster`
    case 'not-signed':
      return result.why
    case 'expired':
      return 'the question has expired'
    case 'not-offered':
      return 'the question does not offer it'
    case 'unknown':
      return 'there is no such question any more'
  }
}

/** In parts of so many bytes. One that is longer is alone. */
function packed<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  const parts: T[][] = []
  let room = 0
  for (const one of all) {
    const bytes = Buffer.byteLength(JSON.stringify(one)) + 1
    if (parts.length === 0 || bytes > room) {
      parts.push([])
      room = most
    }
    parts.at(-1)?.push(one)
    room -= bytes
  }
  return parts
}
