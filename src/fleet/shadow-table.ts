// What a policy in shadow mode would have done: one row for each of its rules and hooks, counted from audit records.
// And how much it was tried: without that, a version that ran nowhere would look like one that changes nothing.

import { isObject } from '../core/base/json.js'

export interface ShadowExample {
  readonly machine: string
  readonly time: string
  readonly tool?: string
  readonly reason?: string
}

export interface ShadowRow {
  /** Of the bundle. */
  readonly version: number
  /** `rule x`, or the name of a hook. */
  readonly what: string
  /** The action that would have counted. `fail`: the hook failed, and the call would have gone on. */
  readonly would: string
  readonly calls: number
  /** Calls that went on. The others were denied, asked about or answered without it. */
  readonly changed: number
  /** Names, of at most `MOST_NAMED`; `machineCount` counts all. */
  readonly machines: readonly string[]
  readonly machineCount: number
  readonly examples: readonly ShadowExample[]
}

/** How much a version was tried. */
export interface ShadowTrial {
  readonly version: number
  readonly calls: number
  readonly machines: number
}

const MOST_EXAMPLES = 3
export const MOST_NAMED = 20
/** A machine may send records with any names. */
const MOST_ROWS = 10_000

/** Which bundle a hook in shadow mode comes from. */
const SOURCE = /^fleet@(\d{1,15})(?:\/|$)/
const RULE = /\bThe rule (\S{1,100}) (?:forbids this|asks first|ends the turn)/g

interface Counting {
  readonly row: Omit<ShadowRow, 'machines' | 'machineCount'>
  readonly machines: Set<string>
}

interface Trying {
  calls: number
  readonly machines: Set<string>
}

export class ShadowTable {
  readonly #only: number | undefined
  readonly #rows = new Map<string, Counting>()
  readonly #tried = new Map<number, Trying>()

  /** `only`: one version. */
  constructor(only?: number) {
    this.#only = only
  }

  /** Anything may be in an entry: machines send them. */
  add(machine: string, entry: unknown): void {
    if (!isObject(entry) || !Array.isArray(entry.hooks)) return
    const seen = new Set<string>()
    const tried = new Set<number>()
    for (const hook of entry.hooks) {
      if (!isObject(hook) || hook.status === 'skipped') continue
      const version = Number(SOURCE.exec(String(hook.source))?.[1] ?? Number.NaN)
      if (Number.isNaN(version) || (this.#only !== undefined && version !== this.#only)) continue
      tried.add(version)
      const found = deedOf(hook)
      if (!found) continue
      const { would, reason } = found
      for (const what of namesIn(String(hook.name), reason)) {
        const key = JSON.stringify([version, what, would])
        if (seen.has(key)) continue
        seen.add(key)
        this.#count(key, { version, what, would }, machine, entry, reason)
      }
    }
    for (const version of tried) this.#try(version, machine)
  }

  #try(version: number, machine: string): void {
    let trying = this.#tried.get(version)
    if (!trying) {
      if (this.#tried.size >= MOST_ROWS) return
      trying = { calls: 0, machines: new Set() }
      this.#tried.set(version, trying)
    }
    trying.calls++
    trying.machines.add(machine)
  }

  #count(
    key: string,
    about: Pick<ShadowRow, 'version' | 'what' | 'would'>,
    machine: string,
    { action, time, tool }: Readonly<Record<string, unknown>>,
    reason: string,
  ): void {
    const before = this.#rows.get(key)
    if (!before && this.#rows.size >= MOST_ROWS) return
    const { calls = 0, changed = 0, examples = [] } = before?.row ?? {}
    const example = {
      ...{ machine, time: String(time) },
      ...(typeof tool === 'string' && { tool }),
      ...(reason !== '' && { reason }),
    }
    const row = {
      ...about,
      calls: calls + 1,
      changed: changed + (action === 'continue' ? 1 : 0),
      examples: examples.length < MOST_EXAMPLES ? [...examples, example] : examples,
    }
    this.#rows.set(key, { row, machines: (before?.machines ?? new Set<string>()).add(machine) })
  }

  /** The newest version first. */
  trials(): readonly ShadowTrial[] {
    return [...this.#tried]
      .map(([version, { calls, machines }]) => ({ version, calls, machines: machines.size }))
      .sort((a, b) => b.version - a.version)
  }

  /** The newest version first, then what would have changed most. */
  rows(): readonly ShadowRow[] {
    const all = [...this.#rows.values()].map(({ row, machines }) => ({
      ...row,
      machines: [...machines].sort().slice(0, MOST_NAMED),
      machineCount: machines.size,
    }))
    return all.sort(
      (a, b) =>
        b.version - a.version || b.changed - a.changed || b.calls - a.calls || a.what.localeCompare(b.what),
    )
  }
}

const DEEDS: Readonly<Record<string, string>> = {
  ask_user: 'ask about',
  fail: 'fail at',
  modify: 'change',
  inject_context: 'add context to',
  abort_turn: 'end the turn at',
  hard_abort: 'end the agent at',
}

/** What follows "would", before the number of calls. */
export function deedText(would: string): string {
  return DEEDS[would] ?? would
}

/** Undefined for a hook that would have changed nothing. */
function deedOf({
  status,
  would,
  detail,
}: Readonly<Record<string, unknown>>): { readonly would: string; readonly reason: string } | undefined {
  if (isObject(would) && typeof would.action === 'string' && would.action !== 'continue')
    return { would: would.action, reason: typeof would.reason === 'string' ? would.reason : '' }
  return status === 'failed' ? { would: 'fail', reason: typeof detail === 'string' ? detail : '' } : undefined
}

/** The rules that a reason names, or the hook if it is not one of rules. */
function namesIn(hook: string, reason: string): readonly string[] {
  const rules = hook.includes(':rules') ? [...reason.matchAll(RULE)].map(([, id]) => `rule ${id}`) : []
  return rules.length > 0 ? rules : [hook.replace(/^fleet@\d+[:/]/, '')]
}
