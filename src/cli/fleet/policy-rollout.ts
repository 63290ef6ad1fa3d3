// `fleet policy promote`, `rollback` and `renew`: what happens to a policy after it was published.

import { localTime } from '../../core/base/time.js'
import { versionOf } from '../../fleet/policy/metadata.js'
import { rolloutOf } from '../../fleet/policy/publication.js'
import {
  digestsInUse,
  NO_POLICY,
  promoted as promotedRollout,
  type Rollout,
  rolledBack as rolledBackRollout,
  strippedRings,
} from '../../fleet/policy/rollout.js'
import { nextLines } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { again, type Given } from './action.js'
import { atSigningDesk, publish, type SigningDesk } from './policy-desk.js'
import { expiresOf, rolloutLines } from './policy-list.js'

export async function promoted(given: Given): Promise<number> {
  return atSigningDesk(given, async (desk) => {
    const before = rolloutOf(desk.state)
    const { digest, version } = newestIn(desk, before)
    const next = promotedRollout(before, digest, whereIn(given))
    return changed(given, desk, next, {
      done: `version ${version} is promoted`,
      none: `every ring enforces version ${version} already`,
    })
  })
}

export async function rolledBack(given: Given): Promise<number> {
  const { to } = given.options
  if (to !== undefined && to !== NO_POLICY && !/^\d{1,9}$/.test(to))
    throw usage(`--to must be the number of a version, or ${NO_POLICY}`)
  return atSigningDesk(given, async (desk) => {
    const before = rolloutOf(desk.state)
    const newest = to === undefined ? newestIn(desk, before) : newestUsed(desk, before)
    const next = rolledBackRollout(before, newest?.digest, whereIn(given), to && targetOf(desk, to))
    if (to !== NO_POLICY) checkNotStripped(before, next)
    return changed(given, desk, next, {
      done: newest ? `version ${newest.version} is taken back` : `version ${to} is back`,
      none: to === undefined ? `no ring here has version ${newest?.version}` : 'the roll-out stays as it is',
    })
  })
}

/** What `--to` names, for the roll-out. */
function targetOf({ state }: SigningDesk, to: string): string {
  if (to === NO_POLICY) return NO_POLICY
  const found = state?.entries.find((one) => versionOf(one) === Number(to))
  if (found) return found.digest
  throw new Refusal('FLEET_POLICY', `There is no version ${to}`, {
    hint: 'carabiner fleet policy list shows the versions.',
  })
}

function checkNotStripped(before: Rollout, next: Rollout): void {
  const rings = strippedRings(before, next)
  if (rings.length === 0) return
  throw new Refusal(
    'FLEET_POLICY',
    `Nothing was taken back: ${rings.join(', ')} enforced nothing earlier, and would have no policy`,
    {
      hint: `Give --to VERSION (carabiner fleet policy list shows the versions), or --to ${NO_POLICY} to leave these machines without a policy.`,
    },
  )
}

/** Machines rely on the policy for some days more. */
export async function renewed(given: Given): Promise<number> {
  return atSigningDesk(given, async (desk) => {
    if (!desk.state) throw nothing('No policy is published')
    await publish(desk, {})
    const expires = await expiresOf(desk.database, desk.models)
    return given.output.result({ expires }, () => [
      `machines may rely on the policy until ${localTime(expires)}`,
    ])
  })
}

function whereIn({ options: { ring, group } }: Given): { readonly ring?: string; readonly group?: string } {
  return { ...(ring !== undefined && { ring }), ...(group !== undefined && { group }) }
}

interface Newest {
  readonly digest: string
  readonly version: number
}

/** The newest bundle that a ring enforces or tries. */
function newestUsed({ state }: SigningDesk, rollout: Rollout): Newest | undefined {
  const used = digestsInUse(rollout)
  const newest = state?.entries.filter(({ digest }) => used.has(digest)).at(-1)
  return newest && { digest: newest.digest, version: versionOf(newest) }
}

function newestIn(desk: SigningDesk, rollout: Rollout): Newest {
  const newest = newestUsed(desk, rollout)
  if (newest) return newest
  if (!desk.state?.entries.length) throw nothing('No ring has a policy')
  throw new Refusal('FLEET_POLICY', 'No ring has a policy', {
    hint: 'carabiner fleet policy rollback --to VERSION gives the rings a version that was published; carabiner fleet policy list shows the versions.',
  })
}

function nothing(what: string): Refusal {
  return new Refusal('FLEET_POLICY', what, {
    hint: 'carabiner fleet policy build FOLDER --out FILE makes a bundle, and publish FILE publishes it.',
  })
}

async function changed(
  given: Given,
  desk: SigningDesk,
  rollout: Rollout,
  says: { readonly done: string; readonly none: string },
): Promise<number> {
  const isChanged = JSON.stringify(rollout) !== JSON.stringify(rolloutOf(desk.state))
  if (isChanged) await publish(desk, { rollout })
  return given.output.result({ changed: isChanged, rollout }, (paint) => [
    isChanged ? `${says.done}; machines learn it at their next contact` : says.none,
    ...rolloutLines(rollout, desk.state),
    ...(isChanged ? nextLines([again('carabiner fleet policy list', given)], paint) : []),
  ])
}
