// Promises: values that come at once or later, deadlines, and signals that end a wait.

import { HookError } from './errors.js'

export type MaybePromise<T> = T | Promise<T>

/** Whether a value can be awaited, including promises of other libraries. */
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

/** Rejects with ABORTED if the signal is aborted and the work does not settle within the grace period. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, graceMs = 0): Promise<T> {
  if (!signal) return work
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopListening = () => {}
  const aborted = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new HookError('ABORTED', 'It was aborted', { cause: signal.reason }))
    stopListening = onAbort(signal, () => {
      if (graceMs === 0) giveUp()
      else timer = setTimeout(giveUp, graceMs)
    })
  })
  return Promise.race([work, aborted]).finally(() => {
    clearTimeout(timer)
    stopListening()
  })
}

// One listener per signal, however many calls share it: embedders pass one signal to every call of a turn.

const waiting = new WeakMap<
  AbortSignal,
  { readonly callbacks: Set<() => void>; readonly listener: () => void }
>()

/** Calls back when the signal is aborted, or at once if it already is. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, listener } = waiting.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size > 0 || waiting.get(signal)?.callbacks !== callbacks) return
    signal.removeEventListener('abort', listener)
    waiting.delete(signal)
  }
}

function listenTo(signal: AbortSignal) {
  const callbacks = new Set<() => void>()
  const listener = () => {
    for (const callback of [...callbacks]) callback()
  }
  const entry = { callbacks, listener }
  waiting.set(signal, entry)
  signal.addEventListener('abort', listener)
  return entry
}
