// Forecasts an event: how its hooks would run, and which denies, failures, changes and questions could follow.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { MergedSettings } from '../../config/merged-settings.js'
import type { EventKind } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import type { Plan } from '../../core/run/plan.js'
import type { ListedHook } from '../../hooks.js'
import { honouredOn } from '../../systems/claude-code/honoured.js'
import { counted, oneLine, some } from '../print/lines.js'

export interface Terms {
  readonly state: ListedHook['state']
  /** In words: `yours`, `trusted`, `switched off`. */
  readonly standing: string
  readonly matcher: string | null
  /** Its `if` rule. */
  readonly if?: string
  /** Seconds. */
  readonly timeout: number
  readonly onFailure: ListedHook['onFailure']
  /** Whether its failure counts as a deny. */
  readonly closes: boolean
  readonly async: boolean
  readonly mode?: 'shadow'
  readonly command?: string
  /** Hooks with the same command: only the first of them runs. */
  readonly sameAs?: readonly string[]
}

export function termsOf(
  listed: ListedHook,
  spec: ConfiguredHook | undefined,
  all: readonly ConfiguredHook[],
  kind: EventKind,
  { trustAll, failClosed }: { readonly trustAll: boolean; readonly failClosed: boolean },
): Terms {
  const rule = spec && 'common' in spec ? spec.common.if : undefined
  const same = all.filter(
    ({ hook }) =>
      spec?.hook.sameAs !== undefined &&
      hook !== spec.hook &&
      hook.sameAs === spec.hook.sameAs &&
      listens(hook, kind),
  )
  return {
    state: listed.state,
    standing: standingOf(listed, trustAll),
    matcher: listed.matcher,
    ...(rule !== undefined && { if: rule }),
    timeout: listed.timeout,
    onFailure: listed.onFailure,
    closes: listed.mode === undefined && closesOnFailure(kind, listed.onFailure, failClosed),
    async: spec?.hook.detached ?? false,
    ...(listed.mode && { mode: listed.mode }),
    ...(listed.command !== undefined && { command: listed.command }),
    ...(same.length > 0 && { sameAs: same.map(({ hook }) => hook.name) }),
  }
}

function listens({ events }: ConfiguredHook['hook'], { name }: EventKind): boolean {
  return events === 'all' || events.has(name)
}

function standingOf({ state, scope, onlyDenies }: ListedHook, trustAll: boolean): string {
  if (onlyDenies) return 'untrusted'
  if (state !== 'ready') return state === 'disabled' ? 'switched off' : state
  if (scope === 'project' || scope === 'named') return trustAll ? '--trust-all' : 'trusted'
  if (scope === 'company') return "the company's"
  return scope === 'user' ? 'yours' : "the program's own"
}

