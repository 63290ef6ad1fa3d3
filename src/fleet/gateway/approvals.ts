// Questions of machines and answers of people: what each side may say, and who is told.

import { callDigest } from '../../core/base/digest.js'
import { effectOf } from '../../core/verdict/approval.js'
import { count, fieldsOf, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { arePeopleOver, keyId, type People, type Person } from '../../files/fleet/people.js'
import { challengeOf, signerOf } from '../../store/approvals/signature.js'
import { signature } from '../../store/approvals/stored-answer.js'
import { readPending } from '../../store/approvals/stored-question.js'
import type { Pending, Signature } from '../../store/approvals.js'
import type { Approver, Asker } from '../../store/approvers.js'
import {
  addAnswer,
  addQuestion,
  type GiveResult,
  openQuestions,
  questionOf,
  questionsOfMachine,
  reject,
  settle,
  tooLate,
} from '../database/approvals.js'
import { type Database, isDataException } from '../database/connection.js'
import { readList, type UncheckedPeople } from '../database/people.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import {
  type AskAnswer,
  isStorable,
  MOST_WAIT_S,
  QUESTION_ID,
  type RejectedAnswer,
  SETTLED,
  type SettleRequest,
  type SyncAnswer,
  type SyncRequest,
} from '../protocol.js'
import type { Bells } from './bells.js'
import { type GatewayRequest, type Handler, read, readJson } from './request.js'

/** The people on the newest list. Nobody if there is none, or if somebody tampered with it. Throws if it is over. */
export async function peopleOf(database: Database): Promise<readonly Person[]> {
  const list = checkedList(await readList(database))
  if (list && arePeopleOver(list))
    throw new GatewayRefusal(
      'UNKNOWN_PERSON',
      'The list of people has expired; an administrator renews it: carabiner fleet people renew',
    )
  return list?.people ?? []
}

function checkedList(list: UncheckedPeople | undefined): People | undefined {
  try {
    return list?.checked()
  } catch {
    return undefined
  }
}

/** Who of them signed with this public Ed25519 key. */
export function personWith(people: readonly Person[], key: string): Person | undefined {
  return people.find(({ keys }) => keys.some((one) => one.kind === 'ed25519' && keyId(one) === key))
}

// ---- machines -------------------------------------------------------------------------------------------------

const questionId: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (QUESTION_ID.test(read)) return read
  throw new Error(`is not valid: ${where} must be the id of a question`)
}

/** A machine asks. The body is a `Pending`, which is kept as it was sent. */
export const ask: Handler = async ({ database, machine, body }): Promise<AskAnswer> => ({
  status: await asked(database, machine, body.toString('utf8')),
})

async function asked(database: Database, machine: string, body: string): Promise<AskAnswer['status']> {
  const { id, question, expires } = readJson(body, readPending)
  if (!QUESTION_ID.test(id)) throw new GatewayRefusal('INVALID', 'The question has no valid id')
  if (callDigest(question.event, question.call) !== question.digest)
    throw new GatewayRefusal('INVALID', 'The question shows another call than the one it asks about')
  const { people = 1 } = question
  // The body is kept as it was sent, with its escapes. An option becomes a text of an answer.
  if (!question.options.every(isStorable))
    throw new GatewayRefusal('INVALID', 'The question offers an answer with a NUL or half a character')
  return addQuestion(database, machine, { id, body, people, expires })
}

const syncRequest: Reader<SyncRequest> = (value, where) => {
  const { waiting, asks, settled } = fieldsOf(value, where)
  const entries = Object.entries(fieldsOf(waiting, `${where}.waiting`))
  return {
    waiting: Object.fromEntries(
      entries.map(([id, place]) => [questionId(id, where), count(place, `${where}.waiting.${id}`)]),
    ),
    ...optional('asks', asks, listOf(text), where),
    ...optional('settled', settled, listOf(settlement), where),
  }
}

/** Answers at once if there is anything to tell, else as soon as there is, or when the time is up. */
export const sync: Handler = async (request): Promise<SyncAnswer> => {
  const waiting = await taken(request)
  const { database, machine, query, bells, gone } = request
  const seconds = Math.min(Number(query.get('wait') ?? 0) || 0, MOST_WAIT_S)
  if (seconds <= 0) return state(database, machine, waiting)
  const waiter = bells.waiter(machine)
  try {
    const found = await state(database, machine, waiting)
    if (found.missing.length + found.answers.length + found.unsettled.length > 0) return found
    await waiter.rung(seconds * 1000, gone)
    return gone.aborted ? found : await state(database, machine, waiting)
  } finally {
    waiter.end()
  }
}

