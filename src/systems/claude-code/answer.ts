// One answer in the JSON of Claude Code, seed 001 or HookResult: what the event honours, its decision, and its effects.

import type { Diagnostic } from '../../core/base/errors.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { rankOf } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { type ApprovalTerms, approvalTerms, lacking, type Said, saidIn, strangeAction } from '../amplifier.js'
import { type Closing, closingAmong, type Entry, type Found, foldedWord } from '../closing.js'
import { type Fields, pick, type Shapes } from '../shape.js'
import { canAsk, canBlock, honouredOn } from './honoured.js'

/** A JSON object as it was printed. */
export type Source = Readonly<Record<string, unknown>>

/** Seed 001's own keys. Claude Code does not know them, so null counts as absent and not as an error. */
const SEED_FIELDS = { newContent: 'text', contextInjection: 'text' } as const satisfies Shapes

export const TOP_FIELDS = {
  continue: 'flag',
  stopReason: 'text',
  suppressOutput: 'flag',
  systemMessage: 'text',
  terminalSequence: 'text',
  decision: ['approve', 'block'],
  reason: 'text',
  hookSpecificOutput: 'object',
  ...SEED_FIELDS,
} as const satisfies Shapes

type Top = Omit<Fields<typeof TOP_FIELDS>, 'newContent'> & { readonly newContent?: Json }

/** The fields of hookSpecificOutput that decide something here; all others are the host's. */
interface Specific {
  readonly permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer'
  readonly permissionDecisionReason?: string
  readonly additionalContext?: string
  readonly updatedInput?: Data
  readonly updatedToolOutput?: Json
  readonly updatedMCPToolOutput?: Json
  readonly decision?: Data
  readonly action?: 'accept' | 'decline' | 'cancel'
  readonly content?: Data
  readonly [field: string]: Json | undefined
}

export const RULING_FIELDS = {
  behavior: ['allow', 'deny'],
  updatedInput: 'object',
  updatedPermissions: 'list',
  message: 'text',
  interrupt: 'flag',
} as const satisfies Shapes

/** The decision of a PermissionRequest hook. */
type Ruling = Fields<typeof RULING_FIELDS>

export interface Answer {
  /** Well-formed fields only. */
  readonly top: Top
  /** From hookSpecificOutput; empty if that is for another event. */
  readonly specific: Specific
  readonly ruling: Ruling
  /** One sentence for each malformed field. */
  readonly problems: readonly string[]
  /** Its fields of HookResult. */
  readonly said: Said
  /** The terms of its question. */
  readonly approval: ApprovalTerms
  /** One sentence for each malformed term. The question stands without it. */
  readonly slips: readonly string[]
  /** The highest word that closes this event, in its proper place or not. */
  readonly closing?: Found | undefined
}

export const NO_ANSWER: Answer = {
  top: {},
  specific: {},
  ruling: {},
  problems: [],
  said: {},
  approval: {},
  slips: [],
}

/** `entries` are the fields of the same answer, including those that JSON.parse drops. */
export function readAnswer(event: HookEvent, source: Source, entries: readonly Entry[]): Answer {
  const problems: string[] = []
  const said = saidIn(
    without(source, (key) => Object.hasOwn(TOP_FIELDS, key)),
    problems,
  )
  // HookResult and seed 001 write null for an absent field; Claude Code does not.
  const mayBeNull = (key: string) => said.action !== undefined || Object.hasOwn(SEED_FIELDS, key)
  const given = without(source, (key) => source[key] === null && mayBeNull(key))
  // newContent replaces text, except for a tool's result, which may be any JSON.
  const shapes = event.name === 'PostToolUse' ? { ...TOP_FIELDS, newContent: 'json' } : TOP_FIELDS
  const top = pick(given, shapes as typeof TOP_FIELDS, '', problems) as Top
  const specific = top.hookSpecificOutput ? readSpecific(event, top.hookSpecificOutput, problems) : {}
  const ruling = specific.decision ? readRuling(specific.decision, problems) : {}
  const missing = lacking({ ...said, ...top })
  if (missing !== undefined && problems.length === 0) problems.push(missing)
  const strange = source.action === event.data.action ? undefined : strangeAction(source)
  if (strange !== undefined) problems.push(strange)
  const slips: string[] = []
  const approval = approvalTerms([top.hookSpecificOutput ?? {}, source], slips)
  const closing = closingOn(event, entries)
  return { top, specific, ruling, problems, said, approval, slips, closing }
}

export function without(source: Source, isLeftOut: (key: string) => boolean): Source {
  if (!Object.keys(source).some(isLeftOut)) return source
  return Object.fromEntries(Object.entries(source).filter(([key]) => !isLeftOut(key)))
}

/** The highest of these fields that closes this event. */
export function closingOn(event: HookEvent, entries: readonly Entry[]): Found | undefined {
  return closingAmong(entries, (means, key) => {
    if (means === 'ask_user') return canAsk(event)
    // On some events of Claude Code, `continue: false` stops nothing.
    return canBlock(event) && !(foldedWord(key) === 'continue' && honouredOn(event).ignoresStop)
  })
}

