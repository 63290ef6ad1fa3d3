// The lines of a log: each holds the hash of the line before it and ends with its own. They are checked as bytes.

import { perCaller } from '../../core/base/caller.js'
import { sha256OfBytes } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import type { Link, Writable } from '../audit-log.js'
import { isSecretKey, writtenData, writtenText } from '../redaction.js'

/** Before the first record. */
export const START: Link = Object.freeze({ seq: 0, hash: '0'.repeat(64) })

/** What a line claims about itself. `isIntact` checks it. */
export interface Mark extends Link {
  readonly prev: string
}

/** A longer line is refused when written, and is not a record when read. */
export const LONGEST_LINE = 8 * 1024 * 1024

/** `,"hash":"…"}` */
const SEAL_LENGTH = 9 + 64 + 2
const SEAL = /^,"hash":"([0-9a-f]{64})"\}$/
const BEGINNING = /^\{"seq":([1-9]\d{0,15}),"prev":"([0-9a-f]{64})",/
const BEGINNING_LENGTH = 128

/** Fields that the log itself adds. */
const OWN_FIELDS = ['seq', 'prev', 'hash'] as const

/** The JSON of an entry, which becomes a part of its line. Throws if it is not an entry. */
export function textOfEntry(entry: Writable): string {
  if (!isObject(entry) || typeof entry.kind !== 'string' || typeof entry.time !== 'string')
    throw new Error('an entry of the audit log must be an object with kind and time')
  const own = OWN_FIELDS.find((field) => field in entry)
  if (own) throw new Error(`an entry of the audit log cannot have a field ${own}: the log sets it`)
  const text = writtenOf(entry)
  const room = LONGEST_LINE - 1024
  if (text.length > room / 3 && Buffer.byteLength(text) > room)
    throw new Error(`an entry of the audit log is larger than ${room} bytes`)
  return text
}

function writtenOf(entry: Writable): string {
  try {
    return JSON.stringify(withoutSecretsIn(entry))
  } catch (error) {
    throw new Error(`an entry of the audit log is not plain data: ${textOf(error)}`, { cause: error })
  }
}

/** Allocating a new buffer for each batch takes longer than filling it. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024)

/** Makes the lines that follow this link from the JSON of entries. The bytes are valid until the next call. */
export function chained(
  texts: readonly string[],
  after: Link,
): { readonly bytes: Buffer; readonly last: Link } {
  const room = texts.reduce((sum, text) => sum + roomFor(text), 0)
  const bytes = room <= scratch.length ? scratch : Buffer.allocUnsafe(room)
  let { seq, hash } = after
  let end = 0
  // The end of each line is written together with the start of the next, because each write costs time.
  let seal = ''
  for (const text of texts) {
    seq++
    const beginning = `{"seq":${seq},"prev":"${hash}"`
    end += bytes.write(seal + beginning, end, 'latin1')
    const start = end - beginning.length
    const brace = end
    end += bytes.write(text, end)
    // Its opening brace becomes the comma after our fields, and its closing brace is overwritten.
    bytes[brace] = COMMA
    end--
    hash = sha256OfBytes(bytes.subarray(start, end))
    seal = `,"hash":"${hash}"}\n`
  }
  end += bytes.write(seal, end, 'latin1')
  return { bytes: bytes.subarray(0, end), last: { seq, hash } }
}

const COMMA = 44

/** The fields that the log adds take 176 bytes at most. */
function roomFor(text: string): number {
  return 3 * text.length + 192
}

/** Undefined if this does not look like a line of the log. */
export function markOf(line: Buffer): Mark | undefined {
  if (line.length < SEAL_LENGTH || line.length > LONGEST_LINE) return undefined
  const beginning = BEGINNING.exec(line.toString('latin1', 0, BEGINNING_LENGTH))
  const seal = SEAL.exec(line.toString('latin1', line.length - SEAL_LENGTH))
  if (!beginning || !seal) return undefined
  const seq = Number(beginning[1])
  return Number.isSafeInteger(seq)
    ? { seq, prev: beginning[2] as string, hash: seal[1] as string }
    : undefined
}

/** Whether the hash of the line is right. */
export function isIntact(line: Buffer, { hash }: Mark): boolean {
  return sha256OfBytes(line.subarray(0, line.length - SEAL_LENGTH)) === hash
}

// ---- secrets --------------------------------------------------------------------------------------------------

/** Records of the engine. Their fields rarely name each other's secrets, and writing them must be fast. */
const FREQUENT: readonly string[] = ['fire', 'late']

/** What holds no secret. It is already in the log, so learning later that some of it is a secret would be too late anyway. */
interface Clean {
  readonly texts: Set<string>
  /** Names that say nothing about their values either. */
  readonly names: Set<string>
  renewAt: number
}

const cleanOfCaller = perCaller((): Clean => ({ texts: new Set(), names: new Set(), renewAt: 0 }))
const MOST_TEXTS = 1000
const LONGEST_TEXT = 256
/** After this time, they are checked again, because new secrets may be known. */
const RENEW_MS = 1000

/** Returns the same object if it has none. */
function withoutSecretsIn(entry: Writable): Writable {
  const now = performance.now()
  const clean = cleanOfCaller()
  if (now > clean.renewAt || clean.texts.size > MOST_TEXTS) {
    clean.texts.clear()
    clean.names.clear()
    clean.renewAt = now + RENEW_MS
  }
  return FREQUENT.includes(entry.kind) && isClean(entry, clean)
    ? entry
    : (writtenData(entry as unknown as Json) as unknown as Writable)
}

/** Cached, because most records repeat the same texts. Without a `name`, the name of the value says nothing about it. */
function isClean(value: unknown, clean: Clean, name?: string): boolean {
  if (typeof value === 'string')
    return (
      isCleanText(value, clean.texts) && (name === undefined || value === '' || !isSecretKey(name, value))
    )
  if (typeof value === 'number') return name === undefined || !isSecretKey(name, value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (const one of value) if (!isClean(one, clean, name)) return false
    return true
  }
  for (const key in value) {
    const one = (value as Readonly<Record<string, unknown>>)[key]
    if (clean.names.has(key) || isPlainName(key, clean)) {
      if (!isClean(one, clean)) return false
    } else if (!isCleanText(key, clean.texts) || !isClean(one, clean, key)) return false
  }
  return true
}

function isPlainName(name: string, { texts, names }: Clean): boolean {
  if (isSecretKey(name) || !isCleanText(name, texts)) return false
  if (texts.has(name)) names.add(name)
  return true
}

/** Times differ in each record and hold no secrets, so they are not cached. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/

function isCleanText(text: string, clean: Set<string>): boolean {
  if (clean.has(text) || TIME.test(text)) return true
  if (writtenText(text) !== text) return false
  if (text.length <= LONGEST_TEXT) clean.add(text)
  return true
}
