// The files of a versioned value: `<n>.json`, of which the highest counts, and the drafts of those who write the next.

import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from './folder.js'
import { nonce } from './nonce.js'

/*
 * Why no update is lost, none counts twice, and nobody waits for the dead:
 *
 * 1. `link` makes n+1 only where there is none, so that of all who read n one alone makes n+1, and the others begin again.
 * 2. That holds while no number below the newest is free again. Whoever writes makes a draft *before* reading. Whoever
 *    removes has made version m, lists the folder after that, and removes what is below m only if no draft is in the
 *    list. Who has a draft that is not in the list made it later, so reads m or higher, and aims at nothing below.
 * 3. A draft in the way (its writer is dead, or stopped) is removed first. `link` then has no source: its writer, if it
 *    lives after all, begins again. To be wrong about the dead costs a repetition, never an update.
 *
 * So a killed process leaves a draft and an old version at most, and the next writer removes them.
 */

/** Beyond so many versions drafts are in the way, whoever is at work on them. */
const CROWDED = 64
const HIGHEST = 999_999_999_999
const VERSION = /^([1-9]\d{0,11})\.json$/
const DRAFT = /^(\d+)-[0-9a-f]+\.tmp$/

export interface Versions {
  /** Ascending. */
  readonly numbers: readonly number[]
  readonly drafts: readonly string[]
}

/** Undefined where there is no folder. Other files in it are left alone. */
export function versionsIn(folder: string): Versions | undefined {
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const numbers = names.flatMap((name) => VERSION.exec(name)?.[1] ?? []).map(Number)
  return { numbers: numbers.sort((a, b) => a - b), drafts: names.filter((name) => DRAFT.test(name)) }
}

export function versionPath(folder: string, version: number): string {
  return join(folder, `${version}.json`)
}

/** A version in the making. Begin it before reading what it follows; end it in any case. */
export class Draft {
  readonly #folder: string
  readonly #path: string
  readonly #fd: number

  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, `${process.pid}-${nonce()}.tmp`)
    this.#fd = openSync(this.#path, 'wx', 0o600)
  }

  /** False if somebody was faster, or took the draft or the folder away: then read again. */
  publish(text: string, version: number, durable: boolean): boolean {
    if (version > HIGHEST) throw new Error(`there is no version after ${version - 1}`)
    writeFileSync(this.#fd, text)
    if (durable) fsyncSync(this.#fd)
    try {
      linkSync(this.#path, versionPath(this.#folder, version))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST' || code === 'ENOENT') return false
      throw error
    }
    // It is in force by now, whether or not the file system can do this.
    if (durable) tryTo(() => syncFolder(this.#folder))
    return true
  }

  end(): void {
    closeSync(this.#fd)
    tryTo(() => unlinkSync(this.#path))
  }
}

/** After version `made` was published and its draft ended. Never throws: the version is in force by now. */
export function removeOlder(folder: string, made: number): void {
  tryTo(() => removeBelow(folder, made))
}

function removeBelow(folder: string, made: number): void {
  const { numbers, drafts } = versionsIn(folder) ?? { numbers: [], drafts: [] }
  const inTheWay = drafts.filter((draft) => numbers.length > CROWDED || !isAtWork(draft))
  for (const draft of inTheWay) tryTo(() => unlinkSync(join(folder, draft)))
  if (inTheWay.length < drafts.length) return
  // Ascending: a reader that still finds a number is not shown an older one after a newer one is gone.
  for (const number of numbers) if (number < made) tryTo(() => unlinkSync(versionPath(folder, number)))
}

/** Moves a version below the newest out of the way, and answers where it is. */
export function setAside(folder: string, version: number): string {
  for (const draft of versionsIn(folder)?.drafts ?? []) tryTo(() => unlinkSync(join(folder, draft)))
  const aside = join(folder, `broken-${version}-${nonce()}`)
  renameSync(versionPath(folder, version), aside)
  return aside
}

function isAtWork(draft: string): boolean {
  try {
    process.kill(Number(DRAFT.exec(draft)?.[1]), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Another may have removed it already; what is left is removed after the next update. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {}
}
