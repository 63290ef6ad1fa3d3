// The list of questions and their ids. It changes by compare-and-swap, so that the same question is raised once.

import { randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, listOf, type Reader, text } from '../../files/fields.js'
import { discard, isDiscarded, namesIn, removeDiscarded } from '../../files/folder.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { DRAFT } from './stored-question.js'

export interface Entry {
  readonly id: string
  readonly binding: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

const NONE: readonly Entry[] = []

const entry: Reader<Entry> = (value, where) => {
  const fields = fieldsOf(value, where)
  const id = text(fields.id, `${where}.id`)
  // It becomes the name of a folder.
  if (!isId(id)) throw new Error(`is not valid: ${where}.id is no id`)
  const binding = text(fields.binding, `${where}.binding`)
  return { id, binding, expires: count(fields.expires, `${where}.expires`) }
}

export function questionList(folder: string): VersionedFile<readonly Entry[]> {
  return new VersionedFile({
    folder: join(folder, 'list'),
    what: 'the list of questions',
    fresh: NONE,
    check: (value) => listOf(entry)(value, 'the list of questions'),
  })
}

// ---- ids ------------------------------------------------------------------------------------------------------

/** Five bits a letter. It has no i, l, o and u: a person who types one has misread 1, 0 or v, and is understood. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 8
const BITS = 5

const ID = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`)

/** `k7f3-9qxd`: 40 bits. */
export function newId(): string {
  let number = BigInt(`0x${randomBytes((LENGTH * BITS) / 8).toString('hex')}`)
  let letters = ''
  for (let i = 0; i < LENGTH; i++, number >>= BigInt(BITS)) letters += LETTERS[Number(number & 31n)]
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

function isId(text: string): boolean {
  return ID.test(text)
}

/** Accepts any case, with or without the dash, and the beginning of an id. */
export function readId(typed: string): string {
  const letters = typed
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replace(/[il]/g, '1')
    .replaceAll('o', '0')
    .replaceAll('u', 'v')
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}

// ---- what goes ------------------------------------------------------------------------------------------------

/** Kept so that a late answerer is told what happened. */
const KEPT_MS = 24 * 60 * 60 * 1000
const MOST_KEPT = 2000
/** Longer than it takes to raise a question, which has its folder before it is in the list. */
const ABANDONED_MS = 10 * 60 * 1000

/** Removes expired questions after a day, or earlier if there are too many. */
export function thinnedOut(entries: readonly Entry[], now: number): readonly Entry[] {
  const left = entries.filter(({ expires }) => expires + KEPT_MS > now)
  let tooMany = left.length - MOST_KEPT
  return left.filter(({ expires }) => expires > now || tooMany-- <= 0)
}

/** Removes the folders of questions that are not in the list. Answers how many. */
export function sweepQuestions(
  folder: string,
  kept: ReadonlySet<string>,
  onTrouble: (text: string) => void,
): number {
  const before = Date.now() - ABANDONED_MS
  let removed = 0
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    try {
      if (isDiscarded(name)) removeDiscarded(path)
      else if ((isId(name) && !kept.has(name)) || DRAFT.test(name)) {
        if (changedAt(path) > before) continue
        discard(path)
        removed++
      }
    } catch (error) {
      onTrouble(`an old question could not be removed: ${path}: ${textOf(error)}`)
    }
  }
  return removed
}

/** Infinity if it is gone meanwhile. */
function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
}
