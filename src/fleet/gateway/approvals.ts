// Questions of machines and answers of people: what each side may say, and who is told.

import { callDigest } from '../../core/base/digest.js'
import { effectOf } from '../../core/verdict/approval.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { challengeOf, signerOf } from '../../store/approvals/signature.js'
import { signature } from '../../store/approvals/stored-answer.js'
import { readPending } from '../../store/approvals/stored-question.js'
import type { Pending, Signature } from '../../store/approvals.js'
import type { Approver, Asker } from '../../store/approvers.js'
import { arePeopleOver, keyId, type Person } from '../../store/people.js'
import {
  addAnswer,
  addQuestion,
  answersFor,
  type GiveResult,
  openQuestions,
  questionOf,
  reject,
  settle,
  unsettledAmong,
  unsettledBeside,
} from '../database/approvals.js'
import type { Database } from '../database/connection.js'
import { checkedPeople } from '../database/people.js'
import {
  type AskAnswer,
  MOST_WAIT_S,
  QUESTION_ID,
  type QuestionsAnswer,
  type RejectedAnswer,
  SETTLED,
  type SettleRequest,
  type SyncAnswer,
} from '../protocol.js'
import { GatewayRefusal } from './refusal.js'
import { type GatewayRequest, type Handler, read } from './request.js'

/** The people on the newest list. Nobody if there is none, or if somebody tampered with it. Throws if it is over. */
export async function peopleOf(database: Database): Promise<readonly Person[]> {
  const list = await checkedPeople(database).catch(() => undefined)
  if (list && arePeopleOver(list))
    throw new GatewayRefusal(
      'UNKNOWN_PERSON',
      'The list of people counts no longer; an administrator renews it: carabiner fleet people renew',
    )
  return list?.people ?? []
}

/** Who signed with this public Ed25519 key. */
export async function personWith(database: Database, key: string): Promise<Person | undefined> {
  const people = await peopleOf(database)
  return people.find(({ keys }) => keys.some((one) => one.kind === 'ed25519' && keyId(one) === key))
}

// ---- machines -------------------------------------------------------------------------------------------------

const questionId: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (QUESTION_ID.test(read)) return read
  throw new Error(`is not valid: ${where} must be the id of a question`)
}

/** A machine asks. The body is a `Pending`, which is kept as it was sent. */
export const ask: Handler = async (request): Promise<AskAnswer> => {
  const pending = read(request, readPending)
  const { id, question, expires } = pending
  if (!QUESTION_ID.test(id)) throw new GatewayRefusal('INVALID', 'The question has no valid id')
  if (callDigest(question.event, question.call) !== question.digest)
    throw new GatewayRefusal('INVALID', 'The question shows another call than the one it asks about')
  const { people = 1 } = question
  const body = request.body.toString('utf8')
  // PostgreSQL has no NUL in its texts; JSON writes it as an escape.
  if (body.includes('\0')) throw new GatewayRefusal('INVALID', 'The request is not JSON')
  const { database, machine } = request
  return { status: await addQuestion(database, machine, { id, body, people, expires }) }
}

const waitingIn: Reader<Readonly<Record<string, number>>> = (value, where) => {
  const entries = Object.entries(fieldsOf(fieldsOf(value, where).waiting, `${where}.waiting`))
  return Object.fromEntries(
    entries.map(([id, place]) => [questionId(id, where), count(place, `${where}.waiting.${id}`)]),
  )
}

/** Answers at once if there is anything to tell, else as soon as there is, or when the time is up. */
export const sync: Handler = async (request): Promise<SyncAnswer> => {
  const waiting = read(request, waitingIn)
  const { database, machine, query, bells, gone } = request
  const seconds = Math.min(Number(query.get('wait') ?? 0) || 0, MOST_WAIT_S)
  const waiter = bells.waiter(machine)
  try {
    const found = await state(database, machine, waiting)
    if (seconds <= 0 || found.missing.length + found.answers.length + found.unsettled.length > 0) return found
    await waiter.rung(seconds * 1000, gone)
    return gone.aborted ? found : await state(database, machine, waiting)
  } finally {
    waiter.end()
  }
}

async function state(
  database: Database,
  machine: string,
  waiting: Readonly<Record<string, number>>,
): Promise<SyncAnswer> {
  const ids = Object.keys(waiting)
  const [known, unsettled, rows] = await Promise.all([
    unsettledAmong(database, machine, ids),
    unsettledBeside(database, machine, ids),
    ids.length === 0 ? [] : answersFor(database, machine, waiting),
  ])
  const isKnown = new Set(known)
  return {
    missing: ids.filter((id) => !isKnown.has(id)),
    unsettled,
    answers: rows.map(({ id, place, by, option, reason, signature }) => ({
      ...{ id, place, by, option },
      ...(reason !== null && { reason }),
      ...(signature !== null && { signature: JSON.parse(signature) as Signature }),
    })),
  }
}

