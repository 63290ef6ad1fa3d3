// The files with the answers to a question, and the file that marks a used one.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../../core/base/errors.js'
import { type Data, isObject } from '../../core/base/json.js'
import { fieldsOf, listOf, optional, type Reader, text } from '../../files/fields.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from '../../files/format.js'
import { nonce } from '../../files/nonce.js'
import { linkUnlessThere, readOwn, removeIfThere } from '../../files/plain-file.js'
import type { Seal, Sealed } from '../../files/seal.js'
import type { GivenAnswer, Pending, Signature, Vote } from '../approvals.js'
import { parsed, time } from './stored-question.js'

/*
 * Answers are `answer-1.json`, `answer-2.json`, …, and the first genuine one counts. An answerer reads all before its
 * own, finds none genuine, and creates the next by `link`, which only one process can do. So there is at most one
 * genuine answer, and a forged one is never in the way.
 *
 * If several people must allow, their allows are `vote-1.json`, `vote-2.json`, …, and whoever gives the last one that is
 * needed writes the answer, with the others in it. Votes alone answer nothing.
 *
 * Using an answer creates `used`, with another seal, and removes the answer itself. So removing files never makes a used
 * answer count again. In 0.1.0, `used` was an empty file beside the answer.
 */

const MOST_ANSWERS = 32
const MAX_BYTES = 64 * 1024
const USED = 'used'

interface Looked {
  readonly answer?: GivenAnswer
  /** The file of the answer; absent if it was used. */
  readonly path?: string
  /** The next free number. */
  readonly next: number
  /** Why other answers do not count. */
  readonly problems: readonly string[]
}

export function lookFor(folder: string, pending: Pending, seal: Seal): Looked {
  const problems: string[] = []
  const used = readAnswer(usedPath(folder), 'used', pending, seal)
  if (used && 'answer' in used) return { answer: used.answer, next: 1, problems }
  for (let next = 1; next <= MOST_ANSWERS; next++) {
    const path = answerPath(folder, next)
    const found = readAnswer(path, 'answer', pending, seal)
    if (found === undefined) return { next, problems }
    if ('answer' in found) return { answer: found.answer, path, next, problems }
    problems.push(`the answer ${path} does not count: it ${found.problem}`)
  }
  throw new Error(`${folder} holds ${MOST_ANSWERS} answers that no person gave; find out who writes there`)
}

/** Returns the earlier answer if this is not the first. */
export function storeAnswer(
  folder: string,
  pending: Pending,
  answer: GivenAnswer,
  seal: Seal,
  onTrouble: (text: string) => void,
): GivenAnswer | undefined {
  const draft = drafted(folder, 'answer', answer, seal)
  try {
    const told = new Set<string>()
    for (;;) {
      const { answer: first, next, problems } = lookFor(folder, pending, seal)
      for (const problem of problems) if (!told.has(problem)) onTrouble(problem)
      for (const problem of problems) told.add(problem)
      if (first) return first
      const path = answerPath(folder, next)
      if (!linkUnlessThere(draft, path)) continue
      const { answer: counts } = lookFor(folder, pending, seal)
      if (isDeepStrictEqual(counts, answer)) return undefined
      // Another answer was given and used in the meantime.
      removeIfThere(path)
    }
  } finally {
    removeIfThere(draft)
  }
}

/** The genuine allows of single people, and the next free number. */
export function lookForVotes(
  folder: string,
  pending: Pending,
  seal: Seal,
): { readonly votes: readonly GivenAnswer[]; readonly next: number } {
  const votes: GivenAnswer[] = []
  for (let next = 1; next <= MOST_ANSWERS; next++) {
    const found = readAnswer(votePath(folder, next), 'vote', pending, seal)
    if (found === undefined) return { votes, next }
    if ('answer' in found) votes.push(found.answer)
  }
  return { votes, next: MOST_ANSWERS + 1 }
}

/** Adds the allow of one of several people, unless they gave one with this key before. Returns all there are. */
export function storeVote(
  folder: string,
  pending: Pending,
  vote: GivenAnswer,
  seal: Seal,
): readonly GivenAnswer[] {
  const draft = drafted(folder, 'vote', vote, seal)
  try {
    for (;;) {
      const { votes, next } = lookForVotes(folder, pending, seal)
      if (votes.some(({ by, signature }) => by === vote.by && signature?.id === vote.signature?.id))
        return votes
      if (next > MOST_ANSWERS)
        throw new Error(`${folder} holds ${MOST_ANSWERS} allows; find out who writes there`)
      if (linkUnlessThere(draft, votePath(folder, next))) return [...votes, vote]
    }
  } finally {
    removeIfThere(draft)
  }
}

