// Where Carabiner keeps what it writes for itself. Never in the project.

import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** What must not be lost: `CARABINER_HOME`, else the user's data directory as XDG names it. */
export function dataHome(env: NodeJS.ProcessEnv = process.env): string {
  if (env.CARABINER_HOME) return resolve(env.CARABINER_HOME)
  return join(xdgFolder(env.XDG_DATA_HOME) ?? join(userHome(), '.local', 'share'), 'carabiner')
}

/** What is only of use for a while: `CARABINER_HOME/state`, else the user's state directory as XDG names it. */
export function stateHome(env: NodeJS.ProcessEnv = process.env): string {
  if (env.CARABINER_HOME) return resolve(env.CARABINER_HOME, 'state')
  return join(xdgFolder(env.XDG_STATE_HOME) ?? join(userHome(), '.local', 'state'), 'carabiner')
}

/** By the specification a relative path is invalid, and counts as not set. */
function xdgFolder(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

/** `HOME=` or `HOME=.` would put the files into whatever folder this runs in. */
export function userHome(): string {
  // As homedir() begins; the module that has it takes longer to load than all of this.
  const home = (process.platform !== 'win32' && process.env.HOME) || homedir()
  return isAbsolute(home) ? home : (registeredHome() ?? resolve('/'))
}

/** As the system knows it, if it knows this user. */
export function registeredHome(): string | undefined {
  try {
    return xdgFolder(userInfo().homedir)
  } catch {
    return undefined
  }
}
