// The folders around a project, and what marks a folder as one. One walk upwards serves everybody who asks.

import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { registeredHome, userHome } from './homes.js'
import { ifThere } from './if-there.js'
import { realOf } from './within.js'

/** No system has longer paths. The `cwd` of an event could be of any length. */
const LONGEST_PATH = 4096

/**
 * Each folder to start from and those above it, up to a home (exclusive) or to the root; nearest first. Where a link is
 * on the way, also by the path that it leads to.
 */
export function foldersAround(
  starts: readonly string[],
  homes: readonly (string | undefined)[],
): readonly string[] {
  const ends = new Set(homes.flatMap((home) => (home ? [resolve(home), realOf(home)] : [])))
  const folders = new Set<string>()
  for (const start of starts.filter(isPath)) {
    for (const one of [resolve(start), realOf(resolve(start))]) {
      for (let folder = one; !ends.has(folder) && !folders.has(folder); folder = dirname(folder))
        folders.add(folder)
    }
  }
  return [...folders]
}

/** Whether there can be such a folder. */
export function isPath(path: unknown): path is string {
  return typeof path === 'string' && isAbsolute(path) && path.length <= LONGEST_PATH && !path.includes('\0')
}

/** Every home of the user, whose hooks are for all projects. */
export function homesOf(home?: string): readonly (string | undefined)[] {
  return [home, userHome(), registeredHome()]
}

/** A folder that was removed while we are in it has no name. */
export function workingFolder(otherwise: string): string {
  try {
    return process.cwd()
  } catch {
    return otherwise
  }
}

// ---- marks ----------------------------------------------------------------------------------------------------

/** A project around the project: a workspace has its `node_modules/.bin` there, and a repository all that was cloned. */
export function isMarked(folder: string): boolean {
  return ['.git', '.amplifier', '.claude'].some((name) => existsSync(join(folder, name)))
}

/** An empty `.git` does not count: it would cut the project off from all that is below. */
export function isRepository(folder: string): boolean {
  const path = join(folder, '.git')
  try {
    // Most folders have none, and an error would take longer.
    const stats = ifThere(() => statSync(path))
    if (!stats?.isFile()) return stats !== undefined && existsSync(join(path, 'HEAD'))
    return stats.size < LONGEST_LINK && readFileSync(path, 'utf8').startsWith('gitdir:')
  } catch {
    return false
  }
}

const LONGEST_LINK = 8192

/** Whether `.amplifier` has anything that Carabiner reads. */
export function hasSettings(folder: string): boolean {
  return isAny(folder, '.amplifier', ['hooks', 'settings.json', 'pack.json', 'hooks.lock.json'])
}

/** Claude Code leaves a `.claude` in every folder that it was started in: only these files count. */
export function hasClaudeSettings(folder: string): boolean {
  return isAny(folder, '.claude', ['settings.json', 'settings.local.json', 'hooks'])
}

function isAny(folder: string, inside: string, names: readonly string[]): boolean {
  const path = join(folder, inside)
  return existsSync(path) && names.some((name) => existsSync(join(path, name)))
}

/** Other users may write into folders such as /tmp. */
export function isOwn(base: string, name: string): boolean {
  const user = process.getuid?.()
  return [base, join(base, name)].every((path) => {
    const owner = ownerOf(path)
    return owner !== undefined && (user === undefined || owner === user || owner === 0)
  })
}

function ownerOf(path: string): number | undefined {
  try {
    return ifThere(() => lstatSync(path))?.uid
  } catch {
    return undefined
  }
}
