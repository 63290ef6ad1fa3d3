// Where `$PATH` leads to a program, without the folders that a project can fill.

import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { isWithin } from '../files/within.js'
import { shebangOf } from './shebang.js'
import type { Programs } from './unit.js'

/** Where no entry counts, as in a project that is `/`: without any folder a shell would use one of its own making. */
const FALLBACK = ['/usr/bin', '/bin']

export interface SearchPath {
  /** Folders that count, in order; never none. */
  readonly folders: readonly string[]
  /** Entries that are relative, or lie in the project. */
  readonly skipped: readonly string[]
}

export function searchPath(projectDir: string, path = process.env.PATH ?? ''): SearchPath {
  const folders: string[] = []
  const skipped: string[] = []
  for (const entry of path.split(delimiter)) {
    // An empty entry is the folder a program is started in.
    const counts = isAbsolute(entry) && !isWithin(entry, projectDir)
    ;(counts ? folders : skipped).push(entry)
  }
  return {
    folders: folders.length > 0 ? [...new Set(folders)] : FALLBACK,
    skipped: [...new Set(skipped)].filter((entry) => entry !== '' || path !== ''),
  }
}

/** `$PATH` for a hook that came with a project: no folder of the project decides which program runs. */
export function safePath(projectDir: string, path = process.env.PATH ?? ''): string {
  return searchPath(projectDir, path).folders.join(delimiter)
}

export interface FoundPrograms {
  readonly programs: Programs
  /** Names that no folder has. */
  readonly missing: readonly string[]
  /** Found in a folder outside, but by a link into the project: not used. */
  readonly inProject: readonly string[]
}

export function findPrograms(
  names: Iterable<string>,
  folders: readonly string[],
  projectDir: string,
): FoundPrograms {
  const programs: [string, string][] = []
  const missing: string[] = []
  const inProject: string[] = []
  for (const name of new Set(names)) {
    const found = folders.map((folder) => join(folder, name)).filter(isProgram)
    // A folder in the project is here only where there was no other.
    const own = found.filter((path) => isWithin(path, projectDir) && !isWithin(dirname(path), projectDir))
    const path = found.find((one) => !own.includes(one))
    inProject.push(...own)
    if (path !== undefined) programs.push([name, path])
    else missing.push(name)
  }
  programs.sort(([a], [b]) => (a < b ? -1 : 1))
  return { programs: Object.fromEntries(programs), missing: missing.sort(), inProject }
}

/** A sentence about the first program that is not there any more, or cannot be run. */
export function programGone({ programs }: { readonly programs: Programs }): string | undefined {
  for (const [name, path] of Object.entries(programs)) {
    if (!isProgram(path)) {
      return `The program ${name} was ${path} when this was trusted, and is not there any more: review it again.`
    }
  }
  return undefined
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** What `#!/usr/bin/env NAME` in the first line looks up in `$PATH`. */
export function shebangProgram(bytes: Buffer): string | undefined {
  return shebangOf(bytes).program
}
