// What the system knows about processes: whether one still is the one it was, and whether we may use the terminal.

import { execFileSync } from 'node:child_process'
import { statOf } from './process-stat.js'

/** When it began, in words of the system's own: a number that is given out again is told apart. Undefined of a dead one. */
export function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const stat = statOf(pid)
  return stat?.ended ? undefined : stat?.start
}

/** Whoever is in the background is stopped when they read from their terminal, and would never answer. */
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
    return execFileSync('ps', ['-o', what, '-p', String(pid)], { encoding: 'utf8', stdio: [...stdio] }).trim()
  } catch {
    return undefined
  }
}
