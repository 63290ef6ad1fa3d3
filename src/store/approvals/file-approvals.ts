// Approvals in files: a folder for each question with its answer beside it, and one list of all of them.

import { join, resolve } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { type Check, checkOptions, isFunction, isText } from '../../core/base/options.js'
import { nearest } from '../../core/base/text.js'
import type { Question } from '../../core/hooks/outcome.js'
import { effectOf } from '../../core/verdict/approval.js'
import { discard, makePrivate } from '../../files/folder.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { checkOwnFolder } from '../../files/plain-file.js'
import type { VersionedFile } from '../../files/versioned-file.js'
import { isInProject } from '../../files/within.js'
import {
  type AnswerGiven,
  type AnswerResult,
  type Approvals,
  answerTo,
  type Found,
  type Pending,
  type Raised,
  type Taken,
  type WaitOptions,
  type Watching,
} from '../approvals.js'
import { type Entry, questionList, readId, sweepQuestions, thinnedOut } from './question-list.js'
import { keyPath } from './seal.js'
import { Shelf, type ShelfPlace } from './shelf.js'
import { beginWatching, isAnybodyWatching, waitForAnswer } from './waiting.js'

export interface FileApprovalsOptions {
  /** For questions and answers; default `stateHome()`. */
  readonly stateDir?: string
  /** For the key that seals them; default `dataHome()`. */
  readonly dataDir?: string
  /** How many seconds a question can be answered and its answer used; default an hour, at most a day. */
  readonly openFor?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Told about forged and damaged files, and about old ones that cannot be removed; default: a process warning. */
  readonly onTrouble?: (text: string) => void
}

export function fileApprovals(options: FileApprovalsOptions = {}): Approvals {
  return new FileApprovals(options)
}

const DEFAULT_OPEN = 3600
const LONGEST_OPEN = 24 * 3600
const MOST_OPEN = 1000

const openFor: Check = [
  (value) => Number.isFinite(value) && (value as number) > 0 && (value as number) <= LONGEST_OPEN,
  `a number of seconds above 0, and at most ${LONGEST_OPEN} (a day)`,
]
const CHECKS = { stateDir: isText, dataDir: isText, openFor, now: isFunction, onTrouble: isFunction }

/** Every method but `wait` answers at once. */
export class FileApprovals implements Approvals {
  readonly #place: ShelfPlace
  readonly #openMs: number
  readonly #list: VersionedFile<readonly Entry[]>
  readonly #now: () => number

  constructor(options: FileApprovalsOptions = {}) {
    checkOptions('fileApprovals', options, CHECKS)
    const { onTrouble = (text) => process.emitWarning(text) } = options
    const folder = join(resolve(options.stateDir ?? stateHome()), 'approvals')
    this.#place = { folder, dataDir: resolve(options.dataDir ?? dataHome()), onTrouble }
    this.#openMs = (options.openFor ?? DEFAULT_OPEN) * 1000
    this.#list = questionList(folder)
    this.#now = options.now ?? Date.now
  }

  raise(question: Question, { project }: { readonly project: string }): Raised {
    const { folder } = this.#place
    this.checkOutside(project)
    makePrivate(folder)
    checkOwnFolder(folder, { follow: true })
    const shelf = this.#shelf()
    const open = shelf.openLike(question.binding, this.#list.load())
    if (open) return { ...open, isNew: false }
    const pending = shelf.add(question, resolve(project), this.#openMs)
    const other = this.#enter(pending, shelf)
    if (other) return { ...other, isNew: false }
    this.#tidy()
    return { ...pending, isNew: true }
  }

  /** A project that holds the key or the answers could approve its own calls. */
  checkOutside(project: string): void {
    const { folder, dataDir } = this.#place
    const inside = [folder, keyPath(dataDir)].find((path) => isInProject(path, resolve(project)))
    if (inside === undefined) return
    throw new Error(
      `approvals cannot be kept in ${JSON.stringify(inside)}, which lies in the project ${JSON.stringify(project)}: the project would approve its own calls; set CARABINER_HOME to a folder outside of it`,
    )
  }

  answer(id: string, given: AnswerGiven): AnswerResult {
    const shelf = this.#shelf()
    const entry = this.#list.load().find((one) => one.id === readId(id))
    const pending = entry && shelf.pending(entry.id)
    if (!pending) return this.#unknown(id)
    const answer = answerTo(pending, given, shelf.now)
    if (!answer) return { status: 'not-offered', options: pending.question.options }
    const earlier = shelf.answerTo(pending)
    if (!earlier && shelf.isOver(pending)) return { status: 'expired', pending }
    const first = earlier ?? shelf.addAnswer(pending, answer)
    if (!first) return { status: 'answered', pending, answer }
    return { status: 'too-late', pending, answer: first, used: shelf.isUsed(pending) }
  }

  take(question: Question): Taken | undefined {
    const shelf = this.#shelf()
    for (const { id } of this.#entriesLike(question)) {
      const pending = shelf.pending(id)
      if (!pending || pending.question.binding !== question.binding || shelf.isOver(pending)) continue
      const answer = shelf.answerTo(pending)
      if (!answer || shelf.isOver(answer)) continue
      const decision = effectOf(question, answer.option) === 'deny' ? 'deny' : 'allow'
      if (decision === 'deny' || shelf.useUp(pending)) return { ...answer, decision }
    }
    return undefined
  }

  async wait(question: Question, options: WaitOptions): Promise<Taken | undefined> {
    const entry = this.#entriesLike(question).at(-1)
    const folder = entry && this.#shelf().folderOf(entry.id)
    return waitForAnswer(() => this.take(question), folder, options)
  }

  open(): readonly Pending[] {
    const shelf = this.#shelf()
    const open = this.#list.load().flatMap(({ id, expires }) => {
      const pending = expires > shelf.now ? shelf.pending(id) : undefined
      return pending && shelf.isOpen(pending) ? [pending] : []
    })
    return open.sort((a, b) => Date.parse(a.asked) - Date.parse(b.asked))
  }

