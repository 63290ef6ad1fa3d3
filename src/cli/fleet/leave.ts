// `fleet leave`: this machine leaves its fleet, after its records are there.

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { dataHome } from '../../files/homes.js'
import { leaveFleet } from '../../fleet/machine/joining.js'
import { unshippedIn } from '../../fleet/machine/log-folders.js'
import { type Member, removeMember } from '../../fleet/machine/membership.js'
import { ship } from '../../fleet/machine/shipper.js'
import { counted } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { asked, type Given, memberOf, withGateway } from './action.js'

const ANYWAY = 'carabiner fleet leave --anyway leaves all the same.'

export async function run({ options, output }: Given): Promise<number> {
  const member = memberOf()
  const { place, url, name, machine } = member
  checkWritable(dirname(place.marker))
  const untold = await told(member, options.anyway)
  if (untold !== undefined) removeMember(place)
  const unshipped = unshippedIn(dataHome(), machine)
  const document = { left: url, unshipped, ...(untold !== undefined && { untold }) }
  return output.result(document, () => [
    `this machine is no longer in the fleet at ${url}`,
    ...(unshipped === 0 ? [] : [`  the fleet does not have ${counted(unshipped, 'record')} of it`]),
    untold === undefined
      ? `  its key counts until the administrator types carabiner fleet machines retire ${name}`
      : `  the gateway did not take note (${untold}): unless it is retired already, the administrator types carabiner fleet machines retire ${name}`,
  ])
}

/** Returns why the gateway could not be told, if that does not matter. */
async function told(member: Member, anyway: boolean): Promise<string | undefined> {
  try {
    await withGateway(member, (client) => ship({ client, machine: member.machine, dataDir: dataHome() }))
    const unshipped = unshippedIn(dataHome(), member.machine)
    if (unshipped > 0 && !anyway)
      throw new Refusal(
        'FLEET_UNSHIPPED',
        `The fleet does not have ${counted(unshipped, 'record')} of this machine yet`,
        { hint: `carabiner fleet ship sends them, or says why not. ${ANYWAY}` },
      )
    await asked(() => leaveFleet(member))
    return undefined
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FLEET_UNSHIPPED') throw error
    if (error instanceof Refusal && error.code === 'FLEET_REFUSED' && !anyway) throw error
    if (!anyway)
      throw new Refusal('FLEET_UNREACHABLE', `The gateway cannot be told: ${textOf(error)}`, { hint: ANYWAY })
    return textOf(error)
  }
}

/** Before the gateway is told what then cannot be done. */
function checkWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new Refusal('FLEET_UNUSABLE', `Only root may change ${folder}`, {
      hint: 'sudo carabiner fleet leave',
    })
  }
}
