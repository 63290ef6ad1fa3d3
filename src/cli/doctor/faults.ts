// Hooks that would fail as soon as they start, and why.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { ListedHook } from '../../hooks.js'
import { type Sources, specOf, specsIn } from '../sources.js'
import type { Facts } from './facts.js'
import type { Finding } from './finding.js'
import { programs } from './programs.js'
import { scripts } from './scripts.js'

export function faultsOf(spec: ConfiguredHook, settings: Facts['settings']): readonly Finding[] {
  const facts = { specs: [spec], settings }
  return [...scripts(facts).findings, ...programs(facts).findings].filter(
    ({ severity }) => severity === 'broken',
  )
}

/** Hooks that may run but cannot start. */
export async function cannotStart(
  hooks: readonly ListedHook[],
  sources: Sources,
  settings: Facts['settings'],
): Promise<readonly ListedHook[]> {
  const ready = hooks.filter(({ state, kept }) => state === 'ready' && kept === undefined)
  const specs = ready.length === 0 ? [] : await specsIn(sources)
  return ready.filter((hook) => {
    const spec = specOf(specs, hook)
    return spec !== undefined && faultsOf(spec, settings).length > 0
  })
}