function readSpecific(event: HookEvent, source: Data, problems: string[]): Specific {
  const { fields } = honouredOn(event)
  if (!namesEvent(event, source)) {
    const got = Object.hasOwn(source, 'hookEventName') ? shown(source.hookEventName) : 'none'
    problems.push(`hookSpecificOutput.hookEventName must be ${shown(event.name)}, got ${got}`)
    return {}
  }
  if (fields === null) {
    problems.push(`${event.name} has no hookSpecificOutput`)
    return {}
  }
  return pick(source, fields, 'hookSpecificOutput.', problems) as Specific
}

/** Aliases count, as everywhere. */
export function namesEvent(event: HookEvent, { hookEventName: name }: Source): boolean {
  return typeof name === 'string' && name !== '' && resolveEvent(name).name === event.name
}

function readRuling(source: Data, problems: string[]): Ruling {
  const ruling = pick(source, RULING_FIELDS, 'hookSpecificOutput.decision.', problems)
  if (!Object.hasOwn(source, 'behavior')) {
    problems.push('hookSpecificOutput.decision.behavior is missing: it must be "allow" or "deny"')
  }
  return ruling
}

// ---- what it decides ------------------------------------------------------------------------------------------

export interface Decision {
  readonly action: Closing | 'allow'
  readonly reason: string | undefined
  /** The word that decided, if it is misplaced or misspelt. */
  readonly misplaced?: Found
}

/** A lower verdict never hides a higher one, and an allow never hides a word that closes. */
export function decisionOf(event: HookEvent, answer: Answer): Decision | undefined {
  const exact = exactDecision(event, answer)
  const { closing } = answer
  if (!closing || rank(closing.means) <= rank(exact?.action)) return exact
  return { action: closing.means, reason: closing.reason, misplaced: closing }
}

function rank(action: Decision['action'] | undefined): number {
  return action === undefined || action === 'allow' ? 0 : rankOf(action)
}

/** The decision of the words in their proper places. */
function exactDecision(event: HookEvent, answer: Answer): Decision | undefined {
  const { top, specific, ruling, said } = answer
  const { permissionDecision, permissionDecisionReason, action } = specific
  const denied = permissionDecision === 'deny' || ruling.behavior === 'deny'
  const own = denied ? firstText(permissionDecisionReason, ruling.message) : undefined
  const why = firstText(own, top.reason)
  const stops = top.continue === false && !honouredOn(event).ignoresStop
  if (said.action === 'hard_abort') return { action: 'hard_abort', reason: firstText(top.stopReason, why) }
  if (stops || said.action === 'abort_turn')
    return { action: 'abort_turn', reason: firstText(top.stopReason, why) }
  const blocked = said.action === 'deny' || top.decision === 'block'
  if (denied || action === 'decline' || action === 'cancel' || (blocked && mayBlock(event, answer))) {
    return { action: 'deny', reason: why }
  }
  const reason = firstText(permissionDecisionReason, top.reason)
  const asked = said.action === 'ask_user' && canAsk(event)
  if (asked || permissionDecision === 'ask' || permissionDecision === 'defer')
    return { action: 'ask_user', reason }
  const approved = top.decision === 'approve' && event.name === 'PreToolUse'
  const accepted = action === 'accept' && event.name === 'Elicitation'
  const allowed = said.permission === 'allow' || permissionDecision === 'allow' || ruling.behavior === 'allow'
  return allowed || approved || accepted ? { action: 'allow', reason } : undefined
}

/** HookResult's `deny` acts wherever a function's does. Claude Code's `decision` acts where Claude Code honours it. */
function mayBlock(event: HookEvent, { said }: Answer): boolean {
  if (honouredOn(event).decision) return true
  return said.action === 'deny' && (canBlock(event) || resolveEvent(event.name || 'Unknown').deny !== 'none')
}

/** A block revokes what the same answer grants. */
export function withoutGrant(answer: Answer): Answer {
  const { action, content: _, ...specific } = answer.specific
  const { permission: __, ...said } = answer.said
  return {
    ...answer,
    said,
    specific: action === 'accept' ? specific : answer.specific,
    ruling: answer.ruling.behavior === 'allow' ? {} : answer.ruling,
  }
}

/** The first text that is not blank. */
export function firstText(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined && text.trim() !== '')
}

// ---- its other effects ----------------------------------------------------------------------------------------

type Note = (d: Diagnostic) => void
type Effects = Omit<HookResult, 'action' | 'reason' | 'permission' | 'response' | keyof ApprovalTerms>

/** Fields of hookSpecificOutput with a meaning here; the others go to the host as they are. */
const MEANT: ReadonlySet<string> = new Set([
  'permissionDecision',
  'permissionDecisionReason',
  'additionalContext',
  'updatedInput',
  'updatedToolOutput',
  'updatedMCPToolOutput',
  'decision',
  'action',
  'content',
])

