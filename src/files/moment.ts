// Time for deadlines that outlive a process: an expired deadline stays expired even if the system's clock is set back.

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { count, fieldsOf } from './fields.js'
import { Seal } from './seal.js'
import { VersionedFile } from './versioned-file.js'

/*
 * The latest time that any process saw is kept in a sealed file. If the clock is behind it by more than a minute, it was
 * set back, and a new era begins; the same happens if the file is gone. Every deadline is stored with its era. A deadline
 * from an earlier era has expired, because its remaining time is unknown. Within an era, time never goes back.
 */

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Store it with a deadline. */
  readonly era: number
}

export interface Deadline {
  /** ISO-8601, or milliseconds since 1970. */
  readonly ends: string | number
  /** Absent if 0.1.0 wrote it, which had no eras. Then only time ends it. */
  readonly era?: number | undefined
}

/** A type rather than an interface, so that it counts as JSON. */
type Mark = {
  readonly latest: number
  readonly era: number
}

interface SealedMark {
  readonly mark: Mark
  readonly seal: string
}

const FRESH: SealedMark = { mark: { latest: 0, era: 0 }, seal: '' }
/** Too many to guess, with few enough digits for a file name. */
const ERAS = 2 ** 48 - 1
/** Corrections by time servers are smaller. */
const TOLERATED_MS = 60_000
/** How often the file is written, at most. */
const EVERY_MS = 10_000
/** The latest time that a Date can hold. */
const LATEST = 8.64e15

/** Call it only to check or set a deadline. Throws an Error that says what happened, where, and what to do. */
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
  const end = typeof ends === 'number' ? ends : Date.parse(ends)
  return (era !== 0 && era !== moment.era) || end <= moment.now
}

/** A clock supplied by a program may return anything. NaN would never be after a deadline. */
function wholeTime(given: number): number {
  return Number.isFinite(given) ? Math.min(Math.max(0, Math.floor(given)), LATEST) : Date.now()
}

function isDue({ latest }: Mark, now: number): boolean {
  return isSetBack(latest, now) || now - latest > EVERY_MS
}

function isSetBack(latest: number, now: number): boolean {
  return now < latest - TOLERATED_MS
}

/** Eras are random, so that nobody can return to an earlier one. */
function next({ latest, era }: Mark, now: number): Mark {
  return { latest: now, era: era === 0 || isSetBack(latest, now) ? randomInt(1, ERAS) : era }
}

/** A mark without a valid seal counts as missing, so a new era begins. */
function storedMark(value: unknown, seal: Seal): SealedMark {
  const fields = fieldsOf(value, 'the latest time')
  const given = fieldsOf(fields.mark ?? fields, 'the latest time')
  const mark = { latest: count(given.latest, 'latest'), era: count(given.era, 'era') }
  const code = typeof fields.seal === 'string' ? fields.seal : ''
  return seal.isGenuine('clock', mark, code) ? { mark, seal: code } : FRESH
}
