// How the process of an entry is started: its command line, its folder, its environment.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { HookSpec } from '../hook-spec.js'
import { expandArgument, fileOfSkill, hookEnvironment } from '../program/environment.js'
import { ProcessGroup } from '../program/process-group.js'
import { notStarted } from '../program/start-failure.js'

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

// ---- everything that ends with the process --------------------------------------------------------------------
/** `end` asks it to end, and ends what does not; `gone` settles when nothing of it is left. */
export type ChildGroup = Pick<ProcessGroup, 'gone' | 'end'>

/** A program that leads a group of its own can be ended with all it started. On Windows it would get a window instead. */
const LEADS_GROUP = process.platform !== 'win32'

/** Of a process that was started. */
export function groupOf(child: ChildProcess): ChildGroup {
  if (LEADS_GROUP) return new ProcessGroup(child.pid as number)
  return {
    gone: new Promise((resolve) => {
      child.once('exit', () => resolve())
    }),
    end: () => child.kill(),
  }
}
