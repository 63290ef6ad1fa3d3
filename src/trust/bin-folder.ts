// A folder that leads to the programs that were found when a unit was trusted: first in `$PATH`, so that no later shim wins.

import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../core/base/digest.js'
import { makePrivate } from '../files/folder.js'
import { nonce } from '../files/nonce.js'
import { inQuotes } from '../shell/shell-quoted.js'
import type { CopyKey, TrustRecord } from './unit.js'

/** The same content may be trusted twice, with other programs: each has its own folder. */
export function binPath(copies: string, { digest: of, programs }: CopyKey): string {
  return join(copies, `${of}.${digest({ ...programs }).slice(0, 16)}.bin`)
}

/** Makes it, or makes it anew if something else is there. */
export function makeBin(path: string, { programs }: TrustRecord): void {
  if (isBinOf(path, programs)) return
  makePrivate(join(path, '..'))
  const draft = `${path}.${nonce()}.tmp`
  try {
    mkdirSync(draft, 0o700)
    for (const [name, target] of Object.entries(programs)) {
      writeFileSync(join(draft, name), callOf(target), { mode: MODE, flag: 'wx' })
    }
    rmSync(path, { recursive: true, force: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process made the same.
    if (!isBinOf(path, programs)) throw error
  }
}

/** Nobody changes it by mistake. */
const MODE = 0o500

/** No link: a program that looks for its files beside itself, as that of a venv does, would look here. */
function callOf(target: string): string {
  return `#!/bin/sh\nexec ${inQuotes(target)} "$@"\n`
}

function isBinOf(path: string, programs: TrustRecord['programs']): boolean {
  try {
    const names = readdirSync(path)
    return (
      names.length === Object.keys(programs).length &&
      names.every((name) => {
        const target = Object.hasOwn(programs, name) ? programs[name] : undefined
        return target !== undefined && isCallOf(join(path, name), target)
      })
    )
  } catch {
    return false
  }
}

function isCallOf(path: string, target: string): boolean {
  const stats = lstatSync(path)
  return stats.isFile() && (stats.mode & 0o777) === MODE && readFileSync(path, 'utf8') === callOf(target)
}
