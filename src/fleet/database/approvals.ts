// Questions, answers and what became of them, in the database. The machine that asked checks every answer again.

import type { Signature } from '../../store/approvals.js'
import type { Database } from './connection.js'

/** Wakes the gateways. The rows are the truth: whoever missed it looks again after a while. */
export const CHANNEL = 'fleet_approvals'

export interface QuestionRow {
  readonly id: string
  readonly machine: string
  /** The name of the machine. */
  readonly name: string
  /** A `Pending`, as the machine sent it. */
  readonly body: string
  readonly people: number
  /** How many have allowed it. */
  readonly allowed: number
  readonly expires: Date
}

const QUESTIONS = `select q.id, q.machine, m.name, q.body, q.people, q.expires,
    (select count(*)::int from fleet.answer a where a.id = q.id and a.allows) as allowed
  from fleet.question q join fleet.machine m using (org, machine)`

/** Questions that still need an answer, the oldest first. */
export async function openQuestions(database: Database): Promise<readonly QuestionRow[]> {
  return database.rows<QuestionRow>(
    `${QUESTIONS} where q.expires > clock_timestamp()
      and not exists (select from fleet.settled s where s.id = q.id)
      and not exists (select from fleet.answer a where a.id = q.id and (not a.allows or a.place >= q.people))
      order by q.asked limit 1000`,
  )
}

export async function questionOf(database: Database, id: string): Promise<QuestionRow | undefined> {
  const [row] = await database.rows<QuestionRow>(`${QUESTIONS} where q.id = $1`, [id])
  return row
}

export interface Asked {
  readonly id: string
  readonly body: string
  readonly people: number
  readonly expires: string
}

export async function addQuestion(
  database: Database,
  machine: string,
  { id, body, people, expires }: Asked,
): Promise<'asked' | 'known' | 'taken'> {
  const [row] = await database.rows<{ ask: 'asked' | 'known' | 'taken' }>(
    'select fleet.ask($1, $2, $3, $4, $5)',
    [machine, id, body, people, expires],
  )
  if (row?.ask === 'asked') await wake(database, `asked ${id}`)
  return row?.ask ?? 'taken'
}

export interface Given {
  readonly id: string
  /** The name on the list of people. */
  readonly by: string
  readonly option: string
  readonly allows: boolean
  readonly reason?: string
  readonly signature?: Signature
}

export type GiveResult =
  | { readonly status: 'answered' | 'expired' | 'unknown' }
  /** That many more people have to allow it. */
  | { readonly status: 'counted'; readonly more: number }
  | { readonly status: 'too-late'; readonly by: string }

export async function addAnswer(
  database: Database,
  machine: string,
  { id, by, option, allows, reason, signature }: Given,
): Promise<GiveResult> {
  const [row] = await database.rows<{ status: GiveResult['status']; more: number; first_by: string | null }>(
    'select * from fleet.give($1, $2, $3, $4, $5, $6)',
    [id, by, option, allows, reason ?? null, signature ? JSON.stringify(signature) : null],
  )
  const status = row?.status ?? 'unknown'
  if (status === 'answered' || status === 'counted') await wake(database, `answered ${machine}`)
  if (status === 'counted') return { status, more: row?.more ?? 1 }
  return status === 'too-late' ? { status, by: row?.first_by ?? '' } : { status }
}

/** After the commit of what it tells of: in it, PostgreSQL would let all such commits wait for each other. */
async function wake(database: Database, what: string): Promise<void> {
  await database.rows('select pg_notify($1, fleet.own_org() || $2)', [CHANNEL, ` ${what}`])
}

export interface AnswerRow {
  readonly id: string
  readonly place: number
  readonly by: string
  readonly option: string
  readonly reason: string | null
  readonly signature: string | null
}

/** Answers to these questions of this machine, after the place that it has of each. */
export async function answersFor(
  database: Database,
  machine: string,
  waiting: Readonly<Record<string, number>>,
): Promise<readonly AnswerRow[]> {
  return database.rows<AnswerRow>(
    `select a.id, a.place, a.by_name as "by", a.option, a.reason, a.signature
      from fleet.answer a join fleet.question q using (org, id)
      join unnest($2::text[], $3::int[]) as w (id, place) on w.id = a.id and a.place > w.place
      where q.machine = $1 order by a.id, a.place`,
    [machine, Object.keys(waiting), Object.values(waiting)],
  )
}

/** The questions of this machine of which nobody knows what became of them. */
export async function unsettledOf(database: Database, machine: string): Promise<readonly string[]> {
  const rows = await database.rows<{ id: string }>(
    `select q.id from fleet.question q where q.machine = $1 and q.expires > clock_timestamp() - interval '1 day'
      and not exists (select from fleet.settled s where s.id = q.id) order by q.asked limit 1000`,
    [machine],
  )
  return rows.map(({ id }) => id)
}

export type Settled = 'used' | 'denied' | 'expired'

/** Returns false if it was settled before. */
export async function settle(
  database: Database,
  machine: string,
  { id, how, by }: { readonly id: string; readonly how: Settled; readonly by?: string },
): Promise<boolean> {
  const [row] = await database.rows<{ settle: boolean }>('select fleet.settle($1, $2, $3, $4)', [
    ...[machine, id, how, by ?? null],
  ])
  return row?.settle ?? false
}

/** True to one caller: who tells a webhook of this question. */
export async function mayTell(database: Database, id: string): Promise<boolean> {
  const [row] = await database.rows<{ tell: boolean }>('select fleet.tell($1)', [id])
  return row?.tell ?? false
}
