// What the screen Machines asks: who is in the fleet, and retiring one, which only an admin does, with a passkey.

import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { Database } from '../../fleet/database/connection.js'
import { challengeFor, signerOf } from '../../store/approvals/signature.js'
import { NotAnswered, textIn } from '../answers.js'
import { signatureIn } from '../passkeys.js'
import type { EvidenceView, MachinesView } from '../view/fleet.js'
import type { ActDoneView, ChallengeView } from '../view/passkeys.js'
import { type FleetAnswers, machineIn } from './asked.js'
import type { Challenges } from './challenges.js'
import { SharedAnswer } from './shared-answer.js'
import type { Visitor } from './visitors.js'

const MOST_MACHINES = 10_000
const SHOWN_EVIDENCE = 5

interface Row {
  readonly machine: string
  readonly name: string
  readonly joined: Date
  readonly seen: Date
  readonly leaving: Date | null
  readonly retired: Date | null
  readonly retired_by: string | null
  readonly records: string
  readonly shipped: Date | null
  readonly evidence: readonly { readonly kind: string; readonly seq: number; readonly at: string }[] | null
}

export function machineAnswers(database: Database, challenges: Challenges, origin: string): FleetAnswers {
  const machines = new SharedAnswer(() => machinesView(database))
  return {
    'GET api/machines': { role: 'viewer', answer: () => machines.get() },
    'POST api/act/challenge': {
      role: 'admin',
      answer: async ({ body, visitor }): Promise<Omit<ChallengeView, 'option'>> => {
        const act = actIn(body, visitor)
        const nonce = await challenges.begin(act)
        const { id, rpId } = visitor.passkey
        return { challenge: challengeFor({ ...act, nonce }), nonce, host: rpId, passkeys: [id] }
      },
    },
    'POST api/act': {
      role: 'admin',
      answer: async ({ body, visitor }): Promise<ActDoneView> => {
        const act = actIn(body, visitor)
        const signature = signatureIn(body)
        const { nonce } = signature
        await challenges.check(nonce, act)
        const signer = { name: visitor.name, key: visitor.passkey }
        await signerOf(signature, challengeFor({ ...act, nonce }), [signer], origin).catch(
          (error: unknown) => {
            throw new NotAnswered(403, `This was not done: ${visible(textOf(error))}`)
          },
        )
        await challenges.use(nonce)
        const [row] = await database.rows<{ isDone: boolean }>(
          'select fleet.retire_machine_as($1, $2) as "isDone"',
          [act.machine, visitor.name],
        )
        machines.forget()
        if (!row?.isDone) throw new NotAnswered(409, 'This machine is not in the fleet any more')
        return { by: visible(visitor.name) }
      },
    },
  }
}

/** Whatever would make it another act, or the act of somebody else. */
function actIn(body: unknown, { session }: Visitor) {
  if (textIn(body, 'what', 20) !== 'retire') throw new NotAnswered(400, 'There is no such act')
  const machine = machineIn(textIn(body, 'machine', 36))
  return { what: 'fleet-retire', machine, session: session.toString('base64url') } as const
}

async function machinesView(database: Database): Promise<MachinesView> {
  const rows = await database.rows<Row & { total: number }>(
    `select (select count(*)::int from fleet.machine where org = fleet.own_org()) as total, m.machine, m.name, m.joined, m.seen, m.leaving, m.retired, m.retired_by, c.records, c.shipped, e.evidence
      from fleet.machine m
      left join lateral (select coalesce(sum(x.seq - x.base_seq), 0) as records,
          max((select r.received from fleet.record r where r.chain = x.chain and r.seq = x.seq)) as shipped
        from fleet.chain x where x.org = m.org and x.machine = m.machine) c on true
      left join lateral (select json_agg(json_build_object('kind', y.kind, 'seq', y.seq, 'at', y.at) order by y.at desc) as evidence
        from (select kind, seq, at from fleet.evidence z where z.org = m.org and z.machine = m.machine order by at desc limit ${SHOWN_EVIDENCE}) y) e on true
      where m.org = fleet.own_org() order by m.retired is not null, m.name limit ${MOST_MACHINES}`,
  )
  return {
    more: (rows[0]?.total ?? 0) - rows.length,
    machines: rows.map((row) => ({
      id: row.machine,
      name: visible(row.name),
      joined: row.joined.toISOString(),
      seen: row.seen.toISOString(),
      records: Number(row.records),
      ...(row.shipped && { shipped: row.shipped.toISOString() }),
      evidence: (row.evidence ?? []).map(
        ({ kind, seq, at }): EvidenceView => ({
          what: Object.hasOwn(WHAT, kind) ? (WHAT[kind] as string) : visible(kind),
          seq: Number(seq),
          at: new Date(at).toISOString(),
        }),
      ),
      ...(row.leaving && { leaving: row.leaving.toISOString() }),
      ...(row.retired && {
        retired: {
          at: row.retired.toISOString(),
          ...(row.retired_by !== null && { by: visible(row.retired_by) }),
        },
      }),
    })),
  }
}

const WHAT: Readonly<Record<string, string>> = {
  fork: 'its log differs from what was shipped',
  gap: 'records were lost before they were shipped',
  cut: 'its log is shorter than what was shipped',
  behind: 'records were removed from the database',
  damaged: 'a line of its log was changed',
}
