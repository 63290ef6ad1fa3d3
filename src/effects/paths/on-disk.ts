// Looks at the disk. Nothing here throws: a path that this user cannot read counts as missing.

import { readdirSync } from 'node:fs'
import { lstatIfThere, statIfThere } from '../../files/if-there.js'
import { canBe, isPattern } from './path-overlap.js'

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

/** Everything that a pattern without `**` matches, and perhaps more. Undefined if that is more than `most`. */
export function filesBy(pattern: string, most: number): readonly string[] | undefined {
  let paths = ['']
  for (const part of pattern.split('/').filter((one) => one !== '' && one !== '.')) {
    const next: string[] = []
    for (const path of paths)
      for (const name of isPattern(part) ? namesLike(part, `${path}/`) : [part])
        if (next.length <= most) next.push(`${path}/${name}`)
    paths = next
  }
  return paths.length > most ? undefined : paths
}

function namesLike(part: string, folder: string): readonly string[] {
  return namesIn(folder).filter((name) =>
    canBe(part.toLowerCase(), name.normalize('NFC').toLowerCase(), true, false),
  )
}

function attempt<R>(look: () => R): R | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