/** Returns true to exactly one caller, whatever others remove. */
export function useUp(folder: string, pending: Pending, seal: Seal): boolean {
  const { answer, path } = lookFor(folder, pending, seal)
  if (!answer || path === undefined) return false
  const draft = drafted(folder, 'used', answer, seal)
  try {
    return linkUnlessThere(draft, usedPath(folder)) && removeIfThere(path)
  } catch (error) {
    throw new Error(`the approval in ${folder} cannot be used: ${textOf(error)}`, { cause: error })
  } finally {
    removeIfThere(draft)
  }
}

function drafted(folder: string, what: Sealed, answer: GivenAnswer, seal: Seal): string {
  const fields = { ...answer } as unknown as Data & GivenAnswer
  const draft = join(folder, `${nonce()}.tmp`)
  const content = JSON.stringify({ format: FIRST_FORMAT, answer: fields, seal: seal.of(what, fields) })
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  return draft
}

export function usedPath(folder: string): string {
  return join(folder, USED)
}

/** Whether there is any answer, even one that does not count. */
export function isAnswered(folder: string): boolean {
  return existsSync(answerPath(folder, 1)) || existsSync(usedPath(folder))
}

function answerPath(folder: string, number: number): string {
  return join(folder, `answer-${number}.json`)
}

function votePath(folder: string, number: number): string {
  return join(folder, `vote-${number}.json`)
}

/** Undefined if there is none. Throws temporary errors: treating them as a forgery would let a second answer count. */
function readAnswer(
  path: string,
  what: Sealed,
  pending: Pending,
  seal: Seal,
): { readonly answer: GivenAnswer } | { readonly problem: string } | undefined {
  try {
    const read = readOwn(path, MAX_BYTES)
    return 'problem' in read ? read : checked(read.text, path, what, pending, seal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    // It may be a person's genuine deny, so no other answer may count.
    if (error instanceof NewerFormat) throw error
    throw new Error(`the answer ${path} cannot be read: ${textOf(error)}`, { cause: error })
  }
}

function checked(content: string, path: string, what: Sealed, pending: Pending, seal: Seal) {
  try {
    const file = parsed(content)
    checkFormat(file.format, path)
    if (!isObject(file.answer) || typeof file.seal !== 'string')
      return { problem: 'is not in a Carabiner format' }
    if (!seal.isGenuine(what, file.answer as Data, file.seal))
      return { problem: 'was not given through Carabiner, or was changed since (its seal is wrong)' }
    const answer = given(file.answer, 'the answer')
    const isOurs = answer.id === pending.id && answer.binding === pending.question.binding
    return isOurs ? { answer } : { problem: 'was given to another question' }
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    return { problem: textOf(error) }
  }
}

const given: Reader<GivenAnswer> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: text(fields.id, `${where}.id`),
    binding: text(fields.binding, `${where}.binding`),
    option: text(fields.option, `${where}.option`),
    ...optional('reason', fields.reason, text, where),
    by: text(fields.by, `${where}.by`),
    at: time(fields.at, `${where}.at`),
    expires: time(fields.expires, `${where}.expires`),
    ...optional('signature', fields.signature, signature, where),
    ...optional('earlier', fields.earlier, listOf(vote), where),
  }
}

const vote: Reader<Vote> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    option: text(fields.option, `${where}.option`),
    by: text(fields.by, `${where}.by`),
    at: time(fields.at, `${where}.at`),
    signature: signature(fields.signature, `${where}.signature`),
  }
}

export const signature: Reader<Signature> = (value, where) => {
  const fields = fieldsOf(value, where)
  if (fields.kind === 'ed25519')
    return {
      kind: 'ed25519',
      id: text(fields.id, `${where}.id`),
      signature: text(fields.signature, `${where}.signature`),
      nonce: text(fields.nonce, `${where}.nonce`),
    }
  return {
    id: text(fields.id, `${where}.id`),
    authenticatorData: text(fields.authenticatorData, `${where}.authenticatorData`),
    clientDataJSON: text(fields.clientDataJSON, `${where}.clientDataJSON`),
    signature: text(fields.signature, `${where}.signature`),
    nonce: text(fields.nonce, `${where}.nonce`),
  }
}
