// How the process of an entry is started: its command line, its folder, its environment.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { HookSpec } from '../hook-spec.js'
import { expandArgument, fileOfSkill, hookEnvironment } from '../program/environment.js'
import { notStarted } from '../program/start-failure.js'
import { LEADS_GROUP } from './child-group.js'

export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** What an entry says about it. */
export interface LaunchFields {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** Relative: to the folder of the plugin, else to the project. Default: the project. */
  readonly dir?: string
  /** Added to the environment. What names our places, and the path of a trusted hook, stays ours. */
  readonly env?: Readonly<Record<string, string>>
}

/** No session is in it: one process serves many. */
export function launchOf({ handler, place, env: inheritance }: HookSpec<LaunchFields>): Launch {
  const own = handler.env ?? {}
  const env = hookEnvironment(
    {
      parent: { ...process.env, ...own },
      minimal: inheritance === 'minimal',
      passthrough: Object.keys(own),
    },
    { place, sessionId: undefined },
  )
  const [program = '', ...args] = handler.command.map((one) => expandArgument(one, env))
  return {
    file: fileOfSkill(program, place),
    args,
    cwd: handler.dir === undefined ? place.projectDir : folderIn(place, expandArgument(handler.dir, env)),
    env,
  }
}

function folderIn({ plugin, projectDir }: HookSpec<LaunchFields>['place'], dir: string): string {
  return resolve(plugin?.root ?? projectDir, dir)
}

/** Rejects with HOOK_NOT_STARTED. */
export function launched(launch: Launch): Promise<ChildProcessWithoutNullStreams> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(notStarted(launch, error))
    try {
      const { file, args, cwd, env } = launch
      const child = spawn(file, args, { cwd, env, detached: LEADS_GROUP, windowsHide: true, stdio: 'pipe' })
      // Also for what comes later, a signal that could not be sent: it must not be an unhandled event.
      child.on('error', fail)
      if (child.pid !== undefined) resolve(child)
    } catch (error) {
      fail(error)
    }
  })
}
