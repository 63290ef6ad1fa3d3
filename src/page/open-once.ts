// What waits for one signature or one new passkey: each takes one try, within two minutes.

import { randomBytes } from 'node:crypto'
import { NotAnswered } from './answers.js'

const OPEN_MS = 120_000
const MOST_OPEN = 8

export interface OpenOne<T> {
  readonly value: T
  readonly nonce: string
  /** ISO-8601. */
  readonly expires: string
}

export class OpenOnce<T> {
  #open: readonly OpenOne<T>[] = []

  begin(value: T): OpenOne<T> {
    const nonce = randomBytes(32).toString('base64url')
    const one = { value, nonce, expires: new Date(Date.now() + OPEN_MS).toISOString() }
    this.#open = [...this.#open.slice(1 - MOST_OPEN), one]
    return one
  }

  end(nonce: string): OpenOne<T> {
    const one = this.#open.find((other) => other.nonce === nonce)
    this.#open = this.#open.filter((other) => other !== one)
    if (one && Date.now() <= Date.parse(one.expires)) return one
    throw new NotAnswered(409, 'Begin again: this took too long, or was done already')
  }
}
