// Which event somebody most likely means by a name that no event has.

import { nearest } from '../../core/base/text.js'
import { knownEvents, resolveEvent } from '../../core/events/events.js'

/** Undefined for the name of an event, and where nothing is near. */
export function nearEvent(name: string): string | undefined {
  if (!resolveEvent(name).custom) return undefined
  return nearest(
    name,
    knownEvents().flatMap((known) => [known.name, ...known.aliases]),
  )
}
