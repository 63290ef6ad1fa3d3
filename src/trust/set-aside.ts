// A plugin that is being replaced lies aside for a moment, in a folder of its own beside its place. It is still what was trusted.

import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '../files/folder.js'

const ASIDE = /^\.old-[0-9a-f]{16}$/

export function isAside(folderName: string): boolean {
  return ASIDE.test(folderName)
}

/** Where it belongs; any other path is its own place. */
export function placeOf(path: string): string {
  const above = dirname(path)
  return isAside(basename(above)) ? join(dirname(above), basename(path)) : path
}

export interface Whereabouts {
  readonly path: string
  /** Another folder is another one, also under the same path. */
  readonly id: string
}

/** Where it is now: in its place, or aside; its place, if it is nowhere. */
export function whereabouts(path: string): Whereabouts {
  const place = placeOf(path)
  const above = dirname(place)
  const found = [place, ...namesBeside(above).map((name) => join(above, name, basename(place)))]
    .map((one) => ({ path: one, id: idOf(one) }))
    .find(({ id }) => id !== '')
  return found ?? { path: place, id: '' }
}

function namesBeside(folder: string): readonly string[] {
  try {
    return namesIn(folder).filter(isAside)
  } catch {
    return [] // whoever reads it says why
  }
}

function idOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.dev}-${stats.ino}` : ''
}
