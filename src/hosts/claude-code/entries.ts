// What Carabiner registers in Claude Code, and how its own entries are told from those of others.

import { CATALOGUE } from '../../core/events/catalogue.js'
import { resolveEvent } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import { ownCommand, WITHOUT_CODE } from '../own-command.js'
import { type PackName, packName } from '../pack-names.js'
import { claudeCode } from './host.js'

/** A hook of the pack as Claude Code is to run it. */
interface PackRow {
  readonly event: string
  readonly hook: PackName
  readonly choice: Choice
  /** Takes part in memory, if that is chosen. */
  readonly remembers?: true
  readonly matcher?: '*'
  /** Seconds; absent: Claude Code's own. */
  readonly timeout?: number
  readonly onFailure?: 'block'
}

interface ChoiceRow {
  /** One line for the user. */
  readonly does: string
  /** Registered only if the user asks for it. */
  readonly isExtra?: true
  /** Choices that it cannot work without. */
  readonly needs?: readonly string[]
}

/** What a user chooses from, in the order of the list. */
export const CHOICES = {
  guard: { does: 'Blocks commands that destroy work or change the guard; asks when unsure.' },
  stop: { does: 'Keeps the agent working while you lock it: carabiner hook stop --lock.' },
  start: { does: 'Tells the agent its branch and changes, and you what is set up wrong.' },
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

/** With what they need, in the order of the table. */
export function completed(chosen: readonly Choice[]): readonly Choice[] {
  const all = new Set<string>([...chosen, ...chosen.flatMap((choice) => rowOf(choice).needs ?? [])])
  return ALL_CHOICES.filter((choice) => all.has(choice))
}

/** What the registered hooks were chosen as. */
export function choicesOf(hooks: readonly string[]): readonly Choice[] {
  const names = hooks.map(packName)
  return ALL_CHOICES.filter((choice) =>
    PACK_TABLE.some((row) => row.choice === choice && names.includes(row.hook)),
  )
}

export const ALL_CHOICES = Object.keys(CHOICES) as readonly Choice[]
export const USUAL_CHOICES = ALL_CHOICES.filter((choice) => !rowOf(choice).isExtra)

/** In this order, which counts: the reminder comes before the preferences. */
export const PACK_TABLE: readonly PackRow[] = [
  { event: 'SessionStart', hook: 'session-start', choice: 'start', remembers: true, timeout: 10 },
  { event: 'Stop', hook: 'stop', choice: 'stop', remembers: true, timeout: 120 },
  // The guard is closed, too, where Node or Carabiner moved, and nothing of it can run.
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

/** Why no entry is made for an event of the catalogue. */
const NOT_REGISTERED: Readonly<Record<string, string>> = {
  ModelRequest: 'Claude Code has no such event',
  ModelResponse: 'Claude Code has no such event',
  WorktreeCreate: 'whoever listens must make the worktree, in place of git',
  WorktreeRemove: 'belongs to WorktreeCreate',
  MessageDisplay: 'would start a process for every piece of text that is shown',
}

export const ENGINE_EVENTS: readonly string[] = Object.keys(CATALOGUE).filter(
  (event) => !Object.hasOwn(NOT_REGISTERED, event),
)

/** What is put into a list of settings.json: a group with one handler. */
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

/** The program that Claude Code is to start: absolute paths. */
export interface Program {
  readonly node: string
  readonly script: string
}

/** Hooks of the pack; default: all of them. */
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

/** One for each event, for the hooks of the project. */
export function engineEntries(program: Program): readonly Entry[] {
  return ENGINE_EVENTS.map((event) => ({
    event,
    group: {
      hooks: [
        {
          type: 'command',
          command: commandLine(program, ['fire', event, '--as', 'claude-code']),
          // As `fire` has it, which answers before.
          timeout: claudeCode.timeouts?.[event] ?? claudeCode.timeout,
          // A gate that cannot be asked is closed: also where the program is gone, or Claude Code ran out of patience.
          ...(closesOnFailure(resolveEvent(event), 'byEvent', false) && { onFailure: 'block' }),
        },
      ],
    },
  }))
}

/** For `sh -c`; paths in double quotes, also plain ones. A project may set variables that load code into Node. */
function commandLine({ node, script }: Program, words: readonly string[]): string {
  const quoted = (path: string) => `"${path.replace(/[\\"$`]/g, '\\$&')}"`
  return [...WITHOUT_CODE, quoted(node), quoted(script), ...words].join(' ')
}

// ---- whose entry is it? ---------------------------------------------------------------------------------------

/** Whether a handler is one that some Carabiner registered. An entry for an event that setup leaves out is somebody's own. */
export function isOurs(handler: unknown): boolean {
  const own = ownCommand(handler)
  return own !== undefined && (own.call === 'hook' || ENGINE_EVENTS.includes(own.name))
}
