// `fleet status` of this machine: whether this machine is in a fleet, whether its gateway answers, and how far its records are there.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { callerEnv } from '../../files/caller.js'
import { fleetPolicies } from '../../files/fleet/bundles.js'
import { endOfPeople, heldPeople, NoPeople } from '../../files/fleet/people.js'
import { type InForce, readInForce } from '../../files/fleet/policy.js'
import { unfetched } from '../../files/fleet/root-fetches.js'
import { type FleetPlace, fleetPlace, policyPlace } from '../../files/fleet-places.js'
import { dataHome } from '../../files/homes.js'
import { headsOf, logFolders, logId } from '../../fleet/machine/log-folders.js'
import { localEnd } from '../../fleet/machine/log-lines.js'
import type { LogBreak } from '../../fleet/machine/log-shipping.js'
import type { Member } from '../../fleet/machine/membership.js'
import type { Break, ChainHead, MachineAnswer } from '../../fleet/protocol.js'
import { signersOf } from '../../store/approvers.js'
import { readShipped } from '../../store/audit/shipped.js'
import { counted, nextLines } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, Refusal } from '../refusal.js'
import { DATABASE_VARIABLE, type Given, isAboutAll, memberOf, withGateway } from './action.js'
import { showFleetStatus } from './fleet-status.js'
import { ADVISORY } from './join.js'
import { policyText } from './policy/fetch.js'
import { breakText, failureText } from './ship.js'

interface Contact {
  readonly reached: boolean
  /** It answers, and does not take this machine for one of its fleet. */
  readonly refused?: true
  /** It answers, and cannot do it now. */
  readonly unavailable?: true
  readonly why?: string
  /** How often the gateway has noticed that the history of this machine broke. */
  readonly evidence?: number
  readonly heads?: ReadonlyMap<string, ChainHead>
}

/** A log here, and how far it is there. */
interface LogState {
  readonly folder: string
  readonly written: number
  /** What the gateway acknowledged, and when. */
  readonly shipped: number
  readonly time?: string
  /** The last record that the gateway says it has. */
  readonly there?: number
  /** Why it could not be shipped when that was tried last. */
  readonly failure?: string
  readonly breaks: readonly LogBreak[]
}

export async function run(given: Given): Promise<number> {
  const { output, options } = given
  if (isAboutAll(options)) return showFleetStatus(given)
  if (!fleetPlace())
    return output.result({ member: false }, () => [
      'this machine is in no fleet',
      '  carabiner fleet join URL --token TOKEN joins one',
    ])
  const member = memberOf()
  const { url, name, machine, place } = member
  const folders = logFolders(dataHome())
  const contact = await contactOf(() =>
    withGateway(member, async (client) => {
      const { evidence } = await client.ask<MachineAnswer>('machine')
      return { evidence, heads: await headsOf(client, dataHome()) }
    }),
  )
  const logs = folders.map((folder) => stateOf(folder, machine, contact))
  const { heads: _, ...gateway } = contact
  const { binding, marker } = place
  const allowers = allowersHere(member)
  const policy = policyHere(place)
  const stale = unfetched(place)
  // A fleet may be there for its records alone, and have no list.
  const isEnforced =
    policy.problem === undefined && (allowers.problem === undefined || allowers.isUnwritten === true)
  const ok = contact.reached && isEnforced && logs.every(({ failure }) => failure === undefined)
  const machineFacts = { member: true, ok, url, name, machine, binding, marker }
  const document = { ...machineFacts, gateway, allowers, policy, logs, ...(stale && { unfetched: stale }) }
  return output.result(
    document,
    (paint) => [
      `${visibleName(name)} is in the fleet at ${visible(url)}`,
      place.binding ? `  binding: only root can change ${place.marker}` : `  ${paint.yellow(ADVISORY)}`,
      ...contactLines(contact, paint),
      ...allowersLines(allowers, paint),
      ...policyLines(policy, paint),
      ...(stale ? [`  ${paint.yellow(stale.text)}`, ...nextLines([stale.fix], paint)] : []),
      ...logLines(logs, paint),
      ...(callerEnv()[DATABASE_VARIABLE] === undefined
        ? []
        : nextLines([`carabiner fleet status --database "$${DATABASE_VARIABLE}"   # all machines`], paint)),
    ],
    ok ? EXIT.ok : EXIT.failed,
  )
}

interface PolicyHere {
  readonly inForce?: InForce
  /** Why nobody can rely on it. */
  readonly problem?: string
}

function policyHere(place: FleetPlace): PolicyHere {
  const own = policyPlace(place)
  try {
    const inForce = readInForce(own)
    const problem = fleetPolicies(own).find((one) => one.problem !== undefined)?.problem
    return { ...(inForce && { inForce }), ...(problem !== undefined && { problem }) }
  } catch (error) {
    return { problem: textOf(error) }
  }
}