/** `trusted, for Bash, 30 s, if it fails: go on`. */
export function termsText(terms: Terms, kind: EventKind): string {
  const { standing, matcher, timeout, closes, async, mode, sameAs } = terms
  const parts = [
    standing,
    matcher === null || kind.matcher === null ? '' : `for ${oneLine(matcher, 60)}`,
    terms.if === undefined ? '' : `if ${oneLine(terms.if, 60)}`,
    async ? 'async' : '',
    mode === 'shadow' ? 'in shadow mode' : '',
    `${timeout} s`,
    kind.deny === 'none' || async || mode === 'shadow'
      ? ''
      : closes
        ? 'if it fails: deny'
        : 'if it fails: go on',
    sameAs ? `the same as ${sameAs.join(', ')}` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

// ---- what could come of it -------------------------------------------------------------------------------------

export interface Forecast {
  /** What a deny does to this event. */
  readonly deny: string
  /** What it does when a hook fails. */
  readonly failure: string
  /** Which hooks could change what. */
  readonly change: string
  /** Whether a person would be asked. */
  readonly ask: string
  /** At most so many seconds until the decision, without a person's time. */
  readonly longest: number
  readonly caps: readonly string[]
}

/** A hook that would run. */
interface Runner {
  readonly name: string
  readonly listed: ListedHook | undefined
  readonly spec: ConfiguredHook | undefined
}

interface Prospect {
  readonly kind: EventKind
  readonly plan: Plan
  readonly runners: readonly Runner[]
  readonly settings: MergedSettings
  /** How many PermissionRequest hooks would be asked, and how many grants there are. */
  readonly permissions: number
  readonly grants: number
}

export function forecastOf(prospect: Prospect): Forecast {
  return {
    deny: denyText(prospect),
    failure: failureText(prospect),
    change: changeText(prospect),
    ask: askText(prospect),
    longest: longestOf(prospect),
    caps: capsOf(prospect),
  }
}

function denyText({ kind, runners }: Prospect): string {
  if (kind.deny === 'none')
    return `has no effect: nothing can be denied on ${kind.name}; the deny is reported`
  const late = runners.filter(isDetached).map(({ name }) => name)
  const but = late.length > 0 ? `; a deny from ${some(late)} comes too late (async)` : ''
  const shadows = runners.filter(({ listed }) => listed?.mode === 'shadow').map(({ name }) => name)
  const aside = shadows.length > 0 ? `; a deny from ${some(shadows)} is only recorded (shadow mode)` : ''
  return `${kind.denyMeans}${but}${aside}`
}

function failureText({ kind, runners, settings }: Prospect): string {
  if (kind.deny === 'none') return 'is reported, and nothing else happens'
  const failClosed = settings.on_failure === 'block'
  const closing = runners.filter(
    ({ listed }) =>
      listed && listed.mode === undefined && closesOnFailure(kind, listed.onFailure, failClosed),
  )
  if (closing.length === 0) {
    const isOurs = runners.some(({ listed }) => listed && !listed.writtenFor)
    const how = isOurs ? ' ("onFailure": "block" would deny instead)' : ''
    return `of any hook is reported, and the event goes on${how}`
  }
  if (closing.length === runners.length) return 'of any hook counts as a deny'
  return `of ${some(closing.map(({ name }) => name))} counts as a deny; a failure of the others is reported, and the event goes on`
}

/** The field that each key of Claude Code's format changes. */
const CHANGED: Readonly<Record<string, string>> = {
  updatedInput: 'tool_input',
  updatedToolOutput: 'tool_response',
}

function changeText({ kind, runners }: Prospect): string {
  const { fields } = honouredOn({ name: kind.name, data: {}, session: undefined })
  const field = Object.keys(CHANGED).find((key) => fields && key in fields)
  const able = runners.filter((one) => {
    if (isDetached(one) || one.listed?.role !== 'intercept' || one.listed.mode === 'shadow') return false
    return one.listed.kind === 'process' || one.listed.kind === 'function' || field !== undefined
  })
  if (able.length === 0) return 'no hook could change it'
  const what = field === undefined ? 'it' : CHANGED[field]
  const names = some(able.map(({ name }) => name))
  return `${names} could change ${what}${able.length > 1 ? '; within one step, the last in this order wins' : ''}`
}

function isDetached({ spec }: Runner): boolean {
  return spec?.hook.detached ?? false
}

function askText({ kind, permissions, grants }: Prospect): string {
  if (kind.deny !== 'block') return 'nobody: a hook cannot ask on this event, and a question is reported'
  const first = permissions > 0 ? `${counted(permissions, 'PermissionRequest hook')} first, then ` : ''
  const always =
    grants > 0
      ? `; ${counted(grants, 'call')} of this kind ${grants === 1 ? 'is' : 'are'} always allowed`
      : ''
  return `if a hook asks: ${first}a person (through the agent or carabiner approvals)${always}`
}

function longestOf({ plan, runners }: Prospect): number {
  const seconds = (name: string) => {
    const one = runners.find((runner) => runner.name === name)
    return one && !isDetached(one) ? (one.listed?.timeout ?? 0) : 0
  }
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + seconds(name), 0)
  const ofSteps = plan.steps.map(({ lanes }) => Math.max(0, ...lanes.map(sum)))
  return [...ofSteps, sum(plan.approvers)].reduce((total, one) => total + one, 0)
}

function capsOf({ kind, settings }: Prospect): readonly string[] {
  const { stop_block_cap, stop_block_total, injection_size_limit, injection_budget_per_turn } = settings
  const stops = `Stop can be refused ${stop_block_cap} times without a tool call in between, ${stop_block_total} times since the last prompt`
  const size = injection_size_limit === null ? 'any size' : `${injection_size_limit} bytes`
  const budget = injection_budget_per_turn === null ? 'no limit' : `${injection_budget_per_turn} tokens`
  return [...(kind.name === 'Stop' ? [stops] : []), `context: ${size} each, ${budget} a turn`]
}
