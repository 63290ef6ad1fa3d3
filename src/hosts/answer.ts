// Answers to hosts: a verdict, reduced to what the host can do on the event, in the form that the host reads.

import { type Data, isObject, type Json, sameJson } from '../core/base/json.js'
import { actionRow, endsChain, isVerdict } from '../core/events/actions.js'
import { resolveEvent } from '../core/events/events.js'
import type { HookResult } from '../core/events/result.js'
import type { Outcome } from '../core/hooks/outcome.js'
import type { Abilities, Ability, FittedVerdict, Host, HostAnswer, HostEvent, HostVerdict } from './host.js'
import { hostInput, isInPartsOf, toolNamed } from './tool-calls.js'

export function answerOf(host: Host, event: HostEvent, verdict: HostVerdict): HostAnswer {
  const can = abilitiesOf(host, event, verdict)
  const taken = host.mergesInput && can?.includes('input') ? keysTaken(event, verdict) : []
  // A changed part of a call cannot be put back into the whole.
  const lacksInput = isInParts(host, event) || taken.length > 0
  const abilities = lacksInput ? can?.filter((ability) => ability !== 'input') : can
  const note = `${host.title} cannot remove fields of tool_input (${taken.join(', ')}): a hook must return them too`
  const messages = [...verdict.messages, ...(taken.length > 0 && !isFinal(verdict) ? [note] : [])]
  const told = fitted(host.title, abilities, event, { ...verdict, messages })
  return host.answer(
    event,
    { ...told, ...(told.input && { input: ownInput(host, event, told.input) }) },
    verdict,
  )
}

/** Undefined for an event that the host does not have. */
export function abilitiesOf(
  { can }: Pick<Host, 'can'>,
  event: HostEvent,
  verdict: HostVerdict = NOTHING_SAID,
): readonly Ability[] | undefined {
  return typeof can === 'function' ? can(event, verdict) : abilitiesOn(can, event)
}

/** An only part that can be put back was shown to hooks as the input. */
function isInParts(host: Host, { data }: HostEvent): boolean {
  const tool = toolNamed(host, data.tool_name)
  const isAlone = tool?.whole !== undefined && isObject(data.host_tool_input)
  return tool !== undefined && !isAlone && isInPartsOf(tool, data.host_tool_input ?? data.tool_input)
}

/** In the terms in which the host sent it. */
function ownInput(host: Host, { data }: HostEvent, input: Data): Data {
  const { tool_name: name, tool_input: seen, host_tool_input: own } = data
  if (!isObject(own) || !isObject(seen)) return input
  const tool = toolNamed(host, name)
  if (tool?.whole && isInPartsOf(tool, own)) return tool.whole(own as Data, input)
  return hostInput(tool, own as Data, seen as Data, input)
}

/** Undefined for an event that the host does not have. The name may be third-party text. */
export function abilitiesOn(table: Abilities, { name }: HostEvent): readonly Ability[] | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

function keysTaken(event: HostEvent, { data }: HostVerdict): readonly string[] {
  const { tool_input: old } = event.data
  const input = data?.tool_input
  if (!isObject(old) || !isObject(input)) return []
  return Object.keys(old).filter((key) => !Object.hasOwn(input, key))
}

// ---- verdicts -------------------------------------------------------------------------------------------------

export function verdictOfResult(result: HookResult): HostVerdict {
  const { action, reason, approvalPrompt, contextInjection, userMessage, ...rest } = result
  const { approvalOptions, approvalTimeout, approvalDefault, approvalPeople = 1 } = rest
  const says = action === 'ask_user' ? (approvalPrompt ?? reason) : reason
  if (action === 'ask_user' && approvalPeople > 1)
    return refusedPrompt(`${approvalPeople} different people must allow this`, says)
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
    action: isVerdict(action) ? action : 'continue',
    injections: contextInjection ? [contextInjection] : [],
    messages: userMessage ? [userMessage] : [],
  }
}

/** For a host whose own prompt would ask one person. */
function refusedPrompt(reason: string, asked = ''): HostVerdict {
  return { action: 'deny', reason: [reason, asked].filter(Boolean).join(': '), injections: [], messages: [] }
}

