// Counts for the hooks of one session. They are in its state, in one that all sessions of the project share, or with the fleet.

import { randomUUID } from 'node:crypto'
import { textOf } from '../base/errors.js'
import { inTime } from '../base/promise.js'
import { type Count, type Counted, type Counting, countIn, sharedIdIn } from '../hooks/count.js'
import { EMBEDDER_TIMEOUT_MS } from './engine.js'
import type { SessionContext } from './session-context.js'
import type { SessionState } from './session-store.js'

/** No session has an empty id, so no session has this key. */
const OF_PROJECT = '\u0000hour'

/** The session that counts. */
type Counter = Pick<SessionContext, 'store' | 'info' | 'engine'>

/** For one fire: a hook that judges a changed call again does not count it twice. */
export function counterOf(session: Counter): Count {
  const known = new Map<string, Promise<Counted>>()
  const ids = new Map<string, Promise<string | undefined>>()
  return (counting) => {
    const { across, per, key, most, add = 1, isOver } = counting
    // The fleet need not know when a call is over: the next one gets another id.
    if (across !== 'fleet' || isOver)
      return once(known, [per, key, add, isOver], () => countHere(session, counting))
    return once(known, [per, key, add, across, most], async () => {
      const id = await once(ids, [key, add === 0], () => sharedId(session, counting))
      return id === undefined ? { isReached: false } : countShared(session, counting, id)
    })
  }
}

function once<T>(known: Map<string, Promise<T>>, what: unknown, work: () => Promise<T>): Promise<T> {
  const name = JSON.stringify(what)
  const begun = known.get(name) ?? work()
  known.set(name, begun)
  return begun
}

async function countHere({ store, info, engine }: Counter, counting: Counting): Promise<Counted> {
  let counted: Counted = { problem: 'the session store did not count' }
  const now = momentOf(engine.now())
  const change = (state: SessionState): SessionState => {
    const made = countIn(state.counts, counting, { ...now, turn: Math.max(1, state.turn) })
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

async function countShared(
  { engine }: Counter,
  { key, most, add = 1 }: Counting,
  id: string,
): Promise<Counted> {
  const { counters } = engine.embedder
  if (!counters) return { problem: 'this program does not count with a fleet' }
  try {
    const counted = await inTime(counters.count({ key, most, add, id }), EMBEDDER_TIMEOUT_MS)
    if ('problem' in counted) return { problem: String(counted.problem) }
    return typeof counted.isReached === 'boolean' ? counted : { problem: 'the answer says nothing' }
  } catch (error) {
    return { problem: textOf(error) }
  }
}

async function sharedId({ store, engine }: Counter, counting: Counting): Promise<string | undefined> {
  const fresh = randomUUID()
  let id: string | undefined = fresh
  const now = { ...momentOf(engine.now()), turn: 1 }
  try {
    await store.mustUpdate(OF_PROJECT, (state) => {
      const made = sharedIdIn(state.counts, counting, now, fresh)
      id = made.id
      return made.counts === state.counts ? state : { ...state, counts: made.counts }
    })
    return id
  } catch {
    // Without a memory here, a call that two programs judge counts twice, which is never too little.
    return fresh
  }
}

function momentOf(now: number): { readonly minute: number; readonly second: number } {
  return { minute: Math.floor(now / 60_000), second: Math.floor(now / 1000) }
}
