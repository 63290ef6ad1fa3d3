// The actions a hook may answer, one row each. Types, the parser, the merge and the exit codes derive from this table.

import type { DenyEffect } from './catalogue.js'

interface ActionRow {
  /** The highest rank wins; a lower verdict never hides a higher one. Absent: the action decides nothing. */
  readonly rank?: number
  /** The field that the action requires. */
  readonly needs?: 'data' | 'contextInjection' | 'response'
  /** The verdict acts only on events where a deny has one of these effects. Absent: on every event. */
  readonly actsWhereDeny?: readonly DenyEffect[]
  /** The verdict acts only on events that take an answer in place of the operation. */
  readonly actsWhereRespond?: true
  /** Ends a lane, keeps later steps from starting, and stands even if another field of the answer is malformed. */
  readonly ends?: true
  /** Ends more than the operation; callTool and callModel reject with this code. */
  readonly aborts?: 'TURN_ABORTED' | 'AGENT_ABORTED'
  /** The exit code of `carabiner fire` for this result. */
  readonly exit?: number
  /** The result of the event in words. */
  readonly said?: string
  /** What it does, in words that follow "would". */
  readonly does?: string
  /** How it is displayed: as nothing special, done, waiting for somebody, or refused. */
  readonly tone: ActionTone
}

export type ActionTone = 'plain' | 'good' | 'open' | 'bad'

export const ACTIONS = {
  continue: { rank: 0, exit: 0, said: 'went on', tone: 'plain' },
  deny: {
    rank: 3,
    ends: true,
    actsWhereDeny: ['block', 'go-on'],
    exit: 2,
    said: 'denied',
    does: 'deny',
    tone: 'bad',
  },
  modify: { needs: 'data', tone: 'good' },
  inject_context: { needs: 'contextInjection', tone: 'good' },
  ask_user: {
    rank: 2,
    actsWhereDeny: ['block'],
    exit: 3,
    said: 'waits for a person',
    does: 'ask',
    tone: 'open',
  },
  respond: {
    rank: 1,
    needs: 'response',
    actsWhereRespond: true,
    exit: 0,
    said: 'answered',
    does: 'answer instead',
    tone: 'good',
  },
  abort_turn: {
    rank: 4,
    ends: true,
    aborts: 'TURN_ABORTED',
    exit: 4,
    said: 'ended the turn',
    does: 'end the turn',
    tone: 'bad',
  },
  hard_abort: {
    rank: 5,
    ends: true,
    aborts: 'AGENT_ABORTED',
    exit: 4,
    said: 'ended the agent',
    does: 'end the agent',
    tone: 'bad',
  },
} as const satisfies Record<string, ActionRow>

type Actions = typeof ACTIONS
export type Action = keyof Actions
/** The actions that decide something, and so can be the result of an event. */
export type Verdict = { [A in Action]: Actions[A] extends { rank: number } ? A : never }[Action]

/** The possible results of an event. */
export const VERDICTS: readonly Verdict[] = (Object.keys(ACTIONS) as Action[]).filter(isVerdict)

export function isVerdict(action: Action): action is Verdict {
  return actionRow(action).rank !== undefined
}

export function isAction(value: unknown): value is Action {
  return typeof value === 'string' && Object.hasOwn(ACTIONS, value)
}

export function actionRow(action: Action): ActionRow {
  return ACTIONS[action]
}

export function rankOf(verdict: Verdict): number {
  return ACTIONS[verdict].rank
}

/** A deny or an abort. */
export function endsChain(action: Action): boolean {
  return actionRow(action).ends === true
}

/** A deny, an abort or an ask. These count however they were given. */
export function isClosing(action: Action): boolean {
  return endsChain(action) || action === 'ask_user'
}
