// One timer for all running hooks, because a timer per hook would cost more than most hooks.

import { type ForCaller, forCallerOfNow } from './caller.js'
import { LONGEST_TIMER_MS } from './time.js'

/** Something that waits. It is its own node in a linked list, so joining and leaving need no lookup. */
export abstract class Watched {
  /** A time on the clock of performance.now(); Infinity while nothing is awaited. */
  dueAt = Infinity
  /** Called when `dueAt` has passed; must move it or end the watch. */
  abstract overdue(now: number): void
  /** The timer may have been set for another caller. */
  forCaller: ForCaller | undefined
  previous: Watched | undefined
  next: Watched | undefined
}

/** Most hooks are done by then, so there is one timer per check instead of one per hook. */
const FIRST_LOOK_MS = 10

let first: Watched | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lookAt = Infinity

/** Watches until `unwatch`. Call `hurry` for every hook that is awaited. */
export function watch(one: Watched): void {
  one.forCaller = forCallerOfNow()
  one.next = first
  if (first) first.previous = one
  first = one
}

/** A timer that is due soon is left to fire for nothing, because clearing it costs more. */
export function unwatch(one: Watched, now?: number): void {
  if (one.previous) one.previous.next = one.next
  else if (first === one) first = one.next
  if (one.next) one.next.previous = one.previous
  one.previous = undefined
  one.next = undefined
  if (first !== undefined || timer === undefined) return
  if (lookAt - (now ?? performance.now()) > FIRST_LOOK_MS) disarm()
}

/** Makes sure that the timer fires by this time. */
export function hurry(dueAt: number): void {
  if (dueAt >= lookAt) return
  const now = performance.now()
  arm(timer === undefined ? Math.min(dueAt, now + FIRST_LOOK_MS) : dueAt, now)
}

function arm(at: number, now: number): void {
  if (timer !== undefined) clearTimeout(timer)
  lookAt = at
  timer = setTimeout(look, Math.min(Math.max(0, Math.ceil(at - now)), LONGEST_TIMER_MS))
}

function disarm(): void {
  clearTimeout(timer)
  timer = undefined
  lookAt = Infinity
}

function look(): void {
  disarm()
  const now = performance.now()
  const waiting = [...everyone()]
  for (const one of waiting) if (one.dueAt <= now) one.forCaller?.(() => one.overdue(now))
  let next = Infinity
  for (const one of everyone()) next = Math.min(next, one.dueAt)
  if (next !== Infinity) arm(next, performance.now())
}

function* everyone(): Iterable<Watched> {
  for (let one = first; one; one = one.next) yield one
}
