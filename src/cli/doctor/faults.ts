// Why a hook would fail as soon as it starts.

import type { ConfiguredHook } from '../../config/configured-hook.js'
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
