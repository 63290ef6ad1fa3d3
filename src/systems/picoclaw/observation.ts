// What observers are told of an event: the protocol's kinds, and for everything else a kind named after the event.

import type { Data, Json } from '../../core/base/json.js'
import { nearest } from '../../core/base/text.js'
import { knownEvents, resolveEvent } from '../../core/events/events.js'
import { type HookEvent, snakeCase } from '../../core/hooks/hook.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { metaOf } from './meta.js'
import {
  compressPayload,
  endPayload,
  errorPayload,
  failurePayload,
  ownPayload,
  requestPayload,
  responsePayload,
  skippedPayload,
  spawnPayload,
  startPayload,
  subturnEndPayload,
  turnEndPayload,
  turnStartPayload,
} from './payload.js'
import { sentResult, wireResult } from './tool-result.js'

/** The params of `hook.event`, with the protocol's Go-cased names. */
export interface Observation {
  readonly Kind: string
  readonly Meta: Json
  readonly Payload: Json
}

interface KindRow {
  /** What current versions call it. */
  readonly runtimeName: string
  /** The point in the turn that tells of it. */
  readonly source: string
  /** Canonical events it may come from. A host may also notify of it under its own name. */
  readonly events: readonly string[]
}

const kind = (
  runtimeName: string,
  events: readonly string[] = [],
  source = `turn.${runtimeName}`,
): KindRow => ({
  runtimeName: `agent.${runtimeName}`,
  source,
  events,
})

const KINDS: Readonly<Record<string, KindRow>> = {
  turn_start: kind('turn.start', ['UserPromptSubmit'], 'turn.start'),
  turn_end: kind('turn.end', ['Stop'], 'turn.end'),
  llm_request: kind('llm.request', ['ModelRequest']),
  llm_delta: kind('llm.delta'),
  llm_response: kind('llm.response', ['ModelResponse']),
  llm_retry: kind('llm.retry'),
  context_compress: kind('context.compress', ['PostCompact']),
  session_summarize: kind('session.summarize'),
  tool_exec_start: kind('tool.exec_start', ['PreToolUse'], 'turn.tool.start'),
  tool_exec_end: kind('tool.exec_end', ['PostToolUse', 'PostToolUseFailure', 'PreToolUse'], 'turn.tool.end'),
  tool_exec_skipped: kind('tool.exec_skipped', ['PreToolUse'], 'turn.tool.skipped'),
  steering_injected: kind('steering.injected'),
  follow_up_queued: kind('follow_up.queued'),
  interrupt_received: kind('interrupt.received'),
  subturn_spawn: kind('subturn.spawn', ['SubagentStart']),
  subturn_end: kind('subturn.end', ['SubagentStop']),
  subturn_result_delivered: kind('subturn.result_delivered'),
  subturn_orphan: kind('subturn.orphan'),
  error: kind('error', ['StopFailure']),
}

const shortNames: ReadonlyMap<string, string> = new Map(
  Object.entries(KINDS).map(([short, { runtimeName }]) => [runtimeName, short]),
)

const EVERYTHING: ReadonlySet<string> = new Set(['*', 'all', ''])

/** The kind behind a name of it: short ones and those of current versions. A kind of the host's own is what it is. */
function kindOf(name: string): string {
  return shortNames.get(name) ?? name
}

/** What an observer wants to be told of. */
export interface Observing {
  /** The events that must be listened to. */
  readonly events: 'all' | ReadonlySet<string>
  /** Whether this observation of that event is for it. */
  wants(event: string, kind: string): boolean
}

/**
 * By a list of names: one of the protocol's kinds stands for that kind, whichever event it comes from; one of an event
 * for all that comes of the event, denied or not; any other for what a host notifies of.
 */
export function observing(names: readonly string[]): Observing {
  if (names.some((name) => EVERYTHING.has(name))) return { events: 'all', wants: () => true }
  const kinds = new Set<string>()
  const named = new Set<string>()
  const heard = new Set<string>()
  for (const name of names) {
    const kind = kindOf(name)
    const row = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
    if (row) {
      kinds.add(kind)
      for (const event of [kind, row.runtimeName, ...row.events]) heard.add(event)
    } else named.add(resolveEvent(name).name)
  }
  return {
    events: new Set([...heard, ...named]),
    wants: (event, kind) => named.has(event) || kinds.has(kind),
  }
}

/** For a name that is neither: the kind or event it is nearest to. */
export function likelyKind(name: string): string | undefined {
  if (EVERYTHING.has(name) || Object.hasOwn(KINDS, kindOf(name)) || !resolveEvent(name).custom)
    return undefined
  return nearest(name, [...Object.keys(KINDS), ...shortNames.keys(), ...knownEvents().map((one) => one.name)])
}

/** For a call that hooks changed this is the call as it was made: the event holds the final data. */
export function observationsOf(event: HookEvent, outcome: Outcome | undefined): readonly Observation[] {
  return payloadsOf(event, outcome).map(([Kind, Payload]) => {
    const row = Object.hasOwn(KINDS, Kind) ? KINDS[Kind] : undefined
    return { Kind, Meta: metaOf(event, row?.source ?? `turn.${Kind}`), Payload }
  })
}

type Told = readonly [kind: string, payload: Data]

function payloadsOf(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const { name, session } = event
  const passed = (outcome?.action ?? 'continue') === 'continue'
  const turnsAreTold = session?.announcesTurns ?? false
  switch (name) {
    case 'PreToolUse':
      return toolCall(event, outcome)
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return [['tool_exec_end', endPayload(event, sentResult(event))]]
    case 'ModelResponse':
      return [['llm_response', responsePayload(event)]]
    case 'PostCompact':
      return [['context_compress', compressPayload(event)]]
    case 'StopFailure':
      return [['error', failurePayload(event)]]
    case 'turn_start':
      return [['turn_start', turnStartPayload(event)]]
    case 'turn_end':
      return [['turn_end', turnEndPayload(event)]]
    case 'error':
      return [['error', errorPayload(event)]]
    case 'ModelRequest':
      return passed ? [['llm_request', requestPayload(event)]] : own(event, outcome)
    case 'SubagentStart':
      return passed ? [['subturn_spawn', spawnPayload(event)]] : own(event, outcome)
    case 'SubagentStop':
      return passed ? [['subturn_end', subturnEndPayload(event)]] : own(event, outcome)
    case 'UserPromptSubmit':
      return passed && !turnsAreTold ? [['turn_start', turnStartPayload(event)]] : own(event, outcome)
    case 'Stop':
      return passed && !turnsAreTold ? [['turn_end', turnEndPayload(event)]] : own(event, outcome)
    default:
      return own(event, outcome)
  }
}

/** An answer in place of the tool counts as a run that took no time. */
function toolCall(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const action = outcome?.action ?? 'continue'
  if (action === 'continue') return [['tool_exec_start', startPayload(event)]]
  if (action !== 'respond') return [['tool_exec_skipped', skippedPayload(event, outcome?.reason)]]
  return [
    ['tool_exec_start', startPayload(event)],
    ['tool_exec_end', endPayload(event, wireResult(outcome?.response), 0)],
  ]
}

/** What the protocol has no kind for. What came of it is told where it did not go its way. */
function own(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const { name } = event
  const short = shortNames.get(name) ?? (resolveEvent(name).custom ? name : snakeCase(name))
  return [[short, ownPayload(event, outcome)]]
}
