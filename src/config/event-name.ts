// Event names as files have them: any alias of a known event, or something that is none, with a guess at what was meant.

import { nearest, shown } from '../core/base/text.js'
import { type EventKind, knownEvents, resolveEvent } from '../core/events/events.js'

/** Undefined for a name that no known event goes by: a file cannot bring events of its own. */
export function knownEvent(name: string): EventKind | undefined {
  const kind = name === '' ? undefined : resolveEvent(name)
  return kind?.custom ? undefined : kind
}

/** Events of Cursor, Gemini CLI, Copilot and Kiro that have no like-named one here. */
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

/** What to tell about a name under `hooks` that is neither an event nor a setting; the nearer of the two is meant. */
export function unknownNameText(name: string, settings: readonly string[], isEventLike: boolean): string {
  const meant = isEventLike ? undefined : nearest(name, [...settings, ...eventNames().keys()])
  if (meant === undefined || !settings.includes(meant)) return unknownEventText(name)
  return `there is no setting ${shown(name)}; did you mean ${meant}?`
}

/** What to tell about a name that is no event. */
export function unknownEventText(name: string): string {
  const foreign = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined
  if (foreign) return `${name} is an event of another agent, so its hooks never run; here it is ${foreign}`
  const meant = nearestEvent(name)
  return `there is no event ${shown(name)}, so its hooks never run${meant ? `; did you mean ${meant}?` : ''}`
}

/** A known event, by any of its names. */
function nearestEvent(name: string): string | undefined {
  const names = eventNames()
  return names.get(nearest(name, names.keys()) ?? '')
}

/** Every name, with the canonical one. */
function eventNames(): ReadonlyMap<string, string> {
  return new Map(knownEvents().flatMap((kind) => [kind.name, ...kind.aliases].map((one) => [one, kind.name])))
}
