// Records that machines ship: every hash of every line is checked here, before the database puts them behind a head.

import { isUtf8 } from 'node:buffer'
import { count, fieldsOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { isIntact, type Mark, markOf } from '../../store/audit/chain.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import { type Listing, listingOf, listingText } from '../listing.js'
import {
  type AppendAnswer,
  BREAKS,
  type EvidenceAnswer,
  type EvidenceRequest,
  type HeadsAnswer,
  type HeadsRequest,
  HOME_ID,
  LOG_ID,
  MOST_HEADS,
} from '../protocol.js'
import { type GatewayRequest, type Handler, read } from './request.js'

const logId: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (LOG_ID.test(read)) return read
  throw new Error(`is not valid: ${where} must be the id of a log`)
}

const homeId: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (HOME_ID.test(read)) return read
  throw new Error(`is not valid: ${where} must be the beginning of ids of logs`)
}

const headsRequest: Reader<HeadsRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    home: homeId(fields.home, `${where}.home`),
    ...optional('after', fields.after, logId, where),
  }
}

export const heads: Handler = async (request): Promise<HeadsAnswer> => {
  const { home, after = '' } = read(request, headsRequest)
  const { database, machine } = request
  const rows = await database.rows<HeadRow>('select * from fleet.heads_of($1, $2, $3, $4)', [
    ...[machine, home, after, MOST_HEADS],
  ])
  await database.rows('select fleet.saw($1)', [machine])
  return { heads: rows.map((row) => ({ ...row, seq: Number(row.seq) })) }
}

interface HeadRow {
  readonly log: string
  readonly epoch: number
  readonly seq: string
  readonly hash: string
  readonly told: boolean
}

/** A log begins again when its history breaks. Two machines that use one key break it again and again. */
const MOST_EPOCHS = 1000

/** The log and epoch of an `append`. */
function chainIn({ query }: GatewayRequest): { readonly log: string; readonly epoch: number } {
  const log = query.get('log') ?? ''
  const epoch = Number(query.get('epoch'))
  if (!LOG_ID.test(log) || !Number.isSafeInteger(epoch) || epoch <= 0)
    throw new GatewayRefusal('INVALID', 'The request needs a log and an epoch')
  if (epoch > MOST_EPOCHS)
    throw new GatewayRefusal(
      'INVALID',
      `The history of this log broke ${MOST_EPOCHS} times. If this machine was cloned, let each of them join by itself`,
    )
  return { log, epoch }
}

export const append: Handler = async (request): Promise<AppendAnswer> => {
  const { database, machine, body } = request
  const { log, epoch } = chainIn(request)
  const { first, last, listing } = checked(body)
  const [row] = await database.prepared<Appended>(
    'select * from fleet.append($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    [
      ...[machine, log, epoch, first.seq, first.prev, listing.length, last.hash],
      // As bytes, which need no text in between.
      ...[body.subarray(0, body.length - 1), listingText(listing)],
    ],
  )
  if (!row) throw new Error('the database did not answer')
  if (row.status === 'epoch')
    throw new GatewayRefusal(
      'INVALID',
      `The log has no chain ${epoch} that could go on or begin now. Ship again: carabiner fleet ship. If that fails too, another machine has the same key: let each of them join by itself`,
    )
  return { status: row.status, seq: Number(row.head_seq), hash: row.head_hash }
}

interface Appended {
  readonly status: AppendAnswer['status'] | 'epoch'
  readonly head_seq: string
  readonly head_hash: string
}

const NEWLINE = 10

interface Checked {
  readonly first: Mark
  readonly last: Mark
  /** One for each line. */
  readonly listing: readonly (Listing & { readonly hash: string })[]
}

/** Throws unless the bytes are whole lines that follow each other, each with the right hash. */
function checked(body: Buffer): Checked {
  // PostgreSQL has no NUL in its texts, and no writer of a log writes one.
  if (body.at(-1) !== NEWLINE || body.includes(0) || !isUtf8(body))
    throw new GatewayRefusal('INVALID', 'The request is not lines of text')
  let first: Mark | undefined
  let last: Mark | undefined
  const listing: Checked['listing'][number][] = []
  for (let from = 0; from < body.length; ) {
    const end = body.indexOf(NEWLINE, from)
    const line = body.subarray(from, end)
    const mark = markOf(line)
    if (!mark || !isIntact(line, mark))
      throw new GatewayRefusal(
        'INVALID',
        `Line ${listing.length + 1} of the request was changed, or is not a record`,
      )
    if (last && (mark.seq !== last.seq + 1 || mark.prev !== last.hash))
      throw new GatewayRefusal(
        'INVALID',
        `Line ${listing.length + 1} of the request does not follow the one before it`,
      )
    first ??= mark
    last = mark
    listing.push({ ...listingOf(line.toString('utf8')), hash: mark.hash })
    from = end + 1
  }
  if (!first || !last) throw new GatewayRefusal('INVALID', 'The request has no lines')
  return { first, last, listing }
}

const hash: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (/^[0-9a-f]{64}$/.test(read)) return read
  throw new Error(`is not valid: ${where} must be a hash`)
}

const evidenceRequest: Reader<EvidenceRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    log: logId(fields.log, `${where}.log`),
    epoch: count(fields.epoch, `${where}.epoch`),
    kind: oneOf(...BREAKS)(fields.kind, `${where}.kind`),
    seq: count(fields.seq, `${where}.seq`),
    ...optional('held', fields.held, hash, where),
    ...optional('sent', fields.sent, hash, where),
  }
}

/** What a machine has noticed about the history that this side has. */
export const evidence: Handler = async (request): Promise<EvidenceAnswer> => {
  const { log, epoch, kind, seq, held, sent } = read(request, evidenceRequest)
  const { database, machine } = request
  const [row] = await database.rows<{ news: boolean }>(
    'select fleet.note_evidence($1, $2, $3, $4, $5, $6, $7, null) as news',
    [machine, log, epoch, kind, seq, held ?? null, sent ?? null],
  )
  return { news: row?.news === true }
}
