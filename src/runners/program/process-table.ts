// Who of a process group really lives. A zombie that nobody reaps (in a container, often) still answers to signals.

import { readdirSync } from 'node:fs'
import { statOf } from '../../files/process.js'

/** The living of a group; undefined where the system does not tell. */
export function livingMembers(group: number): readonly number[] | undefined {
  try {
    const pids = readdirSync('/proc').map(Number)
    return pids.filter((pid) => pid > 0 && livesIn(group, pid))
  } catch {
    return undefined
  }
}

/** Whether this process is one of the group, and no zombie. */
export function livesIn(group: number, pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.group === group && !stat.ended
}
