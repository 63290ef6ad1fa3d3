// The text of what is trusted but not copied, named by its hash: the next review can show what changed.

import { isUtf8 } from 'node:buffer'
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivate } from '../files/folder.js'
import { nonce } from '../files/nonce.js'
import { readFile } from './file-reading.js'
import type { TrustedFile, TrustRecord } from './unit.js'

/** Of one file that can be shown, in bytes. */
export const LONGEST_TEXT = 1024 * 1024

/** What somebody can read. */
export function isReadable(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

/** Only if it is still what was trusted. */
export function textAt(path: string, { sha256 }: TrustedFile): string | undefined {
  const read = readFile(path, { follow: false, limit: LONGEST_TEXT })
  if (read === 'untouched' || 'problem' in read || read.sha256 !== sha256) return undefined
  return isReadable(read.bytes) ? read.bytes.toString('utf8') : undefined
}

export class KeptFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** What nobody could be shown is not kept. */
  keep({ sha256 }: TrustedFile, bytes: Buffer): void {
    if (bytes.length > LONGEST_TEXT || !isReadable(bytes)) return
    const path = join(this.#folder, sha256)
    if (existsSync(path)) return
    makePrivate(this.#folder)
    const draft = join(this.#folder, `.${nonce()}.tmp`)
    try {
      writeFileSync(draft, bytes, { flag: 'wx', mode: 0o600 })
      chmodSync(draft, 0o400)
      renameSync(draft, path)
    } finally {
      rmSync(draft, { force: true })
    }
  }

  textOf(file: TrustedFile): string | undefined {
    return textAt(join(this.#folder, file.sha256), file)
  }

  /** Those of a record that is gone, but for what the others have, too. */
  removeAllBut(old: TrustRecord, others: readonly TrustRecord[]): void {
    const used = new Set(others.flatMap(keptBy))
    for (const sha256 of keptBy(old))
      if (!used.has(sha256)) rmSync(join(this.#folder, sha256), { force: true })
  }
}

function keptBy({ scripts, source }: TrustRecord): readonly string[] {
  return [...scripts, ...(source ? [source] : [])].map(({ sha256 }) => sha256)
}
