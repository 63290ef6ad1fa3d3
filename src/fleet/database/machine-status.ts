// The state of every machine of a fleet, worst first: what it said about itself, against what its fleet expects.

import { type AgentReport, type MachineReport, machineReport, type PolicyReport } from '../machine-report.js'
import type { PolicyRow } from '../policy/metadata.js'
import { type MachineName, type Rollout, ringOf, rolloutIn } from '../policy/rollout.js'
import type { Database } from './connection.js'
import { policyAfter, versionsIn } from './policy.js'

/** What can be wrong with a machine, worst first. */
export const TROUBLES = {
  broken: 'refuses every tool call, because its policy cannot be relied on',
  unguarded: 'has an agent that does not ask Carabiner',
  silent: 'has not been heard from',
  behind: 'obeys an older policy',
  unproven: 'has an agent that was never proven to obey',
  clock: 'has a wrong clock',
  history: 'has a log whose history broke',
  advisory: 'can be undone by its user',
} as const

export type Trouble = keyof typeof TROUBLES

/** People should know it, and nobody has to mend it: what is past stays so, and being advisory is a choice. */
export function isMinor(kind: Trouble): boolean {
  return kind === 'history' || kind === 'advisory'
}

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
  /** The newest of all users. Absent if it never reported. */
  readonly report?: MachineReport
  /** Those of its other users, newest first. */
  readonly others?: readonly MachineReport[]
  /** Seconds that its clock was ahead of the fleet's when it reported. */
  readonly ahead?: number
  /** Worst first. */
  readonly troubles: readonly TroubleFound[]
}

export interface FleetStatus {
  /** The newest roll-out, if there is a policy. */
  readonly rollout?: number
  readonly machines: readonly MachineStatus[]
  /** Whether nothing is wrong that somebody has to mend. */
  readonly ok: boolean
}

/** A machine reports while somebody works on it. */
export const SILENT_MS = 86_400_000
/** An older report does not count while there is a newer one of another user, who may be the only one left. */
const REPORT_MS = 7 * SILENT_MS
/** The database keeps no more of a machine. */
export const MOST_REPORTS = 100
const WRONG_CLOCK_S = 60

/** A machine, with one of its reports if it has any. */
interface Row {
  readonly machine: string
  readonly name: string
  readonly seen: Date
  /** How often the history of a log broke. */
  readonly breaks: number
  readonly report: unknown
  readonly at: Date | null
}

interface Reported {
  readonly report: MachineReport
  readonly at: Date
}

