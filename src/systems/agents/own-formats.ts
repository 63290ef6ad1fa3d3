// Claude Code's format and ours, described like those of other agents, so that hooks can be carried over to and from them.

import { CATALOGUE, type EventRow } from '../../core/events/catalogue.js'
import type { AgentEvent, AgentSystem } from './agent-system.js'
import { CLAUDE_KEYS } from './claude-like.js'

const LIKE_CLAUDE = {
  layout: 'groups',
  unit: 'seconds',
  tools: {},
  matching: 'list',
  payload: ({ data }) => data,
  answer: (reply) => reply,
} as const satisfies Partial<AgentSystem>

function eventsWhere(has: (row: EventRow) => boolean): Readonly<Record<string, AgentEvent>> {
  const rows = Object.entries<EventRow>(CATALOGUE).filter(([, row]) => has(row))
  return Object.fromEntries(rows.map(([name]) => [name, { to: name }]))
}

export const claudeCode: AgentSystem = {
  ...LIKE_CLAUDE,
  name: 'claude-code',
  title: 'Claude Code',
  file: '.claude/settings.json',
  isAt: /\/\.claude(?:-plugin)?\//,
  keys: CLAUDE_KEYS.filter((key) => key !== 'env'),
  timeout: 600,
  events: eventsWhere(({ notInClaudeCode }) => !notInClaudeCode),
  env: ({ projectDir }) => ({ CLAUDE_PROJECT_DIR: projectDir }),
}

export const carabiner: AgentSystem = {
  ...LIKE_CLAUDE,
  name: 'carabiner',
  title: 'Carabiner',
  file: '.amplifier/hooks/hooks.json',
  isAt: /\/\.amplifier\//,
  keys: CLAUDE_KEYS,
  timeout: 30,
  events: eventsWhere(() => true),
  env: ({ projectDir }) => ({ CLAUDE_PROJECT_DIR: projectDir }),
}
