// The ids of used answers, apart from their questions: a question whose folder somebody puts back is not used again.

import { closeSync, existsSync, lstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivate, namesIn } from '../../files/folder.js'
import { ifThere } from '../../files/if-there.js'
import { removeIfThere } from '../../files/plain-file.js'
import { isId, LONGEST_LIFE_MS } from './question-index.js'

export class UsedIds {
  readonly #folder: string

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'used-answers')
  }

  has(id: string): boolean {
    return existsSync(join(this.#folder, id))
  }

  /** Returns true to exactly one caller. */
  add(id: string): boolean {
    makePrivate(this.#folder)
    try {
      closeSync(openSync(join(this.#folder, id), 'wx', 0o600))
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  /** Removes those whose question has certainly expired. */
  sweep(most: number): void {
    const before = Date.now() - LONGEST_LIFE_MS
    const old = namesIn(this.#folder).filter((name) => {
      const stat = isId(name) ? ifThere(() => lstatSync(join(this.#folder, name))) : undefined
      return stat !== undefined && stat.mtimeMs < before
    })
    for (const name of old.slice(0, most)) removeIfThere(join(this.#folder, name))
  }
}
