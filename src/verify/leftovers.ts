// Processes that a run left behind: those whose environment has its mark, whatever group they are in.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** The variable that every process of a run inherits. */
export const MARK = 'CARABINER_PROOF'

/** Ends them, and returns how many there were. */
export function endLeftovers(mark: string): number {
  const pids = (process.platform === 'linux' ? fromProc : fromPs)(`${MARK}=${mark}`)
  const others = pids.filter((pid) => pid !== process.pid)
  for (const pid of others) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it ended by itself
    }
  }
  return others.length
}

function fromProc(mark: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(mark))
    .map(Number)
}

function fromPs(mark: string): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], { encoding: 'utf8' })
  const lines = (stdout ?? '').split('\n').filter((line) => line.includes(mark))
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 0)
}

/** Empty for a process that ended while we looked, and for another user's. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}
