// The folders of questions at one moment. Returns only genuine questions and answers, and reports the others.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { grantDigest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { timestamp } from '../../core/base/time.js'
import type { Question } from '../../core/hooks/outcome.js'
import { callerPid } from '../../files/caller.js'
import { isOver, type Moment, momentIn } from '../../files/moment.js'
import { Seal } from '../../files/seal.js'
import type { GivenAnswer, Pending } from '../approvals.js'
import { type Listed, newId } from './question-index.js'
import {
  isAnswered,
  lookFor,
  lookForVotes,
  storeAnswer,
  storeVote,
  usedPath,
  useUp,
} from './stored-answer.js'
import { readQuestion, storeQuestion } from './stored-question.js'
import { UsedIds } from './used-ids.js'

const MOST_TRIES = 8

export interface ShelfPlace {
  /** Holds a folder for each question. */
  readonly folder: string
  /** Holds the key. */
  readonly dataDir: string
  readonly onTrouble: (text: string) => void
}

/** How a question is asked. */
interface Raising {
  readonly project: string
  readonly openMs: number
  readonly answersOwnQuestions: boolean
}

export class Shelf {
  readonly #place: ShelfPlace
  readonly #now: number
  readonly #used: UsedIds
  #moment: Moment | undefined
  #sealed: Seal | undefined

  constructor(place: ShelfPlace, now: number) {
    this.#place = place
    this.#now = now
    this.#used = new UsedIds(place.dataDir)
  }

  /** One time for everything that belongs together. Read on first use: without questions, nothing is stored. */
  get moment(): Moment {
    this.#moment ??= momentIn(this.#place.dataDir, this.#now)
    return this.#moment
  }

  folderOf(id: string): string {
    return join(this.#place.folder, id)
  }

  /** Undefined if there is no genuine question with this id. */
  pending(id: string): Pending | undefined {
    if (!existsSync(this.folderOf(id))) return undefined
    const seal = this.#seal()
    try {
      return readQuestion(this.folderOf(id), seal)
    } catch (error) {
      this.#place.onTrouble(textOf(error))
      return undefined
    }
  }

  answerTo(pending: Pending): GivenAnswer | undefined {
    const { answer, problems } = lookFor(this.folderOf(pending.id), pending, this.#seal())
    for (const problem of problems) this.#place.onTrouble(problem)
    return answer
  }

  isOpen(pending: Pending): boolean {
    return !this.isOver(pending) && !this.isUsed(pending) && this.answerTo(pending) === undefined
  }

  isOver({ expires, era }: Pick<Pending, 'expires' | 'era'>): boolean {
    return isOver({ ends: expires, era }, this.moment)
  }

  /** The same, judged by the index. */
  isListedOver({ expires, era }: Listed): boolean {
    return isOver({ ends: expires, era }, this.moment)
  }

  isUsed({ id }: Pick<Pending, 'id'>): boolean {
    return existsSync(usedPath(this.folderOf(id))) || this.#used.has(id)
  }

  /** The same as isOpen, but without reading anything. For counting. */
  isWaiting({ id }: Listed): boolean {
    const folder = this.folderOf(id)
    return existsSync(folder) && !isAnswered(folder)
  }

  /** Returns true to exactly one caller. */
  useUp(pending: Pending): boolean {
    const folder = this.folderOf(pending.id)
    if (!useUp(folder, pending, this.#seal())) return false
    if (this.#used.add(pending.id)) return true
    this.#place.onTrouble(
      `the answer to ${pending.id} was used before, and does not count again; find out who put it back into ${folder}`,
    )
    return false
  }

  /** Proves to the store of grants that a person answered this question with "always". */
  proofOf({ question: { event, call }, expires }: Pending): string {
    return this.#seal().proof(grantDigest(event, call), expires)
  }

  /** The first of these questions that is open, and fits. */
  openAmong(entries: readonly Listed[], fits: (pending: Pending) => boolean): Pending | undefined {
    for (const { id } of entries) {
      const pending = this.pending(id)
      if (pending && fits(pending) && this.isOpen(pending)) return pending
    }
    return undefined
  }

  /** Stores it in a folder of its own. Does not add it to the index. */
  add(question: Question, { project, openMs, answersOwnQuestions }: Raising): Pending {
    const { now, era } = this.moment
    const raised = {
      question,
      project,
      raisedBy: { pid: callerPid(), host: hostname() },
      asked: timestamp(now),
      expires: timestamp(now + openMs),
      ...(era !== 0 && { era }),
      ...(answersOwnQuestions && { answersOwnQuestions }),
    }
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const pending = { id: newId(), ...raised }
      if (storeQuestion(this.folderOf(pending.id), pending, this.#seal())) return pending
    }
    throw new Error(`cannot find a free name for a question in ${this.#place.folder}; try again`)
  }

  /** Returns the earlier answer if this is not the first. */
  addAnswer(pending: Pending, answer: GivenAnswer): GivenAnswer | undefined {
    return storeAnswer(this.folderOf(pending.id), pending, answer, this.#seal(), this.#place.onTrouble)
  }

  /** Who has allowed it, if several people have to. Whether their signatures count is checked with the last one. */
  allowers(pending: Pending): readonly string[] {
    const { votes } = lookForVotes(this.folderOf(pending.id), pending, this.#seal())
    return [...new Set(votes.map(({ by }) => by))]
  }

  /** Adds the allow of one of several people. Returns all of them. */
  addVote(pending: Pending, vote: GivenAnswer): readonly GivenAnswer[] {
    return storeVote(this.folderOf(pending.id), pending, vote, this.#seal())
  }

  /** Read on first use: without questions, no key is created. */
  #seal(): Seal {
    this.#sealed ??= new Seal(this.#place.dataDir)
    return this.#sealed
  }
}
