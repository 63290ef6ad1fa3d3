// Starts the process of an entry: builds its command line, folder and environment, and the group that ends with it.

import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type StdioOptions,
  spawn,
} from 'node:child_process'
import { resolve } from 'node:path'
import { isGuard } from '../../core/hooks/gate.js'
import { sharedEnv } from '../../files/homes.js'
import type { HookSpec, Surroundings } from '../hook-spec.js'
import { expandArgument, fileOfSkill, hookEnvironment } from '../program/environment.js'
import { ProcessGroup } from '../program/process-group.js'
import { notStarted } from '../program/start-failure.js'

export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Messages go over file descriptor 3, so that nothing that the program reads or prints can disturb them. */
  readonly ownChannel?: boolean
}

/** The fields of an entry that matter for the start. */
export interface LaunchFields {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** Relative to the plugin's folder, or to the project if there is no plugin. Default: the project. */
  readonly dir?: string
  /** Added to the environment. Cannot replace variables that name our folders, or the PATH of a trusted hook. */
  readonly env?: Readonly<Record<string, string>>
}

/** Does not name a session, because one process serves many. */
export function launchOf(
  { hook, handler, place, env: inheritance }: HookSpec<LaunchFields>,
  note: Surroundings['report'],
): Launch {
  const env = hookEnvironment(
    { parent: sharedEnv(), own: handler.env, minimal: inheritance === 'minimal' },
    { place, scope: hook.origin.scope, isGuard: isGuard(hook), sessionId: undefined, note },
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

/** Rejects with HOOK_NOT_STARTED. With a channel of its own, the child has no `stdin`: use `pipesOf`. */
export function launched(launch: Launch): Promise<ChildProcessWithoutNullStreams> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(notStarted(launch, error))
    try {
      const { file, args, cwd, env, ownChannel } = launch
      const stdio: StdioOptions = ownChannel ? ['ignore', 'pipe', 'pipe', 'pipe'] : 'pipe'
      const child = spawn(file, args, { cwd, env, detached: LEADS_GROUP, windowsHide: true, stdio })
      // Stays attached, because later errors, such as a signal that could not be sent, must not go unhandled.
      child.on('error', fail)
      if (child.pid !== undefined) resolve(child as ChildProcessWithoutNullStreams)
    } catch (error) {
      fail(error)
    }
  })
}

// ---- the group that ends with the process ---------------------------------------------------------------------

/** `end` sends TERM, then KILL. `gone` settles when all of it has ended. */
export type ChildGroup = Pick<ProcessGroup, 'gone' | 'end'>

/** The leader of a group can be ended with everything it started. On Windows it would get a window instead. */
const LEADS_GROUP = process.platform !== 'win32'

type GroupWatcher = (leader: number, gone: Promise<void>) => void

let watcher: GroupWatcher | undefined

/** For a program that may be killed: is told of every process that may outlast a call, and when nothing of its group is left. */
export function watchGroupsBy(by: GroupWatcher): void {
  watcher = by
}

/** The child must have a pid. */
export function groupOf(child: ChildProcess): ChildGroup {
  if (LEADS_GROUP) {
    const group = new ProcessGroup(child.pid as number)
    watcher?.(child.pid as number, group.gone)
    return group
  }
  return {
    gone: new Promise((resolve) => {
      child.once('exit', () => resolve())
    }),
    end: () => child.kill(),
  }
}
