// clip, the small program that agents start: where it is, and whether it is still as setup made it.

import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../core/base/json.js'
import { checkFormat, FIRST_FORMAT } from '../files/format.js'
import { dataHome } from '../files/homes.js'
import { placeWhole, readIfThere } from '../files/plain-file.js'
import { isProgram } from '../files/search-path.js'
import { CLIP } from './own-command.js'

export function clipFile(): string {
  return join(dataHome(), 'bin', CLIP)
}

/** Undefined if it cannot be read. */
export function digestIn(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex')
  } catch {
    return undefined
  }
}

interface ClipRecord {
  /** Of the program. */
  readonly digest: string
  /** Of the file that it was made of. */
  readonly source: string
}

const LARGEST_RECORD = 4096

function recordFile(): string {
  return `${clipFile()}.json`
}

export function writeRecord(record: ClipRecord): void {
  const text = `${JSON.stringify({ format: FIRST_FORMAT, ...record })}\n`
  placeWhole(recordFile(), (draft) => writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }))
}

function readRecord(): ClipRecord | undefined {
  const read = readIfThere(recordFile(), LARGEST_RECORD)
  if (!read || 'problem' in read) return undefined
  try {
    const value: unknown = JSON.parse(read.text)
    if (!isObject(value)) return undefined
    checkFormat(value.format, recordFile())
    const { digest, source } = value
    return typeof digest === 'string' && typeof source === 'string' ? { digest, source } : undefined
  } catch {
    return undefined
  }
}

/**
 * `changed`: it is not the file that setup made. `blocked`: it cannot be executed. `older`: it works, but was made of
 * another source than `digest`.
 */
type ClipState = 'missing' | 'changed' | 'blocked' | 'older' | 'good'

export function clipState(digest: string | undefined): ClipState {
  const file = clipFile()
  try {
    if (!statSync(file).isFile()) return 'changed'
  } catch {
    return 'missing'
  }
  const record = readRecord()
  if (record === undefined || digestIn(file) !== record.digest) return 'changed'
  if (!isProgram(file)) return 'blocked'
  return digest === undefined || digest === record.source ? 'good' : 'older'
}
