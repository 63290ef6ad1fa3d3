// What a model's no does, by event: the one table. It is Claude Code's, but a deny that has a place to act is not lost.

import { type Diagnostic, HookError } from '../../core/base/errors.js'
import { shown } from '../../core/base/text.js'
import { resolveEvent } from '../../core/events/events.js'
import { abortTurn, deny, type HookResult, proceed } from '../../core/events/result.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Question } from './question.js'
import type { Reply } from './reply.js'

/**
 * - `deny`: what a deny is on this event (docs/events.md): the operation does not happen, or the reason goes to the model
 * - `end`: the turn ends
 * - `end-or-deny`: the turn ends, unless the hook says continueOnBlock
 * - `none`: nothing, loudly
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

/** PostToolUseFailure, TaskCreated, TaskCompleted, Stop, SubagentStop; and the events on which Claude Code knows no such hooks. */
const OTHERWISE: Effect = 'deny'

/** Whose reply it is. */
export interface Asker {
  readonly name: string
  readonly continueOnBlock: boolean
  /** `impossible` counts. */
  readonly givesUp: boolean
}

/** Throws ANSWER_INVALID for a yes that holds for a part only: who pads a call would choose the part. A no stays one. */
export function checkSeenWhole(reply: Reply, { leftOut }: Question, { name }: HookEvent): void {
  if (!reply.ok || leftOut === 0 || !mayRefuse(name)) return
  throw new HookError(
    'ANSWER_INVALID',
    `the model said yes, but it saw only a part of what happened: ${leftOut} bytes in the middle were left out`,
    {
      hint: 'Let a hook that reads all of it decide on calls as long as this: a command, a server or a function.',
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
  const reason = reply.reason ?? `The model that hook ${name} asks said no, and gave no reason`
  if (reply.impossible && givesUp && STOPS.has(event.name)) return givenUp(reason)
  const effect = EFFECTS.get(event.name) ?? OTHERWISE
  if (effect === 'none') {
    note({
      code: 'verdict-ignored',
      text: `its no (${shown(reason)}) decides nothing on ${event.name}; ${INSTEAD}`,
    })
    return proceed()
  }
  const ends = effect === 'end' || (effect === 'end-or-deny' && !continueOnBlock)
  return ends ? abortTurn(reason) : deny(reason)
}

const INSTEAD = 'to refuse a call by a model, hook PreToolUse'

const STOPS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop'])

/** What must hold can never hold: to go on would be for nothing. */
function givenUp(reason: string): HookResult {
  return proceed({
    userMessage: `What must hold before it stops cannot: ${reason}`,
    userMessageLevel: 'warning',
  })
}
