// Time for deadlines that outlive a process: what has ended does not begin again when the system's clock is set back.

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { count, fieldsOf } from './fields.js'
import { Seal } from './seal.js'
import { VersionedFile } from './versioned-file.js'

/*
 * The latest time that anybody saw is kept in a file, sealed. A clock that is behind it by more than a minute was set
 * back, and that begins a new era; so does a file that is gone. A deadline is kept with its era, and one of an earlier
 * era is over: how much of its time was left is not known. Within an era time does not go back.
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
  /** Absent: 0.1.0 made it, which had no eras. Only time ends it. */
  readonly era?: number | undefined
}

/** A type, so that it is JSON. */
type Mark = {
  readonly latest: number
  readonly era: number
}

interface SealedMark {
  readonly mark: Mark
  readonly seal: string
}

const FRESH: SealedMark = { mark: { latest: 0, era: 0 }, seal: '' }
/** More than anybody could meet by chance, and few enough digits for the name of a file. */
const ERAS = 2 ** 48 - 1
/** Time servers correct clocks by less. */
const TOLERATED_MS = 60_000
/** How often the file is written, at most. */
const EVERY_MS = 10_000
/** The last time that a Date can be. */
const LATEST = 8.64e15

/** Call it only where there is a deadline, or one is made. Throws an Error that says what happened, where, and what to do. */
export function momentIn(dataDir: string, given: number): Moment {
  const now = wholeTime(given)
  const seal = new Seal(dataDir)
  const file = new VersionedFile({
    folder: join(dataDir, 'clock'),
    what: 'the latest time',
    fresh: FRESH,
    check: (value) => storedMark(value, seal),
  })
  let { mark } = file.load()
  if (isDue(mark, now)) {
    file.update((stored) => {
      const isOld = isDue(stored.mark, now)
      mark = isOld ? next(stored.mark, now) : stored.mark
      return isOld ? { mark, seal: seal.of('clock', mark) } : stored
    })
  }
  return { now: Math.max(now, mark.latest), era: mark.era }
}

export function isOver({ ends, era = 0 }: Deadline, moment: Moment): boolean {
  return (era !== 0 && era !== moment.era) || Date.parse(ends) <= moment.now
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

/** The name of an era is random, so that nobody can begin an earlier one again. */
function next({ latest, era }: Mark, now: number): Mark {
  return { latest: now, era: era === 0 || isSetBack(latest, now) ? randomInt(1, ERAS) : era }
}

/** A mark without its seal is as good as none: a new era begins. */
function storedMark(value: unknown, seal: Seal): SealedMark {
  const fields = fieldsOf(value, 'the latest time')
  const given = fieldsOf(fields.mark ?? fields, 'the latest time')
  const mark = { latest: count(given.latest, 'latest'), era: count(given.era, 'era') }
  const code = typeof fields.seal === 'string' ? fields.seal : ''
  return seal.isGenuine('clock', mark, code) ? { mark, seal: code } : FRESH
}
