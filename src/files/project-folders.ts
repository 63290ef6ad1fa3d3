// The folders around a project, and the marks of a project folder.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { callerFolder } from './caller.js'
import { registeredHome, userHome } from './homes.js'
import { lstatIfThere, statIfThere } from './if-there.js'
import { noted, oncePerCall } from './looks.js'
import { realOf } from './within.js'

/** No system has longer paths, but the `cwd` of an event could have any length. */
const LONGEST_PATH = 4096

/**
 * Each starting folder and those above it, up to a home (exclusive) or the root, nearest first. If there is a link on the
 * way, includes the real paths, too.
 */
export function foldersAround(
  starts: readonly string[],
  homes: readonly (string | undefined)[],
): readonly string[] {
  return aroundOnce(JSON.stringify([starts, homes]))
}

const aroundOnce = oncePerCall((asked): readonly string[] => {
  const [starts, homes]: [readonly string[], readonly (string | null)[]] = JSON.parse(asked)
  const ends = new Set(homes.flatMap((home) => (home ? [resolve(home), realOf(home)] : [])))
  const folders = new Set<string>()
  for (const start of starts.filter(isPath)) {
    for (const one of [resolve(start), realOf(resolve(start))]) {
      for (let folder = one; !ends.has(folder) && !folders.has(folder); folder = dirname(folder))
        folders.add(folder)
    }
  }
  return [...folders]
})

/** Whether such a folder can exist. */
export function isPath(path: unknown): path is string {
  return typeof path === 'string' && isAbsolute(path) && path.length <= LONGEST_PATH && !path.includes('\0')
}

/** The user's home folders. Their hooks are for all projects. */
export function homesOf(home?: string): readonly (string | undefined)[] {
  return [home, userHome(), registeredHome()]
}

/** If the current folder has been removed, it has no name. */
export function workingFolder(otherwise: string): string {
  try {
    return callerFolder()
  } catch {
    return otherwise
  }
}

// ---- marks ----------------------------------------------------------------------------------------------------

/** Whether a folder around the project is a project, too: a workspace with `node_modules/.bin`, or a repository. */
export const isMarked = oncePerCall((folder): boolean =>
  ['.git', '.amplifier', '.claude'].some((name) => existsSync(join(folder, name))),
)

/** An empty `.git` does not count: it would cut the project off from everything below it. */
export const isRepository = oncePerCall((folder): boolean => {
  const path = join(folder, '.git')
  try {
    // Most folders have none, and throwing an error would take longer.
    const stats = statIfThere(path)
    if (!stats?.isFile()) return stats !== undefined && existsSync(join(path, 'HEAD'))
    return stats.size < LONGEST_LINK && readFileSync(path, 'utf8').startsWith('gitdir:')
  } catch {
    return false
  }
})

const LONGEST_LINK = 8192

/** Whether `.amplifier` holds anything that Carabiner reads. */
export function hasSettings(folder: string): boolean {
  return isAny(folder, '.amplifier', ['hooks', 'settings.json', 'rules.json', 'pack.json', 'hooks.lock.json'])
}

/** Claude Code leaves a `.claude` in every folder it was started in, so only these files count. */
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

const ownerOf = noted((path): number | undefined => {
  try {
    return lstatIfThere(path)?.uid
  } catch {
    return undefined
  }
})
