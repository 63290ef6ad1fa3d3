// Time-outs are seconds in the public API and in files, and may be fractions; inside they are milliseconds.

import { HookError } from './errors.js'
import { shown } from './text.js'

/** setTimeout fires at once for anything longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Refuses what is no length of time: zero, negative, not a number. */
export function milliseconds(seconds: number, what: string): number {
  if (typeof seconds === 'number' && seconds > 0) return seconds * 1000
  throw new HookError('OPTIONS_INVALID', `${what} must be a number of seconds above 0, got ${shown(seconds)}`)
}

/** On the engine's clock; no time-out is no deadline. */
export function deadlineIn(seconds: number | undefined): number {
  return seconds === undefined ? Infinity : performance.now() + milliseconds(seconds, 'timeout')
}
