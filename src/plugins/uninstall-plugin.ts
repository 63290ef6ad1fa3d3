// Uninstalling: the folder, its lock entry, and everything that was kept because of it.

import { didYouMean } from '../core/base/nearest.js'
import { visibleName } from '../core/base/visible.js'
import { forgetting } from './forget-plugin.js'
import { readLock } from './lock-file.js'
import { pluginEntries, recover, type Step, unplace } from './placing.js'
import { PluginProblem } from './plugin-problem.js'
import { alone, lockPath, pluginsDir, type Target } from './target.js'

interface UninstallOptions {
  readonly step?: Step | undefined
}

/** The name of a folder there, as it is: also of one that somebody else put there. Throws if there is none. */
export async function uninstallPlugin(
  name: string,
  target: Target,
  { step }: UninstallOptions = {},
): Promise<void> {
  await alone(target, () => {
    const forget = forgetting(target)
    recover(target, forget)
    const names = new Set([...pluginEntries(pluginsDir(target)), ...readLock(lockPath(target)).keys()])
    if (!names.has(name)) throw notInstalled(name, names)
    unplace(target, name, forget, step)
  })
}

export function notInstalled(name: string, names: Iterable<string>): PluginProblem {
  const known = [...names].sort()
  const list =
    known.length === 0 ? 'Nothing is installed there.' : `There is ${known.map(visibleName).join(', ')}.`
  return new PluginProblem(
    'NOT_INSTALLED',
    `No plugin is called ${visibleName(name)}${didYouMean(name, known)}`,
    list,
  )
}
