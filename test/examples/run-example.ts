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
  return runExampleIn({}, file, ...args)
}

/** With these variables beside, or in place of, those of the tests. */
export function runExampleIn(
  env: Readonly<Record<string, string>>,
  file: string,
  ...args: readonly string[]
): Promise<Run> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, ...env } }
    execFile(process.execPath, [`examples/${file}`, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}