export async function fleetStatus(database: Database, now: number = Date.now()): Promise<FleetStatus> {
  const rows = await database.rows<Row>(
    `select m.machine, m.name, m.seen, r.report, r.at,
      (select count(*)::int from fleet.evidence e where e.org = m.org and e.machine = m.machine) as breaks from fleet.machine m
      left join fleet.machine_report r on r.org = m.org and r.machine = m.machine
      where m.org = fleet.own_org() and m.retired is null order by m.name, m.machine, r.at desc`,
  )
  const wanted = wantedIn(await policyAfter(database))
  const rollout = wanted?.version
  const machines = [...grouped(rows).values()].map((its) => statusOf(its, wanted, now)).sort(byTrouble)
  const ok = machines.every(({ troubles }) => troubles.every(({ kind }) => isMinor(kind)))
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

function grouped(rows: readonly Row[]): ReadonlyMap<string, readonly [Row, ...Row[]]> {
  const machines = new Map<string, [Row, ...Row[]]>()
  for (const row of rows) {
    const its = machines.get(row.machine)
    if (its) its.push(row)
    else machines.set(row.machine, [row])
  }
  return machines
}

/** `rows`: of one machine, the newest report first. */
function statusOf(rows: readonly [Row, ...Row[]], wanted: Wanted | undefined, now: number): MachineStatus {
  const [{ machine, name, seen, breaks }] = rows
  const reported = rows.flatMap(reportedIn).filter(({ at }, i) => i === 0 || now - at.getTime() <= REPORT_MS)
  const [newest, ...others] = reported
  const report = newest?.report
  const ahead = newest && Math.round((Date.parse(newest.report.time) - newest.at.getTime()) / 1000)
  const behind = report && wanted && lag(report.policy, { machine, name }, wanted, now)
  const troubles = [
    ...silence(seen, rows.length, report, now),
    ...claims(reported.map((one) => one.report)),
    ...(behind === undefined ? [] : [{ kind: 'behind' as const, detail: behind }]),
    ...history(name, breaks),
    ...(ahead !== undefined && Math.abs(ahead) > WRONG_CLOCK_S ? [clock(ahead)] : []),
  ].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
  return {
    ...{ machine, name, seen: seen.toISOString() },
    ...(report && { report }),
    ...(others.length > 0 && { others: others.map((one) => one.report) }),
    ...(ahead !== undefined && { ahead }),
    troubles,
  }
}

/** A report that cannot be read is none: without another one, the machine counts as silent. */
function reportedIn({ report, at }: Row): readonly Reported[] {
  if (report === null || at === null) return []
  try {
    return [{ report: machineReport(report, 'the report'), at }]
  } catch {
    return []
  }
}

function silence(
  seen: Date,
  kept: number,
  report: MachineReport | undefined,
  now: number,
): readonly TroubleFound[] {
  if (!report) return [{ kind: 'silent', detail: 'it has not reported what it enforces' }]
  if (now - seen.getTime() > SILENT_MS)
    return [
      { kind: 'silent', detail: `last heard of ${seen.toISOString().slice(0, 16).replace('T', ' ')} UTC` },
    ]
  if (kept < MOST_REPORTS) return []
  return [{ kind: 'silent', detail: `it has ${MOST_REPORTS} users; reports of more are not kept` }]
}

function history(name: string, breaks: number): readonly TroubleFound[] {
  if (breaks === 0) return []
  const times = breaks === 1 ? 'once' : `${breaks} times`
  return [{ kind: 'history', detail: `${times}; carabiner fleet audit evidence --machine "${name}"` }]
}

function clock(ahead: number): TroubleFound {
  const seconds = `${Math.abs(ahead)} s`
  return { kind: 'clock', detail: ahead > 0 ? `${seconds} ahead` : `${seconds} behind` }
}

/** What the users of a machine say, the newest first. Details name the users if there are several. */
function claims(reports: readonly MachineReport[]): readonly TroubleFound[] {
  const [newest] = reports
  if (!newest) return []
  const asking = new Set(reports.flatMap((one) => guarded(one)))
  // Everybody has the same policy: an agent that it wants guarded need not be every user's.
  const missing = newest.missing.filter((name) => !asking.has(name))
  const isUnguarded = ({ name, asks, unused }: AgentReport) =>
    !asks && !missing.includes(name) && !(unused && asking.has(name))
  const isUnproven = ({ asks, proof }: AgentReport) => asks && (!proof?.ok || proof.stale)
  const agentsThat = (are: (agent: AgentReport) => boolean) =>
    withUsers(reports, ({ agents }) => agents.filter(are).map(({ name }) => name))
  const broken = withUsers(reports, ({ problem }) => (problem === undefined ? [] : [problem]))
  return [
    ...found('broken', broken, '; '),
    ...found('unguarded', [...new Set(missing), ...agentsThat(isUnguarded)]),
    ...found('unproven', agentsThat(isUnproven)),
    ...found('advisory', newest.binding ? [] : ['its membership is the user’s own']),
  ]
}

function guarded({ agents }: MachineReport): readonly string[] {
  return agents.filter(({ asks }) => asks).map(({ name }) => name)
}

function found(kind: Trouble, details: readonly string[], between = ', '): readonly TroubleFound[] {
  return details.length === 0 ? [] : [{ kind, detail: details.join(between) }]
}

/** Each text once, with the users of whom it is true. */
function withUsers(
  reports: readonly MachineReport[],
  textsOf: (report: MachineReport) => readonly string[],
): readonly string[] {
  const users = new Map<string, string[]>()
  for (const report of reports)
    for (const text of new Set(textsOf(report)))
      users.set(text, [...(users.get(text) ?? []), report.user ?? 'an older Carabiner'])
  return [...users].map(([text, names]) => (reports.length === 1 ? text : `${text} (${names.join(', ')})`))
}
