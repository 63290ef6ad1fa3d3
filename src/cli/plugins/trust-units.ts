// What can be trusted in a project: its plugins, skills and hook files, as they are now. Runs nothing.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import { loadConfig, loadSkills } from '../../config/load.js'
import { unitsOf } from '../../config/units.js'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import type { Skill } from '../../core/session/session-store.js'
import { loadedSkill } from '../../core/session/skills.js'
import { kindOf } from '../../runners/kinds.js'
import { preTrusted } from '../../trust/pre-trusted.js'
import type { Review } from '../../trust/review.js'
import { type RiskNote, risksOf } from '../../trust/risks.js'
import { type TrustStore, trustStore } from '../../trust/trust-store.js'
import type { Unit } from '../../trust/unit.js'
import type { Payload } from '../fire/payload.js'
import { Refusal } from '../refusal.js'
import { configSources, type Places, preTrustedFile, projectFolder } from '../sources.js'

export interface Shown {
  readonly unit: Unit
  /** For each hook: variables that it gets in addition to the minimal environment. */
  readonly passthrough: readonly (readonly string[])[]
  readonly state: 'trusted' | 'untrusted' | 'modified'
  /** A sentence, unless it is trusted. */
  readonly why: string | undefined
  /** Undefined if the store cannot be read; `problems` says why. */
  readonly review: Review | undefined
  readonly risks: readonly RiskNote[]
  /** Sentences that say what prevents trust. */
  readonly problems: readonly string[]
}

export interface Units {
  readonly store: TrustStore
  /** Each unit's hooks, in the same order as in the unit. */
  readonly units: ReadonlyMap<Unit, readonly ConfiguredHook[]>
  readonly diagnostics: readonly Diagnostic[]
}

/** `loaded`: the payload of a `skill:loaded`, whose hooks are not in a file. */
export async function findUnits(places: Places, loaded: Payload | undefined): Promise<Units> {
  const sources = configSources(places)
  const config = await loadConfig(sources)
  const skills: readonly Skill[] = loaded ? [loadedSkill(loaded)] : []
  const ofSkills = await loadSkills(skills, sources, config)
  return {
    store: openStore(places),
    units: unitsOf([...config.specs, ...ofSkills.specs]),
    diagnostics: [...config.diagnostics, ...ofSkills.diagnostics],
  }
}

function openStore(places: Places): TrustStore {
  const list = preTrustedFile(places)
  if (list === undefined) return trustStore()
  try {
    return trustStore({ preTrusted: preTrusted(list, projectFolder(places)) })
  } catch (error) {
    throw new Refusal('PRE_TRUSTED_INVALID', textOf(error), {
      hint: 'carabiner trust --show prints the lines of such a file.',
    })
  }
}

export function show({ store, units }: Units, unit: Unit): Shown {
  const standing = store.standingOf(unit)
  const passthrough = (units.get(unit) ?? []).map((spec) => kindOf(spec).passthrough?.(spec.handler) ?? [])
  const why = standing.state === 'trusted' ? undefined : standing.why
  const known = { unit, passthrough, state: standing.state, why }
  try {
    const review = store.look(unit)
    return { ...known, review, risks: risksOf(review), problems: review.problems }
  } catch (error) {
    const todo = 'look at that folder, or set CARABINER_HOME to another one'
    const problem = `What you trust cannot be read (${textOf(error)}); ${todo}.`
    return { ...known, review: undefined, risks: [], problems: [problem] }
  }
}