export function verdictOfOutcome(outcome: Outcome): HostVerdict {
  const { action, reason, permission, response, host, data, approval } = outcome
  const changed = new Set(outcome.hooks.flatMap((trace) => trace.changed ?? []))
  const entries = [...changed].flatMap((key) => (data[key] === undefined ? [] : [[key, data[key]] as const]))
  const asked = approval?.question.asks.map(({ prompt }) => prompt).join('\n')
  const says = reason ?? (action === 'ask_user' ? asked : undefined)
  const isForSeveral = action === 'ask_user' && (approval?.question.people ?? 1) > 1
  return {
    // The host's own prompt would ask one person.
    action: isForSeveral ? 'deny' : action,
    ...(says !== undefined && { reason: says }),
    ...(permission && { permission }),
    ...(entries.length > 0 && { data: Object.fromEntries(entries) }),
    ...(response !== undefined && { response }),
    ...(host && { host }),
    injections: outcome.injections.map(({ text }) => text),
    messages: outcome.messages.map(({ text }) => text),
  }
}

/**
 * One verdict about a call that does several things. A refusal decides, then a question. A permission counts if it is for all
 * of them. A change of one cannot be put back into the call, and is refused because of that.
 */
export function combined(verdicts: readonly HostVerdict[]): HostVerdict {
  const [first = NOTHING_SAID] = verdicts
  if (verdicts.length < 2) return first
  const changes = verdicts.flatMap(({ data }) => (data === undefined ? [] : [data]))
  const isUnclear = changes.some((data) => !sameJson(data, changes[0] as Data))
  const {
    permission,
    data: _,
    ...decided
  } = verdicts.find(isFinal) ??
  (isUnclear ? CHANGED_TWICE : verdicts.find(({ action }) => action === 'ask_user')) ??
  first
  return {
    ...decided,
    ...(changes[0] && { data: changes[0] }),
    ...(permission && verdicts.every((one) => one.permission === permission) && { permission }),
    injections: verdicts.flatMap(({ injections }) => injections),
    messages: [...new Set(verdicts.flatMap(({ messages }) => messages))],
  }
}

/** Nothing that hooks say about the rest of a call can change it. */
export function isFinal({ action }: HostVerdict): boolean {
  return action !== 'continue' && action !== 'ask_user'
}

const CHANGED_TWICE: HostVerdict = {
  action: 'deny',
  reason: 'Hooks changed this call in different ways, and only one change can be applied',
  injections: [],
  messages: [],
}
const NOTHING_SAID: HostVerdict = { action: 'continue', injections: [], messages: [] }

// ---- fitting a verdict to a host ------------------------------------------------------------------------------

type Has = (ability: Ability) => boolean

/** `title` is the host's name for people. */
function fitted(
  title: string,
  can: readonly Ability[] | undefined,
  event: HostEvent,
  verdict: HostVerdict,
): FittedVerdict {
  const has: Has = (ability) => can?.includes(ability) ?? false
  const { deny } = resolveEvent(event.name || 'Unknown')
  const lost = lostChanges(verdict, has)
  // A person would be asked about the call as it was.
  const goesOn = verdict.action === 'continue' || (verdict.action === 'ask_user' && has('ask'))
  const isUnsafe = goesOn && deny === 'block' && lost.length > 0
  const refusal = isUnsafe ? lossReason(title, verdict, lost) : refusalOf(verdict, has)
  const aborts = actionRow(verdict.action).aborts !== undefined
  // If ending the turn is the only way to refuse, the turn ends.
  const stops = has('stop') && (aborts || (refusal !== undefined && !has('block')))
  const tells = refusal !== undefined && deny === 'tell' && !has('block') && has('context')
  const refuses = refusal !== undefined && !tells
  const context = [...verdict.injections, ...(tells ? [refusal] : [])].filter((text) => text.trim() !== '')
  const notes = [
    ...verdict.messages,
    ...(!has('context') && context.length > 0 ? [`${title} cannot add context for the model here`] : []),
    ...(!refuses && lost.length > 0 ? [`${title} cannot change ${lost.join(', ')} here`] : []),
  ]
  return {
    act: refuses ? (has('block') || stops ? 'refuse' : 'signal') : milder(verdict, has),
    stops,
    reason: refusal ?? verdict.reason?.trim() ?? '',
    ...(!refuses && changesOf(verdict, has)),
    context: has('context') ? context.join('\n') : '',
    message: notes.join('\n'),
    host: verdict.host ?? {},
  }
}

function milder({ action, permission }: HostVerdict, has: Has): FittedVerdict['act'] {
  if (action === 'ask_user' && has('ask')) return 'ask'
  return permission === 'allow' && has('allow') ? 'allow' : 'go'
}

