// Decides whether a unit is still what was trusted: by stamps where they suffice, otherwise by reading its files.

import { quoted } from '../core/base/text.js'
import { exactLstatIfThere, exactStatIfThere } from '../files/if-there.js'
import { isSame, parseStamp, type Stamp } from '../files/stamp.js'
import { isRealFolder, isSameFile, removeAdded } from './copies.js'
import { pathAt, readFile, typeAt } from './file-reading.js'
import { MOST_BYTES, readFolder } from './folder-reading.js'
import { loadProblem } from './implicit-loads.js'
import { isExecutable, type TrustedFile, type TrustRecord } from './unit.js'

/** A record prepared for comparison: whole paths, and stamps as numbers. */
export class Watch {
  readonly #own: readonly Watched[]
  readonly #scripts: readonly Watched[]
  readonly #absent: readonly string[]
  readonly #record: TrustRecord

  constructor(record: TrustRecord) {
    const { path, files, folders, scripts, absent } = record
    this.#record = record
    const below = (one: { readonly path: string; readonly stamp: string }) => ({
      // The unit's folder itself may be a link, which is followed.
      path: one.path === '' ? `${path}/.` : `${path}/${one.path}`,
      stamp: parseStamp(one.stamp),
    })
    this.#own = [...folders.map(below), ...files.map(below)]
    this.#scripts = scripts.map((script) => ({ path: script.path, stamp: parseStamp(script.stamp) }))
    this.#absent = absent
  }

  /** Checks every file without opening any. False does not mean that something changed, only that the files must be read. */
  isUntouched(): boolean {
    for (const { path, stamp } of this.#own) {
      if (!stamp) return false
      const stats = exactLstatIfThere(path)
      if (!stats || !isSame(stats, stamp)) return false
    }
    for (const { path, stamp } of this.#scripts) {
      if (!stamp) return false
      const stats = exactStatIfThere(path)
      if (!stats || !isSame(stats, stamp)) return false
    }
    return !this.#absent.some(isThere) && otherLoads(this.#record).length === 0
  }
}

interface Watched {
  readonly path: string
  readonly stamp: Stamp | undefined
}

/** Also true if something prevents looking. */
export function isThere(path: string): boolean {
  const type = typeAt(path)
  return type !== undefined && type !== 'folder'
}

type Comparison =
  /** A sentence about the first difference. */
  | { readonly why: string }
  /** The same content, with current stamps. */
  | { readonly record: TrustRecord }

/** Reads the files whose stamps differ from the record. */
export function compare(record: TrustRecord): Comparison {
  const { path, kind, projectDir } = record
  const known = new Map(record.files.map((file) => [file.path, file]))
  const folder = kind === 'folder' ? readFolder(path, { known, within: projectDir }) : undefined
  const [problem] = folder?.problems ?? []
  if (problem !== undefined) return { why: problem }
  const difference = folder && firstDifference(record.files, folder.files)
  if (difference !== undefined) return { why: difference }
  const scripts: TrustedFile[] = []
  for (const script of record.scripts) {
    const now = scriptNow(script, true)
    if (typeof now === 'string') return { why: now }
    scripts.push(now)
  }
  const appeared = record.absent.find(isThere)
  if (appeared !== undefined) return { why: cameText(appeared) }
  const [other] = otherLoads(record)
  if (other) return { why: other.why }
  const { files, folders } = folder ?? record
  return { record: { ...record, files, folders, scripts } }
}

/** Both lists are sorted by path. */
function firstDifference(before: readonly TrustedFile[], now: readonly TrustedFile[]): string | undefined {
  for (let i = 0; i < Math.max(before.length, now.length); i++) {
    const [a, b] = [before[i], now[i]]
    if (a && b && isSameFile(a, b)) continue
    if (!a || (b && b.path < a.path)) return `${quoted(b?.path ?? '')} was added since it was trusted.`
    if (!b || a.path < b.path) return `${quoted(a.path)} was removed since it was trusted.`
    return changeText(a, b)
  }
  return undefined
}

export function changeText(before: TrustedFile, now: TrustedFile): string {
  const name = quoted(now.path)
  if (before.sha256 !== now.sha256 || before.link !== now.link)
    return `${name} was changed since it was trusted.`
  return `${name} became ${isExecutable(now) ? '' : 'not '}executable since it was trusted.`
}

function cameText(path: string): string {
  return `${quoted(path)} appeared since it was trusted, and a command names it.`
}

