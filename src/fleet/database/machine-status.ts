// The state of every machine of a fleet, worst first: what it said about itself, against what its fleet expects.

import { type MachineReport, machineReport, type PolicyReport } from '../machine-report.js'
import type { PolicyRow } from '../policy/metadata.js'
import { type MachineName, type Rollout, ringOf, rolloutIn } from '../policy/rollout.js'
import type { Database } from './connection.js'
import { policyAfter, versionsIn } from './policy.js'

/** What can be wrong with a machine, worst first. */
export const TROUBLES = {
  broken: 'refuses every tool call, because its policy cannot be relied on',
  unguarded: 'has an agent that does not ask Carabiner',
  silent: 'was not heard of',
  behind: 'obeys an older policy',
  unproven: 'has an agent that nobody proved to obey',
  clock: 'has a wrong clock',
  advisory: 'can be undone by its user',
} as const

export type Trouble = keyof typeof TROUBLES

const ORDER = Object.keys(TROUBLES) as readonly Trouble[]

export interface TroubleFound {
  readonly kind: Trouble
  /** The particulars, in words. */
  readonly detail: string
}

export interface MachineStatus {
  readonly machine: string
  readonly name: string
  /** ISO-8601. */
  readonly seen: string
  /** Absent if it never reported. */
  readonly report?: MachineReport
  /** Seconds that its clock was ahead of the fleet's when it reported. */
  readonly ahead?: number
  /** Worst first. */
  readonly troubles: readonly TroubleFound[]
}

export interface FleetStatus {
  /** The newest roll-out, if there is a policy. */
  readonly rollout?: number
  readonly machines: readonly MachineStatus[]
  /** Whether nothing is wrong that the fleet could have prevented: being advisory is a choice. */
  readonly ok: boolean
}

/** A machine reports while somebody works on it. */
export const SILENT_MS = 86_400_000
const WRONG_CLOCK_S = 60

interface Row {
  readonly machine: string
  readonly name: string
  readonly seen: Date
  readonly report: unknown
  readonly at: Date | null
}

export async function fleetStatus(database: Database, now: number = Date.now()): Promise<FleetStatus> {
  const rows = await database.rows<Row>(
    `select m.machine, m.name, m.seen, r.report, r.at from fleet.machine m
      left join fleet.machine_report r on r.org = m.org and r.machine = m.machine
      where m.org = fleet.own_org() and m.retired is null order by m.name`,
  )
  const wanted = wantedIn(await policyAfter(database))
  const rollout = wanted?.version
  const machines = rows.map((row) => statusOf(row, wanted, now)).sort(byTrouble)
  const ok = machines.every(({ troubles }) => troubles.every(({ kind }) => kind === 'advisory'))
  return { ...(rollout !== undefined && { rollout }), machines, ok }
}

/** What is published, as far as it says what machines should have. */
interface Wanted {
  /** Of the roll-out. */
  readonly version: number
  /** Undefined if the roll-out cannot be read. */
  readonly rollout?: Rollout
  /** Of bundles, by digest. */
  readonly versions: ReadonlyMap<string, number>
  /** When the newest was signed, milliseconds since 1970. */
  readonly signed?: number
}

function wantedIn(rows: readonly PolicyRow[]): Wanted | undefined {
  const found = rows.find(({ role }) => role === 'rollout')
  if (!found) return undefined
  const { version, target = '' } = found
  try {
    const { content = '' } = rows.find(({ role }) => role === 'timestamp') ?? {}
    const { signed } = JSON.parse(content) as { readonly signed: { readonly signed_at?: string } }
    const at = Date.parse(signed.signed_at ?? '')
    return {
      ...{ version, rollout: rolloutIn(target), versions: versionsIn(rows) },
      ...(!Number.isNaN(at) && { signed: at }),
    }
  } catch {
    return { version, versions: new Map() }
  }
}

