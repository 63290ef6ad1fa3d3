// What lock files name and is not there.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { targetsOf } from '../../plugins/installed.js'
import { readLock } from '../../plugins/lock-file.js'
import { lockPath, pluginsDir, type Target } from '../../plugins/target.js'
import type { Expectation } from '../../trust/expectation.js'
import { whereabouts } from '../../trust/set-aside.js'
import { shortPath } from '../print/lines.js'

/** Installed plugins that are gone. Those in `known` are expected by trust as well. */
export function missingPlugins(
  projectDir: string,
  home: string,
  known: ReadonlySet<string>,
): readonly Expectation[] {
  return targetsOf({ projectDir, home }).flatMap((target) =>
    missingIn(target).filter(({ unit }) => !known.has(unit.path)),
  )
}

function missingIn(target: Target): readonly Expectation[] {
  const lock = shortPath(lockPath(target))
  const here = target.scope === 'project' ? ' --here' : ''
  try {
    return [...readLock(lockPath(target)).keys()].flatMap((name) => {
      const path = join(pluginsDir(target), name)
      if (whereabouts(path).id !== '') return []
      const typed = `${shellQuoted(name)}${here}`
      return [
        lost(
          { name, path, projectDir: target.base },
          `The plugin ${visibleName(name)} is in ${lock}, and its folder is gone.`,
          `Put it back: carabiner update ${typed}. Remove it: carabiner uninstall ${typed}.`,
        ),
      ]
    })
  } catch (error) {
    const unit = { name: 'hooks.lock.json', path: lockPath(target), projectDir: target.base }
    return [
      lost(
        unit,
        `The list of installed plugins cannot be read: ${textOf(error)}.`,
        'Restore that file from version control.',
      ),
    ]
  }
}

function lost(unit: Omit<Expectation['unit'], 'kind'>, why: string, repair: string): Expectation {
  return {
    unit: { kind: 'folder', ...unit },
    state: 'missing',
    gates: [],
    guardedBy: 'nothing',
    why,
    repair,
  }
}
