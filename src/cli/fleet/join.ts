// `fleet join URL --token TOKEN`: makes this machine a member of a fleet.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { callerEnv } from '../../files/caller.js'
import type { InForce } from '../../files/fleet/policy.js'
import { type FleetPlace, fleetPlace, ROOT_PLACE, userPlace } from '../../files/fleet-places.js'
import { ifThere } from '../../files/if-there.js'
import { GatewayRefusal } from '../../fleet/gateway-refusal.js'
import { tokenFrom } from '../../fleet/join-token.js'
import { type GatewayClient, Unreachable } from '../../fleet/machine/gateway-client.js'
import { clientOf, joinFleet } from '../../fleet/machine/joining.js'
import { type Member, readMember } from '../../fleet/machine/membership.js'
import { fetchPeople } from '../../fleet/machine/people.js'
import { fetchPolicy } from '../../fleet/machine/policy.js'
import { MACHINE_NAME } from '../../fleet/protocol.js'
import type { Output } from '../output.js'
import { nextLines, shortPath } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { asked, type Given } from './action.js'
import { certificates, gatewayUrl } from './gateway-address.js'
import { sendReport } from './own-report.js'
import { policyText } from './policy/fetch.js'
import { addTimer, type TimerState } from './root-timer.js'

export const ADVISORY = 'advisory: this user can undo it, and so can an agent of this user'

export async function run({ options, words: [address], output }: Given): Promise<number> {
  const isRoot = process.geteuid?.() === 0
  const known = fleetPlace()
  const given = [address, options.token, options.name, options.ca, options.group]
  const isOnlyTimer = given.every((one) => one === undefined) && !options.user && !options['no-timer']
  if (known?.binding && isRoot && isOnlyTimer) return setTimer(known, output)
  if (address === undefined) throw usage('Where is the gateway? Type carabiner fleet join URL --token TOKEN')
  const url = gatewayUrl(address)
  const token = tokenFrom(options.token ?? '')
  if (!token)
    throw usage(
      options.token === undefined ? 'Which token? Give --token TOKEN' : '--token is not a whole token',
      'The administrator of the fleet makes one with carabiner fleet token, and sends you all of it.',
    )
  const { name = hostname() } = options
  if (!MACHINE_NAME.test(name))
    throw usage('--name must have at most 100 letters, digits, spaces and . _ @ + -')
  const ca = options.ca === undefined ? undefined : certificates(options.ca)
  const place = isRoot && !options.user ? ROOT_PLACE : userPlace()
  if (known)
    throw new Refusal('FLEET_UNUSABLE', `This machine is in a fleet already: ${known.marker}`, {
      hint: leavingOf(known),
    })
  const group = place.binding ? groupOf(options.group) : undefined
  if (options.group !== undefined && !place.binding)
    throw usage('--group is for root: without it, only you can read the key')
  const authority = ca === undefined ? {} : { ca }
  const joining = { url, token, name, place, ...authority, ...(group !== undefined && { group }) }
  const member = await asked(() => writing(place, () => joinFleet(joining)), authority)
  const { approvers, policy, peopleProblem, problem } = await firstNews(member, output)
  const timer = place.binding && !options['no-timer'] ? addTimer() : undefined
  const { machine } = member
  const document = {
    ...{ machine, name, url, binding: place.binding, marker: place.marker, approvers },
    ...(timer && { timer }),
    ...(problem !== undefined && { problem }),
    ...(peopleProblem !== undefined && { peopleProblem }),
  }
  return output.result(document, (paint) => [
    `${visibleName(name)} is in the fleet at ${url}`,
    ...(place.binding
      ? [`  binding: only root can change ${place.marker}`]
      : [
          `  ${paint.yellow(ADVISORY)}`,
          '  to make it binding: carabiner fleet leave, then sudo carabiner fleet join with a new token',
        ]),
    `  its key is ${shortPath(place.key)}`,
    peopleProblem !== undefined
      ? `  ${paint.yellow('the list of people was not fetched')}: ${visible(peopleProblem)}`
      : approvers.length > 0
        ? `  may allow its calls, signed: ${approvers.map(visibleName).join(', ')}`
        : `  ${paint.yellow('nobody may allow its calls yet')}: carabiner fleet people add adds people, and carabiner fleet ship learns it`,
    ...(policy ? [`  policy: ${policyText(policy)}`] : []),
    ...(problem === undefined
      ? []
      : [`  ${paint.yellow('the policy was not fetched')}: ${visible(problem)}`]),
    ...(place.binding && group === undefined
      ? [
          `  ${paint.yellow('only root can read the key, so records of other users are not shipped')}`,
          REGROUP,
        ]
      : []),
    ...(timer ? timerLines(timer, paint) : []),
  ])
}

