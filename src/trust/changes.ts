// Whether a unit is still what was trusted: by stamps where they tell, by reading where they do not.

import { lstatSync, statSync } from 'node:fs'
import { quoted } from '../core/base/text.js'
import { isSame, parseStamp, type Stamp } from '../files/stamp.js'
import { isSameFile } from './copies.js'
import { pathAt, typeAt } from './file-place.js'
import { readFile } from './file-reading.js'
import { MOST_BYTES, readFolder } from './folder-reading.js'
import { isExecutable, type TrustedFile, type TrustRecord } from './unit.js'

/** A record made ready for comparison: paths are whole, stamps are numbers. */
export class Watch {
  readonly #own: readonly Watched[]
  readonly #scripts: readonly Watched[]
  readonly #absent: readonly string[]

  constructor({ path, files, folders, scripts, absent }: TrustRecord) {
    const below = (one: { readonly path: string; readonly stamp: string }) => ({
      // The unit's folder may be a link itself, which is followed.
      path: one.path === '' ? `${path}/.` : `${path}/${one.path}`,
      stamp: parseStamp(one.stamp),
    })
    this.#own = [...folders.map(below), ...files.map(below)]
    this.#scripts = scripts.map((script) => ({ path: script.path, stamp: parseStamp(script.stamp) }))
    this.#absent = absent
  }

  /** False does not mean that anything changed: somebody has to read. Looks at every file, opens none. */
  isUntouched(): boolean {
    for (const { path, stamp } of this.#own) {
      if (!stamp) return false
      const stats = lstatSync(path, STAT)
      if (!stats || !isSame(stats, stamp)) return false
    }
    for (const { path, stamp } of this.#scripts) {
      if (!stamp) return false
      const stats = statSync(path, STAT)
      if (!stats || !isSame(stats, stamp)) return false
    }
    return !this.#absent.some(isThere)
  }
}

interface Watched {
  readonly path: string
  readonly stamp: Stamp | undefined
}

const STAT = { bigint: true, throwIfNoEntry: false } as const

/** Also where something is in the way of looking. */
function isThere(path: string): boolean {
  const type = typeAt(path)
  return type !== undefined && type !== 'folder'
}

export type Comparison =
  /** A sentence about the first difference. */
  | { readonly why: string }
  /** The same, with the stamps of now. */
  | { readonly record: TrustRecord }

/** Reads what has another stamp than in the record. */
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
  const { files, folders } = folder ?? record
  return { record: { ...record, files, folders, scripts } }
}

/** Both are sorted by path. */
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

/** As it is now, or a sentence. */
function scriptNow(script: TrustedFile, byStamp: boolean): TrustedFile | string {
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
 * To be asked just before a hook starts: a sentence if a file outside the copy is not what was trusted, or if a relative
 * name means another file in `cwd`, where the hook starts. Reads every one of them.
 */
export function scriptsChanged(record: TrustRecord, cwd = record.projectDir): string | undefined {
  for (const script of record.scripts) {
    const now = scriptNow(script, false)
    if (typeof now === 'string') return now
  }
  const appeared = record.absent.find(isThere)
  if (appeared !== undefined) return cameText(appeared)
  return cwd === record.projectDir ? undefined : elsewhere(record, cwd)
}

function elsewhere({ words, scripts, projectDir }: TrustRecord, cwd: string): string | undefined {
  for (const word of words) {
    const path = pathAt(cwd, word)
    const meant = pathAt(projectDir, word)
    if (path === meant || !isThere(path)) continue
    const reviewed = scripts.find((script) => script.path === meant)
    const now = reviewed && scriptNow({ ...reviewed, path }, false)
    if (typeof now === 'object') continue
    return `${quoted(word)} means ${quoted(path)} where this hook starts, and ${quoted(meant)} was reviewed.`
  }
  return undefined
}
