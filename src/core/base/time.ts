// Times. Timeouts are seconds in the public API and in files, and may be fractions. Internally they are milliseconds.

import { HookError } from './errors.js'
import { shown } from './text.js'

/** setTimeout fires at once for anything longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Throws unless the value is a positive number of seconds. */
export function milliseconds(seconds: number, what: string): number {
  if (typeof seconds === 'number' && seconds > 0) return seconds * 1000
  throw new HookError('OPTIONS_INVALID', `${what} must be a number of seconds above 0, got ${shown(seconds)}`)
}

/** A time on the clock of performance.now(); Infinity without a timeout. */
export function deadlineIn(seconds: number | undefined): number {
  return seconds === undefined ? Infinity : performance.now() + milliseconds(seconds, 'timeout')
}

// Many events share a millisecond, and formatting costs more than a hook.

let at = Number.NaN
let text = ''

export function timestamp(now: number = Date.now()): string {
  if (now !== at) {
    at = now
    text = new Date(now).toISOString()
  }
  return text
}

/** `2026-01-31 14:03:22` in the reader's time zone. A text that is not a time stays as it is. */
export function localTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** `4:59`, for a countdown in seconds. */
export function countdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
