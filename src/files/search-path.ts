// The folders of `$PATH` that count: those that no project can write to.

import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute } from 'node:path'
import { callerEnv } from './caller.js'
import { isBelow, realOf } from './within.js'

/** For a project at `/`, where no entry counts. With an empty `$PATH`, a shell would use its own default. */
const FALLBACK = ['/usr/bin', '/bin']

interface SearchPath {
  /** Folders that count, in order. Never empty. */
  readonly folders: readonly string[]
  /** Entries that are relative or inside a project. */
  readonly skipped: readonly string[]
}

export function searchPath(projects: readonly string[], path = callerEnv().PATH ?? ''): SearchPath {
  const folders: string[] = []
  const skipped: string[] = []
  // Following links takes the most time, so each path is followed only once.
  const reals = projects.map(realOf)
  const isInside = (entry: string) =>
    projects.some((project) => isBelow(entry, project)) || isBelowAny(realOf(entry), reals)
  for (const entry of new Set(path.split(delimiter))) {
    // An empty entry means the current folder.
    const counts = isAbsolute(entry) && !isInside(entry)
    ;(counts ? folders : skipped).push(entry)
  }
  return {
    folders: folders.length > 0 ? folders : FALLBACK,
    skipped: skipped.filter((entry) => entry !== '' || path !== ''),
  }
}

function isBelowAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isBelow(path, folder))
}

/** `$PATH` without folders inside these projects, so that none of them decides which program runs. */
export function safePath(projects: readonly string[], path = callerEnv().PATH ?? ''): string {
  return searchPath(projects, path).folders.join(delimiter)
}

/** Whether there is a file that we may execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
