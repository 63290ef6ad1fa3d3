// Counts for the hooks of one session. They are in the session's state, or in one that all sessions of the project share.

import { textOf } from '../base/errors.js'
import { type Count, type Counted, type Counting, countIn } from '../hooks/count.js'
import type { SessionContext } from './session-context.js'
import type { SessionState } from './session-store.js'

/** No session has an empty id, so no session has this key. */
const OF_PROJECT = '\u0000hour'

/** For one fire: a hook that judges a changed call again does not count it twice. */
export function counterOf(session: SessionContext): Count {
  let known: Map<string, Promise<Counted>> | undefined
  return (counting) => {
    known ??= new Map()
    const name = JSON.stringify([counting.per, counting.key, counting.add ?? 1, counting.isOver])
    const before = known.get(name)
    if (before) return before
    const counted = countOnce(session, counting)
    known.set(name, counted)
    return counted
  }
}

async function countOnce({ store, info, engine }: SessionContext, counting: Counting): Promise<Counted> {
  let counted: Counted = { problem: 'the session store did not count' }
  const now = engine.now()
  const moment = { minute: Math.floor(now / 60_000), second: Math.floor(now / 1000) }
  const change = (state: SessionState): SessionState => {
    const made = countIn(state.counts, counting, { ...moment, turn: Math.max(1, state.turn) })
    counted = made.counted
    return made.counts === state.counts ? state : { ...state, counts: made.counts }
  }
  try {
    // Subagents count with their session.
    await store.mustUpdate(counting.per === 'hour' ? OF_PROJECT : info.id, change)
    return counted
  } catch (error) {
    return { problem: textOf(error) }
  }
}
