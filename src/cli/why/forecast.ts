// What would come of an event if its hooks had something to say: denies, failures, changes, questions, and the bounds of all that.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { MergedSettings } from '../../config/merged-settings.js'
import type { EventKind } from '../../core/events/events.js'
import type { FailurePolicy } from '../../core/hooks/hook.js'
import type { Plan } from '../../core/run/plan.js'
import type { ListedHook } from '../../hooks.js'
import { honouredOn } from '../../systems/claude-code/honoured.js'
import { counted, some } from '../print/lines.js'

export interface Forecast {
  /** What a deny does to this event. */
  readonly deny: string
  /** What it does when a hook fails. */
  readonly failure: string
  /** Who could change the call, and what of it. */
  readonly change: string
  /** Whether a person would be asked. */
  readonly ask: string
  /** Seconds until it is decided, at most, not counting a person. */
  readonly longest: number
  readonly caps: readonly string[]
}

/** A hook that would run. */
export interface Runner {
  readonly name: string
  readonly listed: ListedHook | undefined
  readonly spec: ConfiguredHook | undefined
}

export interface Scene {
  readonly kind: EventKind
  readonly plan: Plan
  readonly runners: readonly Runner[]
  readonly settings: MergedSettings
  /** PermissionRequest hooks that would be asked, and what is always allowed. */
  readonly permissions: number
  readonly grants: number
}

export function forecastOf(scene: Scene): Forecast {
  return {
    deny: denyText(scene),
    failure: failureText(scene),
    change: changeText(scene),
    ask: askText(scene),
    longest: longestOf(scene),
    caps: capsOf(scene),
  }
}

function denyText({ kind, runners }: Scene): string {
  if (kind.deny === 'none') return `has no effect: nothing can be denied on ${kind.name}; it is reported`
  const late = runners.filter(isDetached).map(({ name }) => name)
  const but = late.length > 0 ? `; one of ${some(late)} comes too late (async)` : ''
  return `${kind.denyMeans}${but}`
}

/** What its file, the settings and the event say together. */
export function closesOnFailure(onFailure: FailurePolicy, kind: EventKind): boolean {
  return onFailure === 'byEvent' ? kind.onFailure === 'deny' : onFailure === 'block'
}

function failureText({ kind, runners }: Scene): string {
  if (kind.deny === 'none') return 'is told, and nothing else happens'
  const closing = runners.filter(({ listed }) => listed && closesOnFailure(listed.onFailure, kind))
  if (closing.length === 0)
    return 'of any of them: told, and it goes on ("onFailure": "block" would close the gate)'
  if (closing.length === runners.length) return 'of any of them counts as a deny'
  return `of ${some(closing.map(({ name }) => name))} counts as a deny; of the others it is told, and it goes on`
}

/** What Claude Code's format changes, and the field that is. */
const CHANGED: Readonly<Record<string, string>> = {
  updatedInput: 'tool_input',
  updatedToolOutput: 'tool_response',
}

function changeText({ kind, runners }: Scene): string {
  const { fields } = honouredOn({ name: kind.name, data: {}, session: undefined })
  const field = Object.keys(CHANGED).find((key) => fields && key in fields)
  const able = runners.filter((one) => {
    if (isDetached(one) || one.listed?.role !== 'intercept') return false
    return one.listed.kind === 'process' || one.listed.kind === 'function' || field !== undefined
  })
  if (able.length === 0) return 'nobody could change it'
  const what = field === undefined ? 'it' : CHANGED[field]
  const names = some(able.map(({ name }) => name))
  return `${names} could change ${what}${able.length > 1 ? '; of one step the last in this order wins' : ''}`
}

function isDetached({ spec }: Runner): boolean {
  return spec?.hook.detached ?? false
}

function askText({ kind, permissions, grants }: Scene): string {
  if (kind.deny !== 'block') return 'nobody: a question has no place here, and is reported'
  const first = permissions > 0 ? `${counted(permissions, 'PermissionRequest hook')} first, then ` : ''
  const always =
    grants > 0
      ? `; ${counted(grants, 'call')} of this kind ${grants === 1 ? 'is' : 'are'} always allowed`
      : ''
  return `if a hook asks: ${first}a person (the agent, or carabiner approvals)${always}`
}

function longestOf({ plan, runners }: Scene): number {
  const seconds = (name: string) => {
    const one = runners.find((runner) => runner.name === name)
    return one && !isDetached(one) ? (one.listed?.timeout ?? 0) : 0
  }
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + seconds(name), 0)
  const ofSteps = plan.steps.map(({ lanes }) => Math.max(0, ...lanes.map(sum)))
  return [...ofSteps, sum(plan.approvers)].reduce((total, one) => total + one, 0)
}

function capsOf({ kind, settings }: Scene): readonly string[] {
  const { stop_block_cap, stop_block_total, injection_size_limit, injection_budget_per_turn } = settings
  const stops = `Stop can be refused ${stop_block_cap} times with no tool call between, ${stop_block_total} times since the last prompt`
  const size = injection_size_limit === null ? 'any size' : `${injection_size_limit} bytes`
  const budget = injection_budget_per_turn === null ? 'no limit' : `${injection_budget_per_turn} tokens`
  return [...(kind.name === 'Stop' ? [stops] : []), `context: ${size} each, ${budget} a turn`]
}