export function effectsOf(event: HookEvent, answer: Answer, note: Note): Effects {
  const { top, specific } = answer
  const { action: _, reason, permission, response, ...said } = answer.said
  const contexts = [specific.additionalContext, top.contextInjection, said.contextInjection]
  const context = [...new Set(contexts)].filter(says).join('\n')
  const message = [top.systemMessage, said.userMessage].filter(says).join('\n')
  const data = { ...patchOf(event, answer, note), ...said.data }
  const host = { ...said.host, ...hostFields(event, answer, note) }
  return {
    ...said,
    ...(Object.keys(data).length > 0 && { data }),
    ...(context !== '' && { contextInjection: context }),
    ...(message !== '' && { userMessage: message }),
    ...((top.suppressOutput || said.suppressOutput) && { suppressOutput: true }),
    ...(Object.keys(host).length > 0 && { host }),
  }
}

function says(text: string | undefined): boolean {
  return firstText(text) !== undefined
}

// ---- changes --------------------------------------------------------------------------------------------------

function patchOf(event: HookEvent, { top, specific, ruling }: Answer, note: Note): Data {
  const input = specific.updatedInput ?? (ruling.behavior === 'allow' ? ruling.updatedInput : undefined)
  const patch: Data = {
    ...(input && { tool_input: input }),
    ...outputPatch(event, specific, note),
    ...(event.name === 'ElicitationResult' && elicited(specific)),
  }
  return top.newContent === undefined
    ? patch
    : { ...patch, ...contentPatch(event, patch, top.newContent, note) }
}

function outputPatch({ data }: HookEvent, specific: Specific, note: Note): Data {
  const { updatedToolOutput: output, updatedMCPToolOutput: mcpOutput } = specific
  if (output !== undefined) return { tool_response: output }
  if (mcpOutput === undefined) return {}
  if (typeof data.tool_name === 'string' && data.tool_name.startsWith('mcp__'))
    return { tool_response: mcpOutput }
  note(ignored('updatedMCPToolOutput replaces the output of MCP tools only; use updatedToolOutput'))
  return {}
}

/** The answer to use in place of the person's input. */
function elicited({ action, content }: Specific): Data {
  return action === 'accept' ? { action, ...(content && { content }) } : {}
}

/** The field of each tool's input that seed 001's newContent replaces. */
const CONTENT_FIELDS: ReadonlyMap<Json | undefined, string> = new Map([
  ['Write', 'content'],
  ['Edit', 'new_string'],
])

/** Applied last: a hook that names the content means it. */
function contentPatch({ name, data }: HookEvent, patch: Data, content: Json, note: Note): Data {
  if (name === 'UserPromptSubmit') return { prompt: content }
  if (name === 'PostToolUse') return { tool_response: content }
  const field = name === 'PreToolUse' ? CONTENT_FIELDS.get(data.tool_name) : undefined
  if (field === undefined) {
    note(ignored(`newContent has no effect here; it is for Write, Edit, a prompt or a tool's result`))
    return {}
  }
  const input = patch.tool_input ?? data.tool_input
  return { tool_input: { ...(isObject(input) ? (input as Data) : {}), [field]: content } }
}

// ---- for the host ---------------------------------------------------------------------------------------------

function hostFields(event: HookEvent, { top, specific, ruling }: Answer, note: Note): Data {
  const { action, content } = specific
  const plain = Object.entries(specific).filter(([key]) => !MEANT.has(key)) as [string, Json][]
  if (content && action !== 'accept') note(ignored('content only counts with "action":"accept"'))
  return {
    ...Object.fromEntries(plain),
    ...(ruling.behavior === 'allow' &&
      ruling.updatedPermissions && { updatedPermissions: ruling.updatedPermissions }),
    ...(ruling.behavior === 'deny' && ruling.interrupt && { interrupt: true }),
    ...(action && (event.name === 'Elicitation' || action !== 'accept') && { action }),
    ...(event.name === 'Elicitation' && elicited(specific)),
    ...(top.terminalSequence && terminalField(top.terminalSequence, note)),
  }
}

/** Titles, notifications (OSC 0, 1, 2, 9, 99, 777) and the bell, as in Claude Code. Other sequences could do harm. */
const HARMLESS_SEQUENCE = harmlessSequence('\\u001b', '\\u0007')

function harmlessSequence(esc: string, bell: string): RegExp {
  return new RegExp(`^(?:${esc}\\](?:0|1|2|9|99|777);\\P{Cc}*(?:${bell}|${esc}\\\\)|${bell})+$`, 'u')
}

function terminalField(sequence: string, note: Note): Data {
  if (HARMLESS_SEQUENCE.test(sequence)) return { terminalSequence: sequence }
  note(ignored('terminalSequence may only set a title, notify or ring (OSC 0, 1, 2, 9, 99, 777, BEL)'))
  return {}
}

function ignored(text: string): Diagnostic {
  return { code: 'verdict-ignored', text: `${text}; that part of the answer is ignored` }
}
