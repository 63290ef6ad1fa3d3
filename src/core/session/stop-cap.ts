// The stop cap: hooks that keep refusing a stop are overruled after a number of times.

import type { Settings } from './embedder.js'
import type { SessionContext } from './session-context.js'
import type { SessionState } from './session-store.js'

/** Counts a refused stop; returns a message if it was one too many. `again`: the host says that it is not the first. */
export async function countStop(
  session: SessionContext,
  state: SessionState,
  again: boolean,
): Promise<string | undefined> {
  const { settings } = session.engine
  let excess = stopExcess(settings, state)
  await session.store.update(session.key, (now) => {
    excess = stopExcess(settings, now)
    return excess ? now : { ...now, stopsInRow: now.stopsInRow + 1, stopsTotal: now.stopsTotal + 1 }
  })
  // Without a count, a hook that never lets go would keep the agent going for ever.
  if (again && !excess && session.store.failures > 0) {
    return 'Stop was refused before, and how often cannot be told because the session store failed; it is allowed now'
  }
  return excess
}

function stopExcess(settings: Settings, { stopsInRow, stopsTotal }: SessionState): string | undefined {
  const { stop_block_cap: cap, stop_block_total: total } = settings
  if (stopsInRow >= cap)
    return `Stop was refused ${times(cap)} with no tool call between; it is allowed now (stop_block_cap)`
  if (stopsTotal >= total)
    return `Stop was refused ${times(total)} since the last prompt; it is allowed now (stop_block_total)`
  return undefined
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
