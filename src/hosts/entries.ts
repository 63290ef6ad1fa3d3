// The commands that Carabiner registers with an agent, and how to tell them from other people's commands.

import { resolveEvent } from '../core/events/events.js'
import { closesOnFailure } from '../core/hooks/hook.js'
import { shellQuoted } from '../effects/shell/shell-quoted.js'
import { can } from './abilities.js'
import { claudeCode } from './claude-code/host.js'
import { ENGINE_EVENTS } from './claude-code/setup.js'
import type { Ability, Host } from './host.js'
import type { Entry } from './host-setup.js'
import { limitOf, shareOf } from './hosts.js'
import { ANSWERS_OR_REFUSES, ifGone, ownCommand, WITHOUT_CODE } from './own-command.js'
import { type PackName, packName } from './pack-names.js'

/** A standard hook as Claude Code should run it. */
interface PackRow {
  readonly event: string
  readonly hook: PackName
  readonly choice: Choice
  /** What the agent has to let it do. Absent: nothing. */
  readonly needs?: Ability
  /** Takes part in memory, if that is chosen. */
  readonly remembers?: true
  readonly matcher?: '*'
  /** Seconds. Absent: Claude Code's default. */
  readonly timeout?: number
  readonly onFailure?: 'block'
}

interface ChoiceRow {
  /** One line for the user. */
  readonly does: string
  /** Registered only if the user asks for it. */
  readonly isExtra?: true
  /** Other choices that it requires. */
  readonly needs?: readonly string[]
}

/** The choices a user has, in the order they are listed. */
export const CHOICES = {
  guard: { does: 'Blocks commands that destroy work or change the guard; asks when unsure.' },
  stop: { does: 'Keeps the agent working while you lock it: carabiner hook stop --lock.' },
  start: { does: 'Tells the agent the git branch and changes, and warns you if the setup is broken.' },
  preferences: { does: 'Adds your ~/.amplifier/preferences.md to every prompt.' },
  reminder: { does: 'Reminds the agent in every prompt to choose a workflow.', isExtra: true },
  memory: {
    does: 'Remembers sessions, agents and tool calls on this machine for the next session.',
    isExtra: true,
    needs: ['stop', 'start', 'preferences'],
  },
  transcript: { does: 'Saves the transcript before Claude Code compacts it.', isExtra: true },
} as const satisfies Readonly<Record<string, ChoiceRow>>

export type Choice = keyof typeof CHOICES

function rowOf(choice: Choice): ChoiceRow {
  return CHOICES[choice]
}

export function needsOf(choice: Choice): readonly Choice[] {
  const needs = rowOf(choice).needs ?? []
  return ALL_CHOICES.filter((one) => needs.includes(one))
}

/** Adds the choices that they need. In the order of the table. */
export function completed(chosen: readonly Choice[]): readonly Choice[] {
  const all = new Set([...chosen, ...chosen.flatMap(needsOf)])
  return ALL_CHOICES.filter((choice) => all.has(choice))
}

/** The choices behind the registered hooks. */
export function choicesOf(hooks: readonly string[]): readonly Choice[] {
  const names = hooks.map(packName)
  return ALL_CHOICES.filter((choice) =>
    PACK_TABLE.some((row) => row.choice === choice && names.includes(row.hook)),
  )
}

export const ALL_CHOICES = Object.keys(CHOICES) as readonly Choice[]
export const USUAL_CHOICES = ALL_CHOICES.filter((choice) => !rowOf(choice).isExtra)

/** The order matters: the reminder comes before the preferences. */
export const PACK_TABLE: readonly PackRow[] = [
  {
    event: 'SessionStart',
    hook: 'session-start',
    choice: 'start',
    needs: 'context',
    remembers: true,
    timeout: 10,
  },
  { event: 'Stop', hook: 'stop', choice: 'stop', needs: 'block', remembers: true, timeout: 120 },
  // The guard also blocks if Node or Carabiner moved and it cannot run.
  { event: 'PreToolUse', hook: 'pre-tool-use', choice: 'guard', matcher: '*', onFailure: 'block' },
  { event: 'PostToolUse', hook: 'post-tool-use', choice: 'memory', remembers: true, matcher: '*' },
  {
    event: 'UserPromptSubmit',
    hook: 'workflow-classification-reminder',
    choice: 'reminder',
    needs: 'context',
    timeout: 5,
  },
  {
    event: 'UserPromptSubmit',
    hook: 'user-prompt-submit',
    choice: 'preferences',
    needs: 'context',
    remembers: true,
    timeout: 10,
  },
  { event: 'PreCompact', hook: 'pre-compact', choice: 'transcript', timeout: 30 },
  { event: 'SessionEnd', hook: 'session-end', choice: 'memory', remembers: true, timeout: 30 },
]

