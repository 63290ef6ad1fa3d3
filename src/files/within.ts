// Whether a path lies in a folder, by its name or by where links lead.

import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import { registeredHome } from './homes.js'

/** Or is that folder. */
export function isWithin(path: string, folder: string): boolean {
  return isBelow(path, folder) || isBelow(realOf(path), realOf(folder))
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Of what is not there: of the nearest folder above that is. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const at = path.lastIndexOf(sep)
    return at <= 0 ? path : join(realOf(path.slice(0, at)), path.slice(at + 1))
  }
}

/**
 * Whether a project holds this folder of the user's: what is in it would come with the repository. Who works on all of
 * their home, or on `/`, has it in there, and did not clone it.
 */
export function isInProject(folder: string, projectDir: string): boolean {
  if (!isWithin(folder, projectDir)) return false
  return ![homedir(), registeredHome()].some((home) => home !== undefined && isWithin(home, projectDir))
}