/** The script as it is now, or a sentence about the problem with it. */
export function scriptNow(script: TrustedFile, byStamp: boolean): TrustedFile | string {
  const { path } = script
  const stamp = byStamp ? parseStamp(script.stamp) : undefined
  const read = readFile(path, { follow: true, limit: MOST_BYTES, stamp })
  if (read === 'untouched') return script
  if ('problem' in read) return `${quoted(path)}, which a command names, ${read.problem}.`
  const { bytes: _, ...rest } = read
  const now = { path, ...rest }
  return isSameFile(script, now) ? now : changeText(script, now)
}

/**
 * Call this just before a hook starts in `cwd`. Reads every file outside the copy. Returns a sentence if one is not what
 * was trusted, or if a relative name means a different file in `cwd`.
 */
export function scriptsChanged(record: TrustRecord, cwd = record.projectDir): string | undefined {
  for (const script of record.scripts) {
    const now = scriptNow(script, false)
    if (typeof now === 'string') return now
  }
  const appeared = record.absent.find(isThere)
  if (appeared !== undefined) return cameText(appeared)
  const [other] = otherLoads(record)
  if (other) return other.why
  return cwd === record.projectDir ? undefined : elsewhere(record, cwd)
}

/** Scripts for which an interpreter would now load something else. An entry without a script is about the command itself. */
export function otherLoads({ implicit = [], projectDir }: TrustRecord) {
  return implicit.flatMap((load) => {
    const why = loadProblem(load, projectDir)
    return why === undefined ? [] : [{ script: load.script, why }]
  })
}

function elsewhere({ words, scripts, projectDir }: TrustRecord, cwd: string): string | undefined {
  for (const word of words) {
    const path = pathAt(cwd, word)
    const meant = pathAt(projectDir, word)
    if (path === meant || !isThere(path)) continue
    const reviewed = scripts.find((script) => script.path === meant)
    const now = reviewed && scriptNow({ ...reviewed, path }, false)
    if (typeof now === 'object') continue
    return `${quoted(word)} means ${quoted(path)} where this hook starts, but ${quoted(meant)} was reviewed.`
  }
  return undefined
}

/** Relative names of reviewed scripts that do not exist in the folder where a hook starts. */
export function lostWords({ words, scripts, projectDir }: TrustRecord, cwd: string): readonly string[] {
  if (cwd === projectDir) return []
  const reviewed = new Set(scripts.map(({ path }) => path))
  return words.filter((word) => reviewed.has(pathAt(projectDir, word)) && !isThere(pathAt(cwd, word)))
}

// ---- the copy, watched in the same way as the unit ------------------------------------------------------------

export class CopiedUnit {
  readonly path: string
  readonly #record: TrustRecord
  readonly #watch: Watch

  constructor(path: string, record: TrustRecord) {
    this.path = path
    this.#record = asUnit(path, record)
    this.#watch = new Watch({ ...this.#record, files: mostTelling(this.#record.files) })
  }

  /** Whether the copy itself exists. A link to something else does not count. */
  isThere(): boolean {
    return isRealFolder(this.path)
  }

  /** Checks every folder and most files without opening any. False does not mean that something changed. */
  isUntouched(): boolean {
    return this.#watch.isUntouched()
  }

  /**
   * Removes files that a hook added to the copy, and reads those whose stamps differ. Returns the current stamps, or a
   * sentence about the first difference.
   */
  compare(): NonNullable<TrustRecord['copied']> | string {
    removeAdded(this.path, this.#record.files)
    const now = compare(this.#record)
    if ('why' in now) return now.why
    return { files: now.record.files.map(({ stamp }) => stamp), folders: now.record.folders }
  }
}

/** Only the user can change the read-only copy, so checking thousands of its files is not worth the time. */
const MOST_LOOKED_AT = 100

function mostTelling(files: readonly TrustedFile[]): readonly TrustedFile[] {
  if (files.length <= MOST_LOOKED_AT) return files
  return [...files.filter(isExecutable), ...files.filter((file) => !isExecutable(file))].slice(
    0,
    MOST_LOOKED_AT,
  )
}

function asUnit(path: string, record: TrustRecord): TrustRecord {
  const { files = [], folders = [{ path: '', stamp: '' }] } = record.copied ?? {}
  return {
    ...record,
    path,
    files: record.files.map((file, i) => ({ ...file, stamp: files[i] ?? '' })),
    folders,
    scripts: [],
    absent: [],
    implicit: [],
  }
}
