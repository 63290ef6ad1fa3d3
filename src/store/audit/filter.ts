// Builds filters for audit entries from the options that people give.

import { didYouMean, shown } from '../../core/base/text.js'
import { VERDICTS } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Entry, EntryFilter } from '../audit-log.js'

/** The filters that take a text. */
export const FILTERS = ['session', 'event', 'tool', 'hook', 'decision', 'kind', 'since', 'until'] as const

export interface FilterOptions {
  readonly session?: string
  /** The name of a hook that took part. */
  readonly hook?: string
  readonly tool?: string
  readonly decision?: string
  /** An ISO-8601 time, or how long ago: `90s`, `15m`, `2h`, `3d`, `1w`. */
  readonly since?: string
  readonly until?: string
  readonly kind?: string
  readonly event?: string
  /** Only calls that proceeded without an expected gate. */
  readonly unguarded?: boolean
}

/**
 * The possible outcomes. `modify` means that the call went on with changes; `continue` includes those calls.
 * `failed` means that a hook failed, whatever the outcome; the last four are decisions of people.
 */
export const DECISIONS = [
  ...VERDICTS,
  'modify',
  'aborted',
  'failed',
  'allow',
  'always',
  'bypass',
  'revoked',
] as const

const ALIASES: Readonly<Record<string, string>> = { ask: 'ask_user' }

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** The fields that filters look at; any kind of entry may lack some. */
interface Seen {
  readonly time: string
  readonly kind: string
  readonly session?: unknown
  readonly event?: unknown
  readonly tool?: unknown
  readonly hook?: unknown
  readonly action?: unknown
  readonly modified?: unknown
  readonly decision?: unknown
  readonly hooks?: unknown
  readonly unguarded?: unknown
}

type Test = (entry: Seen) => boolean

/** An entry must match every option. Throws an Error for an invalid time, kind or decision. `mark`: before names of options. */
export function filterOf(options: FilterOptions, now = Date.now(), mark = ''): EntryFilter {
  const { session, hook, tool, decision, kind, event } = options
  const since = options.since === undefined ? undefined : timeOf(options.since, `${mark}since`, now)
  const until = options.until === undefined ? undefined : timeOf(options.until, `${mark}until`, now)
  const tests: Test[] = []
  if (session !== undefined) tests.push((entry) => entry.session === session)
  if (kind !== undefined) tests.push(kindTest(kind))
  if (event !== undefined) tests.push(({ event: its }) => its === resolveEvent(event).name)
  if (tool !== undefined) tests.push((entry) => String(entry.tool ?? '').toLowerCase() === tool.toLowerCase())
  if (hook !== undefined)
    tests.push((entry) => [entry.hook, ...namesIn(entry)].some((name) => isCalled(name, hook)))
  if (options.unguarded) tests.push(isUnguarded)
  if (decision !== undefined) tests.push(decisionTest(decision))
  if (since !== undefined) tests.push(({ time }) => Date.parse(time) >= since)
  if (until !== undefined) tests.push(({ time }) => Date.parse(time) <= until)
  const filter = (entry: Entry) => tests.every((test) => test(entry))
  return Object.assign(filter, since !== undefined && { since })
}

/** A bypass lets a call pass without any gate. */
function isUnguarded({ kind, unguarded }: Seen): boolean {
  return kind === 'bypass' || (Array.isArray(unguarded) && unguarded.length > 0)
}

/** Matches the hook's name, or the plugin or file that its name begins with. */
function isCalled(name: unknown, wanted: string): boolean {
  return typeof name === 'string' && (name === wanted || name.startsWith(`${wanted}:`))
}

function namesIn(entry: Seen): readonly unknown[] {
  return hooksOf(entry).map(({ name }) => name)
}

export const KINDS = [
  'fire',
  'late',
  'approval',
  'revoked',
  'change',
  'bypass',
  'gap',
  'recovered',
  'pruned',
] as const satisfies readonly Entry['kind'][]

function kindTest(kind: string): Test {
  if ((KINDS as readonly string[]).includes(kind)) return (entry) => entry.kind === kind
  throw new Error(
    `there is no kind ${shown(kind)}${didYouMean(kind, KINDS)}; choose from ${KINDS.join(', ')}`,
  )
}

function decisionOf(given: string): string {
  return (Object.hasOwn(ALIASES, given) && ALIASES[given]) || given
}

/** Decisions that an entry does not simply name. */
const SEEN_OTHERWISE: readonly string[] = ['modify', 'failed', 'bypass', 'revoked']

/** What `action` or `decision` of an entry has to be. Undefined if they do not tell. */
export function namedDecision(given: string): string | undefined {
  const decision = decisionOf(given)
  return SEEN_OTHERWISE.includes(decision) ? undefined : decision
}

function decisionTest(given: string): Test {
  const decision = decisionOf(given)
  if (!(DECISIONS as readonly string[]).includes(decision)) {
    const known = [...DECISIONS, ...Object.keys(ALIASES)]
    throw new Error(
      `there is no decision ${shown(given)}${didYouMean(given, known)}; choose from ${known.join(', ')}`,
    )
  }
  if (decision === 'modify') return isRewritten
  if (decision === 'failed') return (entry) => hooksOf(entry).some(({ status }) => status === 'failed')
  if (decision === 'bypass' || decision === 'revoked') return (entry) => entry.kind === decision
  return (entry) => entry.action === decision || entry.decision === decision
}

/** The event went on with data that a hook, or a person who was asked, changed. */
export function isRewritten({ action, modified }: Pick<Seen, 'action' | 'modified'>): boolean {
  return action === 'continue' && modified === true
}

/** Checks the value, because anybody may have written it. */
function hooksOf({ hooks }: Seen): readonly { readonly name?: unknown; readonly status?: unknown }[] {
  return Array.isArray(hooks) ? hooks.filter((one) => typeof one === 'object' && one !== null) : []
}

const AGO = /^(\d{1,9}(?:\.\d{1,3})?)\s?([smhdw])$/
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** `name`: the option, for the message. Throws an Error if it is not a time. */
export function timeOf(text: string, name: string, now: number): number {
  const [, amount, unit] = AGO.exec(text.trim()) ?? []
  if (amount && unit) return now - Number(amount) * (UNIT_MS[unit] as number)
  const time = ISO.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new Error(
    `${name} must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 15m, 2h or 3d, got ${shown(text)}`,
  )
}
