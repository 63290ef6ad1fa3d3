// Living processes whose environment has a mark: whatever was started in a folder, also what left its group.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** @param {string} mark @returns {number[]} */
export function living(mark) {
  return existsSync('/proc/self/environ') ? fromProc(mark) : fromPs(mark)
}

/** @param {string} mark */
export function endLiving(mark) {
  for (const pid of living(mark)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it was quicker
    }
  }
}

/** @param {string} mark */
function fromProc(mark) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  return pids.filter((pid) => environmentOf(pid).includes(mark)).map(Number)
}

/** @param {string} mark */
function fromPs(mark) {
  const { stdout } = spawnSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], { encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => line.includes(mark))
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== process.pid)
}

/** Empty for a zombie, and for one that ended while we looked. @param {string} pid */
function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}
