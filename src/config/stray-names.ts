// Names in the wrong place and names of unknown events: hooks and settings that would be lost silently.

import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import { type EventKind, eventNames, nearestEvent, resolveEvent } from '../core/events/events.js'
import { type Reading, say } from './hook-group.js'
import { type JsonPath, under } from './json-text.js'
import { looksLikeSetting } from './merged-settings.js'

type Fields = { readonly [key: string]: unknown }

/** Reports events beside `hooks` instead of under it. */
export function noteStrayEvents(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (name === 'hooks' || !Array.isArray(value) || !knownEvent(name) || !value.some(looksLikeGroup))
      continue
    const text = `${name} beside "hooks" was left out: events stand under "hooks"`
    say(reading, 'entry-invalid', text, under(at, name))
  }
}

/** Reports settings beside `hooks` instead of under it. */
export function noteStraySettings(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const key of Object.keys(fields)) {
    const isServers = key === 'mcpServers' && isObject(fields[key])
    if (!isServers && !looksLikeSetting(key, fields[key])) continue
    const right = isServers ? 'mcp_servers' : key
    const text = `${shown(key)} beside "hooks" is ignored: settings stand under "hooks", as {"hooks": {"${right}": …}}`
    say(reading, 'unknown-key', text, under(at, key))
  }
}

/** Finds hooks under a name such as `_PreToolUse`: somebody may have switched them off without others knowing. */
export function holdsGroups(value: unknown): boolean {
  return Array.isArray(value) && value.some(looksLikeGroup)
}

function looksLikeGroup(value: unknown): boolean {
  return isObject(value) && (Object.hasOwn(value, 'hooks') || Object.hasOwn(value, 'command'))
}

// ---- names that are no event ----------------------------------------------------------------------------------

/** Undefined for a name of no known event: a file cannot define events. */
export function knownEvent(name: string): EventKind | undefined {
  const kind = name === '' ? undefined : resolveEvent(name)
  return kind?.custom ? undefined : kind
}

/** Events of Cursor, Gemini CLI, Copilot and Kiro whose names we do not have. */
const FOREIGN: Readonly<Record<string, string>> = {
  beforeShellExecution: 'PreToolUse',
  beforeMCPExecution: 'PreToolUse',
  beforeReadFile: 'PreToolUse',
  afterShellExecution: 'PostToolUse',
  afterMCPExecution: 'PostToolUse',
  afterFileEdit: 'PostToolUse',
  beforeSubmitPrompt: 'UserPromptSubmit',
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  BeforeAgent: 'UserPromptSubmit',
  AfterAgent: 'Stop',
  BeforeModel: 'ModelRequest',
  AfterModel: 'ModelResponse',
  PreCompress: 'PreCompact',
  userPromptSubmitted: 'UserPromptSubmit',
  agentStop: 'Stop',
  errorOccurred: 'StopFailure',
  agentSpawn: 'SessionStart',
}

/** A name that is not an event, in a sentence, and the event that it most likely means. */
export interface UnknownName {
  readonly text: string
  readonly meant?: string | undefined
}

/** For a name under `hooks` that is neither an event nor a setting; it suggests the nearer of the two. */
export function unknownName(name: string, settings: readonly string[], isEventLike: boolean): UnknownName {
  const meant = isEventLike ? undefined : nearest(name, [...settings, ...eventNames().keys()])
  if (meant === undefined || !settings.includes(meant)) return unknownEvent(name)
  return { text: `there is no setting ${shown(name)}; did you mean ${meant}?` }
}

export function unknownEvent(name: string): UnknownName {
  const foreign = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined
  if (foreign) {
    const text = `${name} is an event of another agent, so its hooks never run; here it is ${foreign}`
    return { text, meant: foreign }
  }
  const meant = nearestEvent(name)
  const guess = meant ? `; did you mean ${meant}?` : ''
  return { text: `there is no event ${shown(name)}, so its hooks never run${guess}`, meant }
}
