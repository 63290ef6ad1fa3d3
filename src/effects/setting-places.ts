// Which places are files that guards depend on: hooks and settings of agents, git's checks, our own.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './effect.js'
import { beginsAt, type Parts, partsOf } from './paths/path-overlap.js'

export interface SettingFile {
  readonly owner: string
  /** Absolute, or relative to any folder. A slash at the end means everything in it, a star part of a name. */
  readonly path: string
  /** Folders on the way with much else in them, which only count if the file exists. */
  readonly shared?: boolean
}

/** The owner of the first such file that a change of the place affects. */
export function ownerOf(place: Place, files: readonly SettingFile[]): string | undefined {
  const parts = partsOf(place.path)
  return files.find((file) => isAffected(place, parts, file))?.owner
}

function isAffected({ path, wild, known, deep }: Place, parts: Parts, file: SettingFile): boolean {
  const own = partsOf(file.path)
  // Of a path that is only known at run time, the names still tell.
  const isWild = wild || !known
  const starts = file.path.startsWith('/') ? [0] : parts.keys()
  for (const at of starts) {
    const isIn =
      beginsAt(parts, at, own, isWild, false) && (file.path.endsWith('/') || parts.length === at + own.length)
    if (isIn && (!isWild || !isAnyName(parts.slice(at, at + own.length)))) return true
    const behind = parts.length - at
    if (!deep || behind >= own.length || behind === 0 || isWild) continue
    if (!beginsAt(parts, at, own.slice(0, behind), false, false)) continue
    if (!file.shared || existsSync(join(path, ...own.slice(behind)))) return true
  }
  return false
}

/** `*` matches every name, so it says nothing about this one. */
function isAnyName(parts: Parts): boolean {
  return parts.some((part) => /^[*?.]*$/.test(part) || part.startsWith('$'))
}
