// Which event somebody most likely means by a name that no event has.

import { knownEvents, resolveEvent } from '../../core/events.js'
import { nearest } from '../../core/nearest.js'

/** Undefined for the name of an event, and where nothing is near. */
export function nearEvent(name: string): string | undefined {
  if (!resolveEvent(name).custom) return undefined
  return nearest(
    name,
    knownEvents().flatMap((known) => [known.name, ...known.aliases]),
  )
}
