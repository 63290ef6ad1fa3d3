// For programs that answer agents themselves: an agent's payload as an event, and the outcome in the agent's form.

import { type Data, frozenCopy } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import type { HookResult } from '../core/events/result.js'
import type { Outcome } from '../core/hooks/outcome.js'
import { answerOf, combined, verdictOfOutcome, verdictOfResult } from './answer.js'
import type { HostAnswer, HostEvent, HostVerdict } from './host.js'
import { HOST_NAMES, type HostName, hostNamed, type KnownHost } from './hosts.js'
import { eventOf, readEnvelope, refuseTwoNames } from './payload.js'

/** An event that an agent asks about, in Claude Code's terms. */
export interface AgentEvent {
  /** As the agent sent it if no known event has this name. */
  readonly name: string
  /** The agent's own name for it; empty if the payload has none. */
  readonly sentAs: string
  /** The whole payload, under canonical names. The agent's own name of a tool is in `host_tool_name`, its input in `host_tool_input`. */
  readonly data: Data
  /**
   * Fire each of these. It is `data` alone, unless the call does several things, such as a patch of two files, or is what
   * Claude Code has two tools for. Everything has to pass.
   */
  readonly parts: readonly Data[]
}

/**
 * Throws InvalidHookInput if the payload cannot be read. Refuse the event then: `answerFor(agent, 'PreToolUse', deny('…'))`.
 * `event` is for agents that do not name it in the payload.
 */
export function eventFrom(agent: HostName, payload: object, event?: string): AgentEvent {
  const host = hostOrThrow(agent)
  const data = frozenCopy(payload, 'the payload') as Data
  const asked = readEnvelope(data, { host: host.name, ...(event !== undefined && { event }) })
  refuseTwoNames(data)
  const { calls = [], ...read } = eventOf(data, asked, true)
  const parts = calls.flatMap((call) => call.names.map((name) => renamed(call.data, name)))
  const isWhole = calls.length === 1 && calls[0]?.data === read.data
  const whole = isWhole ? (parts[0] as Data) : read.data
  return { name: read.name, sentAs: read.sentAs, data: whole, parts: parts.length > 0 ? parts : [whole] }
}

function renamed(data: Data, tool: string): Data {
  const { tool_name: own } = data
  return own === tool || own === undefined ? data : { ...data, tool_name: tool, host_tool_name: own }
}

/**
 * What the process of a hook prints, and its exit code. `outcome`: of every part of the event, in their order; a single one
 * is enough where there is one part, or where it refuses. A name stands for an event whose payload could not be read.
 */
export function answerFor(
  agent: HostName,
  event: AgentEvent | string,
  outcome: Outcome | HookResult | readonly Outcome[],
): HostAnswer {
  const host = hostOrThrow(agent)
  const verdicts = listOf(outcome).map(verdictOf)
  if (typeof event === 'string')
    return answerOf(host, { name: event, sentAs: '', data: {} }, combined(verdicts))
  const asked = hostEvent(event)
  return answerOf(host, asked, unjudged(event, verdicts) ?? combined(verdicts))
}

function listOf<T>(one: T | readonly T[]): readonly T[] {
  return Array.isArray(one) ? one : [one as T]
}

function verdictOf(outcome: Outcome | HookResult): HostVerdict {
  return 'hooks' in outcome ? verdictOfOutcome(outcome) : verdictOfResult(outcome)
}

/** A part without an outcome must not run. */
function unjudged({ parts }: AgentEvent, verdicts: readonly HostVerdict[]): HostVerdict | undefined {
  if (verdicts.length >= parts.length || verdicts.some(({ action }) => action !== 'continue'))
    return undefined
  const reason = `Only ${verdicts.length} of ${parts.length} parts of this call were judged`
  return { action: 'deny', reason, injections: [], messages: [] }
}

/** With the agent's own name of the tool, by which its row knows it. */
function hostEvent({ name, sentAs, data }: AgentEvent): HostEvent {
  const { host_tool_name: own } = data
  return { name, sentAs, data: own === undefined ? data : { ...data, tool_name: own } }
}

function hostOrThrow(name: string): KnownHost {
  const host = hostNamed(name)
  if (host) return host
  throw new TypeError(`There is no agent ${shown(name)}; the agents are ${HOST_NAMES.join(', ')}`)
}
