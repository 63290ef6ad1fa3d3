// Looks at the disk. Nothing here throws: a path that this user cannot read counts as missing.

import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { lstatIfThere, statIfThere } from '../../files/if-there.js'
import { canBe, isPattern } from './path-overlap.js'

/** The most paths of one pattern that are checked. */
const MOST_PATHS = 2000

/** Follows links. */
export function isFolder(path: string): boolean {
  return attempt(() => statIfThere(path)?.isDirectory()) ?? false
}

export function isFile(path: string): boolean {
  return kindOf(path) === 'file'
}

/** Follows links. Undefined for everything else. */
export function kindOf(path: string): 'folder' | 'file' | undefined {
  const stats = attempt(() => statIfThere(path))
  return stats?.isDirectory() ? 'folder' : stats?.isFile() ? 'file' : undefined
}

export function isLink(path: string): boolean {
  return attempt(() => lstatIfThere(path)?.isSymbolicLink()) ?? false
}

export function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder)) ?? []
}

/** Everything below the folder, as paths relative to it. */
export function treeOf(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder, { recursive: true, encoding: 'utf8' })) ?? []
}

/** The links that a pattern matches, and the paths reached through them. */
export function linksBy(pattern: string, dots: boolean): readonly string[] {
  return matchesOf(pattern, dots, MOST_PATHS)
    .filter(({ linked }) => linked)
    .map(({ path }) => path)
}

/** Everything that a pattern without `**` matches, and perhaps more. Undefined if that is more than `most`. */
export function filesBy(pattern: string, most: number): readonly string[] | undefined {
  const paths = matchesOf(pattern, false, most + 1)
  return paths.length > most ? undefined : paths.map(({ path }) => path)
}

interface Match {
  readonly path: string
  readonly linked: boolean
}

function matchesOf(pattern: string, dots: boolean, most: number): readonly Match[] {
  let paths: Match[] = [{ path: '', linked: false }]
  for (const part of pattern.split('/').filter((one) => one !== '' && one !== '.')) {
    const next: Match[] = []
    for (const { path, linked } of paths) {
      for (const name of isPattern(part) ? namesLike(part, `${path}/`, dots) : [part]) {
        const found = `${path}/${name}`
        const isLink = linked || (attempt(() => lstatSync(found).isSymbolicLink()) ?? false)
        if (next.length < most) next.push({ path: found, linked: isLink })
      }
    }
    paths = next
  }
  return paths
}

function namesLike(part: string, folder: string, dots: boolean): readonly string[] {
  const entries: readonly Dirent[] = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return entries
    .map(({ name }) => name)
    .filter((name) => canBe(part.toLowerCase(), name.normalize('NFC').toLowerCase(), true, dots))
}

function attempt<R>(look: () => R): R | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
