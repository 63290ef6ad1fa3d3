// The entries that Carabiner registers in Claude Code, and how to tell them from other people's entries.

import { CATALOGUE } from '../../core/events/catalogue.js'
import { resolveEvent } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import { ownCommand, WITHOUT_CODE } from '../own-command.js'
import { type PackName, packName } from '../pack-names.js'
import { claudeCode } from './host.js'

/** A standard hook as Claude Code should run it. */
interface PackRow {
  readonly event: string
  readonly hook: PackName
  readonly choice: Choice
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
  { event: 'SessionStart', hook: 'session-start', choice: 'start', remembers: true, timeout: 10 },
  { event: 'Stop', hook: 'stop', choice: 'stop', remembers: true, timeout: 120 },
  // The guard also blocks if Node or Carabiner moved and it cannot run.
  { event: 'PreToolUse', hook: 'pre-tool-use', choice: 'guard', matcher: '*', onFailure: 'block' },
  { event: 'PostToolUse', hook: 'post-tool-use', choice: 'memory', remembers: true, matcher: '*' },
  { event: 'UserPromptSubmit', hook: 'workflow-classification-reminder', choice: 'reminder', timeout: 5 },
  {
    event: 'UserPromptSubmit',
    hook: 'user-prompt-submit',
    choice: 'preferences',
    remembers: true,
    timeout: 10,
  },
  { event: 'PreCompact', hook: 'pre-compact', choice: 'transcript', timeout: 30 },
  { event: 'SessionEnd', hook: 'session-end', choice: 'memory', remembers: true, timeout: 30 },
]

/** Events of the catalogue that get no entry, and why. */
const NOT_REGISTERED: Readonly<Record<string, string>> = {
  ModelRequest: 'Claude Code has no such event',
  ModelResponse: 'Claude Code has no such event',
  WorktreeCreate: 'a hook on it must create the worktree itself, instead of git',
  WorktreeRemove: 'belongs to WorktreeCreate',
  MessageDisplay: 'would start a process for every piece of text shown',
}

export const ENGINE_EVENTS: readonly string[] = Object.keys(CATALOGUE).filter(
  (event) => !Object.hasOwn(NOT_REGISTERED, event),
)

/** An item for a list in settings.json: a group with one handler. */
export interface Group {
  readonly matcher?: string
  readonly hooks: readonly [Handler]
}

interface Handler {
  readonly type: 'command'
  readonly command: string
  readonly timeout?: number
  readonly onFailure?: 'block'
}

export interface Entry {
  readonly event: string
  readonly group: Group
}

/** The program that Claude Code starts. Absolute paths. */
export interface Program {
  readonly node: string
  readonly script: string
  /** The client of the service. Without it, every event starts Node. */
  readonly clip?: string
}

/** Entries for the standard hooks. Default: all of them. */
export function packEntries(program: Program, chosen: readonly Choice[] = ALL_CHOICES): readonly Entry[] {
  const memory = chosen.includes('memory')
  return PACK_TABLE.filter(({ choice }) => chosen.includes(choice)).map(
    ({ event, hook, matcher, timeout, onFailure, remembers }) => ({
      event,
      group: {
        ...(matcher !== undefined && { matcher }),
        hooks: [
          {
            type: 'command',
            command: commandLine(program, ['hook', hook, ...(memory && remembers ? ['--memory'] : [])]),
            ...(timeout !== undefined && { timeout }),
            ...(onFailure !== undefined && { onFailure }),
          },
        ],
      },
    }),
  )
}

/** Entries for the project's hooks, one per event. */
export function engineEntries(program: Program): readonly Entry[] {
  return ENGINE_EVENTS.map((event) => ({
    event,
    group: {
      hooks: [
        {
          type: 'command',
          command: commandLine(program, ['fire', '--as', 'claude-code', event]),
          // The same as in `fire`, which answers a little earlier.
          timeout: claudeCode.timeouts?.[event] ?? claudeCode.timeout,
          // A gate that cannot be asked is closed, also if the program is gone or Claude Code timed out.
          ...(closesOnFailure(resolveEvent(event), 'byEvent', false) && { onFailure: 'block' }),
        },
      ],
    },
  }))
}

/** For `sh -c`. All paths are in double quotes. Clears variables that load code into Node, because a project may set them. */
function commandLine({ clip, node, script }: Program, words: readonly string[]): string {
  const quoted = (path: string) => `"${path.replace(/[\\"$`]/g, '\\$&')}"`
  const files = [...(clip === undefined ? [] : [clip]), node, script]
  return [...WITHOUT_CODE, ...files.map(quoted), ...words].join(' ')
}

// ---- whose entry is it? ---------------------------------------------------------------------------------------

/** Whether some version of Carabiner registered the handler. An entry for an event that setup leaves out belongs to somebody else. */
export function isOurs(handler: unknown): boolean {
  const own = ownCommand(handler)
  return own !== undefined && (own.call === 'hook' || ENGINE_EVENTS.includes(own.name))
}
