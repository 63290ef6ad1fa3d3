// The payload that a Claude-format hook reads on stdin.

import { type EventKind, resolveEvent } from '../../core/events/events.js'
import type { HookEvent } from '../../core/hooks/hook.js'

/** Alternative field names that seed 001's hooks read. `timestamp` is already in the data. */
const ALSO_SENT: Readonly<Record<string, string>> = { PostToolUse: 'tool_result', SessionStart: 'trigger' }

/** One line: the payload as Claude Code sends it, plus seed 001's timestamp, tool_result and trigger. */
export function encode(event: HookEvent): string {
  const kind = resolveEvent(event.name)
  const fields = Object.entries(event.data).filter(([key]) => isSent(kind, key))
  return `${JSON.stringify({ ...circumstances(event), ...Object.fromEntries(fields) })}\n`
}

/** Fills in what the data lacks, because a hook must at least know what happened. */
function circumstances({ name, session }: HookEvent): object {
  return {
    ...(session && { session_id: session.id }),
    ...(session?.cwd !== undefined && { cwd: session.cwd }),
    hook_event_name: name,
  }
}

/** A field with two names is only sent under the names that hooks read, so that a prompt is not sent twice. */
function isSent(kind: EventKind, key: string): boolean {
  if (!kind.twins.some((names) => names.includes(key))) return true
  return key in kind.required || key in kind.optional || ALSO_SENT[kind.name] === key
}
