// A folder of links to the programs that were found when a unit was trusted: first in `$PATH`, so that no later shim wins.

import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../core/digest.js'
import { nonce } from '../state/nonce.js'
import { makePrivate } from '../state/private-folder.js'
import type { TrustRecord } from './unit.js'

/** The same content may be trusted twice, with other programs: each has its own folder. */
export function binPath(copies: string, { digest: of, programs }: TrustRecord): string {
  return join(copies, `${of}.${digest({ ...programs }).slice(0, 16)}.bin`)
}

/** Makes it, or makes it anew if something else is there. */
export function makeBin(path: string, { programs }: TrustRecord): void {
  if (isBinOf(path, programs)) return
  makePrivate(join(path, '..'))
  const draft = `${path}.${nonce()}.tmp`
  try {
    mkdirSync(draft, 0o700)
    for (const [name, target] of Object.entries(programs)) symlinkSync(target, join(draft, name))
    rmSync(path, { recursive: true, force: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process made the same.
    if (!isBinOf(path, programs)) throw error
  }
}

function isBinOf(path: string, programs: TrustRecord['programs']): boolean {
  try {
    const names = readdirSync(path)
    return (
      names.length === Object.keys(programs).length &&
      names.every(
        (name) => Object.hasOwn(programs, name) && readlinkSync(join(path, name)) === programs[name],
      )
    )
  } catch {
    return false
  }
}