/** Does what came along, and forgets it. */
async function taken(request: GatewayRequest): Promise<SyncRequest['waiting']> {
  const { database, machine } = request
  const { waiting, asks = [], settled = [] } = read(request, syncRequest)
  for (const body of asks)
    await asked(database, machine, body).catch((error: unknown) => {
      // The machine sends it again, alone, and is told why it is refused.
      if (!(error instanceof GatewayRefusal) && !isDataException(error)) throw error
    })
  for (const one of settled) await settle(database, machine, one)
  return waiting
}

async function state(
  database: Database,
  machine: string,
  waiting: Readonly<Record<string, number>>,
): Promise<SyncAnswer> {
  const { known, beside, answers } = await questionsOfMachine(database, machine, waiting)
  const isKnown = new Set(known)
  const people = answers.length === 0 ? undefined : await readList(database)
  return {
    ...(people && { people: people.signed }),
    missing: Object.keys(waiting).filter((id) => !isKnown.has(id)),
    unsettled: beside,
    answers: answers.map(({ id, place, by, option, reason, signature }) => ({
      ...{ id, place, by, option },
      ...(reason !== null && { reason }),
      ...(signature !== null && { signature: JSON.parse(signature) as Signature }),
    })),
  }
}

const settlement: Reader<SettleRequest['settled'][number]> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: questionId(fields.id, `${where}.id`),
    how: oneOf(...SETTLED)(fields.how, `${where}.how`),
    ...optional('by', fields.by, (by, place) => namelike(text(by, place)), where),
  }
}

const settleRequest: Reader<SettleRequest> = (value, where) => {
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
    settled: listOf(settlement)(settled, `${where}.settled`),
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

/** With an id, only that question, however long it is. A QuestionsAnswer, unless what the database has is damaged. */
export const questions: Handler = async ({ database, query, person }) => {
  const id = query.get('id')
  const one = id !== null && QUESTION_ID.test(id) ? await questionOf(database, id) : undefined
  const { rows, hidden } = id === null ? await openQuestions(database) : { rows: one ? [one] : [], hidden: 0 }
  return {
    ...(person && { role: person.role }),
    hidden,
    questions: rows.map(({ id, machine, name, body, people, allowed, rejected }) => ({
      ...{ id, machine, name, people, allowed },
      ...(rejected !== null && { rejected }),
      pending: sent(body),
    })),
  }
}

/** One that is damaged must not hide the others: whoever asks reads each, and tells of it. */
function sent(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
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

export interface Giving {
  /** Everybody on the list, if it was read for this answer. */
  readonly people?: readonly Person[] | undefined
  /** Those who wait at this gateway need not wait for the database to ring. */
  readonly bells?: Bells
}

/** Throws a GatewayRefusal if it would allow something without a signature that counts. */
export async function giveAnswer(
  database: Database,
  { id, option, reason, signature: signed, by }: AnswerOfPerson,
  { people, bells }: Giving = {},
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
  const approvers = signed ? approversAmong(people ?? (await peopleOf(database))) : []
  const name = signed ? await signerName(approvers, pending, row, option, signed) : by
  const result = await addAnswer(database, row.machine, {
    ...{ id, by: name, option, allows },
    ...(reason !== undefined && { reason: shortened(reason) }),
    ...(signed && { signature: signed }),
  })
  bells?.ring(row.machine)
  const wasAllowed = allows && row.allowed >= row.people
  if (result.status !== 'answered' || !wasAllowed || (await isKept(database, id, signed))) return result
  return tooLate(database, id, name)
}

/** Whether exactly this answer is there: it got lost on its way back, and is given again. */
async function isKept(database: Database, id: string, signed: Signature | undefined): Promise<boolean> {
  const rows = await database.rows(
    'select from fleet.answer where org = fleet.own_org() and id = $1 and signature = $2',
    [id, JSON.stringify(signed)],
  )
  return rows.length > 0
}

function approversAmong(people: readonly Person[]): readonly Approver[] {
  return people
    .filter(({ role }) => role !== 'viewer')
    .flatMap(({ name, keys }) => keys.map((key) => ({ name, key })))
}

const LONGEST_REASON = 4096

function shortened(reason: string): string {
  return reason
    .slice(0, LONGEST_REASON)
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}$/u, '')
}

const LONGEST_BY = 120

/** Somebody whom only the machine knows: a name as people have it, and perhaps a remark in brackets. */
function namelike(by: string): string {
  const plain = by.replace(/[^\p{L}\p{N} ._@+()-]+/gu, '·')
  return [...plain].slice(0, LONGEST_BY).join('')
}

async function signerName(
  approvers: readonly Approver[],
  pending: Pending,
  asker: Asker,
  option: string,
  signed: Signature,
): Promise<string> {
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
  const { person, people, bells } = request
  if (!person || person.role === 'viewer')
    throw new GatewayRefusal('UNKNOWN_PERSON', 'Only an approver may answer')
  const given = { ...read(request, answerRequest), by: person.name }
  return giveAnswer(request.database, given, { people, bells })
}
