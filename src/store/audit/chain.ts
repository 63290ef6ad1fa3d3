// The form of a line: each holds the hash of the line before it and, last, its own. Read and checked as bytes.

import { hash as hashOf } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import type { Writable } from './entry.js'
import { withoutSecretsIn } from './secret-names.js'

/** A record's place in the chain. */
export interface Link {
  readonly seq: number
  readonly hash: string
}

/** Before the first record. */
export const START: Link = Object.freeze({ seq: 0, hash: '0'.repeat(64) })

/** What a line says of itself; whether it is true is another question. */
export interface Mark extends Link {
  readonly prev: string
}

/** Longer ones are refused when written, and no record when read. */
export const LONGEST_LINE = 8 * 1024 * 1024

/** `,"hash":"…"}` */
const SEAL_LENGTH = 9 + 64 + 2
const SEAL = /^,"hash":"([0-9a-f]{64})"\}$/
const BEGINNING = /^\{"seq":([1-9]\d{0,15}),"prev":"([0-9a-f]{64})",/
const BEGINNING_LENGTH = 128

/** Fields that are the log's own. */
const OWN_FIELDS = ['seq', 'prev', 'hash'] as const

export function sha256(bytes: string | Buffer): string {
  return hashOf('sha256', bytes)
}

/** The entry as JSON, which a line has within. Throws for what is no entry. */
export function textOfEntry(entry: Writable): string {
  if (!isObject(entry) || typeof entry.kind !== 'string' || typeof entry.time !== 'string')
    throw new Error('an entry of the audit log must be an object with kind and time')
  const own = OWN_FIELDS.find((field) => field in entry)
  if (own) throw new Error(`an entry of the audit log cannot have a field ${own}: the log gives it its own`)
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
    throw new Error(`an entry of the audit log is no plain data: ${textOf(error)}`, { cause: error })
  }
}

/** Making a new one for each batch takes longer than to fill it. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024)

/** The lines of these entries, each as JSON, after this link. The bytes are valid until the next call. */
export function chained(
  texts: readonly string[],
  after: Link,
): { readonly bytes: Buffer; readonly last: Link } {
  const room = texts.reduce((sum, text) => sum + roomFor(text), 0)
  const bytes = room <= scratch.length ? scratch : Buffer.allocUnsafe(room)
  let { seq, hash } = after
  let end = 0
  // What ends the line before; written together with what begins the next, because each write has its price.
  let seal = ''
  for (const text of texts) {
    seq++
    const beginning = `{"seq":${seq},"prev":"${hash}"`
    end += bytes.write(seal + beginning, end, 'latin1')
    const start = end - beginning.length
    const brace = end
    end += bytes.write(text, end)
    // Its own braces become what joins it to the rest.
    bytes[brace] = COMMA
    end--
    hash = sha256(bytes.subarray(start, end))
    seal = `,"hash":"${hash}"}\n`
  }
  end += bytes.write(seal, end, 'latin1')
  return { bytes: bytes.subarray(0, end), last: { seq, hash } }
}

const COMMA = 44

/** The links take 176 bytes at most. */
function roomFor(text: string): number {
  return 3 * text.length + 192
}

/** Undefined for what has not the form of a line. */
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

/** Whether the line is what its hash was made of. */
export function isIntact(line: Buffer, { hash }: Mark): boolean {
  return sha256(line.subarray(0, line.length - SEAL_LENGTH)) === hash
}
