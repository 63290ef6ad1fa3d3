// The programs that one createHooks() runs, each in its own process group.

import { HookError, isHookError } from '../../core/base/errors.js'
import { forgetLooks } from '../../files/looks.js'
import { Living } from '../program/process-group.js'
import { notStarted } from '../program/start-failure.js'
import { startInHost } from '../spawner/spawner.js'
import {
  type Ending,
  follow,
  type GoesOn,
  type GoingOn,
  type Group,
  type LeftBehind,
  type Running,
} from './execution.js'
import type { Program, Start } from './start.js'

export type { Program, Start } from './start.js'

const OUTPUT_LIMIT = 1024 * 1024

let startNow: () => Start = () => startInHost

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
    const { outputLimit = OUTPUT_LIMIT, soFar } = program
    return follow(running, { outputLimit, soFar }, signal, leftBehind, goesOn)
  }

  async #started(program: Program, signal: AbortSignal): Promise<Running> {
    forgetLooks()
    try {
      return await startNow()(program, signal, (group) => this.#groups.add(group))
    } catch (error) {
      signal.throwIfAborted()
      if (isHookError(error, 'HOOK_INTERRUPTED')) throw error
      throw notStarted(program, error)
    }
  }

  /** Settles when every group that was started here is gone and everything left behind has been reported. */
  idle(): Promise<void> {
    return this.#groups.end(ignore)
  }
}

function ignore(): void {}

function noWindows({ file }: Program): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `Could not start ${JSON.stringify(file)}: command hooks only run on Linux and macOS`,
    { hint: 'Write the hook as a function, or run the agent in WSL.' },
  )
}
