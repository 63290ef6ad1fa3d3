// Which vitest project a file of tests belongs to.

import { readdirSync, readFileSync } from 'node:fs'
import { posix, sep } from 'node:path'

/**
 * - `shared` files share processes, so that src/ is loaded once for many of them
 * - `isolated` needs modules that nobody used before, because it replaces some
 * - `whole` takes long, and says so in its name: it kills at every step, races, builds, or starts other people's programs.
 *   `npm test` leaves it out; CI runs it.
 */
export type ProjectName = 'shared' | 'isolated' | 'whole'

/** Few lines that take minutes. Vitest starts with the largest files, so these would be left for the end, one after another. */
export const LONGEST =
  /\/test\/(?:adapters\/[\w-]+\/contract|bench\/run|clients\/conformance|service\/(?:callers|cold-and-warm))\./

/** The files of tests of each project, as paths below `root`. */
export function testFiles(root: string): Readonly<Record<ProjectName, readonly string[]>> {
  const byProject: Record<ProjectName, string[]> = { shared: [], isolated: [], whole: [] }
  for (const path of readdirSync(posix.join(root, 'test'), { recursive: true, encoding: 'utf8' })) {
    const file = `test/${path.split(sep).join('/')}`
    if (!file.endsWith('.test.ts')) continue
    byProject[projectOf(file, readFileSync(posix.join(root, file), 'utf8'))].push(file)
  }
  return byProject
}

export function projectOf(file: string, source: string): ProjectName {
  if (file.endsWith('.whole.test.ts')) return 'whole'
  return /^\s*vi\.(?:mock|doMock)\(/m.test(source) ? 'isolated' : 'shared'
}
