// Event names as files have them: any alias of a known event, or something that is none, with a guess at what was meant.

import { type EventKind, knownEvents, resolveEvent } from '../core/events.js'
import { shown } from '../core/text.js'

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

/** What to tell about a name that is no event. */
export function unknownEventText(name: string): string {
  const foreign = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined
  if (foreign) return `${name} is an event of another agent, so its hooks never run; here it is ${foreign}`
  const meant = nearest(name)
  return `there is no event ${shown(name)}, so its hooks never run${meant ? `; did you mean ${meant}?` : ''}`
}

/** A known event whose name differs by case, separators or two letters. */
function nearest(name: string): string | undefined {
  const wanted = fold(name)
  if (wanted.length < 3 || wanted.length > 40) return undefined
  let best: string | undefined
  let distance = wanted.length > 5 ? 3 : 1
  for (const kind of knownEvents()) {
    for (const alias of [kind.name, ...kind.aliases]) {
      const away = editDistance(wanted, fold(alias))
      if (away < distance) {
        best = kind.name
        distance = away
      }
    }
  }
  return best
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Letters to add, drop or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
