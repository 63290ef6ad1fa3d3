// `fleet policy promote`, `rollback` and `renew`: what happens to a policy after it was published.

import { textOf } from '../../../core/base/errors.js'
import { visible } from '../../../core/base/text.js'
import { localTime } from '../../../core/base/time.js'
import { shadowsIn } from '../../../fleet/database/shadow-query.js'
import { versionOf } from '../../../fleet/policy/metadata.js'
import { rolloutOf } from '../../../fleet/policy/publication.js'
import {
  digestsInUse,
  NO_POLICY,
  promoted as promotedRollout,
  type Rollout,
  rolledBack as rolledBackRollout,
  strippedRings,
} from '../../../fleet/policy/rollout.js'
import { nextLines } from '../../print/lines.js'
import { Refusal, usage } from '../../refusal.js'
import { again, type Given } from '../action.js'
import { isOfDatabase } from '../failure.js'
import { SHADOW_SINCE, shadowLines, sinceOf } from '../shadow-lines.js'
import { atSigningDesk, publish, type SigningDesk } from './desk.js'
import { rolloutLines } from './list.js'

export async function promoted(given: Given): Promise<number> {
  return atSigningDesk(given, async (desk) => {
    const before = rolloutOf(desk.state)
    const { digest, version } = newestIn(desk, before)
    const next = promotedRollout(before, digest, whereIn(given))
    const tried = isTried(before, digest) ? await trialOf(desk, version) : undefined
    if (tried && !given.output.json) await given.output.print(tried.lines)
    return changed(given, desk, next, {
      ...(tried && { shadow: tried.document }),
      done: `version ${version} is promoted`,
      none: `every ring enforces version ${version} already`,
    })
  })
}

interface Trial {
  readonly document: object
  readonly lines: readonly string[]
}

function isTried(rollout: Rollout, digest: string): boolean {
  return rollout.some(({ rings }) => rings.some(({ shadow }) => shadow === digest))
}

/** Events to look at: somebody waits. */
const MOST_TRIED = 20_000

/** What the version would have changed. A promotion may be urgent, so it does not fail because nobody can tell. */
async function trialOf({ database }: SigningDesk, version: number): Promise<Trial> {
  const since = sinceOf(SHADOW_SINCE)
  try {
    const { table, cutAt } = await shadowsIn(database, { since, version, lookAt: MOST_TRIED })
    const [rows, trials] = [table.rows(), table.trials()]
    const none = `version ${version} was tried at no event since ${localTime(cutAt ?? since.toISOString())}, so nobody knows what it changes`
    const cut =
      cutAt === undefined ? [] : [`  only the newest events were looked at, since ${localTime(cutAt)}`]
    const lines = trials.length === 0 ? [none] : [...shadowLines(table), ...cut]
    const document = { since: since.toISOString(), trials, rows, ...(cutAt !== undefined && { cutAt }) }
    return { document, lines }
  } catch (error) {
    if (!isOfDatabase(error)) throw error
    const problem = `what version ${version} would have changed cannot be told: ${visible(textOf(error))}`
    return { document: { problem }, lines: [problem] }
  }
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
    const { expires } = await publish(desk, {})
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
  { shadow, ...says }: { readonly done: string; readonly none: string; readonly shadow?: object },
): Promise<number> {
  const isChanged = JSON.stringify(rollout) !== JSON.stringify(rolloutOf(desk.state))
  if (isChanged) await publish(desk, { rollout })
  return given.output.result({ changed: isChanged, rollout, ...(shadow && { shadow }) }, (paint) => [
    isChanged ? `${says.done}; machines learn it at their next contact` : says.none,
    ...rolloutLines(rollout, desk.state),
    ...(isChanged ? nextLines([again('carabiner fleet policy list', given)], paint) : []),
  ])
}