  get(typed: string): Found {
    const wanted = readId(typed)
    const ids = this.#list.load().flatMap(({ id }) => (wanted !== '' && id.startsWith(wanted) ? [id] : []))
    if (ids.length > 1) return { status: 'ambiguous', ids }
    const shelf = this.#shelf()
    const pending = ids[0] === undefined ? undefined : shelf.pending(ids[0])
    if (!pending) return this.#unknown(typed)
    const answer = shelf.answerTo(pending)
    const found = { pending, ...(answer && { answer }) }
    if (shelf.isUsed(pending)) return { ...found, status: 'used' }
    if (shelf.isOver(pending)) return { ...found, status: 'expired' }
    return { ...found, status: answer ? 'answered' : 'open' }
  }

  /** Removes questions that expired long ago and what killed processes left. Answers how many it removed. */
  sweep(): number {
    const now = this.#now()
    this.#list.update((entries) => {
      const left = thinnedOut(entries, now)
      return left.length === entries.length ? entries : left
    })
    const kept = new Set(this.#list.load().map(({ id }) => id))
    return sweepQuestions(this.#place.folder, kept, this.#place.onTrouble)
  }

  watching(): Watching {
    return beginWatching(this.#watchers)
  }

  isWatched(): boolean {
    return isAnybodyWatching(this.#watchers)
  }

  get #watchers(): string {
    return join(this.#place.folder, 'watchers')
  }

  #shelf(): Shelf {
    return new Shelf(this.#place, this.#now())
  }

  /** Answers the same question of a faster process, if there is one; then this one is removed. */
  #enter(pending: Pending, shelf: Shelf): Pending | undefined {
    const { id, expires, question } = pending
    let other: Pending | undefined
    let isIn = false
    try {
      this.#list.update((entries) => {
        other = shelf.openLike(question.binding, entries)
        if (other) return entries
        const open = entries.filter((one) => one.expires > shelf.now)
        if (open.length >= MOST_OPEN) throw new Error(TOO_MANY)
        const entry = { id, binding: question.binding, expires: Date.parse(expires) }
        return [...thinnedOut(entries, shelf.now), entry]
      })
      isIn = other === undefined
    } finally {
      if (!isIn) discard(shelf.folderOf(id))
    }
    return other
  }

  #entriesLike({ binding }: Question): readonly Entry[] {
    return this.#list.load().filter((entry) => entry.binding === binding)
  }

  #unknown(typed: string): { readonly status: 'unknown'; readonly nearest?: string } {
    const now = this.#now()
    const ids = this.#list.load().flatMap(({ id, expires }) => (expires > now ? [id] : []))
    const meant = nearest(readId(typed), ids)
    return { status: 'unknown', ...(meant !== undefined && { nearest: meant }) }
  }

  /** A failure here is reported, but does not fail the call. */
  #tidy(): void {
    try {
      this.sweep()
    } catch (error) {
      this.#place.onTrouble(`old questions could not be removed: ${textOf(error)}`)
    }
  }
}

const TOO_MANY = `${MOST_OPEN} questions wait for an answer, and no more are taken; answer some of them: carabiner approvals`
