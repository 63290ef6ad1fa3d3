// Ships records and questions from a process of its own, so that no event waits for the network. Only on a machine in a fleet.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { callerEnv } from '../files/caller.js'
import { fleetPlace } from '../files/fleet-places.js'
import { dataHome, stateHome } from '../files/homes.js'
import { realOf } from '../files/within.js'
import { isAnybodyWatching } from '../store/approvals/waiting.js'

/** Starts `carabiner fleet ship` and does not wait for it. `env`: of the user whose records they are. */
export function shipSoon(env: NodeJS.ProcessEnv = callerEnv()): void {
  if (fleetPlace(dataHome(env))) start(['fleet', 'ship'], env)
}

/** Starts `carabiner fleet ship --questions`, unless one runs: it notices new questions by itself. */
export function askFleetSoon(env: NodeJS.ProcessEnv = callerEnv()): void {
  if (!fleetPlace(dataHome(env)) || isAnybodyWatching(mirrorsFolder(stateHome(env)))) return
  start(['fleet', 'ship', '--questions'], env)
}

/** Each process that shows questions to the fleet has a file in it. */
export function mirrorsFolder(stateDir: string): string {
  return join(stateDir, 'approvals', 'mirrors')
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const program = join(dirname(realOf(process.argv[1] ?? '')), 'carabiner.js')
  if (!existsSync(program)) return
  const child = spawn(process.execPath, [program, ...args], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env,
  })
  // Without a process there is no shipping now; the next one catches up.
  child.on('error', () => {})
  child.unref()
}
