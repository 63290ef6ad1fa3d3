// Finds names in the wrong place and unknown events: hooks and settings that would otherwise be lost silently.

import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import { type EventKind, eventNames, nearestEvent, resolveEvent } from '../core/events/events.js'
import { type JsonPath, under } from '../files/json-text.js'
import { type Reading, say } from './hook-group.js'
import { looksLikeSetting } from './merged-settings.js'
import type { Advice } from './notes.js'

type Fields = { readonly [key: string]: unknown }

/** Reports events that are beside `hooks` instead of under it. */
export function noteStrayEvents(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (name === 'hooks' || !Array.isArray(value) || !knownEvent(name) || !value.some(looksLikeGroup))
      continue
    const text = `${name} beside "hooks" was left out: events go under "hooks"`
    const todo = `Move ${shown(name)} into "hooks": {"hooks": {${shown(name)}: …}}.`
    say(reading, 'entry-invalid', text, under(at, name), { todo })
  }
}

/** Reports settings that are beside `hooks` instead of under it. */
export function noteStraySettings(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const key of Object.keys(fields)) {
    const isServers = key === 'mcpServers' && isObject(fields[key])
    if (!isServers && !looksLikeSetting(key, fields[key])) continue
    const right = isServers ? 'mcp_servers' : key
    const text = `${shown(key)} beside "hooks" is ignored: settings go under "hooks", as in {"hooks": {"${right}": …}}`
    const todo = `Move ${shown(key)} into "hooks": {"hooks": {"${right}": …}}.`
    say(reading, 'unknown-key', text, under(at, key), { todo })
  }
}

/** True for hooks under a name such as `_PreToolUse`: somebody may have switched them off without telling others. */
export function holdsGroups(value: unknown): boolean {
  return Array.isArray(value) && value.some(looksLikeGroup)
}

function looksLikeGroup(value: unknown): boolean {
  return isObject(value) && (Object.hasOwn(value, 'hooks') || Object.hasOwn(value, 'command'))
}

// ---- names that are not events --------------------------------------------------------------------------------

/** Undefined for an unknown name: a file cannot define events. */
export function knownEvent(name: string): EventKind | undefined {
  const kind = name === '' ? undefined : resolveEvent(name)
  return kind?.custom ? undefined : kind
}

/** Events of Cursor, Gemini CLI, Copilot CLI and Kiro that have a different name here. */
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

/** A message about a name that is not an event, and the event it probably means. */
export interface UnknownName extends Advice {
  readonly text: string
}

/** For a name under `hooks` that is neither an event nor a setting. Suggests whichever is nearer. */
export function unknownName(name: string, settings: readonly string[], isEventLike: boolean): UnknownName {
  const meant = isEventLike ? undefined : nearest(name, [...settings, ...eventNames().keys()])
  if (meant === undefined || !settings.includes(meant)) return unknownEvent(name)
  return unknownSetting(name, meant)
}

export function unknownSetting(name: string, meant: string | undefined): UnknownName {
  const text = `there is no setting ${shown(name)}`
  if (meant === undefined) return { text, todo: `Remove ${shown(name)}.` }
  return { text: `${text}; did you mean ${meant}?`, todo: `Write ${meant} in place of ${shown(name)}.` }
}

const EVENTS = 'PreToolUse, PostToolUse, UserPromptSubmit, SessionStart or Stop'

export function unknownEvent(name: string): UnknownName {
  const foreign = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined
  if (foreign) {
    const text = `${name} is another agent’s event, so its hooks never run; here it is called ${foreign}`
    return { text, meant: foreign, todo: `Write ${foreign} in place of ${name}.` }
  }
  const meant = nearestEvent(name)
  const text = `there is no event ${shown(name)}, so its hooks never run`
  if (meant) return { text: `${text}; did you mean ${meant}?`, meant, todo: `Write ${meant}.` }
  return { text, todo: `Write the name of an event, such as ${EVENTS}; carabiner docs events lists all.` }
}