function policyLines({ inForce, problem }: PolicyHere, paint: Paint): readonly string[] {
  return [
    ...(inForce ? [`  policy: ${policyText(inForce)}`] : []),
    ...(problem === undefined
      ? []
      : [`  ${paint.red('the policy cannot be relied on')}: ${visible(problem)}`]),
  ]
}

interface Allowers {
  readonly names: readonly string[]
  /** Why nobody can allow. */
  readonly problem?: string
  /** There is no list. */
  readonly isUnwritten?: true
  /** That they will not much longer. */
  readonly warning?: string
}

function allowersHere({ place, rootKey }: Member): Allowers {
  try {
    const names = new Set(signersOf()?.approvers.map(({ name }) => name))
    if (names.size === 0) return { names: [], problem: NOBODY }
    const warning = endOfPeople(heldPeople(place, rootKey))
    return { names: [...names], ...(warning !== undefined && { warning }) }
  } catch (error) {
    return { names: [], problem: textOf(error), ...(error instanceof NoPeople && { isUnwritten: true }) }
  }
}

const NOBODY = 'the fleet has no approver; an administrator adds one with carabiner fleet people add'

function allowersLines({ names, problem, warning }: Allowers, paint: Paint): readonly string[] {
  return problem === undefined
    ? [
        `  calls here may be allowed by ${names.map(visibleName).join(', ')}`,
        ...(warning === undefined ? [] : [`  ${paint.yellow(warning)}`]),
      ]
    : [`  ${paint.red('nobody can allow calls here')}: ${visible(problem)}`]
}

async function contactOf(ask: () => Promise<Omit<Contact, 'reached'>>): Promise<Contact> {
  try {
    return { reached: true, ...(await ask()) }
  } catch (error) {
    const isRefused = error instanceof Refusal && error.code === 'FLEET_REFUSED'
    const isUnavailable = error instanceof Refusal && error.code === 'FLEET_UNAVAILABLE'
    const hint = (isRefused || isUnavailable) && error.hint !== undefined ? `. ${error.hint}` : ''
    return {
      reached: false,
      ...(isRefused && { refused: true }),
      ...(isUnavailable && { unavailable: true }),
      why: `${textOf(error)}${hint}`,
    }
  }
}

function stateOf(folder: string, machine: string, { heads }: Contact): LogState {
  const read = readShipped(folder)
  const shipped = read?.machine === machine ? read : undefined
  const log = logId(folder)
  const there = heads?.get(log)?.seq
  return {
    folder,
    written: localEnd(folder)?.seq ?? 0,
    shipped: shipped?.seq ?? 0,
    ...(shipped && { time: shipped.time }),
    ...(there !== undefined && { there }),
    ...(shipped?.failure !== undefined && { failure: shipped.failure }),
    breaks: (shipped?.breaks ?? []).map(({ kind, seq }) => ({ log, folder, kind: kind as Break, seq })),
  }
}

function logLines(logs: readonly LogState[], paint: Paint): readonly string[] {
  if (logs.length === 0) return ['  no records yet']
  const waiting = logs.reduce((sum, { written, shipped }) => sum + Math.max(written - shipped, 0), 0)
  const last = logs
    .flatMap(({ time }) => time ?? [])
    .sort()
    .at(-1)
  return [
    `  ${counted(logs.length, 'log')}: ${waiting === 0 ? 'everything is shipped' : `${counted(waiting, 'record')} not shipped yet`}${last === undefined ? '' : `; last shipped ${localTime(last)}`}`,
    ...logs.flatMap(({ folder, failure }) =>
      failure === undefined
        ? []
        : `  ${paint.red('not shipped')}: ${visible(failureText({ folder, why: failure }))}`,
    ),
    ...logs
      .flatMap(({ breaks }) => breaks)
      .map((one) => `  ${paint.red('broken')}: ${visible(breakText(one))}`),
  ]
}

function contactLines(
  { reached, refused, unavailable, why = '', evidence = 0 }: Contact,
  paint: Paint,
): readonly string[] {
  if (refused) return [`  ${paint.red('not accepted')}: ${visible(why)}`]
  if (unavailable) return [`  ${paint.red('the gateway is not ready')}: ${visible(why)}`]
  if (!reached) return [`  ${paint.red('the gateway does not answer')}: ${visible(why)}`]
  if (evidence === 0) return ['  the gateway answers']
  const times = evidence === 1 ? 'once' : counted(evidence, 'time')
  return [`  the gateway answers; it noticed ${times} that the history of this machine broke`]
}
