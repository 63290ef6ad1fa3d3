// `fleet machines`: who is in the fleet, and retiring a machine that is gone.

import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { Database } from '../../fleet/database/connection.js'
import { unknownName } from '../../fleet/database/machine-names.js'
import { chosen } from '../command.js'
import { columns, counted } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'

export async function run(given: Given): Promise<number> {
  const [verb = 'list', name] = given.words
  const chosenVerb = chosen(verb, ['list', 'retire'] as const, 'carabiner fleet machines has no action')
  if (chosenVerb === 'list' && name !== undefined) throw usage('carabiner fleet machines list takes no name')
  if (chosenVerb === 'retire' && name === undefined)
    throw usage('Which machine? Type carabiner fleet machines retire NAME')
  return withDatabase(given.options, (database) =>
    name === undefined ? listed(database, given) : retired(database, name, given),
  )
}

interface MachineRow {
  readonly machine: string
  readonly name: string
  readonly joined: Date
  readonly seen: Date
  readonly leaving: Date | null
  readonly retired: Date | null
  readonly retired_by: string | null
  readonly records: string
  readonly evidence: string
}

async function listed(database: Database, { output }: Given): Promise<number> {
  const rows = await database.rows<MachineRow>(
    `select m.machine, m.name, m.joined, m.seen, m.leaving, m.retired, m.retired_by,
      (select coalesce(sum(c.seq - c.base_seq), 0) from fleet.chain c where c.org = m.org and c.machine = m.machine) as records,
      (select count(*) from fleet.evidence e where e.org = m.org and e.machine = m.machine) as evidence
      from fleet.machine m where m.org = fleet.own_org() order by m.retired is not null, m.name`,
  )
  const machines = rows.map(
    ({ machine, name, joined, seen, leaving, retired, retired_by, records, evidence }) => ({
      ...{ machine, name, joined: joined.toISOString(), seen: seen.toISOString() },
      ...(leaving && { leaving: leaving.toISOString() }),
      ...(retired && {
        retired: retired.toISOString(),
        ...(retired_by !== null && { retiredBy: retired_by }),
      }),
      ...{ records: Number(records), evidence: Number(evidence) },
    }),
  )
  return output.result({ machines }, (paint) =>
    machines.length === 0
      ? ['no machines']
      : columns(
          machines.map((one) => [
            visibleName(one.name),
            stateOf(one),
            counted(one.records, 'record'),
            one.evidence === 0
              ? ''
              : paint.red(`its history broke ${one.evidence === 1 ? 'once' : counted(one.evidence, 'time')}`),
          ]),
        ).map((row) => row.join('  ').trimEnd()),
  )
}

/** Its key still works after it asked to leave: whoever could use the key could ask. */
function stateOf(one: {
  readonly seen: string
  readonly leaving?: string
  readonly retired?: string
  readonly retiredBy?: string
}): string {
  if (one.retired !== undefined)
    return `retired ${localTime(one.retired)}${one.retiredBy === undefined ? '' : ` by ${visible(one.retiredBy)}`}`
  return one.leaving === undefined
    ? `seen ${localTime(one.seen)}`
    : `asked to leave ${localTime(one.leaving)}`
}

async function retired(database: Database, name: string, { output }: Given): Promise<number> {
  const [row] = await database.rows<{ machine: string }>(
    'select machine from fleet.machine where org = fleet.own_org() and name = $1 and retired is null',
    [name],
  )
  const [done] = row
    ? await database.rows<{ isDone: boolean }>('select fleet.retire_machine($1) as "isDone"', [row.machine])
    : []
  if (!done?.isDone)
    throw new Refusal(
      'UNKNOWN_MACHINE',
      (await unknownName(database, name, { isRetiredToo: false })) ??
        `No machine of the fleet is called ${visibleName(name)}`,
      { hint: 'carabiner fleet machines lists them.' },
    )
  return output.result({ retired: name }, () => [
    `${visibleName(name)} is no longer in the fleet; its records stay`,
  ])
}
