// Approvals of a machine whose answers come through its fleet: people sign at the gateway, and the mirror brings them.

import { randomBytes } from 'node:crypto'
import type { KeyPair } from '../../src/files/ed25519.js'
import { GatewayRefusal } from '../../src/fleet/gateway-refusal.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import type { Mirror } from '../../src/fleet/machine/mirror.js'
import type { QuestionsAnswer } from '../../src/fleet/protocol.js'
import type { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { isId, readId } from '../../src/store/approvals/question-index.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import {
  type AnswerGiven,
  type AnswerResult,
  type Approvals,
  answerTo,
  type Pending,
} from '../../src/store/approvals.js'

interface Through {
  readonly queue: FileApprovals
  readonly mirror: Mirror
  readonly url: string
  /** By their names. */
  readonly people: ReadonlyMap<string, KeyPair>
}

/** Only the answers of people without a key are given on the machine itself. */
export function mirroredApprovals({ queue, mirror, url, people }: Through): Approvals {
  const answer = async (id: string, given: AnswerGiven): Promise<AnswerResult> => {
    const key = people.get(given.by)
    const before = isId(readId(id)) ? queue.get(id) : undefined
    if (!key || before === undefined || !('pending' in before)) return queue.answer(id, given)
    const { pending } = before
    const option = answerTo(pending, given, 0)?.option
    if (option === undefined) return { status: 'not-offered', options: pending.question.options }
    await mirror.exchange(0)
    const nonce = randomBytes(16).toString('base64url')
    const refused = await sent(url, key, { pending, option, nonce, reason: given.reason })
    await mirror.exchange(0)
    const after = queue.get(id)
    const found = 'pending' in after ? after.answer : undefined
    if (found?.signature?.nonce === nonce) return { status: 'answered', pending, answer: found }
    if (found) return { status: 'too-late', pending, answer: found, used: after.status === 'used' }
    return after.status === 'open'
      ? { status: 'not-signed', why: refused ?? 'the fleet brought no answer' }
      : { status: 'expired', pending }
  }
  return {
    answer,
    checkOutside: (project) => queue.checkOutside(project),
    raise: (question, where) => queue.raise(question, where),
    take: (question) => queue.take(question),
    wait: (question, options) => queue.wait(question, options),
    open: (of) => queue.open(of),
    waiting: (project) => queue.waiting(project),
    get: (typed) => queue.get(typed),
    watching: () => queue.watching(),
    isWatched: () => queue.isWatched(),
  }
}

interface Sent {
  readonly pending: Pending
  readonly option: string
  readonly nonce: string
  readonly reason: string | undefined
}

/** What a person does. Returns why the gateway refused it, if it did. */
async function sent(
  url: string,
  key: KeyPair,
  { pending: { id }, option, nonce, reason }: Sent,
): Promise<string | undefined> {
  const client = new GatewayClient({ url, sender: { key } })
  try {
    const { questions } = await client.ask<QuestionsAnswer>('questions', { query: `id=${id}` })
    const [found] = questions
    if (!found) return 'the gateway has no such question'
    const signature = signedWith(key, challengeOf(found.pending, { option, nonce, asker: found }), nonce)
    await client.ask('answer', { body: { id, option, signature, ...(reason !== undefined && { reason }) } })
    return undefined
  } catch (error) {
    if (error instanceof GatewayRefusal) return error.message
    throw error
  } finally {
    client.close()
  }
}
