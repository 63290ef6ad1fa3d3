// Folders of `$PATH` that count: those that no project can fill.

import { delimiter, isAbsolute } from 'node:path'
import { isWithin } from './within.js'

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
  for (const entry of path.split(delimiter)) {
    // An empty entry means the current folder.
    const counts = isAbsolute(entry) && !projects.some((project) => isWithin(entry, project))
    ;(counts ? folders : skipped).push(entry)
  }
  return {
    folders: folders.length > 0 ? [...new Set(folders)] : FALLBACK,
    skipped: [...new Set(skipped)].filter((entry) => entry !== '' || path !== ''),
  }
}

/** `$PATH` without folders of these projects: none of them decides which program runs. */
export function safePath(projects: readonly string[], path = process.env.PATH ?? ''): string {
  return searchPath(projects, path).folders.join(delimiter)
}
