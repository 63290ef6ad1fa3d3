// The command with which a person allows a question of this machine.

import { fleetPlace } from '../files/fleet-places.js'
import { lstatIfThere } from '../files/if-there.js'
import { APPROVERS_FILE } from '../store/approvers.js'

/** In a fleet, and with a list of approvers, nobody allows by typing: a signature does. */
export function allowCommand(id: string): string {
  if (fleetPlace()) return `carabiner fleet answer ${id} allow`
  return lstatIfThere(APPROVERS_FILE) ? 'carabiner open' : `carabiner approvals allow ${id}`
}
