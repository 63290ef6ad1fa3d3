// Runs an example as a reader would: in a process of its own, without a terminal.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `file` is relative to examples/. */
export function runExample(file: string, ...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [`examples/${file}`, ...args], { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}
