// `fleet status` of all machines: for an administrator, which machines do not enforce what they should, worst first.

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
import { firstRootKey } from '../../fleet/database/policy.js'
import type { MachineReport } from '../../fleet/machine-report.js'
import type { Output } from '../output.js'
import { counted } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'
import { type Given, withDatabase } from './action.js'
import { type Lists, readLists } from './people.js'

export async function showFleetStatus({ options, output }: Given): Promise<number> {
  const { status, people } = await withDatabase(options, async (database) => ({
    status: await fleetStatus(database),
    people: await listState(database, output),
  }))
  const ok = status.ok && !people?.isBroken
  const document = { ...status, ok, ...(people && { peopleWarning: people.text }) }
  return output.result(
    document,
    (paint) => [
      ...(people ? [(people.isBroken ? paint.red : paint.yellow)(people.text)] : []),
      ...lines(status, paint),
    ],
    ok ? EXIT.ok : EXIT.failed,
  )
}

interface ListState {
  readonly text: string
  /** Whether nobody may allow by it, or nobody can rely on it. */
  readonly isBroken: boolean
}

/** What is to be told about the list of people. */
async function listState(database: Database, output: Output): Promise<ListState | undefined> {
  const broken = (text: string) => ({ text, isBroken: true })
  let lists: Lists
  try {
    lists = await readLists(database, await firstRootKey(database), output)
  } catch (error) {
    if (error instanceof Refusal) return broken(error.message)
    throw error
  }
  const { highest, damage } = lists
  const [people] = lists.signed
  if (damage !== undefined)
    return broken(
      `version ${highest} of the list of people in the database ${damage}; carabiner fleet people says how to repair it`,
    )
  // A fleet may be there for its records alone.
  if (!people) return { text: `the fleet has no list of people${NOBODY}`, isBroken: false }
  const text = endOfPeople(people)
  if (text !== undefined) return { text, isBroken: arePeopleOver(people) }
  if (people.people.some(({ role }) => role !== 'viewer')) return undefined
  return broken(`nobody on the list of people is an approver${NOBODY}`)
}

const NOBODY = ', so nobody can allow calls on its machines; carabiner fleet people add adds one'

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
