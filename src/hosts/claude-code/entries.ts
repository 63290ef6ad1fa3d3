// What Carabiner registers in Claude Code, and how its own entries are told from those of others.

import { CATALOGUE } from '../../core/events/catalogue.js'
import { resolveEvent } from '../../core/events/events.js'
import { closesOnFailure } from '../../core/hooks/hook.js'
import { ownCommand, WITHOUT_CODE } from '../own-command.js'
import type { PackName } from '../pack-names.js'
import { claudeCode } from './host.js'

/** A hook of the pack as Claude Code is to run it. */
interface PackRow {
  readonly event: string
  readonly hook: PackName
  readonly matcher?: '*'
  /** Seconds; absent: Claude Code's own. */
  readonly timeout?: number
  readonly onFailure?: 'block'
}

/** In this order, which counts: the reminder comes before the preferences. */
export const PACK_TABLE: readonly PackRow[] = [
  { event: 'SessionStart', hook: 'session-start', timeout: 10 },
  { event: 'Stop', hook: 'stop', timeout: 120 },
  // The guard is closed, too, where Node or Carabiner moved, and nothing of it can run.
  { event: 'PreToolUse', hook: 'pre-tool-use', matcher: '*', onFailure: 'block' },
  { event: 'PostToolUse', hook: 'post-tool-use', matcher: '*' },
  { event: 'UserPromptSubmit', hook: 'workflow-classification-reminder', timeout: 5 },
  { event: 'UserPromptSubmit', hook: 'user-prompt-submit', timeout: 10 },
  { event: 'PreCompact', hook: 'pre-compact', timeout: 30 },
  { event: 'SessionEnd', hook: 'session-end', timeout: 30 },
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

export function packEntries(program: Program): readonly Entry[] {
  return PACK_TABLE.map(({ event, hook, matcher, timeout, onFailure }) => ({
    event,
    group: {
      ...(matcher !== undefined && { matcher }),
      hooks: [
        {
          type: 'command',
          command: commandLine(program, ['hook', hook]),
          ...(timeout !== undefined && { timeout }),
          ...(onFailure !== undefined && { onFailure }),
        },
      ],
    },
  }))
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
