// The command with which a person allows a question of this machine.

import { textOf } from '../core/base/errors.js'
import { fleetPlace } from '../files/fleet-places.js'
import { lstatIfThere } from '../files/if-there.js'
import { APPROVERS_FILE, signersOf } from '../store/approvers.js'
import { Refusal } from './refusal.js'

/** In a fleet, and with a list of approvers, nobody allows by typing: a signature does. */
export function allowCommand(id: string): string {
  if (fleetPlace()) return `carabiner fleet answer ${id} allow`
  return lstatIfThere(APPROVERS_FILE) ? 'carabiner open' : `carabiner approvals allow ${id}`
}

/** Throws if nobody can allow, because a list of approvers or the membership of a fleet cannot be relied on. */
export function checkSigners(): void {
  try {
    signersOf()
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', `Nobody can allow calls here: ${textOf(error)}`)
  }
}
