// What was noticed about breaks on all machines: the newest of each, so that one machine never hides what there is of others.

import type { Break } from '../protocol.js'
import type { Database } from './connection.js'

export interface FleetEvidence {
  /** The name of the machine. */
  readonly machine: string
  /** When that machine was retired. Another one may have its name now. */
  readonly retired?: string
  readonly log: string
  readonly chain: number
  readonly kind: Break
  readonly seq: number
  /** The hash that the gateway had, and the one that the machine had. */
  readonly held?: string
  readonly sent?: string
  /**
   * The record that did not fit. Third-party text. Absent if it was not sent, unless one machine was asked for, and where
   * those of newer breaks are long.
   */
  readonly line?: string
  readonly at: string
}

export interface EvidenceFound {
  /** The newest first. */
  readonly evidence: readonly FleetEvidence[]
  /** How much more there is, by the name of the machine. */
  readonly hidden: Readonly<Record<string, number>>
}

interface Row extends Omit<FleetEvidence, 'seq' | 'retired' | 'held' | 'sent' | 'line' | 'at'> {
  readonly seq: string
  readonly retired: Date | null
  readonly held: string | null
  readonly sent: string | null
  readonly line: string | null
  readonly at: Date
}

/** Of each machine. Each of its logs has its turn. */
const MOST = 100
const MOST_OF_ONE = 1000
/** Of all machines together: each has its turn. */
const MOST_OF_ALL = 10_000
/** Of all records that did not fit. */
const LINE_BYTES = 16 * 1024 * 1024

export async function evidenceOf(database: Database, machine?: string): Promise<EvidenceFound> {
  const rows = await database.rows<Row>(
    `${TURNS} select name as machine, retired, log, epoch as chain, kind, seq, held, sent, at,
        case when $1::text is not null and sum(octet_length(line)) over (order by evidence desc) <= ${LINE_BYTES} then line end as line
      from (select * from placed where place <= $2 order by place, evidence desc limit ${MOST_OF_ALL}) as shown order by evidence desc`,
    [machine ?? null, machine === undefined ? MOST : MOST_OF_ONE],
  )
  const counts = await database.rows<{ name: string; count: number }>(
    `select m.name, count(*)::int from fleet.evidence v join fleet.machine m on m.org = v.org and m.machine = v.machine
      where v.org = fleet.own_org() and ($1::text is null or m.name = $1) group by m.name order by m.name`,
    [machine ?? null],
  )
  const listed = new Map<string, number>()
  for (const { machine: name } of rows) listed.set(name, (listed.get(name) ?? 0) + 1)
  const hidden = counts.flatMap(({ name, count }) => {
    const more = count - (listed.get(name) ?? 0)
    return more > 0 ? [[name, more] as const] : []
  })
  return { evidence: rows.map(evidenceIn), hidden: Object.fromEntries(hidden) }
}

const TURNS = `with turns as (
    select m.name, m.retired, v.*, row_number() over (partition by v.machine, v.log order by v.evidence desc) as turn
    from fleet.evidence v join fleet.machine m on m.org = v.org and m.machine = v.machine
    where v.org = fleet.own_org() and ($1::text is null or m.name = $1)),
  placed as (select *, row_number() over (partition by machine order by turn, evidence desc) as place from turns)`

function evidenceIn({ seq, retired, held, sent, line, at, ...row }: Row): FleetEvidence {
  return {
    ...row,
    seq: Number(seq),
    ...(retired && { retired: retired.toISOString() }),
    ...(held !== null && { held }),
    ...(sent !== null && { sent }),
    ...(line !== null && { line }),
    at: at.toISOString(),
  }
}
