// `fleet status` of all machines: for an administrator, which machines do not enforce what they should, worst first.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { arePeopleOver, endOfPeople } from '../../files/fleet/people.js'
import type { Database } from '../../fleet/database/connection.js'
import {
  type FleetStatus,
  fleetStatus,
  isMinor,
  type MachineStatus,
  TROUBLES,
} from '../../fleet/database/machine-status.js'
import { readList } from '../../fleet/database/people.js'
import type { MachineReport } from '../../fleet/machine-report.js'
import { counted } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { type Given, withDatabase } from './action.js'

export async function showFleetStatus({ options, output }: Given): Promise<number> {
  const { status, people } = await withDatabase(options, async (database) => ({
    status: await fleetStatus(database),
    people: await endOf(database),
  }))
  const ok = status.ok && !people?.isOver
  const document = { ...status, ok, ...(people && { peopleWarning: people.text }) }
  return output.result(
    document,
    (paint) => [...(people ? [paint.yellow(people.text)] : []), ...lines(status, paint)],
    ok ? EXIT.ok : EXIT.failed,
  )
}

interface ListState {
  readonly text: string
  /** Whether nobody may allow by it. */
  readonly isOver: boolean
}

/** What is to be told about the list of people. */
async function endOf(database: Database): Promise<ListState | undefined> {
  const list = await readList(database)
  try {
    const people = list?.checked()
    const text = people && endOfPeople(people)
    return people && text !== undefined ? { text, isOver: arePeopleOver(people) } : undefined
  } catch (error) {
    return { text: `the list of people in the database ${textOf(error)}`, isOver: true }
  }
}

function lines({ machines, rollout }: FleetStatus, paint: Paint): readonly string[] {
  if (machines.length === 0) return ['no machines']
  const well = machines.filter(({ troubles }) => troubles.every(({ kind }) => isMinor(kind)))
  return [
    `${counted(machines.length, 'machine')}, ${well.length} as they should be${rollout === undefined ? '; no policy is published' : `; roll-out ${rollout}`}`,
    ...machines.flatMap((one) => machineLines(one, paint)),
  ]
}

function machineLines(
  { name, seen, report, others = [], troubles }: MachineStatus,
  paint: Paint,
): readonly string[] {
  const { policy, carabiner } = report ?? {}
  const version = policy?.enforced === undefined ? '' : `, policy ${policy.enforced}`
  const shadow = policy?.shadow === undefined ? '' : `, ${policy.shadow} in shadow mode`
  const signed = policy?.signed === undefined ? '' : ` (news of ${localTime(policy.signed)})`
  const own = carabiner === undefined ? '' : `, Carabiner ${visible(carabiner)}`
  return [
    `${visibleName(name)}: seen ${localTime(seen)}${version}${shadow}${signed}${own}`,
    ...(report && others.length > 0 ? [`  reported by ${[report, ...others].map(reporter).join(', ')}`] : []),
    ...troubles.map(({ kind, detail }) => {
      const word = isMinor(kind) ? paint.yellow(kind) : paint.red(kind)
      return `  ${word}: ${TROUBLES[kind]}: ${visible(detail)}`
    }),
  ]
}

function reporter({ user = 'an older Carabiner', time }: MachineReport): string {
  return `${visible(user)} (${localTime(time)})`
}
