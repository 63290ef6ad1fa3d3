// The folder that plugins are installed into, the user's or a project's. One writer at a time.

import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hooksDirOf } from '../config/discovery.js'
import { digest } from '../core/base/digest.js'
import { visibleName } from '../core/base/text.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { ifThere } from '../files/if-there.js'
import { Mutex } from '../files/mutex.js'
import { realOf } from '../files/within.js'
import { PluginProblem } from './plugin-problem.js'
import { workHome } from './work-folder.js'

export interface Target {
  readonly scope: 'user' | 'project'
  /** The user's home or the project folder. Absolute. */
  readonly base: string
}

export function pluginsDir({ base }: Target): string {
  return hooksDirOf(base)
}

export function lockPath({ base }: Pick<Target, 'base'>): string {
  return join(resolve(base), '.amplifier', 'hooks.lock.json')
}

/** Throws if a project redirects our writes with a link. Links in the user's own home are fine. */
export function checkTarget(target: Target): void {
  if (target.scope === 'user') return
  const folder = pluginsDir(target)
  for (const path of [dirname(folder), folder]) {
    const stats = ifThere(() => lstatSync(path))
    if (!stats || stats.isDirectory()) continue
    const what = stats.isSymbolicLink() ? 'is a link' : 'is not a folder'
    throw new PluginProblem(
      'PLACE_UNSAFE',
      `${visibleName(path)} ${what}, so nothing can be installed there`,
      'Put a folder in its place, or leave out --here to install for all projects.',
    )
  }
}

const LONGEST_WAIT_MS = 30_000
const LOOK_MS = 50

/** Runs `work` while nobody else changes the folder, in this process or another. */
export async function alone<T>(target: Target, work: () => T): Promise<T> {
  checkTarget(target)
  return aloneIn(pluginsDir(target), work)
}

/** Like `alone`, for any folder that plugins are placed in. */
export async function aloneIn<T>(place: string, work: () => T): Promise<T> {
  const folder = join(workHome(), `lock-${digest(realOf(place)).slice(0, 32)}`)
  makePrivate(folder)
  const mutex = new Mutex(folder)
  const until = performance.now() + LONGEST_WAIT_MS
  while (!mutex.tryTake()) {
    if (performance.now() > until) {
      throw new PluginProblem(
        'BUSY',
        `Another process is installing into ${visibleName(place)}: ${mutex.holder}`,
        'Try again when it has finished.',
      )
    }
    await sleep(LOOK_MS)
  }
  try {
    mutex.sweep(readdirSync(folder))
    return work()
  } finally {
    mutex.release()
  }
}

// ---- what is in it --------------------------------------------------------------------------------------------

/** The names that discovery looks at. Each may be a plugin. */
export function pluginEntries(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => !name.startsWith('.') && name !== 'hooks.json')
}

/** Also true for a dangling link. */
export function isThere(path: string): boolean {
  return ifThere(() => lstatSync(path)) !== undefined
}
