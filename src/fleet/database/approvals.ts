// Questions, answers and what became of them, in the database. The machine that asked checks every answer again. Each query names
// the organisation: row-level security does not hold the owner of the tables back, and ids are only unique within one.

import type { Signature } from '../../store/approvals.js'
import type { AskAnswer, RejectedAnswer } from '../protocol.js'
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
  /** Why the machine did not accept the last answer, if it did not. */
  readonly rejected: string | null
  readonly expires: Date
}

const QUESTIONS = `select q.id, q.machine, m.name, q.body, q.people, q.asked, q.expires,
    (select count(*)::int from fleet.answer a where a.org = q.org and a.id = q.id and a.allows and a.rejected is null) as allowed,
    (select a.rejected from fleet.answer a where a.org = q.org and a.id = q.id order by a.place desc limit 1) as rejected
  from fleet.question q join fleet.machine m on m.org = q.org and m.machine = q.machine where q.org = fleet.own_org()`

/** `offset 0` has it looked up for each question. PostgreSQL would join instead, and read all that the organisation has settled. */
const UNSETTLED = 'not exists (select from fleet.settled s where s.org = q.org and s.id = q.id offset 0)'

const OPEN = `q.org = fleet.own_org() and q.expires > now() and ${UNSETTLED}
  and not exists (select from fleet.answer a where a.org = q.org and a.id = q.id and not a.allows offset 0)
  and (select count(*) from fleet.answer a where a.org = q.org and a.id = q.id and a.rejected is null) < q.people`

/** What one list holds. A call may have four million bytes, and a machine thousands of questions. */
const MOST_LISTED = { questions: 1000, bytes: 2 * 1024 * 1024 }

export interface OpenQuestions {
  /** The oldest first. */
  readonly rows: readonly QuestionRow[]
  /** How many more there are. */
  readonly hidden: number
}

/** Questions that still need an answer. If there are too many, each machine has its turn, so that none hides those of others. */
export async function openQuestions(database: Database): Promise<OpenQuestions> {
  const { questions, bytes } = MOST_LISTED
  const listed = await database.rows<QuestionRow & { total: number }>(
    `with open as (
        select q.id, octet_length(q.body) as size, count(*) over ()::int as total,
          row_number() over (partition by q.machine, octet_length(q.body) > $2 order by q.asked, q.id) as turn
        from fleet.question q where ${OPEN}),
      listed as (
        select id, total, sum(size) over turns as bytes, row_number() over turns as place
        from open where size <= $2 window turns as (order by turn, size, id))
      select x.*, l.total from listed l join (${QUESTIONS}) x using (id)
        where l.bytes <= $2 and l.place <= $1 order by x.asked, x.id`,
    [questions, bytes],
  )
  const rows = listed.map(({ total: _, ...row }) => row)
  return { rows, hidden: (listed[0]?.total ?? (await openCount(database))) - rows.length }
}

async function openCount(database: Database): Promise<number> {
  const [row] = await database.rows<{ count: number }>(
    `select count(*)::int from fleet.question q where ${OPEN}`,
  )
  return row?.count ?? 0
}

export async function questionOf(database: Database, id: string): Promise<QuestionRow | undefined> {
  const [row] = await database.prepared<QuestionRow>(`${QUESTIONS} and q.id = $1`, [id])
  return row
}

export interface Asked {
  readonly id: string
  readonly body: string
  readonly people: number
  readonly expires: string
}

/** Of one machine. */
const MOST_OPEN = 1000
/** A question is open for a day at most; its machine's clock may be ahead. */
const LONGEST_OPEN = '25 hours'

