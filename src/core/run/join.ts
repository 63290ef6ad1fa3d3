// The lanes of one step ran on the same data; what each changed becomes one.

import type { DiagnosticSink } from '../base/errors.js'
import { type Data, type Json, sameJson } from '../base/json.js'
import type { EventKind } from '../events/events.js'
import { firstName, patchedData } from '../events/patch.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Ran } from './trace.js'

/** A lane that has run. */
interface RanLane {
  readonly event: HookEvent
  readonly ran: readonly Ran[]
}

/**
 * Of two lanes that changed a key, the one whose hook comes later in the step counts, whichever was faster; a
 * diagnostic names both.
 */
export function joinLanes(
  kind: EventKind,
  data: Data,
  lanes: readonly RanLane[],
  step: readonly Hook[],
  diagnostics: DiagnosticSink,
): Data {
  const changes = lanes
    .flatMap((lane) =>
      [...lastToChange(kind, lane)].map(([key, by]) => ({ key, by, lane, value: lane.event.data[key] })),
    )
    .sort((a, b) => step.indexOf(a.by.hook) - step.indexOf(b.by.hook))
  const winners = new Map<string, (typeof changes)[number]>()
  for (const change of changes) {
    const { key, by, lane, value } = change
    const earlier = winners.get(key)
    if (earlier && earlier.lane !== lane && !sameJson(earlier.value, value)) {
      const text = `${earlier.by.name} and ${by.name} both changed ${key}; ${by.name}, the later one, counts`
      diagnostics.push({ code: 'conflict', text })
    }
    winners.set(key, change)
  }
  if (winners.size === 0) return data
  const patch = Object.fromEntries([...winners].map(([key, { value }]) => [key, value as Json]))
  return patchedData(kind, data, patch)
}

/** Which hook was the last to set each changed key, under the first of its names. */
function lastToChange(kind: EventKind, { ran }: RanLane): ReadonlyMap<string, Ran> {
  const last = new Map<string, Ran>()
  for (const one of ran) for (const key of one.changed ?? []) last.set(firstName(kind, key), one)
  return last
}
