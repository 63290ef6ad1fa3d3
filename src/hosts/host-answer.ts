// What an agent is told on behalf of hooks: a verdict, held against what the agent can do, and the answer it prints.

import { type Data, isObject, type Json } from '../core/base/json.js'
import { resolveEvent } from '../core/events/events.js'
import type { HookResult } from '../core/events/result.js'
import type { Outcome, Verdict } from '../core/verdict/outcome.js'

/** What the process of a hook leaves behind for the agent that started it. */
export interface HostAnswer {
  readonly stdout: string
  readonly stderr?: string
  readonly exit: number
}

/** The event that an agent asks about. */
export interface HostEvent {
  /** Canonical; as the agent sent it where it is not known. */
  readonly name: string
  /** The agent's own name for it; empty where the payload has none. */
  readonly sentAs: string
  /** The payload in canonical terms. */
  readonly data: Data
}

/** What is to be told, whoever is asked: made from an Outcome or from one HookResult. */
export interface HostVerdict {
  readonly action: Verdict
  readonly reason?: string
  readonly permission?: 'allow'
  /** The keys that were changed, and only those. */
  readonly data?: Data
  readonly injections: readonly string[]
  readonly messages: readonly string[]
  readonly response?: Json
  /** Fields that only the agent can act on. */
  readonly host?: Data
  /** How the person is asked, for engines that can be told. */
  readonly approval?: Pick<HookResult, 'approvalOptions' | 'approvalTimeout' | 'approvalDefault'>
}

export function verdictOfResult(result: HookResult): HostVerdict {
  const { action, reason, approvalPrompt, contextInjection, userMessage, ...rest } = result
  const { approvalOptions, approvalTimeout, approvalDefault } = rest
  const says = action === 'ask_user' ? (approvalPrompt ?? reason) : reason
  return {
    ...(rest.permission && { permission: rest.permission }),
    ...(rest.data && { data: rest.data }),
    ...(rest.response !== undefined && { response: rest.response }),
    ...(rest.host && { host: rest.host }),
    ...(says !== undefined && { reason: says }),
    ...(action === 'ask_user' && {
      approval: {
        ...(approvalOptions && { approvalOptions }),
        ...(approvalTimeout !== undefined && { approvalTimeout }),
        ...(approvalDefault && { approvalDefault }),
      },
    }),
    action: action === 'modify' || action === 'inject_context' ? 'continue' : action,
    injections: contextInjection ? [contextInjection] : [],
    messages: userMessage ? [userMessage] : [],
  }
}

export function verdictOfOutcome(outcome: Outcome): HostVerdict {
  const { action, reason, permission, response, host, data, approval } = outcome
  const changed = new Set(outcome.hooks.flatMap((trace) => trace.changed ?? []))
  const entries = [...changed].flatMap((key) => (data[key] === undefined ? [] : [[key, data[key]] as const]))
  const asked = approval?.question.asks.map(({ prompt }) => prompt).join('\n')
  const says = reason ?? (action === 'ask_user' ? asked : undefined)
  return {
    action,
    ...(says !== undefined && { reason: says }),
    ...(permission && { permission }),
    ...(entries.length > 0 && { data: Object.fromEntries(entries) }),
    ...(response !== undefined && { response }),
    ...(host && { host }),
    injections: outcome.injections.map(({ text }) => text),
    messages: outcome.messages.map(({ text }) => text),
  }
}

// ---- what an agent can do -------------------------------------------------------------------------------------

/**
 * By event, in letters: B refuse it (or, where it has happened, tell the model; where the agent would stop, keep it
 * going), I change the tool's input, O change its result, P change the prompt, C give the model context, A have a person
 * asked, G spare the person a question, S end the turn. An event that is not there is one the agent does not have.
 */
export type Abilities = Readonly<Record<string, string>>

/** Undefined for an event that the agent does not have; names come from strangers. */
export function abilityOn(table: Abilities, event: HostEvent): string | undefined {
  return Object.hasOwn(table, event.name) ? table[event.name] : undefined
}

/** A verdict in which everything is something that the agent can do on this event. */
export interface Feasible {
  /** `refuse` says so in the agent's own words; `signal` by exit code 2 alone, as it has none. */
  readonly act: 'go' | 'allow' | 'ask' | 'refuse' | 'signal'
  /** The turn ends as well. */
  readonly stops: boolean
  /** Never empty where something is refused or asked. */
  readonly reason: string
  readonly input?: Data
  readonly output?: Json
  readonly prompt?: string
  readonly context: string
  readonly message: string
  readonly host: Data
}

/** What a change is called by who asks for it, and the letter of who can make it. */
const CHANGES: Readonly<Record<string, string>> = {
  tool_input: 'I',
  tool_response: 'O',
  tool_result: 'O',
  prompt: 'P',
  user_prompt: 'P',
}

