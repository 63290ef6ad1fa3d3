// Folders of `$PATH` that count: those that no project can fill.

import { delimiter, isAbsolute } from 'node:path'
import { isBelow, realOf } from './within.js'

/** For a project at `/`, where no entry counts. With an empty `$PATH` a shell would use a default of its own. */
const FALLBACK = ['/usr/bin', '/bin']

interface SearchPath {
  /** Folders that count, in order. Never empty. */
  readonly folders: readonly string[]
  /** Entries that are relative or inside a project. */
  readonly skipped: readonly string[]
}

export function searchPath(projects: readonly string[], path = process.env.PATH ?? ''): SearchPath {
  const folders: string[] = []
  const skipped: string[] = []
  // Following links takes longer than everything else, so each path is followed once.
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

/** `$PATH` without folders of these projects: none of them decides which program runs. */
export function safePath(projects: readonly string[], path = process.env.PATH ?? ''): string {
  return searchPath(projects, path).folders.join(delimiter)
}
