// Where an event stands: agent, turn, session. What the protocol calls `meta`, with its Go-cased names.

import type { Data, Json } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'

/** Source is the point in the turn that speaks: `turn.tool.before`. */
export function metaOf({ data, session }: HookEvent, source: string): Data {
  return {
    AgentID: text(data.agent_id),
    TurnID: text(data.turn_id, session?.turnId),
    ParentTurnID: text(data.parent_turn_id, session?.parentTurnId),
    SessionKey: text(session?.id, data.session_id),
    Iteration: session?.iteration ?? 0,
    TracePath: 'runTurn',
    Source: source,
  }
}

/** The first that is a text; a Go program expects one. */
export function text(...values: readonly (Json | undefined)[]): string {
  return values.find((value) => typeof value === 'string') ?? ''
}
