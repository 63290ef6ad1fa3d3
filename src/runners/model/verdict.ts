// The effect of a model's no on each event. The table is Claude Code's, except that a deny that can have an effect is never lost.

import { type Diagnostic, HookError } from '../../core/base/errors.js'
import { shown } from '../../core/base/text.js'
import { resolveEvent } from '../../core/events/events.js'
import { abortTurn, deny, type HookResult, proceed } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Question } from './question.js'
import type { Reply } from './reply.js'

/**
 * - `deny`: a deny as docs/reference/events.md has it: the operation does not happen, or the reason goes to the model
 * - `end`: the turn ends
 * - `end-or-deny`: the turn ends, unless the hook says continueOnBlock
 * - `none`: nothing happens, with a note
 */
type Effect = 'deny' | 'end' | 'end-or-deny' | 'none'

const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ['PreToolUse', 'end-or-deny'],
  ['PostToolUse', 'end-or-deny'],
  ['TeammateIdle', 'end-or-deny'],
  ['PostToolBatch', 'end'],
  ['UserPromptSubmit', 'end'],
  ['UserPromptExpansion', 'end'],
  ['PermissionRequest', 'none'],
  ['PermissionDenied', 'none'],
])

/** Includes PostToolUseFailure, TaskCreated, TaskCompleted, Stop, SubagentStop, and events on which Claude Code has no such hooks. */
const OTHERWISE: Effect = 'deny'

/** The hook that asked. */
export interface Asker {
  readonly name: string
  readonly continueOnBlock: boolean
  /** A reply of `impossible` counts. */
  readonly givesUp: boolean
}

/** Throws ANSWER_INVALID for a yes to only a part of the payload, because an attacker could choose that part by padding. A no stays a no. */
export function checkSeenWhole(reply: Reply, { leftOut }: Question, { name }: HookEvent): void {
  if (!reply.ok || leftOut === 0 || !mayRefuse(name)) return
  throw new HookError(
    'ANSWER_INVALID',
    `the model said yes, but it only saw a part of the event: ${leftOut} bytes in the middle were left out`,
    {
      hint: 'For calls this long, use a hook that reads all of it: a command, a server or a function.',
    },
  )
}

function mayRefuse(event: string): boolean {
  return EFFECTS.get(event) !== 'none' && resolveEvent(event).deny !== 'none'
}

export function verdictOf(
  reply: Reply,
  event: HookEvent,
  { name, continueOnBlock, givesUp }: Asker,
  note: (d: Diagnostic) => void,
): HookResult {
  if (reply.ok) return proceed()
  const reason = reply.reason ?? `The model that hook ${name} asks said no without a reason`
  if (reply.impossible && givesUp && STOPS.has(event.name)) return givenUp(reason)
  const effect = EFFECTS.get(event.name) ?? OTHERWISE
  if (effect === 'none') {
    note({
      code: 'verdict-ignored',
      text: `its no (${shown(reason)}) has no effect on ${event.name}; ${INSTEAD}`,
    })
    return proceed()
  }
  const ends = effect === 'end' || (effect === 'end-or-deny' && !continueOnBlock)
  return ends ? abortTurn(reason) : deny(reason)
}

const INSTEAD = 'to let a model refuse a call, use PreToolUse'

const STOPS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop'])

/** The condition can never hold, so continuing would be useless. */
function givenUp(reason: string): HookResult {
  return proceed({
    userMessage: `The condition for stopping can never be met: ${reason}`,
    userMessageLevel: 'warning',
  })
}
