// The folders for Carabiner's own files. They are never in a project.

import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { callerNow } from '../core/base/caller.js'
import { callerEnv, callerPath } from './caller.js'

/** For files that must not be lost: `CARABINER_HOME`, else the user's XDG data directory. */
export function dataHome(env: NodeJS.ProcessEnv = callerEnv()): string {
  if (env.CARABINER_HOME) return callerPath(env.CARABINER_HOME)
  return ownFolder(env.XDG_DATA_HOME, 'share')
}

/** For files of temporary use: `CARABINER_HOME/state`, else the user's XDG state directory. */
export function stateHome(env: NodeJS.ProcessEnv = callerEnv()): string {
  if (env.CARABINER_HOME) return callerPath(env.CARABINER_HOME, 'state')
  return ownFolder(env.XDG_STATE_HOME, 'state')
}

function ownFolder(xdg: string | undefined, name: string): string {
  const given = xdgFolder(xdg)
  return given === undefined ? join(userHome(), '.local', name, 'carabiner') : join(given, 'carabiner')
}

/** What the names of backup folders of `carabiner remove` begin with. */
export function backupPrefix(env: NodeJS.ProcessEnv = callerEnv()): string {
  return `${dataHome(env)}-backup-`
}

/** In a backup folder: brings everything back. */
export const RESTORE_SCRIPT = 'restore.sh'

/** Everything that Carabiner keeps in them. Other files there belong to somebody else. */
export const HOME_FOLDERS = {
  data: [
    'approvals',
    'audit',
    'bin',
    'catalogs',
    'clock',
    'copies',
    'counted-sessions',
    'fleet',
    'grants',
    'listed',
    'listed-projects',
    'plugin-data',
    'proofs',
    'setup',
    'skilled-sessions',
    'sources',
    'switches',
    'texts',
    'trust',
    'trust-projects',
  ],
  state: ['approvals', 'audit', 'calls', 'pack', 'page', 'plugins', 'service', 'sessions', 'telemetry'],
} as const

/** The specification says that a relative path is invalid and counts as not set. */
function xdgFolder(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

/** With `HOME=` or `HOME=.` the files would end up in the current folder. */
export function userHome(): string {
  // homedir() does the same, but loading its module takes longer than all of this.
  const home = (process.platform !== 'win32' && callerEnv().HOME) || homedir()
  return isAbsolute(home) ? home : (registeredHome() ?? resolve('/'))
}

/** With ~ for the home folder. */
export function withTilde(path: string): string {
  const home = resolve(userHome())
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

/**
 * What a process inherits that may serve several callers: never a caller's variables, apart from the home that it works
 * in. Only callers with the same home share one.
 */
export function sharedEnv(): NodeJS.ProcessEnv {
  return callerNow() ? { ...process.env, HOME: userHome() } : process.env
}

/** The home folder in the system's user database, if it knows this user. It does not change while a service runs. */
export function registeredHome(): string | undefined {
  registered ??= homeOfUser()
  return registered
}

let registered: string | undefined

function homeOfUser(): string | undefined {
  try {
    return xdgFolder(userInfo().homedir)
  } catch {
    return undefined
  }
}
