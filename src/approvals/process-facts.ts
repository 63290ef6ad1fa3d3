// What the system knows about processes: whether one still is the one it was, and whether we may use the terminal.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** When it began, in words of the system's own: a number that is given out again is told apart. Undefined of a dead one. */
export function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const [state, ...fields] = statOf(pid) ?? ['Z']
  return state === 'Z' || state === 'X' ? undefined : fields[START - 1]
}

/** Whoever is in the background is stopped when they read from their terminal, and would never answer. */
export function isInForeground(): boolean {
  if (process.platform === 'linux') {
    const fields = statOf(process.pid) ?? []
    return fields[GROUP] === fields[FOREGROUND]
  }
  const [group, foreground] = (ps(process.pid, 'pgid=,tpgid=') ?? '').split(/\s+/)
  return group !== undefined && group === foreground
}

/** Of proc(5), counted from the state. */
const [GROUP, FOREGROUND, START] = [2, 5, 19]

function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before it may hold anything, blanks and brackets too.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function ps(pid: number, what: string): string | undefined {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    return execFileSync('ps', ['-o', what, '-p', String(pid)], { encoding: 'utf8', stdio: [...stdio] }).trim()
  } catch {
    return undefined
  }
}
