// What the screen Policy asks: who gets which version, what machines enforce, what a shadow would have changed, and diffs.
// Publishing is not for a page: the keys that sign stay with people.

import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { Database } from '../../fleet/database/connection.js'
import { fleetStatus, isMinor, type MachineStatus, TROUBLES } from '../../fleet/database/machine-status.js'
import { bundleText, firstRootKey, policyAfter, versionsIn } from '../../fleet/database/policy.js'
import { shadowsIn } from '../../fleet/database/shadow-query.js'
import { bundleIn } from '../../fleet/policy/bundle.js'
import { changesBetween } from '../../fleet/policy/bundle-changes.js'
import { verified } from '../../fleet/policy/checked-policy.js'
import type { PolicyRow } from '../../fleet/policy/metadata.js'
import { type Ring, type Rollout, rolloutIn } from '../../fleet/policy/rollout.js'
import { type Models, tufModels } from '../../fleet/policy/tuf.js'
import { deedText, type ShadowRow } from '../../fleet/shadow-table.js'
import { NotAnswered } from '../answers.js'
import { line } from '../shown-text.js'
import type {
  DoubtView,
  MachineStateView,
  PolicyDiffView,
  PolicyView,
  RingView,
  ShadowsView,
  ShadowView,
} from '../view/fleet.js'
import type { FleetAnswers } from './asked.js'
import { SharedAnswer } from './shared-answer.js'

const SHADOW_DAYS = 30
const MOST_SHADOWS = 200
/** Each is a line of a log, which PostgreSQL sends here. */
const MOST_LOOKED_AT = 20_000

/** `loadModels` rejects if the package that checks signatures is not here. */
export function policyAnswers(database: Database, loadModels = tufModels): FleetAnswers {
  const policy = new SharedAnswer(() => policyView(database, loadModels))
  const shadows = new SharedAnswer(() => shadowsView(database))
  return {
    'GET api/policy': { role: 'viewer', answer: () => policy.get() },
    'GET api/policy/shadows': { role: 'viewer', answer: () => shadows.get() },
    'GET api/policy/diff': {
      role: 'viewer',
      answer: async ({ query }): Promise<PolicyDiffView> => {
        const { versions } = policyIn(await policyAfter(database))
        const [from, to] = await Promise.all(
          ['from', 'to'].map((name) => bundleOf(database, versions, query.get(name) ?? '')),
        )
        const changes = to ? changesBetween(from, to) : []
        return { changes: changes.map(({ change, path }) => ({ change, path: line(path) })) }
      },
    },
  }
}

async function policyView(database: Database, loadModels: typeof tufModels): Promise<PolicyView> {
  const [rows, status] = await Promise.all([policyAfter(database), fleetStatus(database)])
  const policy = policyIn(rows)
  const { versions, rollout } = policy
  const doubt = await doubtOf(database, rows, policy, loadModels)
  return {
    ok: status.ok,
    ...(doubt && { doubt }),
    versions: [...versions.values()].sort((a, b) => b - a),
    groups: rollout.map(({ name, rings }) => ({
      name: visible(name),
      rings: rings.map((ring) => ringView(ring, versions)),
    })),
    machines: status.machines.map(stateView),
  }
}

interface PolicyRead {
  /** Of bundles, by digest. */
  readonly versions: ReadonlyMap<string, number>
  readonly rollout: Rollout
  /** Why it cannot be read. Then it is empty. */
  readonly problem?: string
}

/** Nothing is checked. */
function policyIn(rows: readonly PolicyRow[]): PolicyRead {
  try {
    const target = rows.find(({ role }) => role === 'rollout')?.target
    return { versions: versionsIn(rows), rollout: target === undefined ? [] : rolloutIn(target) }
  } catch (error) {
    return { versions: new Map(), rollout: [], problem: textOf(error) }
  }
}

async function shadowsView(database: Database): Promise<ShadowsView> {
  const since = new Date(Date.now() - SHADOW_DAYS * 86_400_000)
  const { table, cutAt } = await shadowsIn(database, { since, lookAt: MOST_LOOKED_AT })
  return {
    trials: table.trials().slice(0, MOST_SHADOWS),
    shadows: table.rows().slice(0, MOST_SHADOWS).map(shadowView),
    days: SHADOW_DAYS,
    ...(cutAt !== undefined && { cutAt }),
  }
}

