// Whether root still fetches what only root may write: the policy of the fleet and its list of people.

import { join } from 'node:path'
import { localTime } from '../../core/base/time.js'
import type { FleetPlace } from '../fleet-places.js'
import { lstatIfThere } from '../if-there.js'
import { fetchedPath } from './policy.js'

/** Where an administrator puts units of systemd. */
export const UNITS = '/etc/systemd/system'
/** `carabiner fleet join` makes it. */
export const TIMER = 'carabiner-fleet.timer'

const MOST_MS = 3_600_000

export interface Unfetched {
  /** ISO-8601. */
  readonly since: string
  readonly text: string
  /** A command to type. */
  readonly fix: string
}

/** Undefined while root fetches, and where users fetch for themselves. A machine that has never fetched counts from joining. */
export function unfetched({ binding, policy, marker }: FleetPlace): Unfetched | undefined {
  if (!binding) return undefined
  const last = (statsOf(fetchedPath(policy)) ?? statsOf(marker))?.mtimeMs
  if (last === undefined || Date.now() - last <= MOST_MS) return undefined
  const since = new Date(last).toISOString()
  return {
    since,
    text: `root has not fetched the policy since ${localTime(since)}: only root can, and without news it expires`,
    fix: isThere(join(UNITS, TIMER))
      ? `sudo carabiner fleet ship   # fetches it, or says why not; systemctl status ${TIMER} says whether it runs`
      : 'sudo carabiner fleet join   # lets root fetch it each minute; sudo carabiner fleet ship fetches it once',
  }
}

function statsOf(path: string) {
  try {
    return lstatIfThere(path)
  } catch {
    return undefined
  }
}

export function isThere(path: string): boolean {
  return statsOf(path) !== undefined
}
