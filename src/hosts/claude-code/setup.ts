// Claude Code: hooks in settings.json, in groups by event.

import { join } from 'node:path'
import { CATALOGUE } from '../../core/events/catalogue.js'
import { jsonForm } from '../forms/json-form.js'
import type { Entry, HostSetup } from '../host-setup.js'
import { hooksOff } from './hooks-off.js'

/** Events of the catalogue that get no entry, and why. */
const NOT_REGISTERED: Readonly<Record<string, string>> = {
  ModelRequest: 'Claude Code has no such event',
  ModelResponse: 'Claude Code has no such event',
  WorktreeCreate: 'a hook on it must create the worktree itself, instead of git',
  WorktreeRemove: 'belongs to WorktreeCreate',
  ToolsListed: 'is an event of carabiner mcp, not of Claude Code',
  MessageDisplay: 'would start a process for every piece of text shown',
}

export const ENGINE_EVENTS: readonly string[] = Object.keys(CATALOGUE).filter(
  (event) => !Object.hasOwn(NOT_REGISTERED, event),
)

const EVENTS = Object.fromEntries(ENGINE_EVENTS.map((event) => [event, event]))

const claudeSettings = jsonForm({ events: EVENTS, item: groupOf })

export interface Group {
  readonly matcher?: string
  readonly hooks: readonly [Omit<Entry, 'event' | 'matcher'> & { readonly type: 'command' }]
}

export function groupOf({ matcher, command, timeout, onFailure }: Entry): Group {
  return {
    ...(matcher !== undefined && { matcher }),
    hooks: [
      {
        type: 'command',
        command,
        ...(timeout !== undefined && { timeout }),
        ...(onFailure !== undefined && { onFailure }),
      },
    ],
  }
}

const FILE = { name: 'settings.json', form: claudeSettings }

export const setup: HostSetup = {
  programs: ['claude'],
  folder: '.claude',
  variable: 'CLAUDE_CONFIG_DIR',
  files: [FILE],
  project: { folder: '.claude', files: [FILE] },
  alsoReads: (project) => [{ path: join(project, '.claude', 'settings.local.json'), form: claudeSettings }],
  events: EVENTS,
  problems: (scene) => {
    const off = hooksOff(scene)
    return off ? [{ severity: 'broken', ...off }] : []
  },
}
