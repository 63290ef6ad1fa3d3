// Time for deadlines that outlive a process: what has ended does not begin again when the system's clock is set back.

import { join } from 'node:path'
import { count, fieldsOf } from './fields.js'
import { VersionedFile } from './versioned-file.js'

/*
 * The latest time that anybody saw is kept in a file. A clock that is behind it by more than a minute was set back, and
 * that begins a new era. A deadline is kept with its era, and one of an earlier era is over: how much of its time was
 * left is not known. Within an era time does not go back.
 */

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Keep it beside a deadline. */
  readonly era: number
}

export interface Deadline {
  /** ISO-8601. */
  readonly ends: string
  /** Absent: the first. */
  readonly era?: number | undefined
}

interface Mark {
  readonly latest: number
  readonly era: number
}

const FRESH: Mark = { latest: 0, era: 0 }
/** Time servers correct clocks by less. */
const TOLERATED_MS = 60_000
/** How often the file is written, at most. */
const EVERY_MS = 10_000
/** The last time that a Date can be. */
const LATEST = 8.64e15

/** Call it only where there is a deadline, or one is made. Throws an Error that says what happened, where, and what to do. */
export function momentIn(dataDir: string, given: number): Moment {
  const now = wholeTime(given)
  const file = new VersionedFile({
    folder: join(dataDir, 'clock'),
    what: 'the latest time',
    fresh: FRESH,
    check: storedMark,
  })
  let mark = file.load()
  if (isDue(mark, now)) {
    file.update((stored) => {
      mark = isDue(stored, now) ? next(stored, now) : stored
      return mark
    })
  }
  return { now: Math.max(now, mark.latest), era: mark.era }
}

export function isOver({ ends, era = 0 }: Deadline, moment: Moment): boolean {
  return era !== moment.era || Date.parse(ends) <= moment.now
}

/** A clock that a program gave may answer anything; no number at all would never be after a deadline. */
function wholeTime(given: number): number {
  return Number.isFinite(given) ? Math.min(Math.max(0, Math.floor(given)), LATEST) : Date.now()
}

function isDue({ latest }: Mark, now: number): boolean {
  return isSetBack(latest, now) || now - latest > EVERY_MS
}

function isSetBack(latest: number, now: number): boolean {
  return now < latest - TOLERATED_MS
}

/** An era is named by the time at which it began, so that a lost file never leads to the number of an earlier one. */
function next({ latest, era }: Mark, now: number): Mark {
  return { latest: now, era: isSetBack(latest, now) ? now : era }
}

function storedMark(value: unknown): Mark {
  const fields = fieldsOf(value, 'the latest time')
  return { latest: count(fields.latest, 'latest'), era: count(fields.era, 'era') }
}
