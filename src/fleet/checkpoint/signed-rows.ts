// What the keys of the fleet signed, as it is in the database: every version of the list of people, and of each role of the policy.

import { hash } from 'node:crypto'
import type { Client } from '../database/connection.js'
import { rowsOf } from '../database/pages.js'
import { POLICY_ROLES } from '../policy/metadata.js'

/** `what`: `people`, or a role of the policy. */
export interface SignedRow {
  readonly what: string
  readonly version: number
  readonly content: string
  /** The signature of a list of people, or the target of a role. */
  readonly beside: string | null
}

const PEOPLE = 'people'

/** All versions, in order. */
export async function* signedRowsIn(client: Client): AsyncGenerator<SignedRow> {
  for (const what of [PEOPLE, ...POLICY_ROLES]) {
    const table =
      what === PEOPLE
        ? {
            columns: 'version, list as content, signature as beside',
            from: 'fleet.people where org = fleet.own_org()',
          }
        : {
            columns: 'version, content, target as beside',
            from: 'fleet.policy_file where org = fleet.own_org() and role = $3',
            values: [what],
          }
    const rows = rowsOf<Omit<SignedRow, 'what'>>(client, { ...table, by: 'version', long: 'content' })
    for await (const row of rows) yield { what, ...row }
  }
}

// ---- in checkpoints -------------------------------------------------------------------------------------------

/** A version of something that the keys of the fleet signed. */
export interface SignedLeaf extends Pick<SignedRow, 'what' | 'version'> {
  readonly digest: string
}

function signedLeaf({ what, version, content, beside }: SignedRow): SignedLeaf {
  return { what, version, digest: hash('sha256', JSON.stringify([content, beside])) }
}

export function signedText({ what, version, digest }: SignedLeaf): string {
  return `signed ${what} ${version} ${digest}`
}

const SIGNED = /^signed ([a-z]{1,20}) (\d{1,10}) ([0-9a-f]{64})$/

export function signedLeafIn(text: string): SignedLeaf | undefined {
  const [, what, version, digest] = SIGNED.exec(text) ?? []
  return what && digest ? { what, version: Number(version), digest } : undefined
}

/** The digests of all versions that there are. */
export class SignedVersions {
  readonly #digests = new Map<string, Map<number, string>>()

  /** Returns false if it was there before. */
  add(row: SignedRow): boolean {
    const { what, version, digest } = signedLeaf(row)
    const versions = this.#digests.get(what) ?? new Map<number, string>()
    this.#digests.set(what, versions)
    if (versions.has(version)) return false
    versions.set(version, digest)
    return true
  }

  /** What became of it, if it is not there as it was. */
  lossOf({ what, version, digest }: SignedLeaf): string | undefined {
    const found = this.#digests.get(what)?.get(version)
    if (found === digest) return undefined
    const name = what === PEOPLE ? 'the list of people' : `${what} of the policy`
    return `version ${version} of ${name} is ${found === undefined ? 'gone' : 'another one'}`
  }

  newest(): readonly SignedLeaf[] {
    return [...this.#digests].map(([what, versions]) => {
      const version = [...versions.keys()].reduce((most, one) => Math.max(most, one))
      return { what, version, digest: versions.get(version) ?? '' }
    })
  }
}
