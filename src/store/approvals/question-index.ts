// Finds questions by binding and by id. Raising a question adds files, and rewrites nothing that others share.

import { randomBytes } from 'node:crypto'
import { closeSync, lstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, listOf, type Reader, text } from '../../files/fields.js'
import { discard, isDiscarded, makePrivate, namesIn, removeDiscarded } from '../../files/folder.js'
import { NewerFormat } from '../../files/format.js'
import { ifThere } from '../../files/if-there.js'
import { removeIfThere } from '../../files/plain-file.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { DRAFT } from './stored-question.js'

/*
 * In the folder of approvals:
 *
 * - `asked/HASH/` has the questions of one binding. It changes by compare-and-swap, so that the same question is open once.
 * - `index/` has an empty file for each question. Its name holds the expiry time and the project.
 * - `list/` is what 0.1.0 used for both. It is read as long as it exists.
 *
 * A question is stored first, then listed by its binding, then added to the index. A process that is killed in between
 * leaves a question that nobody sees. The next process that asks the same adds what is missing.
 */

/** One question, as listed. */
export interface Listed {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expires: number
  /** See files/moment.ts. */
  readonly era: number
  /** See projectMark. 0.1.0 stored none. */
  readonly project?: string | undefined
}

export interface Entry extends Listed {
  readonly binding: string
}

const NONE: readonly Entry[] = []

const entry: Reader<Entry> = (value, where) => {
  const fields = fieldsOf(value, where)
  const id = text(fields.id, `${where}.id`)
  // The id becomes the name of a folder.
  if (!isId(id)) throw new Error(`is not valid: ${where}.id is not an id`)
  return {
    id,
    binding: text(fields.binding, `${where}.binding`),
    expires: count(fields.expires, `${where}.expires`),
    era: fields.era === undefined ? 0 : count(fields.era, `${where}.era`),
  }
}

const NAME = /^(.{9})\.(\d{1,15})\.(\d{1,15})(?:\.([0-9a-f]{16}))?\.v1$/

export class QuestionIndex {
  readonly #folder: string
  readonly #names: string

  constructor(folder: string) {
    this.#folder = folder
    this.#names = join(folder, 'index')
  }

