// Claude Code's format and ours, described like those of other agents, so that hooks can be carried over to and from them.

import { CATALOGUE, type EventRow } from '../../core/events/catalogue.js'
import { claudeCode as host } from '../claude-code/host.js'
import { type AgentSystem, systemOf } from './agent-system.js'
import type { HookFile } from './hook-file.js'
import { hookFileOf } from './hook-files.js'
import { CLAUDE_KEYS } from './like-claude.js'

const LIKE_CLAUDE = {
  layout: 'groups',
  unit: 'seconds',
  matching: 'list',
  speaksClaude: 'fully',
  payload: ({ data }) => data,
  answer: (reply) => reply,
} as const satisfies Partial<HookFile>

function eventsWhere(has: (row: EventRow) => boolean): Readonly<Record<string, string>> {
  const rows = Object.entries<EventRow>(CATALOGUE).filter(([, row]) => has(row))
  return Object.fromEntries(rows.map(([name]) => [name, name]))
}

export const claudeCode: AgentSystem = systemOf(
  { ...host, events: eventsWhere(({ notInClaudeCode }) => !notInClaudeCode) },
  {
    ...LIKE_CLAUDE,
    file: '.claude/settings.json',
    isAt: /\/\.claude(?:-plugin)?\//,
    keys: CLAUDE_KEYS.filter((key) => key !== 'env'),
  },
)

export const carabiner: AgentSystem = systemOf(
  {
    name: 'carabiner',
    title: 'Carabiner',
    projectVariable: 'CLAUDE_PROJECT_DIR',
    timeout: 30,
    events: eventsWhere(() => true),
  },
  {
    ...LIKE_CLAUDE,
    file: '.amplifier/hooks/hooks.json',
    isAt: /\/\.amplifier\//,
    keys: CLAUDE_KEYS,
    hasSequential: true,
  },
)

export const OWN_FORMATS: readonly AgentSystem[] = [carabiner, claudeCode]

/** Undefined if there is no such format. */
export async function formatNamed(name: string): Promise<AgentSystem | undefined> {
  return OWN_FORMATS.find((one) => one.name === name) ?? hookFileOf(name)
}
