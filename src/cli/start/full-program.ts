// The program with all its commands.

import { COMMANDS } from '../commands.js'
import { main } from '../program.js'

/** Does not return. */
export function start(): Promise<never> {
  return main(COMMANDS)
}
