// Which vitest project a file of tests belongs to, told from what it imports, itself or through its helpers in test/.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix, sep } from 'node:path'

/**
 * - `pure` starts no programs
 * - `process` starts programs
 * - `isolated` needs modules that nobody used before: it replaces some, or is about stores, which remember their files
 * - `whole` takes long, and says so in its name: it kills at every step, races, builds, or starts other people's programs.
 *   `npm test` leaves it out; CI runs it.
 */
export type ProjectName = 'pure' | 'process' | 'isolated' | 'whole'

/** What starts a program: node:child_process, and esbuild, which bundles one for a test to start. */
const STARTS_PROGRAMS = new Set(['node:child_process', 'child_process', 'execa', 'esbuild'])

/** The files of tests of each project, as paths below `root`. */
export function testFiles(root: string): Readonly<Record<ProjectName, readonly string[]>> {
  const read = (path: string) => readFileSync(posix.join(root, path), 'utf8')
  const exists = (path: string) => existsSync(posix.join(root, path))
  const byProject: Record<ProjectName, string[]> = { pure: [], process: [], isolated: [], whole: [] }
  for (const path of readdirSync(posix.join(root, 'test'), { recursive: true, encoding: 'utf8' })) {
    const file = `test/${path.split(sep).join('/')}`
    if (file.endsWith('.test.ts')) byProject[projectOf(file, read, exists)].push(file)
  }
  return byProject
}

export function projectOf(
  file: string,
  read: (path: string) => string,
  exists: (path: string) => boolean,
): ProjectName {
  if (file.endsWith('.whole.test.ts')) return 'whole'
  const isMocked = /^\s*vi\.(?:mock|doMock)\(/m.test(read(file))
  if (isMocked || file.startsWith('test/store/')) return 'isolated'
  return startsPrograms(file, read, exists, new Set()) ? 'process' : 'pure'
}

function startsPrograms(
  file: string,
  read: (path: string) => string,
  exists: (path: string) => boolean,
  seen: Set<string>,
): boolean {
  if (seen.has(file)) return false
  seen.add(file)
  return importsOf(read(file)).some((specifier) => {
    if (STARTS_PROGRAMS.has(specifier)) return true
    if (!specifier.startsWith('.')) return false
    const helper = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
    return helper.startsWith('test/') && exists(helper) && startsPrograms(helper, read, exists, seen)
  })
}

/** Without types, which load nothing. */
function importsOf(source: string): readonly string[] {
  const names = /^(?:import|export)\b(?!\s+type\b)[^'"]*?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/gm
  return [...source.matchAll(names)].map(([, fixed, late]) => fixed ?? late ?? '')
}
