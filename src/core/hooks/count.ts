// Counts that outlive an event, for limits: how much of something there was in a session, a turn or the last hour.

import type { MaybePromise } from '../base/promise.js'

export const PERIODS = ['session', 'turn', 'hour'] as const
export type Period = (typeof PERIODS)[number]

/** Something that a hook counts. */
export interface Counting {
  /** Tells it from everything else that is counted. Up to 100 characters. */
  readonly key: string
  /** An hour is that of the whole project, whichever session. */
  readonly per: Period
  /** How much there may be. Nothing is added once it is reached. */
  readonly most: number
  /** A whole number. Default 1. With 0 it only looks. */
  readonly add?: number
  /**
   * The id of a call, which is counted once, however many hooks and processes see it. Some agents use an id again, so
   * after a minute or two it is another call.
   */
  readonly call?: string | undefined
  /** After a second or two, the id is another call. For calls that are refused, which an agent may send again at once. */
  readonly isBrief?: boolean
  /** The calls whose ids begin with `call` are over, for all keys that begin with `key`. Nothing is added. */
  readonly isOver?: boolean
  /** There may be many keys with this beginning; the oldest are forgotten. */
  readonly among?: string
  /** Counts with all machines of the fleet, not only here. Then `per` is an hour, and `key` is the same on each of them. */
  readonly across?: 'fleet'
}

/** Whether there was as much as may be before this was added; or why that is not known. */
export type Counted = { readonly isReached: boolean } | { readonly problem: string }

export type Count = (counting: Counting) => MaybePromise<Counted>

/** Counts that several machines share. */
export interface Counters {
  /**
   * Adds, unless there is as much as may be in the last hour. However many ask at one time, no more than `most` is added. What
   * was added under the same `id` is not added again, and is judged as it was then. A rejection comes within seconds, and means
   * that nobody knows whether it was added.
   */
  count(counting: SharedCounting): Promise<Counted>
}

export interface SharedCounting extends Required<Pick<Counting, 'key' | 'most' | 'add'>> {
  readonly id: string
}

// ---- in the state of a session --------------------------------------------------------------------------------

export interface StoredCount {
  readonly key: string
  /** The turn or the minute that it belongs to; 0 for a session. */
  readonly at: number
  readonly n: number
}

export interface StoredCounts {
  /** Those that changed last are at the end. */
  readonly list: readonly StoredCount[]
  /** Calls that were counted, the latest at the end. */
  readonly calls: readonly string[]
  /** When earlier counts were lost, and why. Null: never. */
  readonly lost: LostCounts | null
}

export interface LostCounts {
  readonly minute: number
  readonly turn: number
  readonly why: string
}

export const NO_COUNTS: StoredCounts = Object.freeze({ list: [], calls: [], lost: null })

/** Where in time something is counted. */
export interface Moment {
  readonly minute: number
  readonly second: number
  /** 1 for the first, and for events before it. */
  readonly turn: number
}

const MINUTES = 60
const MOST_CALLS = 200
/** Of keys with the same beginning. */
const MOST_AMONG = 1000
/** Of all keys, each with up to 61 minutes. */
const MOST_STORED = 5000

/** The counts afterwards. They are the same object if nothing has to be stored. */
export function countIn(
  counts: StoredCounts,
  counting: Counting,
  moment: Moment,
): { readonly counts: StoredCounts; readonly counted: Counted } {
  const { key, per, most, add = 1, call } = counting
  if (counting.isOver) return { counts: withoutCall(counts, counting), counted: { isReached: false } }
  const { lost } = counts
  // A copy, so that the time of the loss is stored.
  if (lost && isLost(lost, per, moment))
    return { counts: { ...counts }, counted: { problem: `earlier counts were lost: ${lost.why}` } }
  if (call !== undefined && marksOf(counting, moment).some((mark) => counts.calls.includes(mark)))
    return { counts, counted: { isReached: false } }
  const list = living(counts.list, counting, moment)
  const isReached = sumOf(list, key) >= most
  if (isReached || add === 0) {
    // What came from the future has to be stored with its new time, so that it ends.
    const isMoved = per === 'hour' && counts.list.some((one) => one.at > moment.minute)
    return { counts: isMoved ? { ...counts, list } : counts, counted: { isReached } }
  }
  const kept = withinBounds(added(list, key, placeOf(per, moment), add), counting.among)
  if (kept.length > MOST_STORED) return { counts, counted: { problem: 'too much is counted already' } }
  const marked = { ...counts, list: kept }
  return {
    counts: call === undefined ? marked : withMark(marked, marksOf(counting, moment)[0]),
    counted: { isReached: false },
  }
}

