// While a plugin is being replaced, it is briefly in a folder beside its place. It still counts as trusted there.

import { basename, dirname, join } from 'node:path'
import { namesIn } from '../files/folder.js'
import { exactLstatIfThere } from '../files/if-there.js'

const ASIDE = /^\.old-[0-9a-f]{16}$/

export function isAside(folderName: string): boolean {
  return ASIDE.test(folderName)
}

/** The place of a plugin that was set aside. Any other path is returned unchanged. */
export function placeOf(path: string): string {
  const above = dirname(path)
  return isAside(basename(above)) ? join(dirname(above), basename(path)) : path
}

export interface Whereabouts {
  readonly path: string
  /** Differs if another folder is at the same path. */
  readonly id: string
}

/** The plugin's current path: its place, or where it was set aside. Its place if it is in neither. */
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
    return [] // reading it reports why
  }
}

function idOf(path: string): string {
  const stats = exactLstatIfThere(path)
  return stats ? `${stats.dev}-${stats.ino}` : ''
}
