// Where Carabiner keeps what it writes for itself. Never in the project.

import { homedir } from 'node:os'
import { join } from 'node:path'

/** `CARABINER_HOME`, else the user's data directory as XDG names it. */
export function dataHome(env: NodeJS.ProcessEnv = process.env): string {
  if (env.CARABINER_HOME) return env.CARABINER_HOME
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'carabiner')
}
