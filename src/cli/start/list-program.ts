// The program as far as `list` needs it: the smaller it is, the sooner it starts.

import { command } from '../commands/list.js'
import { main } from '../program.js'

/** Does not return. */
export function start(): Promise<never> {
  return main({ list: async () => ({ command }) })
}
