// Counts as hooks get them in one fire, over any store and any shared counters.

import type { Count, Counters } from '../../src/core/hooks/count.js'
import { counterOf } from '../../src/core/session/counter.js'
import { DEFAULT_SETTINGS } from '../../src/core/session/embedder.js'
import { Engine } from '../../src/core/session/engine.js'
import type { SessionStore } from '../../src/core/session/session-store.js'

export function countedBy(store: SessionStore, clock: () => number, counters?: Counters): Count {
  const engine = new Engine({ store, clock, ...(counters && { counters }) }, DEFAULT_SETTINGS, undefined)
  const count = counterOf({ engine, store: engine.openStore(), info: { id: 's' } })
  return counters ? (counting) => count({ ...counting, across: 'fleet' }) : count
}
