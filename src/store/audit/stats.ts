// Statistics of each hook over any number of entries, in bounded memory.

import { isObject } from '../../core/base/json.js'
import type { AuditedHook } from '../../core/session/audit-record.js'
import type { Entry } from '../audit-log.js'

export interface HookStats {
  readonly name: string
  readonly source: string
  /** How often it ran, whether it failed or not. */
  readonly runs: number
  readonly failures: number
  readonly denies: number
  readonly asks: number
  /** How often it matched but did not run. */
  readonly skipped: number
  /** Accurate to about two percent. Undefined before the first run. */
  readonly medianMs: number | undefined
  readonly p95Ms: number | undefined
  /** The time of the last entry that it took part in. */
  readonly last: string
}

/** Further hooks are counted together. */
const MOST_HOOKS = 10_000
const OTHERS = 'others'

/** The ratio between the limits of two neighbouring time buckets. */
const STEP = 1.04
const LOG_STEP = Math.log(STEP)
/** Shorter times count as this. */
const SHORTEST_MS = 0.001

class Tally {
  readonly name: string
  readonly source: string
  runs = 0
  failures = 0
  denies = 0
  asks = 0
  skipped = 0
  last = ''
  #timed = 0
  readonly #times = new Map<number, number>()

  constructor(name: string, source: string) {
    this.name = name
    this.source = source
  }

  add({ status, action, ms, role }: AuditedHook, time: string): void {
    if (time > this.last) this.last = time
    if (status === 'skipped') this.skipped++
    else if (status !== 'detached') this.#ran(Number(ms))
    // Nobody waits for an observer. The end of an async hook is another record.
    else if (role === 'observe') this.runs++
    if (status === 'failed') this.failures++
    if (action === 'deny') this.denies++
    if (action === 'ask_user') this.asks++
  }

  #ran(ms: number): void {
    this.runs++
    this.#timed++
    const step = Math.round(Math.log(Math.max(ms || 0, SHORTEST_MS)) / LOG_STEP)
    this.#times.set(step, (this.#times.get(step) ?? 0) + 1)
  }

  stats(): HookStats {
    const { name, source, runs, failures, denies, asks, skipped, last } = this
    const [medianMs, p95Ms] = [this.#quantile(0.5), this.#quantile(0.95)]
    return { name, source, runs, failures, denies, asks, skipped, medianMs, p95Ms, last }
  }

  #quantile(part: number): number | undefined {
    let before = this.#timed * part
    for (const step of [...this.#times.keys()].sort((a, b) => a - b)) {
      before -= this.#times.get(step) ?? 0
      if (before <= 0) return STEP ** step
    }
    return undefined
  }
}

/** Groups by name and source, in the order of their first appearance. */
export async function statsOf(
  entries: Iterable<Entry> | AsyncIterable<Entry>,
): Promise<readonly HookStats[]> {
  const tallies = new Map<string, Tally>()
  for await (const entry of entries) {
    if (entry.kind !== 'fire' && entry.kind !== 'late') continue
    for (const hook of hooksIn(entry)) tallyOf(tallies, hook).add(hook, entry.time)
  }
  return [...tallies.values()].map((tally) => tally.stats())
}

/** Another program may have written the entry. */
function hooksIn({ hooks }: { readonly hooks: readonly AuditedHook[] }): readonly AuditedHook[] {
  return Array.isArray(hooks) ? hooks.filter((hook): hook is AuditedHook => isObject(hook)) : []
}

function tallyOf(tallies: Map<string, Tally>, { name, source }: AuditedHook): Tally {
  const key = JSON.stringify([name, source])
  const known = tallies.get(key) ?? (tallies.size < MOST_HOOKS ? undefined : tallies.get(OTHERS))
  if (known) return known
  const isOther = tallies.size >= MOST_HOOKS
  const made = isOther ? new Tally(OTHERS, '') : new Tally(String(name), String(source))
  tallies.set(isOther ? OTHERS : key, made)
  return made
}

// ---- over time ------------------------------------------------------------------------------------------------

/** A hook's statistics, and those of each part of the time. */
export interface HookOverTime extends HookStats {
  readonly parts: readonly HookPart[]
}

export type HookPart = Pick<HookStats, 'runs' | 'failures' | 'denies' | 'medianMs'>

export interface HookHistory {
  /** Milliseconds since 1970. Every part is as long as the others. */
  readonly from: number
  readonly to: number
  readonly hooks: readonly HookOverTime[]
}

/** The time from the first entry until `to`, in so many parts. */
export async function historyOf(
  entries: Iterable<Entry> | AsyncIterable<Entry>,
  parts: number,
  to: number,
): Promise<HookHistory> {
  const all = new Map<string, Tally>()
  const inParts = Array.from({ length: parts }, () => new Map<string, Tally>())
  let start: number | undefined
  for await (const entry of entries) {
    if (entry.kind !== 'fire' && entry.kind !== 'late') continue
    const at = Date.parse(entry.time)
    if (!Number.isNaN(at)) start ??= Math.min(at, to)
    const part = Math.floor(((at - (start ?? to)) / Math.max(1, to - (start ?? to))) * parts)
    // Undefined for an entry without a valid time.
    const tallies = inParts[Math.min(parts - 1, Math.max(0, part))]
    for (const hook of hooksIn(entry)) {
      tallyOf(all, hook).add(hook, entry.time)
      if (tallies) tallyOf(tallies, hook).add(hook, entry.time)
    }
  }
  const hooks = [...all].map(([key, tally]) => ({
    ...tally.stats(),
    parts: inParts.map((tallies) => partOf(tallies.get(key)?.stats())),
  }))
  return { from: start ?? to, to, hooks }
}

function partOf(stats: HookStats | undefined): HookPart {
  const { runs = 0, failures = 0, denies = 0, medianMs } = stats ?? {}
  return { runs, failures, denies, medianMs }
}
