// Facts about processes: whether a number still means the same one, who started us, and whether we may use the terminal.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { callerPid } from './caller.js'

/** When a process started, in the system's own notation. A reused number has another start. Undefined if the process is dead. */
export function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (process.platform !== 'linux') return ps(['-o', 'lstart=', '-p', String(pid)])
  const stat = statOf(pid)
  return stat?.ended ? undefined : stat?.start
}

/** The system stops a background process that reads from its terminal, so it would never get an answer. */
export function isInForeground(): boolean {
  if (process.platform === 'linux') {
    const stat = statOf(process.pid)
    return stat !== undefined && stat.group === stat.foreground
  }
  const [group, foreground] = (ps(['-o', 'pgid=,tpgid=', '-p', String(process.pid)]) ?? '').split(/\s+/)
  return group !== undefined && group === foreground
}

function ps(args: readonly string[]): string | undefined {
  try {
    return execFileSync('/bin/ps', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: PS_TIMEOUT_MS,
      maxBuffer: MOST_LISTED,
    }).trim()
  } catch {
    return undefined
  }
}

// ---- /proc ----------------------------------------------------------------------------------------------------

export interface ProcessStat {
  /** True if the process has ended but its parent has not noticed yet. Such a process still accepts signals. */
  readonly ended: boolean
  readonly parent: number
  readonly group: number
  /** The foreground process group of its terminal. */
  readonly foreground: number
  /** Ticks since the machine started. Distinguishes a reused number. */
  readonly start: string
}

/** Positions after the name in `PID (NAME) STATE PARENT GROUP SESSION TTY FOREGROUND … START …`. */
const [PARENT, GROUP, FOREGROUND, START] = [1, 2, 5, 19] as const

/** Undefined if there is no /proc, or no such process. */
export function statOf(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may contain anything, including spaces and brackets.
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

// ---- the processes above --------------------------------------------------------------------------------------

export interface Ancestor {
  readonly pid: number
  /** The process's own name for itself. */
  readonly name: string
  /** The command line. */
  readonly words: readonly string[]
}

/** Shells are never nested deeper. */
const MOST_ANCESTORS = 64
const PS_TIMEOUT_MS = 2000
const MOST_LISTED = 16 * 1024 * 1024

/** The processes above the caller, nearest first, up to `top` (exclusive), as far as the system tells. */
export function* ancestors(top: number): Generator<Ancestor> {
  const read = process.platform === 'linux' ? ancestorOf : listed()
  let pid = callerPid() === process.pid ? process.ppid : (read(callerPid())?.parent ?? 0)
  for (let i = 0; i < MOST_ANCESTORS && pid > 0 && pid !== top; i++) {
    const found = read(pid)
    if (!found) return
    yield found
    pid = found.parent
  }
}

type Read = (pid: number) => (Ancestor & { readonly parent: number }) | undefined

const ancestorOf: Read = (pid) => {
  const parent = statOf(pid)?.parent
  if (parent === undefined) return undefined
  const [name = '', line = ''] = ['comm', 'cmdline'].map((file) => textIn(`/proc/${pid}/${file}`))
  return { pid, parent, name: name.trimEnd(), words: line.split('\0').filter((word) => word !== '') }
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // another user's, or gone
  }
}

/** Runs `ps` once for all, because starting it takes longer than reading its output. Words that contain spaces are split. */
function listed(): Read {
  if (process.platform === 'win32') return () => undefined
  const rows = new Map(processesIn(ps(['-A', '-o', 'pid=,ppid=,args=']) ?? '').map((one) => [one.pid, one]))
  return (pid) => rows.get(pid)
}

/** Reads lines such as `  12   1 node /usr/bin/claude`. Exported for its tests. */
export function processesIn(table: string): readonly (Ancestor & { readonly parent: number })[] {
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined) return []
    return [{ pid: Number(pid), parent: Number(parent), name: '', words: args.split(/\s+/) }]
  })
}
