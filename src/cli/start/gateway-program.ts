// The gateway of a fleet, which stays in memory for thousands of machines: it holds no other command and no other action.

import { command } from '../commands/fleet.js'
import { main } from '../program.js'

/** Does not return. */
export function start(): Promise<never> {
  return main({ fleet: async () => ({ command }) })
}
