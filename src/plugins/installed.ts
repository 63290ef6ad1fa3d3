// What is installed for the user and in a project, from where, and whether it still is what was installed.

import { join, resolve } from 'node:path'
import { textOf } from '../core/errors.js'
import { isFolder } from '../runners/command/start-folder.js'
import { realOf } from '../state/within.js'
import { forgetting } from './forget-plugin.js'
import { type Lock, readLock } from './lock-file.js'
import { integrityAt, isInterrupted, isThere, pluginEntries, recover } from './placing.js'
import { alone, lockPath, pluginsDir, type Target } from './target.js'

export interface InstalledPlugin {
  readonly name: string
  readonly scope: Target['scope']
  /** Its folder. */
  readonly path: string
  /** Undefined of one that somebody put there. */
  readonly source: string | undefined
  readonly ref?: string
  readonly commit?: string
  readonly version?: string
  readonly catalog?: string
  /** As the lock file has it. */
  readonly integrity: string | undefined
  /** `missing`: the lock file has it, the folder is gone. `unlocked`: it was not installed by Carabiner. */
  readonly state: 'ok' | 'modified' | 'missing' | 'unlocked'
}

interface InstalledList {
  readonly plugins: readonly InstalledPlugin[]
  /** Sentences: lock files that cannot be read, work that could not be finished. */
  readonly problems: readonly string[]
}

/** The folders that count, the user's first. Who works on their home has one. */
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

export async function installedPlugins(places: Places): Promise<readonly InstalledPlugin[]> {
  return (await listInstalled(places)).plugins
}

/** Never throws. Finishes what was interrupted, where it may. */
export async function listInstalled(places: Places): Promise<InstalledList> {
  const plugins: InstalledPlugin[] = []
  const problems: string[] = []
  for (const target of targetsOf(places)) {
    try {
      if (isInterrupted(target)) await alone(target, () => recover(target, forgetting(target)))
    } catch (error) {
      problems.push(`What was interrupted in ${pluginsDir(target)} could not be finished: ${textOf(error)}`)
    }
    let lock: Lock = new Map()
    try {
      lock = readLock(lockPath(target))
    } catch (error) {
      problems.push(textOf(error))
    }
    try {
      plugins.push(...inTarget(target, lock))
    } catch (error) {
      problems.push(`${pluginsDir(target)} cannot be read: ${textOf(error)}`)
    }
  }
  return { plugins, problems }
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
