// What a caller of a service has seen on disk. Remembered while its call is planned, because many parts of a plan look at the same paths.

import { callerNow, perCaller } from '../core/base/caller.js'

const call = perCaller(() => ({ hasActed: false }))

/**
 * Looks at each path once in a call, until `forgetLooks`. The next call looks again. A process that works for itself
 * always looks, because it cannot tell where one call ends.
 */
export function oncePerCall<T>(look: (path: string) => T): (path: string) => T {
  const seen = perCaller(() => new Map<string, T>())
  return (path) => {
    if (!callerNow() || call().hasActed) return look(path)
    const known = seen()
    const before = known.get(path)
    if (before !== undefined || known.has(path)) return before as T
    const now = look(path)
    known.set(path, now)
    return now
  }
}

/** Called before a hook starts anything for the caller: it may change the disk. From then on, the call always looks. */
export function forgetLooks(): void {
  if (callerNow()) call().hasActed = true
}