/** The program that an agent starts. Absolute paths. */
export interface Program {
  readonly node: string
  readonly script: string
  /** The client of the service. Without it, every event starts Node. */
  readonly clip?: string
}

/** Where entries are registered. */
export interface Registering {
  readonly host: Host
  /** The canonical events that the host has. */
  readonly events: readonly string[]
}

const IN_CLAUDE_CODE: Registering = { host: claudeCode, events: ENGINE_EVENTS }

/** Entries for the standard hooks. Default: all of them. */
export function packEntries(
  program: Program,
  chosen: readonly Choice[] = ALL_CHOICES,
  registering = IN_CLAUDE_CODE,
): readonly Entry[] {
  const { host } = registering
  const memory = chosen.includes('memory')
  const rows = PACK_TABLE.filter((row) => chosen.includes(row.choice) && canWork(row, memory, registering))
  return rows.map(({ event, hook, matcher, timeout: seconds, onFailure, remembers }) => {
    const timeout = host === claudeCode ? seconds : (seconds ?? limitOf(host, event))
    const words = ['hook', hook, ...asHost(host, timeout), ...(memory && remembers ? ['--memory'] : [])]
    return {
      event,
      command: commandLine(program, host, event, words),
      ...(matcher !== undefined && { matcher }),
      ...(timeout !== undefined && { timeout }),
      ...(onFailure !== undefined && { onFailure }),
    }
  })
}

/** Memory needs no more than to be asked. */
function canWork(row: PackRow, memory: boolean, { host, events }: Registering): boolean {
  const { event, needs, remembers } = row
  if (!events.includes(event)) return false
  return needs === undefined || (memory && remembers === true) || can(host, event, needs)
}

/** Those of the choices that cannot do anything under the agent. */
export function idleChoices(chosen: readonly Choice[], registering: Registering): readonly Choice[] {
  const memory = chosen.includes('memory')
  return chosen.filter(
    (choice) => !PACK_TABLE.some((row) => row.choice === choice && canWork(row, memory, registering)),
  )
}

/** A payload of another agent may look like Claude Code's. */
function asHost(host: Host, timeout: number | undefined): readonly string[] {
  if (host === claudeCode || timeout === undefined) return []
  return ['--as', host.name, '--timeout', String(shareOf(timeout))]
}

/** Entries for the project's hooks, one per event. */
export function engineEntries(program: Program, { host, events } = IN_CLAUDE_CODE): readonly Entry[] {
  return events.map((event) => {
    const timeout = limitOf(host, event)
    const words = ['fire', '--as', host.name, '--timeout', String(shareOf(timeout)), event]
    return {
      event,
      command: commandLine(program, host, event, words),
      timeout,
      ...(isGate(event) && { onFailure: 'block' }),
    }
  })
}

/** Whether nothing may happen if the hooks cannot be asked. */
function isGate(event: string): boolean {
  return closesOnFailure(resolveEvent(event), 'byEvent', false)
}

/**
 * For a shell. All paths are in double quotes. Clears variables that load code into Node, because a project may set them. If
 * a file of it is gone, says so in one sentence, and closes gates: many agents go on if a hook cannot start.
 */
function commandLine(
  { clip, node, script }: Program,
  host: Host,
  event: string,
  words: readonly string[],
): string {
  const quoted = (path: string) => `"${path.replace(/[\\"$`]/g, '\\$&')}"`
  const files = [...(clip === undefined ? [] : [clip]), node, script].map(quoted)
  // Claude Code is told by `onFailure`.
  const runner = isGate(event) && host !== claudeCode ? ANSWERS_OR_REFUSES.map(shellQuoted) : []
  return [ifGone(files, isGate(event) ? 2 : 1), ...WITHOUT_CODE, ...runner, ...files, ...words].join(' ')
}

// ---- whose entry is it? ---------------------------------------------------------------------------------------

/** Whether some version of Carabiner registered the handler. An entry for an event that setup leaves out belongs to somebody else. */
export function isOurs(handler: unknown): boolean {
  const own = ownCommand(handler)
  if (own === undefined) return false
  return own.call === 'hook' || own.host !== claudeCode.name || ENGINE_EVENTS.includes(own.name)
}
