// Which places are files that guards depend on: hooks and settings of agents, git's checks, our own.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './effect.js'
import { beginsAt, isPattern, type Parts, partsOf } from './paths/path-overlap.js'

export interface SettingFile {
  readonly owner: string
  /** Absolute, or relative to any folder. A slash at the end means everything in it, a star part of a name. */
  readonly path: string
  /** Folders on the way with much else in them, which only count if the file exists. */
  readonly shared?: boolean
}

/** The owner of a file that a change of the place affects. */
export function ownerOf(place: Place, files: readonly SettingFile[]): string | undefined {
  const parts = partsOf(place.path)
  // Of a path that is only known at run time, the names still tell.
  const isWild = place.wild || !place.known
  const { all, byFirst, others } = indexOf(files)
  for (const [at, part] of parts.entries()) {
    const found = (isWild ? undefined : byFirst.get(part)) ?? []
    const met = [...found, ...(isWild ? all : others)].find((file) =>
      isAffected(place, parts, at, file, isWild),
    )
    if (met) return met.owner
  }
  return undefined
}

interface KnownFile extends SettingFile {
  readonly parts: Parts
}

interface Index {
  readonly all: readonly KnownFile[]
  /** By their first name, which has no wildcard. */
  readonly byFirst: ReadonlyMap<string, readonly KnownFile[]>
  readonly others: readonly KnownFile[]
}

const indexes = new WeakMap<readonly SettingFile[], Index>()

/** Most paths share no name with any of these files, and a look at the first name tells. */
function indexOf(files: readonly SettingFile[]): Index {
  const known = indexes.get(files)
  if (known) return known
  const byFirst = new Map<string, KnownFile[]>()
  const others: KnownFile[] = []
  const all = files.map(withParts)
  for (const file of all) {
    const [first = ''] = file.parts
    if (first === '' || isPattern(first)) others.push(file)
    else byFirst.set(first, [...(byFirst.get(first) ?? []), file])
  }
  const index = { all, byFirst, others }
  indexes.set(files, index)
  return index
}

function withParts(file: SettingFile): KnownFile {
  return { ...file, parts: partsOf(file.path) }
}

function isAffected(
  { path, deep }: Place,
  parts: Parts,
  at: number,
  file: KnownFile,
  isWild: boolean,
): boolean {
  const { parts: own } = file
  if (at > 0 && file.path.startsWith('/')) return false
  const isIn =
    beginsAt(parts, at, own, isWild, false) && (file.path.endsWith('/') || parts.length === at + own.length)
  if (isIn && (!isWild || !isAnyName(parts.slice(at, at + own.length)))) return true
  const behind = parts.length - at
  if (!deep || isWild || behind >= own.length) return false
  if (!beginsAt(parts, at, own.slice(0, behind), false, false)) return false
  return !file.shared || existsSync(join(path, ...own.slice(behind)))
}

/** `*` matches every name, so it says nothing about this one. */
function isAnyName(parts: Parts): boolean {
  return parts.some((part) => /^[*?.]*$/.test(part) || part.startsWith('$'))
}
