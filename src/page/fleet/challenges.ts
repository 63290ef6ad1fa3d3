// What a passkey signs at the page of a gateway: made by one copy of the gateway, checked by any, used once.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { canonicalJson, type Data } from '../../core/base/json.js'
import type { Database } from '../../fleet/database/connection.js'
import { NotAnswered } from '../answers.js'

const OPEN_MS = 120_000
const NONCE = /^([0-9a-z]{1,10})\.([\w-]{22})\.([\w-]{43})$/

/** What it is for, and for whom. A nonce is worth nothing for anything else. */
export type Purpose = Data & { readonly what: string }

/** A nonce carries the code of a key that all gateways share: asking for one leaves nothing in the database. */
export class Challenges {
  readonly #database: Database
  readonly #now: () => number
  #key: Promise<Buffer> | undefined

  constructor(database: Database, now: () => number = Date.now) {
    this.#database = database
    this.#now = now
  }

  async begin(purpose: Purpose): Promise<string> {
    const until = (this.#now() + OPEN_MS).toString(36)
    const random = randomBytes(16).toString('base64url')
    return `${until}.${random}.${(await this.#code(purpose, until, random)).toString('base64url')}`
  }

  /** Throws NotAnswered unless a gateway made it for this, a short time ago. */
  async check(nonce: string, purpose: Purpose): Promise<void> {
    const [, until = '', random = '', code = ''] = NONCE.exec(nonce) ?? []
    const expected = await this.#code(purpose, until, random)
    const given = Buffer.from(code, 'base64url')
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
    if (!isOurs || this.#now() > Number.parseInt(until, 36)) throw began()
  }

  /** Throws NotAnswered if somebody used it before. Call it after the signature was checked. */
  async use(nonce: string): Promise<void> {
    const until = new Date(Number.parseInt(nonce, 36))
    const [row] = await this.#database.rows<{ isFirst: boolean }>(
      'select fleet.use_challenge($1, $2) as "isFirst"',
      [nonce, until],
    )
    if (!row?.isFirst) throw began()
  }

  async #code(purpose: Purpose, until: string, random: string): Promise<Buffer> {
    this.#key ??= this.#shared()
    const key = await this.#key.catch((error: unknown) => {
      this.#key = undefined
      throw error
    })
    return createHmac('sha256', key)
      .update(canonicalJson({ ...purpose, until, random }))
      .digest()
  }

  async #shared(): Promise<Buffer> {
    const [row] = await this.#database.rows<{ key: Buffer }>('select fleet.shared_page_key($1) as key', [
      randomBytes(32),
    ])
    if (!row) throw new Error('the database did not answer')
    return row.key
  }
}

function began(): NotAnswered {
  return new NotAnswered(409, 'Begin again: this took too long, or was done already')
}
