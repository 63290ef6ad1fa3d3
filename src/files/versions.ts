// The files of a versioned value: versions `<n>.json`, where the highest counts, and drafts of the next one.

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
import { ifThere } from './if-there.js'
import { nonce } from './nonce.js'

/*
 * Why no update is lost, none counts twice, and nobody waits for a dead process:
 *
 * 1. `link` creates n+1 only if it does not exist. So only one of the processes that read n creates n+1; the others start
 *    again.
 * 2. This holds as long as no number below the newest becomes free again. A writer creates a draft *before* it reads. A
 *    process that removes versions has created version m, lists the folder after that, and removes versions below m only
 *    if there is no draft in the list. A writer whose draft is not in the list created it later, so it reads m or higher
 *    and never creates a lower number.
 * 3. A draft that is in the way (its writer is dead or stopped) is removed first. Then `link` has no source, and its
 *    writer, if it is alive after all, starts again. A wrong guess costs a repetition, never an update.
 *
 * So a killed process leaves at most a draft and an old version, and the next writer removes them.
 */

/** If there are more versions than this, drafts are in the way, even those of living writers. */
const CROWDED = 64
const HIGHEST = 999_999_999_999
const VERSION = /^([1-9]\d{0,11})\.json$/
const DRAFT = /^(\d+)-[0-9a-f]+\.tmp$/

export interface Versions {
  /** Ascending. */
  readonly numbers: readonly number[]
  readonly drafts: readonly string[]
}

/** Undefined if there is no folder. Ignores other files in it. */
export function versionsIn(folder: string): Versions | undefined {
  const names = ifThere(() => readdirSync(folder))
  if (names === undefined) return undefined
  const numbers = names.flatMap((name) => VERSION.exec(name)?.[1] ?? []).map(Number)
  return { numbers: numbers.sort((a, b) => a - b), drafts: names.filter((name) => DRAFT.test(name)) }
}

export function versionPath(folder: string, version: number): string {
  return join(folder, `${version}.json`)
}

/** The next version, being written. Begin it before you read the current one, and always end it. */
export class Draft {
  readonly #folder: string
  readonly #path: string
  readonly #fd: number

  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, `${process.pid}-${nonce()}.tmp`)
    this.#fd = openSync(this.#path, 'wx', 0o600)
  }

  /** Returns false if another process was faster, or removed the draft or the folder. Then read again. */
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
    // The version is already in force, even if the file system cannot do this.
    if (durable) tryTo(() => syncFolder(this.#folder))
    return true
  }

  end(): void {
    closeSync(this.#fd)
    tryTo(() => unlinkSync(this.#path))
  }
}

/** Call it after version `made` was published and its draft ended. Never throws, because the version is already in force. */
export function removeOlder(folder: string, made: number): void {
  tryTo(() => removeBelow(folder, made))
}

function removeBelow(folder: string, made: number): void {
  const { numbers, drafts } = versionsIn(folder) ?? { numbers: [], drafts: [] }
  const inTheWay = drafts.filter((draft) => numbers.length > CROWDED || !isAtWork(draft))
  for (const draft of inTheWay) tryTo(() => unlinkSync(join(folder, draft)))
  if (inTheWay.length < drafts.length) return
  // In ascending order: no reader may find an older version after a newer one is gone.
  for (const number of numbers) if (number < made) tryTo(() => unlinkSync(versionPath(folder, number)))
}

/** Moves a version below the newest aside, and returns its new path. */
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

/** Another process may have removed it already. The next update removes what is left. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {}
}
