// How a hook stands, in the words that `list` and the bare command share.

import { isClosedGate } from '../../config/closed-gate.js'
import { matchesNothing } from '../../config/matcher-slips.js'
import type { MergedSettings } from '../../config/merged-settings.js'
import type { ListedHook } from '../../hooks.js'
import { type Places, specOf, specsIn } from '../sources.js'

export type Standing = ListedHook['state'] | 'closed' | 'cannot start' | 'matches nothing'

/** A hook, and why it would fail at its start. */
export interface Startable extends ListedHook {
  readonly cannotStart?: string
}

/** A closed gate runs, but is not the hook that its file has. */
export function standingOf(hook: Startable): Standing {
  if (isClosedGate(hook)) return 'closed'
  if (hook.state !== 'ready') return hook.state
  if (hook.cannotStart !== undefined) return 'cannot start'
  return matchesNothing(hook) ? 'matches nothing' : 'ready'
}

/** The changed version of a hook that runs as it was trusted, or whose gate is closed. */
export function isReplaced({ state, name, file }: ListedHook, hooks: readonly ListedHook[]): boolean {
  return (
    state === 'modified' &&
    hooks.some((one) => one.name === name && one.file === file && (one.kept || isClosedGate(one)))
  )
}

/** Looks at the programs and scripts of hooks that would run from their files. */
export async function withFaults<H extends ListedHook>(
  hooks: readonly H[],
  settings: MergedSettings,
  places: Places,
): Promise<readonly (H & Startable)[]> {
  const isAsked = (hook: H) => hook.state === 'ready' && hook.kept === undefined && !isClosedGate(hook)
  if (!hooks.some(isAsked)) return hooks
  const [{ faultsOf }, specs] = await Promise.all([import('../doctor/faults.js'), specsIn(places)])
  return hooks.map((hook) => {
    const spec = isAsked(hook) ? specOf(specs, hook) : undefined
    const [fault] = spec ? faultsOf(spec, settings) : []
    return fault ? { ...hook, cannotStart: fault.text } : hook
  })
}
