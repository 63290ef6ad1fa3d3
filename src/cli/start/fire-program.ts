// The program as far as `fire` needs it.

import { command } from '../commands/fire.js'
import { main } from '../program.js'

await main({ fire: async () => ({ command }) })