/**
 * The id under which a call is counted elsewhere: the same for all that see the call here, until it is over. Undefined if this
 * only looks, and the call was counted.
 */
export function sharedIdIn(
  counts: StoredCounts,
  counting: Counting,
  moment: Moment,
  fresh: string,
): { readonly counts: StoredCounts; readonly id: string | undefined } {
  if (counting.call === undefined) return { counts, id: fresh }
  const marks = marksOf(counting, moment)
  const known = counts.calls.find((one) => marks.some((mark) => one.startsWith(`${mark} `)))
  if (counting.add === 0) return { counts, id: known === undefined ? fresh : undefined }
  if (known !== undefined) return { counts, id: known.slice(known.lastIndexOf(' ') + 1) }
  return { counts: withMark(counts, `${marks[0]} ${fresh}`), id: fresh }
}

/** How a call is remembered now, and how it was a moment ago. */
function marksOf({ key, call, isBrief }: Counting, { second, minute }: Moment): readonly [string, string] {
  return isBrief
    ? [`${key} ${call} s${second}`, `${key} ${call} s${second - 1}`]
    : [`${key} ${call} ${minute}`, `${key} ${call} ${minute - 1}`]
}

function withMark(counts: StoredCounts, mark: string): StoredCounts {
  return { ...counts, calls: [...counts.calls, mark].slice(-MOST_CALLS) }
}

function withoutCall(counts: StoredCounts, { key, call }: Counting): StoredCounts {
  const calls = counts.calls.filter((mark) => !mark.startsWith(key) || !mark.includes(` ${call}`))
  return calls.length === counts.calls.length ? counts : { ...counts, calls }
}

function isLost(lost: LostCounts, per: Period, { minute, turn }: Moment): boolean {
  if (per === 'session') return true
  return per === 'turn' ? turn <= lost.turn : Math.abs(minute - lost.minute) <= MINUTES
}

function placeOf(per: Period, { minute, turn }: Moment): number {
  return per === 'session' ? 0 : per === 'turn' ? turn : minute
}

/** Without counts of other turns and hours. If the clock was set back, what seems to come from the future counts from now on. */
function living(
  list: readonly StoredCount[],
  { key, per, among = key }: Counting,
  { minute, turn }: Moment,
): readonly StoredCount[] {
  if (per === 'session') return list
  const isMeant = (one: StoredCount) => one.key.startsWith(among)
  if (per === 'turn') return list.filter((one) => !isMeant(one) || one.at === turn)
  return list
    .filter((one) => !isMeant(one) || one.at >= minute - MINUTES)
    .map((one) => (isMeant(one) && one.at > minute ? { ...one, at: minute } : one))
}

function sumOf(list: readonly StoredCount[], key: string): number {
  return list.reduce((sum, one) => (one.key === key ? sum + one.n : sum), 0)
}

function added(list: readonly StoredCount[], key: string, at: number, n: number): readonly StoredCount[] {
  const isSame = (one: StoredCount) => one.key === key && one.at === at
  const before = list.filter(isSame).reduce((sum, one) => sum + one.n, 0)
  const sum = Math.min(before + n, Number.MAX_SAFE_INTEGER)
  return [...list.filter((one) => !isSame(one)), { key, at, n: sum }]
}

function withinBounds(list: readonly StoredCount[], among: string | undefined): readonly StoredCount[] {
  if (among === undefined) return list
  const mine = list.filter((one) => one.key.startsWith(among))
  const surplus = new Set(mine.slice(0, Math.max(0, mine.length - MOST_AMONG)))
  return surplus.size === 0 ? list : list.filter((one) => !surplus.has(one))
}
