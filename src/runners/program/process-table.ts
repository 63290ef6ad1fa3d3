// Who of a process group really lives. A zombie that nobody reaps (in a container, often) still answers to signals.

import { readdirSync, readFileSync } from 'node:fs'

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
  const { state, group: its } = entry(pid)
  return its === group && state !== 'Z' && state !== 'X'
}

/** `PID (NAME) STATE PARENT GROUP …`, where the name may hold anything. */
function entry(pid: number): { readonly state?: string | undefined; readonly group?: number } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , group] = text.slice(text.lastIndexOf(')') + 2).split(' ', 3)
    return { state, group: Number(group) }
  } catch {
    return {} // it ended while we looked
  }
}
