// The state of every machine of a fleet, worst first: what it said about itself, against what its fleet expects.

import { type MachineReport, machineReport } from '../machine-report.js'
import type { Database } from './connection.js'

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
  const [newest] = await database.rows<{ version: number | null }>(
    `select max(version) as version from fleet.policy_file where org = fleet.own_org() and role = 'rollout'`,
  )
  const rollout = newest?.version ?? undefined
  const machines = rows.map((row) => statusOf(row, rollout, now)).sort(byTrouble)
  const ok = machines.every(({ troubles }) => troubles.every(({ kind }) => kind === 'advisory'))
  return { ...(rollout !== undefined && { rollout }), machines, ok }
}

function byTrouble(a: MachineStatus, b: MachineStatus): number {
  return rankOf(a) - rankOf(b) || b.troubles.length - a.troubles.length || a.name.localeCompare(b.name)
}

function rankOf({ troubles: [worst] }: MachineStatus): number {
  return worst ? ORDER.indexOf(worst.kind) : ORDER.length
}

function statusOf({ machine, name, seen, report: said, at }: Row, rollout: number | undefined, now: number) {
  const report = said === null ? undefined : reportIn(said)
  const ahead = report && at ? Math.round((Date.parse(report.time) - at.getTime()) / 1000) : undefined
  const troubles = [
    ...silence(seen, report, now),
    ...(report ? claims(report, rollout) : []),
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
  { problem, policy, agents, missing, binding }: MachineReport,
  rollout: number | undefined,
): readonly TroubleFound[] {
  const unasked = agents.filter(({ asks }) => !asks).map(({ name }) => name)
  const unguarded = [...new Set([...missing, ...unasked])]
  const unproven = agents.filter(({ asks, proof }) => asks && (!proof?.ok || proof.stale))
  const has = policy?.rollout ?? 0
  const isBehind = rollout !== undefined && has < rollout
  return [
    ...(problem === undefined ? [] : [{ kind: 'broken' as const, detail: problem }]),
    ...(unguarded.length === 0 ? [] : [{ kind: 'unguarded' as const, detail: unguarded.join(', ') }]),
    ...(isBehind
      ? [{ kind: 'behind' as const, detail: has === 0 ? 'it has none' : `roll-out ${has} of ${rollout}` }]
      : []),
    ...(unproven.length === 0
      ? []
      : [{ kind: 'unproven' as const, detail: unproven.map(({ name }) => name).join(', ') }]),
    ...(binding ? [] : [{ kind: 'advisory' as const, detail: 'its membership is the user’s own' }]),
  ]
}