function leavingOf(place: FleetPlace): string {
  if (place.binding && process.geteuid?.() !== 0) return 'sudo carabiner fleet leave leaves it.'
  try {
    readMember(place)
    return 'carabiner fleet leave leaves it.'
  } catch (error) {
    return `Its files cannot be used: ${textOf(error)}`
  }
}

/** For a machine that has joined: Node may be somewhere else by now, or an older version made no timer. */
async function setTimer({ marker }: FleetPlace, output: Output): Promise<number> {
  const timer = addTimer()
  return output.result(
    { binding: true, marker, timer },
    (paint) => [`this machine is in a fleet already: ${marker}`, ...timerLines(timer, paint)],
    timer.status === 'failed' ? EXIT.failed : EXIT.ok,
  )
}

function timerLines(timer: TimerState, paint: Paint): readonly string[] {
  if (timer.status === 'on') return ['  root fetches its policy and ships each minute: carabiner-fleet.timer']
  return [
    `  ${paint.yellow('root has to fetch its policy, and nothing does it yet')}: ${visible(timer.why)}`,
    ...nextLines([timer.next], paint),
  ]
}

/** What the system does not let us write is no bug. */
async function writing<T>({ binding, marker }: FleetPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Refusal('FLEET_UNUSABLE', `Nothing can be written to ${dirname(marker)}: ${textOf(error)}`, {
      ...(binding && { hint: '--user joins for this user only, who can undo it (advisory).' }),
    })
  }
}

interface People {
  /** Those who may allow. */
  readonly approvers: readonly string[]
  /** Why they are not known. */
  readonly peopleProblem?: string
}

interface News extends People {
  readonly policy?: InForce
  readonly problem?: string
}

/** Shipping learns, and reports, later what cannot be done now. */
async function firstNews(member: Member, output: Output): Promise<News> {
  const client = clientOf(member)
  try {
    const news = { ...(await approversOf(client, member)), ...(await policyOf(client, member)) }
    // After the policy, which it names. Until then, the machine counts as silent.
    await sendReport(client, member, output).catch((error: unknown) => {
      if (!(error instanceof Unreachable)) throw error
    })
    return news
  } finally {
    client.close()
  }
}

/** `problem`: why it was not fetched. */
async function policyOf(client: GatewayClient, member: Member): Promise<Pick<News, 'policy' | 'problem'>> {
  try {
    const { inForce } = await fetchPolicy(client, member)
    return inForce ? { policy: inForce } : {}
  } catch (error) {
    const isOlder = error instanceof GatewayRefusal && error.code === 'UNKNOWN_ROUTE'
    return isOlder ? {} : { problem: textOf(error) }
  }
}

async function approversOf(client: GatewayClient, member: Member): Promise<People> {
  try {
    const { people = [] } = (await fetchPeople(client, member)) ?? {}
    return { approvers: people.flatMap(({ name, role }) => (role === 'viewer' ? [] : [name])) }
  } catch (error) {
    return { approvers: [], peopleProblem: textOf(error) }
  }
}

const REGROUP = `  chgrp GROUP ${ROOT_PLACE.key} && chmod 640 ${ROOT_PLACE.key} lets a group ship`

/** Given, or the group of whoever typed sudo: their programs have to sign with the key. */
function groupOf(given: string | undefined): number | undefined {
  const { SUDO_GID = '' } = callerEnv()
  const group = given ?? SUDO_GID
  if (/^\d{1,10}$/.test(group)) return Number(group)
  if (given === undefined) return undefined
  const row = (ifThere(() => readFileSync('/etc/group', 'utf8')) ?? '')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === given)
  if (row?.[2] !== undefined) return Number(row[2])
  throw usage(`--group: there is no group ${JSON.stringify(given)} in /etc/group; give its number`)
}
