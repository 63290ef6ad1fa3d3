// One writer at a time: a lock that the dead do not hold, and no two at once.

import { linkSync, lstatSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { OwnFile } from './lock-file.js'
import { isDead, type Owner, ownerOf, ownSelf, UNKNOWN_OWNER } from './owner.js'
import { readPlain } from './plain-file.js'

/*
 * The lock is a second name of a file that says who its owner is. Giving it is atomic, says who gave it from its first
 * moment on, and fails where there is one.
 *
 * A dead owner's lock is removed only by who holds the guard, a lock of its own that has the dead owner's id in its
 * name. No owner comes back, so: while I hold the guard of P and the lock is P's, nobody but me removes it, and what I
 * remove is P's. Who dies with a guard is a dead owner like any other, whose guard has another name; they died one
 * after another, so that this comes to an end.
 *
 * A stopped process lives, and keeps what it holds: others wait, within a bound, and say so.
 */

const NAME = 'lock'
const GUARD = /^lock\.[0-9a-f]{16}$/

export class Lock {
  readonly #folder: string
  readonly #path: string
  readonly #own: OwnFile

  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, NAME)
    this.#own = new OwnFile(folder)
  }

  /** False while a living process has it. Throws ENOENT where there is no folder. */
  tryTake(): boolean {
    return this.#take(this.#path)
  }

  /** Where the age of a lock decides, a process that was stopped for long may have lost it meanwhile. */
  get isMine(): boolean {
    const inode = lstatSync(this.#path, { throwIfNoEntry: false })?.ino
    return inode !== undefined && inode === this.#own.inode
  }

  release(): void {
    if (this.isMine) removed(this.#path)
  }

  /**
   * Removes what dead processes left beside the lock. Only who has the lock may: no guard is of a lock that is still
   * there, because this one is of the living.
   */
  sweep(names: readonly string[]): void {
    for (const path of names.filter((name) => GUARD.test(name)).map((name) => join(this.#folder, name))) {
      const owner = readOwner(path)
      if (owner && isDead(owner, path)) removed(path)
    }
    this.#own.sweep(names)
  }

  /** For messages. */
  get holder(): string {
    const owner = readOwner(this.#path)
    return owner
      ? `process ${owner.pid} holds ${this.#path}`
      : `others took ${this.#path} each time it was free`
  }

  #take(path: string): boolean {
    // The second time after a dead owner's was removed; more often others are at it, and then it is not free.
    for (let tries = 0; tries < 2; tries++) {
      if (this.#make(path)) return true
      const owner = readOwner(path)
      if (!owner) continue
      // One thread does one thing at a time: it could not remove it when it had ended.
      if (owner.text === ownSelf().text) removed(path)
      else if (!isDead(owner, path) || !this.#bury(path, owner)) return false
    }
    return false
  }

  #make(path: string): boolean {
    try {
      linkSync(this.#own.path, path)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return false
      if (code !== 'ENOENT') throw error
    }
    // There was no file of this process's yet, or somebody took it away.
    this.#own.make()
    return false
  }

  /** False where another is at it. */
  #bury(path: string, dead: Owner): boolean {
    const guard = join(this.#folder, `${NAME}.${dead.id}`)
    if (!this.#take(guard)) return false
    try {
      if (readOwner(path)?.text === dead.text) removed(path)
      return true
    } finally {
      removed(guard)
    }
  }
}

const LONGEST_OWNER = 256

/** Undefined where it is free. What no owner wrote is nobody's to remove. */
function readOwner(path: string): Owner | undefined {
  try {
    const read = readPlain(path, LONGEST_OWNER)
    if ('text' in read) return ownerOf(read.text) ?? noOwner(path)
    // A power cut can leave the name without what was in the file.
    return read.problem === 'is empty' ? UNKNOWN_OWNER : noOwner(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function noOwner(path: string): never {
  throw new Error(`${path} is no lock of this version of Carabiner; remove it when no agent is running`)
}

function removed(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
