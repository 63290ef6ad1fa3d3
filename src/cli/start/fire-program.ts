// The program as far as `fire` needs it: the smaller it is, the sooner it starts.

import { command } from '../commands/fire.js'
import { main } from '../program.js'

/** Does not return. */
export function start(): Promise<never> {
  return main({ fire: async () => ({ command }) })
}
