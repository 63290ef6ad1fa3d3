// What keeps a host from running the hooks that are registered with it, on this machine.

import { join } from 'node:path'
import { callerEnv } from '../files/caller.js'
import { userHome } from '../files/homes.js'
import { readIfThere } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import type { HostProblem, HostSetup } from './host-setup.js'
import { userFolder } from './setup.js'

export interface AskedAbout {
  readonly project: string
  /** Asks about the files of the project, instead of the user's. */
  readonly isProject: boolean
  /** Texts that setup would write, by path. */
  readonly planned?: ReadonlyMap<string, string | undefined>
}

export function problemsOf(
  setup: HostSetup,
  { project, isProject, planned }: AskedAbout,
): readonly HostProblem[] {
  const env = callerEnv()
  const folder = isProject ? join(project, setup.project?.folder ?? '') : userFolder(setup, env)
  const read = (path: string) => (planned?.has(path) ? planned.get(path) : hostText(path))
  return setup.problems?.({ home: userHome(), folder, project, env, read }) ?? []
}

/** More than any real settings file. */
const MOST_BYTES = 4 * 1024 * 1024

/** Follows links, as hosts do. Undefined if there is no such file, or it cannot be read. */
export function hostText(path: string): string | undefined {
  const found = readIfThere(realOf(path), MOST_BYTES)
  return found && 'text' in found ? found.text : undefined
}
