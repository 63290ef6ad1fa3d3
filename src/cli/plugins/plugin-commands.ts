// What install, update, uninstall and migrate share: where plugins go, from where they come, and troubles in words.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { realOf } from '../../files/within.js'
import { targetsOf } from '../../plugins/installed.js'
import type { LockEntry } from '../../plugins/lock-file.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import type { Origin } from '../../plugins/sources/accepted-source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import type { OptionTable } from '../command.js'
import { Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

export const SCOPE_OPTIONS = {
  here: { type: 'boolean', help: 'In this project, for everybody who works on it.' },
  user: { type: 'boolean', help: 'For you, in all projects.' },
  project: PLACE_OPTIONS.project,
} as const satisfies OptionTable

export interface GivenScope {
  readonly here: boolean
  readonly user: boolean
  readonly project: string | undefined
}

/** The one that is asked for; undefined where neither is. */
export function targetOf(given: GivenScope): Target | undefined {
  if (given.here && given.user) throw usage('Give --here or --user, not both')
  if (given.here) return projectTarget(given)
  return given.user ? userTarget() : undefined
}

export function userTarget(): Target {
  return { scope: 'user', base: homedir() }
}

function projectTarget(given: GivenScope): Target {
  const base = projectFolder(given)
  if (realOf(base) === realOf(homedir())) {
    throw usage('This folder is your home: what is installed there is for all projects', 'Leave out --here.')
  }
  return { scope: 'project', base }
}

/** The user's, and the project's if that is another. */
export function allTargets(given: GivenScope): readonly Target[] {
  return targetsOf({ projectDir: projectFolder(given), home: homedir() })
}

// ---- a source in words ----------------------------------------------------------------------------------------

/** What somebody types after `carabiner install` for the same; it may be a stranger's word. */
export function typedSource({ source, kind, ref, path, catalog }: Origin): string {
  if (catalog !== undefined) return shellQuoted(visible(catalog))
  const at = ref === undefined ? '' : `${kind === 'npm' ? '@' : '#'}${ref}`
  const folder = path === undefined ? '' : ` --path ${shellQuoted(visible(path))}`
  return `${shellQuoted(visible(`${source}${at}`))}${folder}`
}

/** In a line: from where, pinned to what. */
export function originOf(entry: Origin & Partial<LockEntry>): string {
  const { source, kind, ref, path, catalog, commit, version } = entry
  return [
    `From ${kind} ${source}`,
    ...(catalog === undefined ? [] : [`found as ${catalog}`]),
    ...(path === undefined ? [] : [`folder ${path}`]),
    ...(ref === undefined || ref === commit ? [] : [kind === 'npm' ? `version ${ref}` : `at ${ref}`]),
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(version === undefined || version === ref ? [] : [`which is ${version}`]),
  ].join(', ')
}

export function pluginData(name: string, target: Target, { installed: _, ...entry }: LockEntry) {
  return { name, scope: target.scope, path: join(pluginsDir(target), name), ...entry }
}

// ---- troubles -------------------------------------------------------------------------------------------------

/** What is wrong with a source, a name or a disk is no bug of this program. */
export async function asRefusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PluginProblem) {
      throw new Refusal(error.code, error.message, {
        ...(error.hint !== undefined && { hint: error.hint }),
      })
    }
    const { syscall, path } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    const where = path === undefined ? 'Something' : visibleName(path)
    throw new Refusal('NOT_WRITTEN', `${where} cannot be read or written: ${textOf(error)}`, {
      hint: 'Look who may write there, and whether there is room; the same command goes on from here.',
    })
  }
}
