// An export of all records of a fleet: a file of JSON lines that anybody verifies without the database.

import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, oneOf, type Reader, text } from '../../files/fields.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { LONGEST_LINE } from '../../store/audit/chain.js'
import type { Link } from '../../store/audit-log.js'
import type { Leaf } from './checkpoint.js'
import type { Evidence } from './evidence.js'
import type { SignedRow } from './signed-rows.js'
import type { FleetRecord, FleetSource, NumberedNote } from './source.js'

/*
 * The first line says what it is, the last one that nothing is missing. Between them are all machines, checkpoints,
 * evidence, signed lists, and chains, each with its records behind it. A record is the text that the machine wrote, byte by byte.
 */

const WHAT = 'carabiner-fleet-audit'
const TYPES = ['begin', 'machine', 'checkpoint', 'evidence', 'signed', 'chain', 'record', 'end'] as const
type LineType = (typeof TYPES)[number]

/** Who the export is from. */
export interface ExportHead {
  readonly org: string
  /** The public key of the fleet as the database has it, base64url. */
  readonly rootKey: string
  readonly time: string
}

export interface ExportCount {
  readonly chains: number
  readonly records: number
  readonly checkpoints: number
}

/** A checkpoint of many machines takes several lines, each with as many characters as this. */
const NOTE_PART = 1024 * 1024
/** Before it is written to the file. */
const BUFFER = 256 * 1024