/** `agent` is its name for people. */
export function feasible(
  agent: string,
  can: string | undefined,
  event: HostEvent,
  verdict: HostVerdict,
): Feasible {
  const has = (letter: string) => can?.includes(letter) ?? false
  const { deny } = resolveEvent(event.name || 'Unknown')
  const lost = lostChanges(verdict, has)
  const refusal = refusalOf(agent, deny === 'block', lost, has, verdict)
  const aborts = verdict.action === 'abort_turn' || verdict.action === 'hard_abort'
  // A refusal that can only be had by ending the turn ends it.
  const stops = has('S') && (aborts || (refusal !== undefined && !has('B')))
  const tells = refusal !== undefined && deny === 'tell' && !has('B') && has('C')
  const refuses = refusal !== undefined && !tells
  const context = [...verdict.injections, ...(tells ? [refusal] : [])].filter((text) => text.trim() !== '')
  const notes = [
    ...verdict.messages,
    ...(!has('C') && context.length > 0 ? [`${agent} takes no context for the model here`] : []),
    ...(!refuses && lost.length > 0 ? [`${agent} cannot change ${lost.join(', ')} here`] : []),
  ]
  return {
    act: refuses ? (has('B') || stops ? 'refuse' : 'signal') : milder(verdict, has),
    stops,
    reason: refusal ?? verdict.reason?.trim() ?? '',
    ...(!refuses && changesOf(verdict, has)),
    context: has('C') ? context.join('\n') : '',
    message: notes.join('\n'),
    host: verdict.host ?? {},
  }
}

function milder({ action, permission }: HostVerdict, has: (letter: string) => boolean): Feasible['act'] {
  if (action === 'ask_user' && has('A')) return 'ask'
  return permission === 'allow' && has('G') ? 'allow' : 'go'
}

/** Why it must not happen; undefined where it may. */
function refusalOf(
  agent: string,
  isGate: boolean,
  lost: readonly string[],
  has: (letter: string) => boolean,
  { action, reason, response, data }: HostVerdict,
): string | undefined {
  const said = reason?.trim() || undefined
  switch (action) {
    case 'deny':
    case 'abort_turn':
    case 'hard_abort':
      return said ?? 'A hook refused it'
    case 'ask_user':
      return has('A') ? undefined : `A person must approve this first: ${said ?? 'a hook wants it'}`
    case 'respond':
      return `A hook answered in its place: ${textOfResponse(response)}`
    default: {
      // What a hook made safe must not happen as it was.
      if (!isGate || lost.length === 0) return undefined
      const wanted = lost.map((key) => `${key} ${JSON.stringify(data?.[key])}`).join(', ')
      return `A hook changed this, and ${agent} cannot make the change. Use instead: ${wanted}`
    }
  }
}

function lostChanges({ data = {} }: HostVerdict, has: (letter: string) => boolean): readonly string[] {
  return Object.keys(data).filter((key) => {
    const letter = Object.hasOwn(CHANGES, key) ? CHANGES[key] : undefined
    // Of one field under two names, one is enough.
    if (key === 'tool_result' && 'tool_response' in data) return false
    if (key === 'user_prompt' && 'prompt' in data) return false
    if (letter === undefined || !has(letter)) return true
    return letter === 'I' ? !isObject(data[key]) : letter === 'P' && typeof data[key] !== 'string'
  })
}

function changesOf({ data = {} }: HostVerdict, has: (letter: string) => boolean): Partial<Feasible> {
  const { tool_input: input } = data
  const output = data.tool_response ?? data.tool_result
  const prompt = data.prompt ?? data.user_prompt
  return {
    ...(has('I') && isObject(input) && { input: input as Data }),
    ...(has('O') && output !== undefined && { output }),
    ...(has('P') && typeof prompt === 'string' && { prompt }),
  }
}

/** What a model reads of a response: PicoClaw's own field, a text as it is, anything else as JSON. */
export function textOfResponse(response: Json | undefined): string {
  if (typeof response === 'string') return response
  if (isObject(response) && typeof response.for_llm === 'string') return response.for_llm
  return JSON.stringify(response ?? null)
}

// ---- answers --------------------------------------------------------------------------------------------------

/** One JSON document; nothing at all where there is nothing to say. */
export function printed(answer: object, exit = 0, stderr = ''): HostAnswer {
  const stdout = Object.keys(answer).length > 0 ? `${JSON.stringify(answer)}\n` : ''
  return { stdout, exit, ...(stderr && { stderr: `${stderr}\n` }) }
}

/** The refusal that most agents understand, whatever else they know: exit code 2, and why on standard error. */
export function signalled({ reason, message }: Feasible): HostAnswer {
  return printed({}, 2, [reason, message].filter(Boolean).join('\n'))
}

/** For agents that merge a changed input over the old one: without that ability where a key would stay that is to go. */
export function mergesInto(
  event: HostEvent,
  { data }: HostVerdict,
  can: string | undefined,
): string | undefined {
  const { tool_input: old } = event.data
  const input = data?.tool_input
  if (!isObject(old) || !isObject(input)) return can
  const stays = Object.keys(old).every((key) => Object.hasOwn(input, key))
  return stays ? can : can?.replace('I', '')
}