/**
 * Undefined if all of it is signed by keys that follow from the first key of the fleet, as the database names it, and the
 * bundles of all rings are those that were published.
 */
async function doubtOf(
  database: Database,
  rows: readonly PolicyRow[],
  policy: PolicyRead,
  loadModels: typeof tufModels,
): Promise<DoubtView | undefined> {
  if (rows.length === 0) return undefined
  const key = await firstRootKey(database)
  const models = await loadModels().catch(() => undefined)
  const why =
    (models && unsigned(models, rows, key)) ??
    (policy.problem === undefined ? undefined : `The roll-out cannot be read: ${policy.problem}`) ??
    (await changedBundle(database, policy))
  if (why !== undefined) return { kind: 'wrong', why: line(why) }
  if (models) return undefined
  return {
    kind: 'unchecked',
    why: 'The signatures of this roll-out could not be checked here: install @tufjs/models beside Carabiner',
  }
}

function unsigned(models: Models, rows: readonly PolicyRow[], key: Buffer): string | undefined {
  try {
    verified(models, rows, key)
    return undefined
  } catch (error) {
    return `The signatures of this roll-out do not count: ${textOf(error)}`
  }
}

/** Looked for in what machines would fetch. */
async function changedBundle(
  database: Database,
  { versions, rollout }: PolicyRead,
): Promise<string | undefined> {
  const digests = rollout.flatMap(({ rings }) => rings.flatMap(({ enforced, shadow }) => [enforced, shadow]))
  for (const digest of new Set(digests)) {
    const text = digest === undefined ? undefined : await bundleText(database, digest)
    if (digest !== undefined && (text === undefined || sha256(text) !== digest))
      return changed(versions.get(digest), text)
  }
  return undefined
}

function changed(version: number | undefined, text: string | undefined): string {
  const which = version === undefined ? 'A bundle' : `The bundle of version ${version}`
  const how = text === undefined ? 'is missing' : 'is not the one that was published'
  return `${which} in the database ${how}; machines refuse it`
}

async function bundleOf(database: Database, versions: ReadonlyMap<string, number>, version: string) {
  const [digest, its] = [...versions].find((one) => String(one[1]) === version) ?? []
  if (digest === undefined) throw new NotAnswered(404, 'There is no such version')
  const text = await bundleText(database, digest)
  if (text !== undefined && sha256(text) === digest) return bundleIn(text)
  throw new NotAnswered(409, changed(its, text))
}

function ringView(
  { name, machines, percent, enforced, shadow }: Ring,
  versions: ReadonlyMap<string, number>,
): RingView {
  const who = machines ? machines.join(', ') : percent === undefined ? 'the rest' : `${percent} %`
  const version = (digest: string | undefined) => (digest === undefined ? undefined : versions.get(digest))
  const [own, tried] = [version(enforced), version(shadow)]
  return {
    name: visible(name),
    who: line(who),
    ...(own !== undefined && { enforced: own }),
    ...(tried !== undefined && { shadow: tried }),
  }
}

function stateView({ machine, name, seen, report, troubles }: MachineStatus): MachineStateView {
  const { enforced, shadow } = report?.policy ?? {}
  return {
    id: machine,
    name: visible(name),
    seen,
    ...(enforced !== undefined && { enforced }),
    ...(shadow !== undefined && { shadow }),
    troubles: troubles.map(({ kind, detail }) => ({
      kind,
      text: line(`${TROUBLES[kind]}: ${detail}`),
      isBad: !isMinor(kind),
    })),
  }
}

function shadowView(row: ShadowRow): ShadowView {
  const { version, what, would, calls, changed, machineCount, examples } = row
  return {
    ...{ version, calls, changed, machines: machineCount },
    what: line(what),
    would: visible(deedText(would)),
    examples: examples.map(({ machine, time, tool = '', reason = '' }) => ({
      machine: visible(machine),
      time: visible(time),
      text: line([tool, reason].filter(Boolean).join(': ')),
    })),
  }
}
