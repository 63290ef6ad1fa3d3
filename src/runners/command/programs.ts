// The programs that one createHooks() runs, each in its own process group.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { HookError } from '../../core/base/errors.js'
import { Living, ProcessGroup } from '../program/process-group.js'
import { notStarted } from '../program/start-failure.js'
import { type Ending, follow, type GoesOn, type GoingOn, type LeftBehind } from './execution.js'

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
}

const OUTPUT_LIMIT = 1024 * 1024

export class Programs {
  readonly #groups = new Living<ProcessGroup>()

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
  run(
    program: Program,
    signal: AbortSignal,
    leftBehind: LeftBehind = () => {},
    goesOn?: GoesOn,
  ): Promise<Ending | GoingOn> {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (process.platform === 'win32') return Promise.reject(noWindows(program))
    let child: ChildProcessWithoutNullStreams
    try {
      child = start(program)
    } catch (error) {
      return Promise.reject(notStarted(program, error))
    }
    if (child.pid === undefined) return failure(child, program)
    const group = new ProcessGroup(child.pid)
    this.#groups.add(group)
    child.stdin.on('error', ignore) // A program may close its input early, or never read it.
    child.stdin.end(program.input)
    const { outputLimit = OUTPUT_LIMIT, soFar } = program
    return follow(child, group, { outputLimit, soFar }, signal, leftBehind, goesOn)
  }

  /** Settles when every group that was started here is gone and everything left behind has been reported. */
  idle(): Promise<void> {
    return this.#groups.end(ignore)
  }
}

function ignore(): void {}

function start({ file, args, cwd, env }: Program): ChildProcessWithoutNullStreams {
  return spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
}

/** Node reports most start failures later, as an event. */
function failure(child: ChildProcessWithoutNullStreams, program: Program): Promise<never> {
  return new Promise((_, reject) => {
    child.once('error', (error) => reject(notStarted(program, error)))
  })
}

function noWindows({ file }: Program): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `Could not start ${JSON.stringify(file)}: command hooks only run on Linux and macOS`,
    { hint: 'Write the hook as a function, or run the agent in WSL.' },
  )
}
