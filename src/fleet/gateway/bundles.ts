// Bundles of the policy by their digests, from the database. A gateway keeps the last few: all machines fetch the same ones at once.

import { sha256 } from '../../core/base/digest.js'
import type { Database } from '../database/connection.js'
import { bundleText } from '../database/policy.js'

const MOST_KNOWN = 4

export class Bundles {
  readonly #database: Database
  readonly #known = new Map<string, string>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Undefined if there is none with this digest. */
  async text(digest: string): Promise<string | undefined> {
    const known = this.#known
    const found = known.get(digest) ?? (await bundleText(this.#database, digest))
    if (found === undefined) return undefined
    if (!known.has(digest) && sha256(found) === digest) known.set(digest, found)
    for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest)
    return found
  }
}
