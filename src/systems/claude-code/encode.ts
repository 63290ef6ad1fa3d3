// What a Claude-format hook reads on stdin.

import { type EventKind, resolveEvent } from '../../core/events/events.js'
import type { HookEvent } from '../../core/hooks/hook.js'

/** The names seed 001 reads beside Claude Code's own; `timestamp` is in the data already. */
const ALSO_SENT: Readonly<Record<string, string>> = { PostToolUse: 'tool_result', SessionStart: 'trigger' }

/** The payload as Claude Code sends it, with seed 001's timestamp, tool_result and trigger beside; one line. */
export function encode(event: HookEvent): string {
  const kind = resolveEvent(event.name)
  const fields = Object.entries(event.data).filter(([key]) => isSent(kind, key))
  return `${JSON.stringify({ ...circumstances(event), ...Object.fromEntries(fields) })}\n`
}

/** For data that came without them: a hook needs at least to know what happened. */
function circumstances({ name, session }: HookEvent): object {
  return {
    ...(session && { session_id: session.id }),
    ...(session?.cwd !== undefined && { cwd: session.cwd }),
    hook_event_name: name,
  }
}

/** Of a field under two names only those go out that somebody reads: a prompt need not be sent twice. */
function isSent(kind: EventKind, key: string): boolean {
  if (!kind.twins.some((names) => names.includes(key))) return true
  return key in kind.required || key in kind.optional || ALSO_SENT[kind.name] === key
}
