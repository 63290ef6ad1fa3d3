// One answer, in Claude Code's JSON or seed 001's, held against what its event honours.

import type { Data, Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { resolveEvent } from '../../core/events/events.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { type Fields, pick, type Shapes } from '../shape.js'
import { type Action, type ApprovalTerms, actionOf, approvalTerms } from './amplifier-form.js'
import { canAsk, canBlock, honouredOn } from './honoured.js'

/** A JSON object as it was printed. */
export type Source = Readonly<Record<string, unknown>>

/** Seed 001's own keys; Claude Code does not know them, so that null there is no error but nothing. */
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
export interface Specific {
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

/** What PermissionRequest hooks decide with. */
export type Ruling = Fields<typeof RULING_FIELDS>

export interface Answer {
  /** Only fields that are what they should be. */
  readonly top: Top
  /** Of hookSpecificOutput; empty where it is not one of this event. */
  readonly specific: Specific
  readonly ruling: Ruling
  /** What is malformed, in words. */
  readonly problems: readonly string[]
  /** Amplifier's word for the verdict. */
  readonly action?: Action | undefined
  /** Of the question, where it asks; */
  readonly approval: ApprovalTerms
  /** and what of these is malformed: a question stands without them. */
  readonly slips: readonly string[]
  /** It says "ask" where that is no word. */
  readonly meansAsk?: boolean
}

export const NO_ANSWER: Answer = { top: {}, specific: {}, ruling: {}, problems: [], approval: {}, slips: [] }

export function readAnswer(event: HookEvent, source: Source): Answer {
  const problems: string[] = []
  const seeds = Object.keys(SEED_FIELDS).filter((key) => source[key] === null)
  const given = Object.fromEntries(Object.entries(source).filter(([key]) => !seeds.includes(key)))
  // A tool's result may be any JSON; everything else that newContent replaces is text.
  const shapes = event.name === 'PostToolUse' ? { ...TOP_FIELDS, newContent: 'json' } : TOP_FIELDS
  const top = pick(given, shapes as typeof TOP_FIELDS, '', problems) as Top
  const specific = top.hookSpecificOutput ? readSpecific(event, top.hookSpecificOutput, problems) : {}
  const ruling = specific.decision ? readRuling(specific.decision, problems) : {}
  const slips: string[] = []
  const approval = approvalTerms([top.hookSpecificOutput ?? {}, source], slips)
  const meansAsk = isAsk(source.decision)
  return { top, specific, ruling, problems, action: actionOf(source), approval, slips, meansAsk }
}

export function isAsk(word: unknown): boolean {
  return word === 'ask' || word === 'ask_user'
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

/** An alias of the event's name will do, as everywhere. */
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
  readonly kind: 'block' | 'ask' | 'allow'
  readonly reason: string | undefined
}

/** Beside `continue: false`. A block in either place wins; a block where the event does not honour it is none. */
export function decisionOf(event: HookEvent, answer: Answer): Decision | undefined {
  const { top, specific, ruling } = answer
  const { permissionDecision, permissionDecisionReason, action } = specific
  const refused = answer.action !== undefined && answer.action !== 'ask_user' && canBlock(event)
  const blocked = refused || (top.decision === 'block' && honouredOn(event).decision)
  const denied = permissionDecision === 'deny' || ruling.behavior === 'deny'
  if (blocked || denied || action === 'decline' || action === 'cancel') {
    const own = denied ? firstText(permissionDecisionReason, ruling.message) : undefined
    return { kind: 'block', reason: firstText(own, top.reason) }
  }
  const reason = firstText(permissionDecisionReason, top.reason)
  const asked = answer.action === 'ask_user' && canAsk(event)
  if (asked || permissionDecision === 'ask' || permissionDecision === 'defer') return { kind: 'ask', reason }
  const approved = top.decision === 'approve' && event.name === 'PreToolUse'
  const accepted = action === 'accept' && event.name === 'Elicitation'
  if (permissionDecision === 'allow' || ruling.behavior === 'allow' || approved || accepted) {
    return { kind: 'allow', reason }
  }
  return undefined
}

/** A block takes back what the same answer grants. */
export function withoutGrant(answer: Answer): Answer {
  const { action, content: _, ...specific } = answer.specific
  return {
    ...answer,
    specific: action === 'accept' ? specific : answer.specific,
    ruling: answer.ruling.behavior === 'allow' ? {} : answer.ruling,
  }
}

/** The first that says something. */
export function firstText(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined && text.trim() !== '')
}
