// The parts of a hook's answer that Claude Code honours on each event, and advice for authors.

import { type EventName, resolveEvent } from '../../core/events/events.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Shapes } from '../shape.js'

export interface Honoured {
  /** Fields of hookSpecificOutput beside hookEventName; null if the event has no hookSpecificOutput. */
  readonly fields: Shapes | null
  /** Exit code 2: `block` blocks, `show` shows stderr to the user, `ignore` does neither. */
  readonly exit2: 'block' | 'show' | 'ignore'
  /** `decision: "block"` at the top level blocks as well. */
  readonly decision?: true
  /** Plain text on stdout is context for the model. */
  readonly plainContext?: true
  /** `continue: false` stops nothing. */
  readonly ignoresStop?: true
  /** Context alone keeps the agent going. */
  readonly contextGoesOn?: true
  /** Every exit code except 0 blocks, and stdout must name a path. */
  readonly makesPath?: true
  /** Nothing can be blocked if this field has this value. */
  readonly unless?: { readonly field: string; readonly is: string; readonly instead: string }
  /** Advice for an event that no hook can block. */
  readonly instead?: string
}

const context = { additionalContext: 'text' } as const
const verdict = { permissionDecisionReason: 'text' } as const
const elicitation = { action: ['accept', 'decline', 'cancel'], content: 'object' } as const

const ROWS = {
  PreToolUse: {
    fields: {
      permissionDecision: ['allow', 'deny', 'ask', 'defer'],
      ...verdict,
      updatedInput: 'object',
      ...context,
    },
    exit2: 'block',
    decision: true,
  },
  PermissionRequest: { fields: { decision: 'object' }, exit2: 'ignore' },
  PermissionDenied: { fields: { retry: 'flag' }, exit2: 'ignore' },
  PostToolUse: {
    fields: {
      ...context,
      updatedToolOutput: 'json',
      updatedMCPToolOutput: 'json',
      classifierContext: 'text',
    },
    exit2: 'block',
    decision: true,
  },
  PostToolUseFailure: { fields: context, exit2: 'block', decision: true, ignoresStop: true },
  UserPromptSubmit: {
    fields: { ...context, sessionTitle: 'text', suppressOriginalPrompt: 'flag' },
    exit2: 'block',
    decision: true,
    plainContext: true,
  },
  UserPromptExpansion: {
    fields: { ...context, suppressOriginalPrompt: 'flag' },
    exit2: 'block',
    decision: true,
    plainContext: true,
  },
  SessionStart: {
    fields: {
      ...context,
      initialUserMessage: 'text',
      sessionTitle: 'text',
      watchPaths: 'texts',
      reloadSkills: 'flag',
    },
    exit2: 'show',
    plainContext: true,
    ignoresStop: true,
  },
  SessionEnd: { fields: null, exit2: 'show' },
  Setup: { fields: context, exit2: 'show' },
  Stop: { fields: context, exit2: 'block', decision: true, contextGoesOn: true },
  StopFailure: { fields: null, exit2: 'ignore' },
  SubagentStart: {
    fields: context,
    exit2: 'show',
    ignoresStop: true,
    instead: 'to keep a subagent from starting, deny the Agent tool on PreToolUse',
  },
  SubagentStop: {
    fields: context,
    exit2: 'block',
    decision: true,
    contextGoesOn: true,
    ignoresStop: true,
  },
  PreCompact: { fields: null, exit2: 'block', decision: true, plainContext: true, ignoresStop: true },
  PostCompact: {
    fields: null,
    exit2: 'show',
    ignoresStop: true,
    instead: 'to keep the context, block PreCompact',
  },
  PreModelSwitch: {
    fields: { permissionDecision: ['allow', 'deny', 'ask'], ...verdict },
    exit2: 'block',
    decision: true,
  },
  PostModelSwitch: { fields: context, exit2: 'ignore', instead: 'to keep the model, block PreModelSwitch' },
  TeammateIdle: { fields: null, exit2: 'block' },
  TaskCreated: { fields: null, exit2: 'block', decision: true },
  TaskCompleted: { fields: null, exit2: 'block', decision: true },
  Elicitation: { fields: elicitation, exit2: 'block', decision: true },
  ElicitationResult: { fields: elicitation, exit2: 'block', decision: true },
  ConfigChange: {
    fields: null,
    exit2: 'block',
    decision: true,
    unless: {
      field: 'source',
      is: 'policy_settings',
      instead: 'nothing keeps a change of policy_settings from being applied',
    },
  },
  WorktreeCreate: { fields: { worktreePath: 'text' }, exit2: 'block', makesPath: true },
  WorktreeRemove: { fields: null, exit2: 'ignore' },
  InstructionsLoaded: { fields: null, exit2: 'ignore' },
  CwdChanged: { fields: { watchPaths: 'texts' }, exit2: 'show' },
  FileChanged: { fields: { watchPaths: 'texts' }, exit2: 'show' },
  DirectoryAdded: { fields: null, exit2: 'ignore' },
  MessageDisplay: { fields: { displayContent: 'text' }, exit2: 'ignore', ignoresStop: true },
} as const satisfies Partial<Record<EventName, Honoured>>

