// Facts about processes: whether a number still means the same process, and whether we may use the terminal.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Answers when a process started, in the system's own words: a reused number has another start. Undefined if it is dead. */
export function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const stat = statOf(pid)
  return stat?.ended ? undefined : stat?.start
}

/** A background process is stopped when it reads from its terminal, so it would never answer. */
export function isInForeground(): boolean {
  if (process.platform === 'linux') {
    const stat = statOf(process.pid)
    return stat !== undefined && stat.group === stat.foreground
  }
  const [group, foreground] = (ps(process.pid, 'pgid=,tpgid=') ?? '').split(/\s+/)
  return group !== undefined && group === foreground
}

function ps(pid: number, what: string): string | undefined {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    return execFileSync('/bin/ps', ['-o', what, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: [...stdio],
    }).trim()
  } catch {
    return undefined
  }
}

// ---- /proc ----------------------------------------------------------------------------------------------------

export interface ProcessStat {
  /** The process has ended but its parent has not noticed yet: it still answers to signals. */
  readonly ended: boolean
  readonly parent: number
  readonly group: number
  /** The process group that its terminal listens to. */
  readonly foreground: number
  /** Ticks since the machine started: tells a reused number apart. */
  readonly start: string
}

/** Positions after the name in `PID (NAME) STATE PARENT GROUP SESSION TTY FOREGROUND … START …`. */
const [PARENT, GROUP, FOREGROUND, START] = [1, 2, 5, 19] as const

/** Undefined where there is no /proc, or no such process. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may hold anything, including blanks and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const start = fields[START]
    if (start === undefined || !/^\d{1,20}$/.test(start)) return undefined
    return {
      ended: fields[0] === 'Z' || fields[0] === 'X',
      parent: Number(fields[PARENT]),
      group: Number(fields[GROUP]),
      foreground: Number(fields[FOREGROUND]),
      start,
    }
  } catch {
    return undefined
  }
}
