// What may be answered at once or later.

import { HookError } from './errors.js'

export type MaybePromise<T> = T | Promise<T>

/** Anything that can be awaited, also what another library made. */
export function isPromise<T>(value: MaybePromise<T> | unknown): value is Promise<T> {
  if (value instanceof Promise) return true
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Rejects if it does not settle in time. */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not answer within ${Math.round(ms)} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Rejects with ABORTED as soon as the signal is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new HookError('ABORTED', 'The fire was aborted', { cause: signal.reason }))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
