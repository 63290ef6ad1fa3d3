// The programs that one createHooks() runs, each in its own process group.

import { spawn } from 'node:child_process'
import { HookError } from '../../core/base/errors.js'
import type { MaybePromise } from '../../core/base/promise.js'
import type { HookContext } from '../../core/hooks/hook.js'
import { forgetLooks } from '../../files/looks.js'
import { Living, ProcessGroup } from '../program/process-group.js'
import { notStarted } from '../program/start-failure.js'
import {
  type Ending,
  follow,
  type GoesOn,
  type GoingOn,
  type Group,
  type LeftBehind,
  type Running,
} from './execution.js'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Written to its standard input. The program need not read it. */
  readonly input: string
  /** Bytes kept of each stream. Default 1 MiB. */
  readonly outputLimit?: number
  /** Called if it is aborted, with what it had printed by then. */
  readonly soFar?: (unfinished: Ending) => void
  /** For a start elsewhere, from where what the program says may come late. */
  readonly atDeadline?: HookContext['atDeadline'] | undefined
}

const OUTPUT_LIMIT = 1024 * 1024

/** Starts a program and writes its input. May throw or reject with what the system says, or because of the signal. */
export type Start = (program: Program, signal: AbortSignal) => MaybePromise<Running>

let startNow: () => Start = () => startHere

/** For a process that serves many callers: finds who starts the programs of the one that the running code works for. */
export function startProgramsBy(find: typeof startNow): void {
  startNow = find
}

export class Programs {
  readonly #groups = new Living<Group>()

  /**
   * Rejects with HOOK_NOT_STARTED, or with the signal's reason as soon as it is aborted. Processes left in the group after
   * the program has ended or was aborted are stopped after the answer: TERM, half a second, KILL. `leftBehind` is called
   * for processes that the answer does not mention. With `goesOn`, the program need not end first.
   */
  run(program: Program, signal: AbortSignal, leftBehind?: LeftBehind): Promise<Ending>
  run(
    program: Program,
    signal: AbortSignal,
    leftBehind: LeftBehind,
    goesOn: GoesOn | undefined,
  ): Promise<Ending | GoingOn>
  async run(
    program: Program,
    signal: AbortSignal,
    leftBehind: LeftBehind = () => {},
    goesOn?: GoesOn,
  ): Promise<Ending | GoingOn> {
    signal.throwIfAborted()
    if (process.platform === 'win32') throw noWindows(program)
    const running = await this.#started(program, signal)
    this.#groups.add(running.group)
    const { outputLimit = OUTPUT_LIMIT, soFar } = program
    return follow(running, { outputLimit, soFar }, signal, leftBehind, goesOn)
  }

  async #started(program: Program, signal: AbortSignal): Promise<Running> {
    forgetLooks()
    try {
      return await startNow()(program, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw notStarted(program, error)
    }
  }

  /** Settles when every group that was started here is gone and everything left behind has been reported. */
  idle(): Promise<void> {
    return this.#groups.end(ignore)
  }
}

function ignore(): void {}

function startHere({ file, args, cwd, env, input }: Program): MaybePromise<Running> {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
  // Node reports most start failures later, as an event.
  if (child.pid === undefined)
    return new Promise((_, reject) => {
      child.once('error', reject)
    })
  const { stdin, stdout, stderr } = child
  stdin.on('error', ignore) // A program may close its input early, or never read it.
  stdin.end(input)
  return {
    stdout,
    stderr,
    group: new ProcessGroup(child.pid),
    onExit: (listener) => void child.once('exit', listener),
    release() {
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
      child.unref()
    },
  }
}

function noWindows({ file }: Program): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `Could not start ${JSON.stringify(file)}: command hooks only run on Linux and macOS`,
    { hint: 'Write the hook as a function, or run the agent in WSL.' },
  )
}
