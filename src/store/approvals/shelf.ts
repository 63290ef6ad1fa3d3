// The folders of questions at one moment: only what is genuine comes out, and the rest is reported.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { timestamp } from '../../core/base/time.js'
import type { Question } from '../../core/hooks/outcome.js'
import type { GivenAnswer, Pending } from '../approvals.js'
import { type Entry, newId } from './question-list.js'
import { Seal } from './seal.js'
import { lookFor, storeAnswer, usedPath, useUp } from './stored-answer.js'
import { readQuestion, storeQuestion } from './stored-question.js'

const MOST_TRIES = 8

export interface ShelfPlace {
  /** Holds a folder for each question. */
  readonly folder: string
  /** Holds the key. */
  readonly dataDir: string
  readonly onTrouble: (text: string) => void
}

export class Shelf {
  readonly #place: ShelfPlace
  /** Everything that belongs together happens at this time. */
  readonly now: number
  #sealed: Seal | undefined

  constructor(place: ShelfPlace, now: number) {
    this.#place = place
    this.now = now
  }

  folderOf(id: string): string {
    return join(this.#place.folder, id)
  }

  /** Undefined if there is none that can be relied on. */
  pending(id: string): Pending | undefined {
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
    return !this.isOver(pending) && this.answerTo(pending) === undefined
  }

  isOver({ expires }: { readonly expires: string }): boolean {
    return Date.parse(expires) <= this.now
  }

  isUsed({ id }: Pending): boolean {
    return existsSync(usedPath(this.folderOf(id)))
  }

  /** True for exactly one of all callers. */
  useUp({ id }: Pending): boolean {
    return useUp(this.folderOf(id))
  }

  /** The open question in the list with this binding. */
  openLike(binding: string, entries: readonly Entry[]): Pending | undefined {
    for (const entry of entries) {
      const pending = entry.binding === binding ? this.pending(entry.id) : undefined
      if (pending?.question.binding === binding && this.isOpen(pending)) return pending
    }
    return undefined
  }

  /** Stores it in a folder of its own; it is not in the list yet. */
  add(question: Question, project: string, openMs: number): Pending {
    const raised = {
      question,
      project,
      raisedBy: { pid: process.pid, host: hostname() },
      asked: timestamp(this.now),
      expires: timestamp(this.now + openMs),
    }
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const pending = { id: newId(), ...raised }
      if (storeQuestion(this.folderOf(pending.id), pending, this.#seal())) return pending
    }
    throw new Error(`no free name for a question was found in ${this.#place.folder}; try again`)
  }

  /** Answers the earlier answer, if this is not the first. */
  addAnswer(pending: Pending, answer: GivenAnswer): GivenAnswer | undefined {
    return storeAnswer(this.folderOf(pending.id), pending, answer, this.#seal(), this.#place.onTrouble)
  }

  /** Read when first needed: without questions no key is made. */
  #seal(): Seal {
    this.#sealed ??= new Seal(this.#place.dataDir)
    return this.#sealed
  }
}
