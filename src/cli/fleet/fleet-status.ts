// `fleet status` of all machines: for an administrator, which machines do not enforce what they should, worst first.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { arePeopleOver, endOfPeople, type People, type SignedPeople } from '../../files/fleet/people.js'
import type { Database } from '../../fleet/database/connection.js'
import {
  type FleetStatus,
  fleetStatus,
  isMinor,
  type MachineStatus,
  TROUBLES,
} from '../../fleet/database/machine-status.js'
import { readList } from '../../fleet/database/people.js'
import { firstRootKey } from '../../fleet/database/policy.js'
import type { MachineReport } from '../../fleet/machine-report.js'
import { counted } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { type Given, withDatabase } from './action.js'
import { seenPeople } from './seen.js'

export async function showFleetStatus({ options, output }: Given): Promise<number> {
  const { status, people } = await withDatabase(options, async (database) => ({
    status: await fleetStatus(database),
    people: await listState(database),
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
async function listState(database: Database): Promise<ListState | undefined> {
  const list = await readList(database)
  const broken = (text: string) => ({ text, isBroken: true })
  let people: People | undefined
  try {
    people = list?.checked()
  } catch (error) {
    return broken(`the list of people in the database ${textOf(error)}${REPAIR}`)
  }
  const lost = lossOf(people, list?.signed, await firstRootKey(database))
  if (lost !== undefined) return broken(lost)
  // A fleet may be there for its records alone.
  if (!people) return { text: `the fleet has no list of people${NOBODY}`, isBroken: false }
  const text = endOfPeople(people)
  if (text !== undefined) return { text, isBroken: arePeopleOver(people) }
  if (people.people.some(({ role }) => role !== 'viewer')) return undefined
  return broken(`nobody on the list of people is an approver${NOBODY}`)
}

const REPAIR = '; carabiner fleet people says how to repair it'
const NOBODY = ', so nobody can allow calls on its machines; carabiner fleet people add adds one'

/** Whether the list that this user has seen is no longer there. */
function lossOf(
  people: People | undefined,
  stored: SignedPeople | undefined,
  rootKey: Buffer,
): string | undefined {
  let seen: ReturnType<typeof seenPeople>
  try {
    seen = seenPeople(rootKey)
  } catch (error) {
    return textOf(error)
  }
  const version = people?.version ?? 0
  if (!seen || version > seen.version || (version === seen.version && stored?.list === seen.list))
    return undefined
  const what = version < seen.version ? 'was removed' : 'is another one than you have seen'
  return `version ${seen.version} of the list of people in the database ${what}${REPAIR}`
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
