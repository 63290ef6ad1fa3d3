// Hooks that are compiled: whether what would run is older than its source.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { fromHere, shortPath } from '../print/lines.js'
import type { Subject } from './find-cases.js'

/** One line for each plugin whose source was changed after it was compiled. */
export function staleLines(subjects: readonly Subject[]): readonly string[] {
  const plugins = new Set(subjects.flatMap(({ plugin }) => plugin ?? []))
  return [...plugins].flatMap((plugin) => {
    const stale = namesIn(plugin).find((name) => isStale(plugin, name))
    if (stale === undefined) return []
    const old = visible(shortPath(join(plugin, compiledName(stale))))
    return [`carabiner: ${old} is older than ${visible(stale)}, and it is what runs; ${buildOf(plugin)}`]
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /\.[mc]?ts$/.test(name) && !/\.d\.[mc]?ts$/.test(name))
  } catch {
    return []
  }
}

function compiledName(source: string): string {
  return source.replace(/ts$/, 'js')
}

/** In milliseconds: files that one checkout writes, in whatever order, are nearer to each other. */
const APART = 2000

function isStale(folder: string, source: string): boolean {
  const compiled = timeOf(join(folder, compiledName(source)))
  const written = timeOf(join(folder, source))
  return compiled !== undefined && written !== undefined && written > compiled + APART
}

function timeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

function buildOf(plugin: string): string {
  const folder = shellQuoted(visible(fromHere(plugin)))
  return hasBuild(plugin) ? `build it: npm --prefix ${folder} run build` : 'compile it first'
}

function hasBuild(plugin: string): boolean {
  const file = join(plugin, 'package.json')
  try {
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).scripts?.build !== undefined
  } catch {
    return false
  }
}
