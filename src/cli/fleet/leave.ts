// `fleet leave`: this machine leaves its fleet.

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { leaveFleet } from '../../fleet/machine/joining.js'
import { removeMember } from '../../fleet/machine/membership.js'
import { Refusal } from '../refusal.js'
import { asked, type Given, memberOf } from './action.js'

export async function run({ options, output }: Given): Promise<number> {
  const member = memberOf()
  const { place, url, name } = member
  checkWritable(dirname(place.marker))
  let untold: string | undefined
  try {
    await asked(() => leaveFleet(member))
  } catch (error) {
    if (!options.anyway)
      throw new Refusal('FLEET_UNREACHABLE', `The gateway cannot be told: ${textOf(error)}`, {
        hint: 'carabiner fleet leave --anyway leaves all the same.',
      })
    untold = textOf(error)
    removeMember(place)
  }
  return output.result({ left: url, ...(untold !== undefined && { untold }) }, () => [
    `this machine is no longer in the fleet at ${url}`,
    ...(untold === undefined
      ? []
      : [
          `  the gateway was not told (${untold}): the administrator types carabiner fleet machines retire ${name}`,
        ]),
  ])
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