/** Creates the file. Throws if it is there. Leaves none behind if it fails. */
export async function writeExport<C extends Leaf>(
  path: string,
  head: ExportHead,
  source: FleetSource<C>,
): Promise<ExportCount> {
  const file = await open(path, 'wx', 0o600)
  const total = { chains: 0, records: 0, checkpoints: 0 }
  let waiting = ''
  let lines = 0
  const flush = async () => {
    const part = waiting
    waiting = ''
    await file.appendFile(part)
  }
  const write = async (type: LineType, fields: object) => {
    waiting += `${JSON.stringify({ type, ...fields })}\n`
    lines++
    if (waiting.length >= BUFFER) await flush()
  }
  try {
    await write('begin', { what: WHAT, format: FIRST_FORMAT, ...head })
    for (const [machine, name] of await source.names()) await write('machine', { machine, name })
    for await (const { number, note } of source.checkpoints()) {
      total.checkpoints++
      for (let at = 0; at === 0 || at < note.length; at += NOTE_PART) {
        const isContinued = at + NOTE_PART < note.length
        const part = note.slice(at, at + NOTE_PART)
        await write('checkpoint', { number, note: part, ...(isContinued && { continued: true }) })
      }
    }
    for await (const one of source.evidence()) await write('evidence', one)
    for await (const one of source.signed()) await write('signed', one)
    for await (const chain of source.chains()) {
      total.chains++
      const { machine, log, epoch, base, head } = chain
      await write('chain', { machine, log, epoch, base, head })
      for await (const { seq, hash, line } of source.records(chain)) {
        total.records++
        await write('record', { seq, hash, line })
      }
    }
    await write('end', { lines: lines + 1 })
    await flush()
    await file.sync()
    return total
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

// ---- reading --------------------------------------------------------------------------------------------------

/** An export, read line by line. Its parts throw if it is not complete, or if somebody changed its form. */
export interface Export extends FleetSource {
  readonly head: ExportHead
  close(): Promise<void>
}

export async function readExport(path: string): Promise<Export> {
  const lines = new Lines(path)
  const begin = await lines.next('begin')
  if (!begin || begin.what !== WHAT) throw new Error(`${path} is not an export of carabiner fleet audit`)
  checkFormat(begin.format, path)
  const head = {
    org: text(begin.org, 'org'),
    rootKey: text(begin.rootKey, 'rootKey'),
    time: text(begin.time, 'time'),
  }
  return {
    head,
    close: () => lines.close(),
    names: async () => {
      const names = new Map<string, string>()
      for await (const one of lines.all('machine')) {
        const machine = text(one.machine, 'machine')
        if (names.has(machine)) throw new Error(`the export ${path} has the machine ${machine} twice`)
        names.set(machine, text(one.name, 'name'))
      }
      return names
    },
    checkpoints: async function* (): AsyncGenerator<NumberedNote> {
      let begun: NumberedNote | undefined
      for await (const one of lines.all('checkpoint')) {
        const number = count(one.number, 'number')
        if (begun && begun.number !== number) break
        const whole = { number, note: `${begun?.note ?? ''}${text(one.note, 'note')}` }
        begun = one.continued === true ? whole : undefined
        if (!begun) yield whole
      }
      if (begun)
        throw new Error(`the export ${path} is damaged: the rest of checkpoint ${begun.number} is missing`)
    },
    evidence: async function* (): AsyncGenerator<Evidence> {
      for await (const one of lines.all('evidence')) yield evidence(one, 'evidence')
    },
    signed: async function* (): AsyncGenerator<SignedRow> {
      for await (const one of lines.all('signed')) yield signedRow(one, 'signed')
    },
    chains: async function* (): AsyncGenerator<Leaf> {
      for await (const one of lines.all('chain')) yield chain(one, 'chain')
      await lines.end()
    },
    records: async function* (): AsyncGenerator<FleetRecord> {
      for await (const one of lines.all('record'))
        yield {
          ...{ seq: whole(one.seq, 'record.seq'), hash: text(one.hash, 'record.hash') },
          line: text(one.line, 'record.line'),
        }
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The lines of the file, of which the next one can be looked at. */
class Lines {
  readonly #path: string
  readonly #lines: AsyncGenerator<string>
  #ahead: { readonly type: LineType; readonly fields: Fields } | undefined
  #count = 0

  constructor(path: string) {
    this.#path = path
    this.#lines = linesOf(path)
  }

  /** The fields of the next line, if it is of this type. */
  async next(type: LineType): Promise<Fields | undefined> {
    this.#ahead ??= await this.#read()
    if (this.#ahead.type !== type) return undefined
    const { fields } = this.#ahead
    this.#ahead = undefined
    return fields
  }

  /** All lines of this type that follow. */
  async *all(type: LineType): AsyncGenerator<Fields> {
    for (let one = await this.next(type); one; one = await this.next(type)) yield one
  }

  /** Throws unless nothing is missing, and nothing follows. */
  async end(): Promise<void> {
    const end = await this.next('end')
    if (!end) throw this.#damaged(`a line of type ${this.#ahead?.type} is in the wrong place`)
    if (end.lines !== this.#count) throw this.#damaged(`it has ${this.#count} lines, and had others`)
    if (!(await this.#lines.next()).done) throw this.#damaged('something follows its end')
  }

  async close(): Promise<void> {
    await this.#lines.return(undefined)
  }

  async #read(): Promise<{ readonly type: LineType; readonly fields: Fields }> {
    const { value, done } = await this.#lines.next()
    if (done) throw this.#damaged('its end is missing')
    this.#count++
    try {
      const fields = fieldsOf(JSON.parse(value), 'the line')
      return { type: oneOf(...TYPES)(fields.type, 'type'), fields }
    } catch (error) {
      throw this.#damaged(`line ${this.#count}: ${textOf(error)}`)
    }
  }

  #damaged(why: string): Error {
    return new Error(`the export ${this.#path} is damaged: ${why}`)
  }
}

/** The longest record fits, also if each of its bytes has to be escaped, which takes six. */
const LONGEST = 8 * LONGEST_LINE

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  const parts = createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 })
  for await (const part of parts as AsyncIterable<string>) {
    const lines = `${rest}${part}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) throw new Error(`${path} has a line of more than ${LONGEST} characters`)
    yield* lines
  }
  if (rest !== '') yield rest
}

/** Of a record that somebody added, also less than 0. */
const whole: Reader<number> = (value, where) => {
  if (Number.isInteger(value)) return value as number
  throw new Error(`${where} must be a whole number`)
}

const link: Reader<Link> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { seq: count(fields.seq, `${where}.seq`), hash: text(fields.hash, `${where}.hash`) }
}

const chain: Reader<Leaf> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    machine: text(fields.machine, `${where}.machine`),
    log: text(fields.log, `${where}.log`),
    epoch: count(fields.epoch, `${where}.epoch`),
    base: link(fields.base, `${where}.base`),
    head: link(fields.head, `${where}.head`),
  }
}

const evidence: Reader<Evidence> = (value, where) => {
  const { machine, log, epoch, kind, seq, ...rest } = fieldsOf(value, where)
  const orNull = (key: 'held' | 'sent' | 'line') => (rest[key] === null ? null : text(rest[key], key))
  return {
    machine: text(machine, `${where}.machine`),
    log: text(log, `${where}.log`),
    epoch: count(epoch, `${where}.epoch`),
    kind: text(kind, `${where}.kind`),
    seq: text(seq, `${where}.seq`),
    held: orNull('held'),
    sent: orNull('sent'),
    line: orNull('line'),
  }
}

const signedRow: Reader<SignedRow> = (value, where) => {
  const { what, version, content, beside } = fieldsOf(value, where)
  return {
    what: text(what, `${where}.what`),
    version: count(version, `${where}.version`),
    content: text(content, `${where}.content`),
    beside: beside === null ? null : text(beside, `${where}.beside`),
  }
}
