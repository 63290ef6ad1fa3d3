// What /proc says of a process: `PID (NAME) STATE PARENT GROUP SESSION TTY FOREGROUND … START …`.

import { readFileSync } from 'node:fs'

export interface ProcessStat {
  /** It has ended, and waits for its parent to notice: it still answers to signals. */
  readonly ended: boolean
  readonly group: number
  /** The group that its terminal listens to. */
  readonly foreground: number
  /** In ticks since the machine started: a number that was given out again is told apart by it. */
  readonly start: string
}

/** Counted from the state. */
const [GROUP, FOREGROUND, START] = [2, 5, 19] as const

/** Undefined where there is no /proc, or no such process. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may hold anything, blanks and brackets too.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const start = fields[START]
    if (start === undefined || !/^\d{1,20}$/.test(start)) return undefined
    return {
      ended: fields[0] === 'Z' || fields[0] === 'X',
      group: Number(fields[GROUP]),
      foreground: Number(fields[FOREGROUND]),
      start,
    }
  } catch {
    return undefined
  }
}
