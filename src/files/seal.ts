// The seal on a person's decisions: an HMAC with a key that only this user can read.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Stats, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { canonicalJson, type Data } from '../core/base/json.js'
import { makePrivate } from './folder.js'
import { lstatIfThere } from './if-there.js'
import { nonce } from './nonce.js'
import { checkOwnFolder, linkUnlessThere, readOwn, removeIfThere } from './plain-file.js'
import { adviceOn } from './versioned-file.js'

const KEY = /^[0-9a-f]{64}\n$/
const KEY_BYTES = 32
const FOR_OTHERS = 0o077

/** A seal of one kind is never valid for another, so a used answer cannot pass for a new one. */
export type Sealed = 'question' | 'answer' | 'vote' | 'used' | 'always' | 'grant' | 'clock'

export class Seal {
  readonly #key: Buffer

  /** Creates the key on first use. Throws if others may know it. */
  constructor(dataDir: string) {
    const path = keyPath(dataDir)
    try {
      this.#key = readKey(path) ?? makeKey(path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      const todo = adviceOn(code, 'written')
      throw new Error(
        `the key that seals decisions, ${path}, cannot be read or created: ${textOf(error)}${todo && `; ${todo}`}`,
        { cause: error },
      )
    }
  }

  of(what: Sealed, fields: Data): string {
    return createHmac('sha256', this.#key).update(canonicalJson({ what, fields })).digest('hex')
  }

  isGenuine(what: Sealed, fields: Data, code: string): boolean {
    const [given, right] = [Buffer.from(code), Buffer.from(this.of(what, fields))]
    return given.length === right.length && timingSafeEqual(given, right)
  }

  /** Proof that a person always allows the call with this digest. Valid until `until`, ISO-8601. */
  proof(digest: string, until: string): string {
    return `${until} ${this.of('always', { digest, until })}`
  }

  isProven(digest: string, proof: string, now: number): boolean {
    const [until = '', code = ''] = proof.split(' ')
    return this.isGenuine('always', { digest, until }, code) && now < Date.parse(until)
  }
}

export function keyPath(dataDir: string): string {
  return join(dataDir, 'approvals', 'key')
}

function readKey(path: string): Buffer | undefined {
  const stats = lstatIfThere(path)
  if (!stats) return undefined
  checkOwnFolder(dirname(path), { follow: true })
  const read = readOwn(path, 1024)
  const problem = 'problem' in read ? read.problem : (knownIn(stats) ?? noKeyIn(read.text))
  if (problem === undefined && 'text' in read) return Buffer.from(read.text.trim(), 'hex')
  throw new Error(
    `the key that seals decisions, ${path}, ${problem}, so no approval can be trusted; remove it (a new one is created, and people are asked again)`,
  )
}

function knownIn({ mode }: Stats): string | undefined {
  const isKnown = process.getuid !== undefined && (mode & FOR_OTHERS) !== 0
  return isKnown ? `is readable by others (mode ${(mode & 0o7777).toString(8)})` : undefined
}

function noKeyIn(text: string): string | undefined {
  return KEY.test(text) ? undefined : 'is not a key'
}

/** The file is complete from the beginning, and processes that create it at the same time get the same key. */
function makeKey(path: string): Buffer {
  const folder = dirname(path)
  const draft = join(folder, `${nonce()}.tmp`)
  try {
    makePrivate(folder)
    writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('hex')}\n`, { flag: 'wx', mode: 0o600 })
    linkUnlessThere(draft, path)
  } finally {
    removeIfThere(draft)
  }
  const key = readKey(path)
  if (key) return key
  throw new Error(`the key that seals decisions, ${path}, was removed as soon as it was created; try again`)
}
