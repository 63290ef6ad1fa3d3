// Which places are files that guards depend on: hooks and settings of agents, git's checks, our own.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isBelow } from '../files/within.js'
import type { Place } from './effect.js'
import { namesIn, treeOf } from './paths/on-disk.js'
import { beginsAt, canBe, isPattern, type Parts, partsOf } from './paths/path-overlap.js'

/** The owner of paths that the user protects like settings. */
export const PROTECTED = 'protected'

export interface SettingFile {
  readonly owner: string
  /** Absolute, or relative to any folder. A slash at the end means everything in it, a star part of a name. */
  readonly path: string
  /** Folders on the way with much else in them, which only count if the file exists. */
  readonly shared?: boolean
}

/**
 * The owner of a file that a change of the place affects. A pattern for files in any folder is looked for in its own folder
 * and in those of `near` that are below it.
 */
export function ownerOf(
  place: Place,
  files: readonly SettingFile[],
  near: readonly string[] = [],
): string | undefined {
  const parts = partsOf(place.path)
  // Of a path that is only known at run time, the names still tell.
  const isWild = place.wild || !place.known
  const { all, byFirst, others } = indexOf(files)
  if (parts.length === 0 && place.deep) return all.find(({ path }) => path.startsWith('/'))?.owner
  if (place.wild && parts.includes('**'))
    return (
      ownerOf(searchedFolder(place), files, near) ??
      all.find((file) => isFound(place.path, file, near))?.owner
    )
  for (const [at, part] of parts.entries()) {
    const found = (isWild ? undefined : byFirst.get(part)) ?? []
    const met = [...found, ...(isWild ? all : others)].find((file) =>
      isAffected(place, parts, at, file, isWild),
    )
    if (met) return met.owner
  }
  return undefined
}

/** `.husky` for `.husky/**\/pre-commit`. All of it may be guarded. */
function searchedFolder({ path }: Place): Place {
  const folder = path.slice(0, path.indexOf('/**')) || '/'
  return { path: folder, known: true, wild: isPattern(folder), deep: false }
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

function isAffected(place: Place, parts: Parts, at: number, file: KnownFile, isWild: boolean): boolean {
  const { path, deep } = place
  const { parts: own } = file
  if (at > 0 && file.path.startsWith('/')) return false
  const isIn =
    beginsAt(parts, at, own, isWild, false) && (file.path.endsWith('/') || parts.length === at + own.length)
  const met = parts.slice(at, at + own.length)
  const isSure = !isWild || (!isAnyName(met) && !(place.known && isPattern(met[0] ?? '')))
  if (isIn && (isSure || isThere(path, at, file))) return true
  const behind = parts.length - at
  if (!deep || !place.known || behind >= own.length) return false
  if (!beginsAt(parts, at, own.slice(0, behind), isWild, false)) return false
  if (isWild) return isThere(path, at, file)
  return !file.shared || existsSync(join(path, ...own.slice(behind)))
}

/** A star only matches files that exist. */
function isThere(path: string, at: number, file: KnownFile): boolean {
  const folder = namesOf(path).slice(0, at).join('/')
  if (!path.startsWith('/') || isPattern(folder)) return false
  const own = join('/', folder, file.path)
  return existsSync(own.includes('*') ? dirname(own) : own)
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** `find . -name settings.json`: any number of folders, so only files that exist count. */
function isFound(path: string, file: KnownFile, near: readonly string[]): boolean {
  const names = namesOf(path)
  const start = names.slice(0, names.indexOf('**'))
  const last = (names.at(-1) ?? '').toLowerCase()
  const below = file.path.startsWith('/') ? [] : near.filter((one) => isBelow(one, `/${start.join('/')}`))
  return [...rootsOf(start, file), ...below.map(namesOf)].some((root) =>
    filesAt(join('/', ...root, file.path)).some((found) =>
      partsOf(found)
        .slice(start.length)
        .some((part) => canBe(last, part, true, true)),
    ),
  )
}

/** The folders that the file can be relative to, if it is looked for in this one. */
function rootsOf(start: readonly string[], { path, parts }: KnownFile): readonly (readonly string[])[] {
  if (path.startsWith('/')) return beginsAt(parts, 0, partsOf(start.join('/')), false, true) ? [[]] : []
  const given = partsOf(start.join('/'))
  return [start, ...parts.map((_, i) => start.slice(0, Math.max(0, start.length - i - 1)))].filter((root) => {
    const behind = given.slice(root.length)
    return behind.length < parts.length && beginsAt(behind, 0, parts.slice(0, behind.length), false, true)
  })
}

/** The most files of one folder that are compared. */
const MOST_FILES = 2000

function filesAt(path: string): readonly string[] {
  const below = (folder: string) =>
    existsSync(folder)
      ? [
          folder,
          ...treeOf(folder)
            .slice(0, MOST_FILES)
            .map((name) => join(folder, name)),
        ]
      : []
  if (!path.includes('*')) return below(path)
  const folder = dirname(path)
  const name = path.slice(folder.length + 1).replace(/\/$/, '')
  return namesIn(folder)
    .filter((one) => canBe(name.toLowerCase(), one.toLowerCase(), true, true))
    .flatMap((one) => below(join(folder, one)))
}

/** `*` matches every name, so it says nothing about this one. */
function isAnyName(parts: Parts): boolean {
  return parts.some((part) => /^[*?.]*$/.test(part) || part.startsWith('$'))
}