const rows: ReadonlyMap<string, Honoured> = new Map(Object.entries(ROWS))

/** For events without a row, including those that Claude Code does not have. If the event can be denied, a deny must not be lost. */
const DENIABLE: Honoured = { fields: context, exit2: 'block', decision: true }
const NOTIFICATION: Honoured = { fields: context, exit2: 'ignore' }

export function honouredOn({ name, data }: HookEvent): Honoured {
  const row = rows.get(name) ?? (resolveEvent(name || 'Unknown').deny === 'none' ? NOTIFICATION : DENIABLE)
  const { unless } = row
  if (unless === undefined || data[unless.field] !== unless.is) return row
  return { fields: row.fields, exit2: 'ignore', instead: unless.instead }
}

let allSpecific: ReadonlySet<string> | undefined

/** Every key that hookSpecificOutput has on any event. */
export function specificKeys(): ReadonlySet<string> {
  allSpecific ??= new Set([
    'hookEventName',
    ...Object.values<Honoured>(ROWS).flatMap(({ fields }) => Object.keys(fields ?? {})),
  ])
  return allSpecific
}

/** Whether a hook can keep it from happening, or tell the model that it should not have. */
export function canBlock(event: HookEvent): boolean {
  const { fields, exit2, decision } = honouredOn(event)
  const decides = ['permissionDecision', 'decision', 'action'].some((field) =>
    Object.hasOwn(fields ?? {}, field),
  )
  return decision === true || decides || exit2 === 'block'
}

/** Whether a person can be asked before it happens. On PermissionRequest that happens anyway. */
export function canAsk(event: HookEvent): boolean {
  return canBlock(event) && event.name !== 'PermissionRequest' && resolveEvent(event.name).deny === 'block'
}

/** Advice for authors. */
export function howToAsk(event: HookEvent): string {
  if (honouredOn(event).fields?.permissionDecision) {
    return `to ask, print ${specific(event, '"permissionDecision":"ask","permissionDecisionReason":"…"')}`
  }
  if (canAsk(event)) return 'to ask, print {"action":"ask_user","approvalPrompt":"…"}'
  return `nobody can be asked on ${event.name}`
}

/** A complaint with its advice, which is also there by itself. */
export function advised(what: string, how: string): { readonly text: string; readonly todo: string } {
  return { text: `${what}; ${how}`, todo: `${how.charAt(0).toUpperCase()}${how.slice(1)}.` }
}

/** Advice for authors. */
export function howToBlock(event: HookEvent): string {
  const { fields, exit2, decision, instead } = honouredOn(event)
  if (event.name === 'PermissionRequest') {
    return `to refuse, print ${specific(event, '"decision":{"behavior":"deny","message":"…"}')}`
  }
  if (fields?.permissionDecision) {
    return `to block, print ${specific(event, '"permissionDecision":"deny","permissionDecisionReason":"…"')}`
  }
  if (decision) return 'to block, print {"decision":"block","reason":"…"}'
  if (exit2 === 'block') return 'to block, exit with 2 and write the reason to stderr'
  return instead ?? `nothing can be blocked on ${event.name}`
}

/** A hookSpecificOutput of this event, in JSON. */
export function specific({ name }: HookEvent, fields: string): string {
  return `{"hookSpecificOutput":{"hookEventName":${JSON.stringify(name)},${fields}}}`
}
