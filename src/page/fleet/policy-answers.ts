// What the screen Policy asks: who gets which version, what machines enforce, what a shadow would have changed, and diffs.
// Publishing is not for a page: the keys that sign stay with people.

import { visible } from '../../core/base/text.js'
import type { Database } from '../../fleet/database/connection.js'
import { fleetStatus, type MachineStatus, TROUBLES } from '../../fleet/database/machine-status.js'
import { bundleText, policyAfter } from '../../fleet/database/policy.js'
import { shadowsIn } from '../../fleet/database/shadow-query.js'
import { bundleIn } from '../../fleet/policy/bundle.js'
import { changesBetween } from '../../fleet/policy/bundle-changes.js'
import { type Ring, rolloutIn } from '../../fleet/policy/rollout.js'
import type { ShadowRow } from '../../fleet/shadow-table.js'
import { NotAnswered } from '../answers.js'
import { line } from '../shown-text.js'
import type { MachineStateView, PolicyDiffView, PolicyView, RingView, ShadowView } from '../view/fleet.js'
import type { FleetAnswers } from './asked.js'

const SHADOW_DAYS = 30
const MOST_SHADOWS = 200

export function policyAnswers(database: Database): FleetAnswers {
  return {
    'GET api/policy': { role: 'viewer', answer: () => policyView(database) },
    'GET api/policy/diff': {
      role: 'viewer',
      answer: async ({ query }): Promise<PolicyDiffView> => {
        const versions = await versionsOf(database)
        const [from, to] = await Promise.all(
          ['from', 'to'].map((name) => bundleOf(database, versions, query.get(name) ?? '')),
        )
        const changes = to ? changesBetween(from, to) : []
        return { changes: changes.map(({ change, path }) => ({ change, path: line(path) })) }
      },
    },
  }
}

async function policyView(database: Database): Promise<PolicyView> {
  const [versions, status, shadows] = await Promise.all([
    versionsOf(database),
    fleetStatus(database),
    shadowsIn(database, new Date(Date.now() - SHADOW_DAYS * 86_400_000)),
  ])
  const rows = await policyAfter(database)
  const rollout = rows.find(({ role }) => role === 'rollout')?.target
  return {
    ok: status.ok,
    versions: [...versions.values()].sort((a, b) => b - a),
    groups: (rollout === undefined ? [] : rolloutIn(rollout)).map(({ name, rings }) => ({
      name: visible(name),
      rings: rings.map((ring) => ringView(ring, versions)),
    })),
    machines: status.machines.map(stateView),
    shadows: shadows.rows().slice(0, MOST_SHADOWS).map(shadowView),
  }
}

/** Versions by digest, as the newest list of bundles says. */
async function versionsOf(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await policyAfter(database)
  const content = rows.find(({ role }) => role === 'targets')?.content
  if (content === undefined) return new Map()
  const { signed } = JSON.parse(content) as {
    readonly signed: {
      readonly targets: Readonly<Record<string, { readonly custom?: { readonly version?: number } }>>
    }
  }
  return new Map(
    Object.entries(signed.targets).flatMap(([name, { custom }]) =>
      typeof custom?.version === 'number' ? [[name.replace(/\.json$/, ''), custom.version] as const] : [],
    ),
  )
}

async function bundleOf(database: Database, versions: ReadonlyMap<string, number>, version: string) {
  const [digest] = [...versions].find(([, its]) => String(its) === version) ?? []
  const text = digest && (await bundleText(database, digest))
  if (!text) throw new NotAnswered(404, 'There is no such version')
  return bundleIn(text)
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
      isBad: kind !== 'advisory',
    })),
  }
}

function shadowView(row: ShadowRow): ShadowView {
  const { version, what, would, calls, changed, machineCount, examples } = row
  return {
    ...{ version, calls, changed, machines: machineCount },
    what: line(what),
    would: visible(would),
    examples: examples.map(({ machine, time, tool = '', reason = '' }) => ({
      machine: visible(machine),
      time: visible(time),
      text: line([tool, reason].filter(Boolean).join(': ')),
    })),
  }
}