/** Undefined if the machine has what its ring should have. A newer roll-out that changes nothing for it does not count. */
function lag(
  policy: PolicyReport | undefined,
  machine: MachineName,
  { version, rollout, versions, signed }: Wanted,
  now: number,
): string | undefined {
  if (!policy) return 'it has none'
  if (!rollout) return policy.rollout < version ? `roll-out ${policy.rollout} of ${version}` : undefined
  const { enforced, shadow } = ringOf(rollout, machine)?.ring ?? {}
  const versionOf = (digest: string | undefined) => (digest === undefined ? undefined : versions.get(digest))
  const [own, tried] = [versionOf(enforced), versionOf(shadow)]
  const word = (one: number | undefined) => (one === undefined ? 'none' : `version ${one}`)
  if (policy.enforced !== own) return `it enforces ${word(policy.enforced)}, and its ring ${word(own)}`
  if (policy.shadow !== tried) return `it tries ${word(policy.shadow)}, and its ring ${word(tried)}`
  const heard = Date.parse(policy.signed ?? '')
  if (signed === undefined || !(heard < signed) || now - signed <= SILENT_MS) return undefined
  return `what it heard last was signed ${policy.signed}, and newer news are more than a day old`
}

function byTrouble(a: MachineStatus, b: MachineStatus): number {
  return rankOf(a) - rankOf(b) || b.troubles.length - a.troubles.length || a.name.localeCompare(b.name)
}

function rankOf({ troubles: [worst] }: MachineStatus): number {
  return worst ? ORDER.indexOf(worst.kind) : ORDER.length
}

function statusOf({ machine, name, seen, report: said, at }: Row, wanted: Wanted | undefined, now: number) {
  const report = said === null ? undefined : reportIn(said)
  const ahead = report && at ? Math.round((Date.parse(report.time) - at.getTime()) / 1000) : undefined
  const troubles = [
    ...silence(seen, report, now),
    ...(report ? claims(report, wanted && lag(report.policy, { machine, name }, wanted, now)) : []),
    ...(ahead !== undefined && Math.abs(ahead) > WRONG_CLOCK_S ? [clock(ahead)] : []),
  ].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
  return {
    ...{ machine, name, seen: seen.toISOString() },
    ...(report && { report }),
    ...(ahead !== undefined && { ahead }),
    troubles,
  }
}

/** A report that cannot be read is none: the machine then counts as silent. */
function reportIn(said: unknown): MachineReport | undefined {
  try {
    return machineReport(said, 'the report')
  } catch {
    return undefined
  }
}

function silence(seen: Date, report: MachineReport | undefined, now: number): readonly TroubleFound[] {
  if (!report) return [{ kind: 'silent', detail: 'it has not reported what it enforces' }]
  if (now - seen.getTime() <= SILENT_MS) return []
  return [
    { kind: 'silent', detail: `last heard of ${seen.toISOString().slice(0, 16).replace('T', ' ')} UTC` },
  ]
}

function clock(ahead: number): TroubleFound {
  const seconds = `${Math.abs(ahead)} s`
  return { kind: 'clock', detail: ahead > 0 ? `${seconds} ahead` : `${seconds} behind` }
}

function claims(
  { problem, agents, missing, binding }: MachineReport,
  behind: string | undefined,
): readonly TroubleFound[] {
  const unasked = agents.filter(({ asks }) => !asks).map(({ name }) => name)
  const unguarded = [...new Set([...missing, ...unasked])]
  const unproven = agents.filter(({ asks, proof }) => asks && (!proof?.ok || proof.stale))
  return [
    ...(problem === undefined ? [] : [{ kind: 'broken' as const, detail: problem }]),
    ...(unguarded.length === 0 ? [] : [{ kind: 'unguarded' as const, detail: unguarded.join(', ') }]),
    ...(behind === undefined ? [] : [{ kind: 'behind' as const, detail: behind }]),
    ...(unproven.length === 0
      ? []
      : [{ kind: 'unproven' as const, detail: unproven.map(({ name }) => name).join(', ') }]),
    ...(binding ? [] : [{ kind: 'advisory' as const, detail: 'its membership is the user’s own' }]),
  ]
}
