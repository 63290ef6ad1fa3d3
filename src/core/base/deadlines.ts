// One timer for all running hooks, because a timer per hook would cost more than most hooks.

import { type ForCaller, forCallerOfNow } from './caller.js'
import { LONGEST_TIMER_MS } from './time.js'

const atOnce: ForCaller = (work) => work()

/** Something that waits. It is its own node in a linked list, so joining and leaving need no lookup. */
export abstract class Watched {
  /** A time on the clock of performance.now(); Infinity while nothing is awaited. */
  dueAt = Infinity
  /** Called when `dueAt` has passed; must move it or end the watch. */
  abstract overdue(now: number): void
  /** The value of `dueAt` that was set because this process had not been running. It is not moved on again. */
  extendedTo = Infinity
  /** The timer may have been set for another caller. */
  forCaller: ForCaller = atOnce
  previous: Watched | undefined
  next: Watched | undefined
}

/** Most hooks are done by then, so there is one timer per check instead of one per hook. */
const FIRST_LOOK_MS = 10
/** A timer that fires later than this was held up: the process was suspended, or its event loop was blocked. */
const LATE_MS = 200
/** The most that a deadline moves on, because a process may be suspended for hours. */
const LONGEST_EXTENSION_MS = 5000

let first: Watched | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lookAt = Infinity
/** When the timer should fire. Differs from `lookAt` if that is further off than a timer can be set. */
let firesAt = Infinity

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
  const delay = Math.min(Math.max(0, Math.ceil(at - now)), LONGEST_TIMER_MS)
  lookAt = at
  firesAt = now + delay
  timer = setTimeout(look, delay)
}

function disarm(): void {
  clearTimeout(timer)
  timer = undefined
  lookAt = Infinity
}

function look(): void {
  disarm()
  const now = performance.now()
  const late = now - firesAt
  if (late > LATE_MS) extend(now, Math.min(late, LONGEST_EXTENSION_MS))
  if (isAnyDue(now)) setImmediate(() => count(now))
  else lookAgain()
}

/** Those who must answer may not have been running either, and an answer that has arrived may take several reads. */
function extend(now: number, ms: number): void {
  for (const one of everyone()) {
    if (one.dueAt > now || one.dueAt === one.extendedTo) continue
    one.dueAt = now + ms
    one.extendedTo = one.dueAt
  }
}

function isAnyDue(now: number): boolean {
  for (const one of everyone()) if (one.dueAt <= now) return true
  return false
}

/** Runs a turn of the event loop after `look`, because timers fire before answers that have arrived are read. */
function count(now: number): void {
  const waiting = [...everyone()]
  for (const one of waiting) if (one.dueAt <= now) one.forCaller(() => one.overdue(now))
  lookAgain()
}

function lookAgain(): void {
  let next = Infinity
  for (const one of everyone()) next = Math.min(next, one.dueAt)
  if (next !== Infinity) arm(next, performance.now())
}

function* everyone(): Iterable<Watched> {
  for (let one = first; one; one = one.next) yield one
}
