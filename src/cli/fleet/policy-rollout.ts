// `fleet policy promote`, `rollback` and `renew`: what happens to a policy after it was published.

import { localTime } from '../../core/base/time.js'
import { versionOf } from '../../fleet/policy/metadata.js'
import { rolloutOf } from '../../fleet/policy/publication.js'
import {
  digestsInUse,
  promoted as promotedRollout,
  type Rollout,
  rolledBack as rolledBackRollout,
} from '../../fleet/policy/rollout.js'
import { nextLines } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import type { Given } from './action.js'
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
  if (to !== undefined && !/^\d{1,9}$/.test(to)) throw usage('--to must be the number of a version')
  return atSigningDesk(given, async (desk) => {
    const before = rolloutOf(desk.state)
    const { digest, version } = newestIn(desk, before)
    const earlier =
      to === undefined ? undefined : desk.state?.entries.find((one) => versionOf(one) === Number(to))
    if (to !== undefined && !earlier)
      throw new Refusal('FLEET_POLICY', `There is no version ${to} any more`, {
        hint: 'carabiner fleet policy list shows the versions.',
      })
    const next = rolledBackRollout(before, digest, whereIn(given), earlier?.digest)
    return changed(given, desk, next, {
      done: `version ${version} is taken back`,
      none: `no ring here has version ${version}`,
    })
  })
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

/** The newest bundle that a ring enforces or tries. */
function newestIn(
  { state }: SigningDesk,
  rollout: Rollout,
): { readonly digest: string; readonly version: number } {
  const used = digestsInUse(rollout)
  const newest = state?.entries.filter(({ digest }) => used.has(digest)).at(-1)
  if (newest) return { digest: newest.digest, version: versionOf(newest) }
  throw nothing('No ring has a policy')
}

function nothing(what: string): Refusal {
  return new Refusal('FLEET_POLICY', what, {
    hint: 'carabiner fleet policy build FOLDER --out FILE makes a bundle, and publish FILE publishes it.',
  })
}

async function changed(
  { output }: Given,
  desk: SigningDesk,
  rollout: Rollout,
  says: { readonly done: string; readonly none: string },
): Promise<number> {
  const isChanged = JSON.stringify(rollout) !== JSON.stringify(rolloutOf(desk.state))
  if (isChanged) await publish(desk, { rollout })
  return output.result({ changed: isChanged, rollout }, (paint) => [
    isChanged ? `${says.done}; machines learn it at their next contact` : says.none,
    ...rolloutLines(rollout, desk.state),
    ...(isChanged ? nextLines(['carabiner fleet policy list'], paint) : []),
  ])
}
