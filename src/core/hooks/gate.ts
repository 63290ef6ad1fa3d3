// Gates: hooks whose deny counts, because the event waits for it. Only this file decides which hooks these are.

import { type EventKind, resolveEvent } from '../events/events.js'
import type { Hook } from './hook.js'
import { kindRow } from './kinds.js'

/** The fields that decide, together with the event. */
type Standing = Pick<Hook, 'kind' | 'role' | 'detached' | 'observe' | 'mode'>

/** A gate of this event: its deny keeps the event from happening. Approvers are gates too. */
export function isGate(kind: EventKind, hook: Standing): boolean {
  return kind.deny === 'block' && isHeard(kind, hook)
}

/** A gate of this event, or a hook that can keep the agent going where it would stop. */
export function canRefuse(kind: EventKind, hook: Standing): boolean {
  return isGate(kind, hook) || (kind.deny === 'go-on' && isHeard(kind, hook))
}

/** Whether it can refuse anything at all. The user who trusted it relies on that. */
export function isGuard(hook: Standing & Pick<Hook, 'events'>): boolean {
  return hook.events === 'all' || [...hook.events].some((event) => canRefuse(resolveEvent(event), hook))
}

/** Some events take a deny only from hooks in Claude Code's format. */
export function mayDeny(kind: EventKind, hook: Pick<Hook, 'kind'>): boolean {
  return !kind.denyOnlyClaudeFormat || !kindRow(hook.kind).ownProtocol
}

/** The event waits for it, and it is neither a logger (`observe`) nor in shadow mode. */
function isHeard(kind: EventKind, { role, detached, observe, mode, kind: own }: Standing): boolean {
  return role !== 'observe' && !detached && !observe && mode !== 'shadow' && mayDeny(kind, { kind: own })
}