export async function addQuestion(
  database: Database,
  machine: string,
  { id, body, people, expires }: Asked,
): Promise<AskAnswer['status']> {
  const [row] = await database.prepared<{ ask: AskAnswer['status'] }>(
    `select case when (select count(*) from fleet.question q where q.machine = $1 and ${OPEN}) >= ${MOST_OPEN}
        then 'full' else fleet.ask($1, $2, $3, $4, least($5, now() + interval '${LONGEST_OPEN}')) end as ask`,
    [machine, id, body, people, expires],
  )
  if (row?.ask === 'asked') wake(database, `asked ${id}`)
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
  /** `atMachine`: somebody answered on the machine that asked, not through the fleet. */
  | { readonly status: 'too-late'; readonly by: string; readonly atMachine?: true }

export async function addAnswer(
  database: Database,
  machine: string,
  { id, by, option, allows, reason, signature }: Given,
): Promise<GiveResult> {
  const [row] = await database.prepared<{
    status: GiveResult['status']
    more: number
    first_by: string | null
  }>('select * from fleet.give($1, $2, $3, $4, $5, $6)', [
    id,
    by,
    option,
    allows,
    reason ?? null,
    signature ? JSON.stringify(signature) : null,
  ])
  const status = row?.status ?? 'unknown'
  if (status === 'answered' || status === 'counted') wake(database, `answered ${machine}`)
  if (status === 'counted') return { status, more: row?.more ?? 1 }
  return status === 'too-late' ? tooLate(database, id, row?.first_by ?? '') : { status }
}

/** `by`: who answered first through the fleet. Of several people, it may only be the first who allowed. */
export async function tooLate(database: Database, id: string, by: string): Promise<GiveResult> {
  const [row] = await database.rows<{ how: Settled; by: string | null; denied: boolean }>(
    `select s.how, s.by_name as by,
        exists (select from fleet.answer a where a.org = s.org and a.id = s.id and not a.allows) as denied
      from fleet.settled s where s.org = fleet.own_org() and s.id = $1`,
    [id],
  )
  if (!row || row.denied) return { status: 'too-late', by }
  if (row.how === 'expired') return { status: 'expired' }
  return row.how === 'denied' || by === ''
    ? { status: 'too-late', by: row.by ?? '', atMachine: true }
    : { status: 'too-late', by }
}

/**
 * After the commit of what it tells of: in it, PostgreSQL would let all such commits wait for each other. It does not wait for
 * the disk: after a crash, everybody looks anyway. Nobody waits for it either: whoever it does not reach looks after a while.
 */
function wake(database: Database, what: string): void {
  database
    .prepared(`select set_config('synchronous_commit', 'off', true), pg_notify($1, fleet.own_org() || $2)`, [
      CHANNEL,
      ` ${what}`,
    ])
    .catch(() => {})
}

export interface AnswerRow {
  readonly id: string
  readonly place: number
  readonly by: string
  readonly option: string
  readonly reason: string | null
  readonly signature: string | null
}

/** What the fleet knows of the questions of a machine. */
export interface QuestionsOfMachine {
  /** Those of them that the fleet has, and of which nobody knows yet what became of them. */
  readonly known: readonly string[]
  /** The same, of all its other questions of the last day. */
  readonly beside: readonly string[]
  /** Those after the place that the machine has of each. */
  readonly answers: readonly AnswerRow[]
}

/** `waiting`: questions of this machine, and how many answers it has of each. */
export async function questionsOfMachine(
  database: Database,
  machine: string,
  waiting: Readonly<Record<string, number>>,
): Promise<QuestionsOfMachine> {
  const [row] = await database.prepared<{ known: string[]; beside: string[]; answers: AnswerRow[] }>(
    `select
      array(select q.id from fleet.question q where q.org = fleet.own_org() and q.machine = $1 and q.id = any($2::text[]) and ${UNSETTLED}) as known,
      array(select q.id from fleet.question q where q.org = fleet.own_org() and q.machine = $1 and q.expires > now() - interval '1 day'
        and q.id <> all($2::text[]) and ${UNSETTLED} order by q.asked limit 1000) as beside,
      (select coalesce(json_agg(x order by x.id, x.place), '[]') from (
        select a.id, a.place, a.by_name as "by", a.option, a.reason, a.signature
          from fleet.answer a join fleet.question q on q.org = a.org and q.id = a.id
          join unnest($2::text[], $3::int[]) as w (id, place) on w.id = a.id and a.place > w.place
          where q.org = fleet.own_org() and q.machine = $1 and a.rejected is null) x) as answers`,
    [machine, Object.keys(waiting), Object.values(waiting)],
  )
  return row ?? { known: [], beside: [], answers: [] }
}

export type Settled = 'used' | 'denied' | 'expired'

/** Returns false if it was settled before. */
export async function settle(
  database: Database,
  machine: string,
  { id, how, by }: { readonly id: string; readonly how: Settled; readonly by?: string },
): Promise<boolean> {
  const [row] = await database.prepared<{ settle: boolean }>('select fleet.settle($1, $2, $3, $4)', [
    ...[machine, id, how, by ?? null],
  ])
  return row?.settle ?? false
}

/** Lets others answer, and tells them. */
export async function reject(
  database: Database,
  machine: string,
  { id, place, why }: RejectedAnswer,
): Promise<void> {
  const [row] = await database.rows<{ reject: boolean }>('select fleet.reject($1, $2, $3, $4)', [
    ...[machine, id, place, why],
  ])
  if (row?.reject) wake(database, `asked ${id}`)
}

export interface UntoldQuestion {
  readonly id: string
  /** When somebody may tell it, in milliseconds from now. */
  readonly inMs: number
}

/** Open questions that a webhook has not taken, the first to tell first. */
export async function untoldQuestions(database: Database, most: number): Promise<readonly UntoldQuestion[]> {
  return database.prepared<UntoldQuestion & { id: string }>(
    `select q.id, coalesce(greatest(extract(epoch from t.again - now()) * 1000, 0), 0)::float8 as "inMs"
      from fleet.question q left join fleet.told t on t.org = q.org and t.id = q.id
      where ${OPEN} and t.at is null order by "inMs", q.asked, q.id limit $1`,
    [most],
  )
}

/** Returns how often it was tried, with this time. Undefined if somebody else tells it, or has told it. */
export async function claimTelling(database: Database, id: string, ms: number): Promise<number | undefined> {
  const [row] = await database.prepared<{ tries: number | null }>(
    `select fleet.claim_telling($1, $2 * interval '1 millisecond') as tries`,
    [id, ms],
  )
  return row?.tries ?? undefined
}

/** `pauseMs`: nobody tries again before. Absent: the webhook has taken it. */
export async function endTelling(database: Database, id: string, pauseMs?: number): Promise<void> {
  await database.prepared(`select fleet.end_telling($1, $2 * interval '1 millisecond')`, [
    id,
    pauseMs ?? null,
  ])
}
