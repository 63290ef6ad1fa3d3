// Tells whether a path is inside a folder, by name or after following links.

import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { registeredHome, userHome } from './homes.js'
import { noted, oncePerCall } from './looks.js'

/** Also true for the folder itself. */
export function isWithin(path: string, folder: string): boolean {
  return isBelow(path, folder) || isBelow(realOf(path), realOf(folder))
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** For a path that does not exist, the nearest existing folder above it is resolved. */
export const realOf = noted(oncePerCall((path: string): string => resolved(path, realOf)))

/** The same, but it looks at each path only once. For work that is done before anything can change on the disk. */
export class RealPaths {
  readonly #known = new Map<string, string>()

  readonly of = (path: string): string => {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const real = resolved(path, this.of)
    this.#known.set(path, real)
    return real
  }
}

/** `above` resolves the folder above. */
function resolved(path: string, above: (path: string) => string): string {
  try {
    // Many are missing, and an error takes longer than this look.
    if (existsSync(path)) return realpathSync.native(path)
  } catch {}
  const at = path.lastIndexOf(sep)
  return at <= 0 ? path : join(above(path.slice(0, at)), path.slice(at + 1))
}

/**
 * Whether a project contains this folder of the user's, so that its content could come with the repository. Ignores a
 * project that is the whole home or `/`, because those are not cloned.
 */
export function isInProject(folder: string, projectDir: string): boolean {
  if (!isWithin(folder, projectDir)) return false
  return ![userHome(), registeredHome()].some((home) => home !== undefined && isWithin(home, projectDir))
}
