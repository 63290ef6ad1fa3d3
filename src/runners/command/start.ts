// Starting a program: what it is given, and how this process starts it by itself.

import { spawn } from 'node:child_process'
import type { MaybePromise } from '../../core/base/promise.js'
import type { HookContext } from '../../core/hooks/hook.js'
import { ProcessGroup } from '../program/process-group.js'
import type { Ending, Group, Running } from './execution.js'

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

/**
 * Starts a program and writes its input. May throw or reject with what the system says, or because of the signal. `began` is
 * called as soon as there may be a process that has to end.
 */
export type Start = (
  program: Program,
  signal: AbortSignal,
  began: (group: Group) => void,
) => MaybePromise<Running>

export const startHere: Start = ({ file, args, cwd, env, input }, _signal, began) => {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
  // Node reports most start failures later, as an event.
  if (child.pid === undefined)
    return new Promise((_, reject) => {
      child.once('error', reject)
    })
  const group = new ProcessGroup(child.pid)
  began(group)
  const { stdin, stdout, stderr } = child
  stdin.on('error', () => {}) // A program may close its input early, or never read it.
  stdin.end(input)
  return {
    stdout,
    stderr,
    group,
    onExit: (listener) => void child.once('exit', listener),
    release() {
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
      child.unref()
    },
  }
}