const settleRequest: Reader<SettleRequest> = (value, where) => {
  const item: Reader<SettleRequest['settled'][number]> = (one, place) => {
    const fields = fieldsOf(one, place)
    return {
      id: questionId(fields.id, `${place}.id`),
      how: oneOf(...SETTLED)(fields.how, `${place}.how`),
      ...optional('by', fields.by, text, place),
    }
  }
  const rejection: Reader<RejectedAnswer> = (one, place) => {
    const fields = fieldsOf(one, place)
    return {
      id: questionId(fields.id, `${place}.id`),
      place: count(fields.place, `${place}.place`),
      why: shortened(text(fields.why, `${place}.why`)),
    }
  }
  const { settled, rejected } = fieldsOf(value, where)
  return {
    settled: listOf(item)(settled, `${where}.settled`),
    ...optional('rejected', rejected, listOf(rejection), where),
  }
}

/** What became of questions. The first word counts. */
export const settleQuestions: Handler = async (request) => {
  const { settled, rejected = [] } = read(request, settleRequest)
  for (const one of settled) await settle(request.database, request.machine, one)
  for (const one of rejected) await reject(request.database, request.machine, one)
  return {}
}

// ---- people ---------------------------------------------------------------------------------------------------

/** With an id, only that question, however long it is. */
export const questions: Handler = async ({ database, query }): Promise<QuestionsAnswer> => {
  const id = query.get('id')
  const one = id !== null && QUESTION_ID.test(id) ? await questionOf(database, id) : undefined
  const { rows, hidden } = id === null ? await openQuestions(database) : { rows: one ? [one] : [], hidden: 0 }
  return {
    hidden,
    questions: rows.map(({ id, machine, name, body, people, allowed, rejected }) => ({
      ...{ id, machine, name, people, allowed },
      ...(rejected !== null && { rejected }),
      pending: JSON.parse(body) as Pending,
    })),
  }
}

export interface AnswerOfPerson {
  readonly id: string
  readonly option: string
  readonly reason?: string
  readonly signature?: Signature
  /** Who sent it. An allow has the name of the person who signed it. */
  readonly by: string
}

/** Throws a GatewayRefusal if it would allow something without a signature that counts. */
export async function giveAnswer(
  database: Database,
  { id, option, reason, signature: signed, by }: AnswerOfPerson,
): Promise<GiveResult> {
  const row = await questionOf(database, id)
  if (!row) return { status: 'unknown' }
  const pending = readPending(JSON.parse(row.body), 'the question')
  const offered = pending.question.options.find((one) => one === option)
  if (offered === undefined) throw new GatewayRefusal('INVALID', 'The question does not offer this answer')
  const effect = effectOf(pending.question, option)
  if (effect === 'always') throw new GatewayRefusal('INVALID', 'A signature allows one call at a time')
  const allows = effect === 'allow'
  if (allows && !signed) throw new GatewayRefusal('UNSIGNED', 'An allow needs the signature of an approver')
  const name = signed ? await signerName(database, pending, row, option, signed) : by
  return addAnswer(database, row.machine, {
    ...{ id, by: name, option, allows },
    ...(reason !== undefined && { reason: shortened(reason) }),
    ...(signed && { signature: signed }),
  })
}

const LONGEST_REASON = 4096

function shortened(reason: string): string {
  return reason.slice(0, LONGEST_REASON).replaceAll('\0', '')
}

async function signerName(
  database: Database,
  pending: Pending,
  asker: Asker,
  option: string,
  signed: Signature,
): Promise<string> {
  const approvers: readonly Approver[] = (await peopleOf(database))
    .filter(({ role }) => role !== 'viewer')
    .flatMap(({ name, keys }) => keys.map((key) => ({ name, key })))
  try {
    const challenge = challengeOf(pending, { option, nonce: signed.nonce, asker })
    const { name } = await signerOf(signed, challenge, approvers)
    return name
  } catch (error) {
    throw new GatewayRefusal('UNSIGNED', `The signature does not count: ${(error as Error).message}`)
  }
}

const answerRequest: Reader<Omit<AnswerOfPerson, 'by'>> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: questionId(fields.id, `${where}.id`),
    option: text(fields.option, `${where}.option`),
    ...optional('reason', fields.reason, text, where),
    ...optional('signature', fields.signature, signature, where),
  }
}

export const answer: Handler = async (request: GatewayRequest) => {
  const { person } = request
  if (!person || person.role === 'viewer')
    throw new GatewayRefusal('UNKNOWN_PERSON', 'Only an approver may answer')
  return giveAnswer(request.database, { ...read(request, answerRequest), by: person.name })
}