/** Why the verdict amounts to a refusal on this host; undefined if it does not. */
function refusalOf({ action, reason, response }: HostVerdict, has: Has): string | undefined {
  const said = reason?.trim() || undefined
  if (endsChain(action)) return said ?? 'A hook refused this'
  switch (action) {
    case 'ask_user':
      return has('ask') ? undefined : `A person must approve this first: ${said ?? 'a hook asks for it'}`
    case 'respond':
      return `A hook answered instead: ${textOfResponse(response)}`
    default:
      return undefined
  }
}

/** If a hook made a call safe, it must not run unchanged. */
function lossReason(title: string, { data }: HostVerdict, lost: readonly string[]): string {
  const wanted = lost.map((key) => `${key} ${JSON.stringify(data?.[key])}`).join(', ')
  return `A hook changed this, but ${title} cannot apply the change. Use this instead: ${wanted}`
}

/** The ability that a change of each field needs. */
const CHANGES: Readonly<Record<string, Ability>> = {
  tool_input: 'input',
  tool_response: 'output',
  tool_result: 'output',
  prompt: 'prompt',
  user_prompt: 'prompt',
}

function lostChanges({ data = {} }: HostVerdict, has: Has): readonly string[] {
  return Object.keys(data).filter((key) => {
    // Two fields have a second name, but the change counts once.
    if (key === 'tool_result' && 'tool_response' in data) return false
    if (key === 'user_prompt' && 'prompt' in data) return false
    const ability = Object.hasOwn(CHANGES, key) ? CHANGES[key] : undefined
    if (ability === undefined || !has(ability)) return true
    return ability === 'input' ? !isObject(data[key]) : ability === 'prompt' && typeof data[key] !== 'string'
  })
}

function changesOf({ data = {} }: HostVerdict, has: Has): Partial<FittedVerdict> {
  const { tool_input: input } = data
  const output = data.tool_response ?? data.tool_result
  const prompt = data.prompt ?? data.user_prompt
  return {
    ...(has('input') && isObject(input) && { input: input as Data }),
    ...(has('output') && output !== undefined && { output }),
    ...(has('prompt') && typeof prompt === 'string' && { prompt }),
  }
}

/** The text of a response for the model: PicoClaw's own field, a text as it is, anything else as JSON. */
export function textOfResponse(response: Json | undefined): string {
  if (typeof response === 'string') return response
  if (isObject(response) && typeof response.for_llm === 'string') return response.for_llm
  return JSON.stringify(response ?? null)
}

// ---- answers --------------------------------------------------------------------------------------------------

export function isRefusal({ act }: FittedVerdict): boolean {
  return act === 'refuse' || act === 'signal'
}

/** One JSON document, or nothing if there is nothing to say. */
export function printed(answer: object, exit = 0, stderr = ''): HostAnswer {
  return plain(Object.keys(answer).length > 0 ? JSON.stringify(answer) : '', exit, stderr)
}

/** Exit code 2 with the reason on stderr, which most hosts understand as a refusal. */
export function signalled(told: FittedVerdict): HostAnswer {
  return plain('', 2, withMessage(told))
}

/** For hosts that read exit codes and plain text, but no JSON. On success, stdout is context for the model. */
export function byExitCode(_: HostEvent, told: FittedVerdict): HostAnswer {
  return isRefusal(told) ? signalled(told) : plain(told.context, 0, told.message)
}

/** In every answer to a plugin of ours, so that nobody else's output can be taken for one. */
export const PLUGIN_MARK = { carabiner: 1 } as const

/**
 * For plugins of ours inside an agent, which only apply it: refuse with `deny`, use the new `input`, `output` or `prompt`, add
 * `context`, show `message`. There is always an object with the mark, so that any other output, or another exit code than 0, is
 * a refusal.
 */
export function answerPlugin(_: HostEvent, told: FittedVerdict): HostAnswer {
  const answer = {
    ...PLUGIN_MARK,
    ...(isRefusal(told) && { deny: told.reason }),
    ...(told.input && { input: told.input }),
    ...(told.output !== undefined && { output: textOfResponse(told.output) }),
    ...(told.prompt !== undefined && { prompt: told.prompt }),
    ...(told.context && { context: told.context }),
    ...(told.message && { message: told.message }),
  }
  const exits = told.act === 'signal'
  return plain(JSON.stringify(answer), exits ? 2 : 0, exits ? told.reason : '')
}

export function plain(stdout: string, exit: number, stderr: string): HostAnswer {
  return { stdout: stdout && `${stdout}\n`, exit, ...(stderr && { stderr: `${stderr}\n` }) }
}

/** The reason, and below it the message to the user. */
export function withMessage({ reason, message }: Pick<FittedVerdict, 'reason' | 'message'>): string {
  return [reason, message].filter(Boolean).join('\n')
}