  /** The questions with this binding, the oldest first. */
  like(binding: string): readonly Entry[] {
    const old = this.#old().filter((one) => one.binding === binding)
    return [...old, ...this.#asked(binding).load()]
  }

  /** Atomic. `change` gets the questions with this binding, and may run again. */
  update(binding: string, change: (entries: readonly Entry[]) => readonly Entry[]): void {
    this.#asked(binding).update(change)
  }

  /** Idempotent. */
  add(question: Listed): void {
    makePrivate(this.#names)
    closeSync(openSync(join(this.#names, nameOf(question)), 'a', 0o600))
  }

  /** Every question, open or expired. */
  all(): readonly Listed[] {
    return [...this.#old(), ...listedIn(this.#names)]
  }

  /** Removes what expired a day ago, and leftovers of killed processes. Returns how many questions it removed. */
  sweep(now: number, options: SweepOptions): number {
    const over = this.all().filter(({ expires }) => expires + KEPT_MS <= now)
    const kept = new Set(
      [...this.#old(), ...namesIn(this.#names).map((name) => ({ id: name.slice(0, 9) }))].map(({ id }) => id),
    )
    for (const { id } of over) kept.delete(id)
    const removed = sweepQuestions(this.#folder, kept, options)
    for (const one of over.slice(0, options.most)) {
      if (ifThere(() => lstatSync(join(this.#folder, one.id)))) continue
      removeIfThere(join(this.#names, nameOf(one)))
    }
    this.#sweepAsked(options)
    this.#sweepOld(now)
    return removed
  }

  #asked(binding: string): VersionedFile<readonly Entry[]> {
    return entriesIn(join(this.#folder, 'asked', sha256(binding)))
  }

  #old(): readonly Entry[] {
    return entriesIn(join(this.#folder, 'list')).load()
  }

  #sweepAsked({ most }: SweepOptions): void {
    const folder = join(this.#folder, 'asked')
    const before = Date.now() - LONGEST_LIFE_MS
    for (const name of someOf(namesIn(folder), most)) {
      const path = join(folder, name)
      if (isDiscarded(name)) removeDiscarded(path)
      else if (changedAt(path) < before && isOurs(path)) discard(path)
    }
  }

  #sweepOld(now: number): void {
    const old = this.#old()
    if (old.length > 0 && old.every(({ expires }) => expires + LONGEST_LIFE_MS <= now))
      discard(join(this.#folder, 'list'))
  }
}

function entriesIn(folder: string): VersionedFile<readonly Entry[]> {
  const what = 'the list of questions'
  return new VersionedFile({ folder, what, fresh: NONE, check: (value) => listOf(entry)(value, what) })
}

function nameOf({ id, expires, era, project }: Listed): string {
  return [id, expires, era, ...(project === undefined ? [] : [project]), 'v1'].join('.')
}

/** Short enough for the name of a file. */
export function projectMark(project: string): string {
  return sha256(project).slice(0, 16)
}

/** Ignores other names, which may belong to a newer version. */
function listedIn(folder: string): readonly Listed[] {
  return namesIn(folder).flatMap((name) => {
    const [, id = '', expires, era, project] = NAME.exec(name) ?? []
    return isId(id) ? [{ id, expires: Number(expires), era: Number(era), project }] : []
  })
}

// ---- ids ------------------------------------------------------------------------------------------------------

/** Five bits per letter. There is no i, l, o or u: whoever types one has misread 1, 0 or v, and is understood. */
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

export function isId(text: string): boolean {
  return ID.test(text)
}

/** Accepts any case, with or without the dash, and a prefix of an id. */
export function readId(typed: string): string {
  const letters = typed
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replace(/[il]/g, '1')
    .replaceAll('o', '0')
    .replaceAll('u', 'v')
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}

// ---- sweeping -------------------------------------------------------------------------------------------------

export interface SweepOptions {
  /** The most folders to look at, because somebody is waiting for a question to be raised. */
  readonly most: number
  readonly onTrouble: (text: string) => void
  /** Whether a question may be removed. One from a newer version may not. */
  readonly mayGo: (folder: string) => boolean
}

const DAY_MS = 24 * 60 * 60 * 1000
/** Kept so that a late answerer learns what happened. */
const KEPT_MS = DAY_MS
/** A question is open for a day at most. */
export const LONGEST_LIFE_MS = DAY_MS + KEPT_MS
/** Longer than it takes to raise a question, whose folder exists before its index entry. */
const ABANDONED_MS = 10 * 60 * 1000

/** Removes the folders of questions that are not kept. Returns how many. */
function sweepQuestions(folder: string, kept: ReadonlySet<string>, options: SweepOptions): number {
  const { most, onTrouble, mayGo } = options
  const before = Date.now() - ABANDONED_MS
  const names = namesIn(folder).filter(
    (name) => isDiscarded(name) || DRAFT.test(name) || (isId(name) && !kept.has(name)),
  )
  let removed = 0
  for (const name of someOf(names, most)) {
    const path = join(folder, name)
    try {
      if (isDiscarded(name)) removeDiscarded(path)
      else if (changedAt(path) <= before && mayGo(path)) {
        discard(path)
        removed++
      }
    } catch (error) {
      onTrouble(`an old question could not be removed: ${path}: ${textOf(error)}`)
    }
  }
  return removed
}

/** Starts at a random name, so that none is left out forever. */
function someOf(names: readonly string[], most: number): readonly string[] {
  if (names.length <= most) return names
  const from = Math.floor(Math.random() * names.length)
  return [...names.slice(from), ...names.slice(0, from)].slice(0, most)
}

/** Infinity if it is gone in the meantime. */
function changedAt(path: string): number {
  return ifThere(() => lstatSync(path))?.mtimeMs ?? Infinity
}

/** False if a newer version wrote it. */
function isOurs(folder: string): boolean {
  try {
    entriesIn(folder).load()
    return true
  } catch (error) {
    return !(error instanceof NewerFormat)
  }
}
