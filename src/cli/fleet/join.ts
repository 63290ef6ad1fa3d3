// `fleet join URL --token TOKEN`: makes this machine a member of a fleet.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { textOf } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/text.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { fleetPlace, ROOT_PLACE, userPlace } from '../../files/fleet-places.js'
import { tokenFrom } from '../../fleet/join-token.js'
import { clientOf, joinFleet } from '../../fleet/machine/joining.js'
import type { Member } from '../../fleet/machine/membership.js'
import { fetchPeople } from '../../fleet/machine/people.js'
import { isLoopback, MACHINE_NAME } from '../../fleet/protocol.js'
import { shortPath } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'
import { asked, type Given } from './action.js'

export const ADVISORY = 'advisory: this user can undo it, and so can an agent of this user'

export async function run({ options, words: [address], output }: Given): Promise<number> {
  const url = urlOf(address)
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
  const isRoot = process.geteuid?.() === 0
  const place = isRoot && !options.user ? ROOT_PLACE : userPlace()
  const known = fleetPlace()
  if (known)
    throw new Refusal('FLEET_UNUSABLE', `This machine is in a fleet already: ${known.marker}`, {
      hint: 'carabiner fleet leave leaves it.',
    })
  const group = place.binding ? groupOf(options.group) : undefined
  if (options.group !== undefined && !place.binding)
    throw usage('--group is for root: without it, only you can read the key')
  const member = await asked(() =>
    joinFleet({
      url,
      token,
      name,
      place,
      ...(ca !== undefined && { ca }),
      ...(group !== undefined && { group }),
    }),
  )
  const approvers = await approversOf(member)
  const { machine } = member
  const document = { machine, name, url, binding: place.binding, marker: place.marker, approvers }
  return output.result(document, (paint) => [
    `${visibleName(name)} is in the fleet at ${url}`,
    place.binding
      ? `  binding: only root can change ${place.marker}`
      : `  ${paint.yellow(ADVISORY)}; sudo carabiner fleet join makes it binding`,
    `  its key is ${shortPath(place.key)}`,
    approvers.length > 0
      ? `  may allow its calls, signed: ${approvers.map(visibleName).join(', ')}`
      : `  ${paint.yellow('nobody may allow its calls yet')}: carabiner fleet people add adds people, and carabiner fleet ship learns it`,
    ...(place.binding && group === undefined
      ? [
          `  ${paint.yellow('only root can read the key, so records of other users are not shipped')}`,
          REGROUP,
        ]
      : []),
  ])
}

/** Shipping learns the list later if it cannot be had now. */
async function approversOf(member: Member): Promise<readonly string[]> {
  const client = clientOf(member)
  try {
    const { people = [] } = (await fetchPeople(client, member)) ?? {}
    return people.flatMap(({ name, role }) => (role === 'viewer' ? [] : [name]))
  } catch {
    return []
  } finally {
    client.close()
  }
}

function urlOf(address: string | undefined): string {
  if (address === undefined) throw usage('Where is the gateway? Type carabiner fleet join URL --token TOKEN')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
    return url.href.replace(/\/$/, '')
  throw usage(
    `${JSON.stringify(address)} is not the address of a gateway`,
    'It begins with https://; only on this machine itself http:// will do.',
  )
}

function certificates(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`--ca cannot be read: ${textOf(error)}`)
  }
}

const REGROUP = `  chgrp GROUP ${ROOT_PLACE.key} && chmod 640 ${ROOT_PLACE.key} lets a group ship`

/** Given, or the group of whoever typed sudo: their programs have to sign with the key. */
function groupOf(given: string | undefined): number | undefined {
  const { SUDO_GID = '' } = callerEnv()
  const group = given ?? SUDO_GID
  if (/^\d{1,10}$/.test(group)) return Number(group)
  if (given === undefined) return undefined
  const row = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === given)
  if (row?.[2] !== undefined) return Number(row[2])
  throw usage(`--group: there is no group ${JSON.stringify(given)} in /etc/group; give its number`)
}
