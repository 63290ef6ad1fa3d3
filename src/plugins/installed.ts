// The plugins installed for the user and in a project: their sources, and whether their files have changed since.

import { join, resolve } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isFolder, namesIn } from '../files/folder.js'
import { realOf } from '../files/within.js'
import { integrityAt } from './integrity.js'
import { type Lock, readLock } from './lock-file.js'
import { recover } from './placing.js'
import { alone, isThere, lockPath, pluginEntries, pluginsDir, type Target } from './target.js'
import { isLeft, type Kind, underWay } from './work-folder.js'

export interface InstalledPlugin {
  readonly name: string
  readonly scope: Target['scope']
  readonly path: string
  /** Undefined for a plugin that somebody put there by hand. */
  readonly source: string | undefined
  readonly ref?: string
  readonly commit?: string
  readonly version?: string
  readonly catalog?: string
  /** The integrity in the lock file. */
  readonly integrity: string | undefined
  /** `missing`: it is in the lock file, but its folder is gone. `unlocked`: it was not installed by Carabiner. */
  readonly state: 'ok' | 'modified' | 'missing' | 'unlocked'
}

/** Our unfinished work, or a folder that only looks like it. */
export interface Leftover {
  readonly scope: Target['scope']
  readonly path: string
  /** Undefined if it is not ours. */
  readonly work: { readonly kind: Kind; readonly name: string } | undefined
}

interface InstalledList {
  readonly plugins: readonly InstalledPlugin[]
  readonly leftovers: readonly Leftover[]
  readonly problems: readonly Unreadable[]
}

/** Something that cannot be read, in a sentence. */
export interface Unreadable {
  readonly text: string
  /** Present if it is a lock file. */
  readonly lockFile?: string
}

/** The folders that count, the user's first. In the home folder, user and project are the same. */
export function targetsOf({ projectDir, home }: Places): readonly Target[] {
  const user: Target[] = home === undefined ? [] : [{ scope: 'user', base: resolve(home) }]
  const isHome =
    home !== undefined && projectDir !== undefined && realOf(resolve(projectDir)) === realOf(resolve(home))
  return projectDir === undefined || isHome
    ? user
    : [...user, { scope: 'project', base: resolve(projectDir) }]
}

export interface Places {
  readonly projectDir?: string | undefined
  readonly home?: string | undefined
}

/** Finishes interrupted work in the folder. Returns the names of the plugins that this removed. */
export async function finishInterrupted(target: Target): Promise<readonly string[]> {
  if (underWay(pluginsDir(target)).length === 0) return []
  return alone(target, () => recover(target))
}

/** Never throws, and changes nothing. */
export function listInstalled(places: Places): InstalledList {
  const plugins: InstalledPlugin[] = []
  const leftovers: Leftover[] = []
  const problems: Unreadable[] = []
  for (const target of targetsOf(places)) {
    try {
      leftovers.push(...leftIn(target))
    } catch (error) {
      const text = `Cannot tell whether an install in ${pluginsDir(target)} was interrupted: ${textOf(error)}`
      problems.push({ text })
    }
    let lock: Lock = new Map()
    try {
      lock = readLock(lockPath(target))
    } catch (error) {
      problems.push({ text: textOf(error), lockFile: lockPath(target) })
    }
    try {
      plugins.push(...inTarget(target, lock))
    } catch (error) {
      problems.push({ text: `Cannot read ${pluginsDir(target)}: ${textOf(error)}` })
    }
  }
  return { plugins, leftovers, problems }
}

function leftIn(target: Target): readonly Leftover[] {
  const { scope } = target
  const folder = pluginsDir(target)
  const ours = underWay(folder).map(({ kind, name, path }) => ({ scope, path, work: { kind, name } }))
  const own = new Set(ours.map(({ path }) => path))
  const alike = namesIn(folder).flatMap((name) => (isLeft(name) ? [join(folder, name)] : []))
  const strange = alike.filter((path) => !own.has(path))
  return [...ours, ...strange.map((path) => ({ scope, path, work: undefined }))]
}

function inTarget(target: Target, lock: Lock): readonly InstalledPlugin[] {
  const folder = pluginsDir(target)
  const names = new Set([
    ...lock.keys(),
    ...pluginEntries(folder).filter((name) => isFolder(join(folder, name))),
  ])
  return [...names].sort().map((name) => {
    const path = join(folder, name)
    const { source, ref, commit, version, catalog, integrity } = lock.get(name) ?? {}
    return {
      name,
      scope: target.scope,
      path,
      source,
      ...(ref !== undefined && { ref }),
      ...(commit !== undefined && { commit }),
      ...(version !== undefined && { version }),
      ...(catalog !== undefined && { catalog }),
      integrity,
      state: stateOf(path, integrity),
    }
  })
}

function stateOf(path: string, integrity: string | undefined): InstalledPlugin['state'] {
  if (integrity === undefined) return 'unlocked'
  if (!isThere(path)) return 'missing'
  return integrityAt(path) === integrity ? 'ok' : 'modified'
}
