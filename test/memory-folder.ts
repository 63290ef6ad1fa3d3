// The temporary files of npm test: in memory where Linux offers that, because a disk takes longer for them than the tests.

import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LEAST_BYTES = 2 * 1024 ** 3
const NAME = /^cb-(\d+)$/

/** Sets TMPDIR for this process and those that it starts, unless the user has. The folder goes with the process. */
export function keepInMemory(): void {
  if (process.env.TMPDIR !== undefined) return
  const folder = memoryFolder('/dev/shm')
  if (folder === undefined) return
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** A folder of this process below `memory`, unless that is missing, too small, or runs no programs. */
export function memoryFolder(memory: string): string | undefined {
  if (!existsSync(memory)) return undefined
  removeOfTheDead(memory)
  const { bavail, bsize } = statfsSync(memory)
  // Short, because the path of a socket has at most 107 bytes.
  const folder = join(memory, `cb-${process.pid}`)
  if (bavail * bsize < LEAST_BYTES || existsSync(folder)) return undefined
  // Others may enter it, as they may /tmp: some tests start programs as another user.
  mkdirSync(folder, { mode: 0o755 })
  if (runsPrograms(folder)) return folder
  rmSync(folder, { recursive: true })
  return undefined
}

function runsPrograms(folder: string): boolean {
  const file = join(folder, 'program')
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
  const { status } = spawnSync(file)
  rmSync(file)
  return status === 0
}

/** A run that was killed leaves its folder behind, and memory is precious. */
function removeOfTheDead(memory: string): void {
  for (const name of readdirSync(memory)) {
    const pid = NAME.exec(name)?.[1]
    const path = join(memory, name)
    if (
      pid === undefined ||
      isAnother(Number(pid)) ||
      lstatSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()
    )
      continue
    rmSync(path, { recursive: true, force: true })
  }
}

/** Whether it is another process that is alive. */
function isAnother(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
