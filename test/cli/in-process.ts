// A command called in the process of the test, with its own standard input, environment and current directory.

import { COMMANDS } from '../../src/cli/commands.js'
import { run } from '../../src/cli/program.js'
import { type Project, programFile, type Run, type RunOptions } from './program.js'

let isRunning = false

/** Throws while another call runs: the environment and the current directory are those of the whole process. */
export async function inProcess(
  project: Project,
  args: readonly string[],
  { input = '', env, cwd, onPrint }: RunOptions = {},
): Promise<Run> {
  if (isRunning) throw new Error('Commands that run at the same time need processes of their own')
  isRunning = true
  const printed = { 1: '', 2: '' }
  const argv = [process.execPath, programFile(), ...args]
  const restore = surround({ argv, env: project.env(env), cwd: cwd ?? project.folder })
  try {
    const code = await run(COMMANDS, args, {
      stdin: typeof input === 'object' ? JSON.stringify(input) : input,
      write: (fd, text) => {
        onPrint?.()
        printed[fd] += text
      },
    })
    return { code, stdout: printed[1], stderr: printed[2] }
  } finally {
    restore()
    isRunning = false
  }
}

interface Surroundings {
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

/** Returns the function that restores what was there before. */
function surround({ argv, env, cwd }: Surroundings): () => void {
  const before = { argv: process.argv, env: { ...process.env }, cwd: process.cwd() }
  setEnv(env)
  process.chdir(cwd)
  process.argv = [...argv]
  return () => {
    setEnv(before.env)
    process.chdir(before.cwd)
    process.argv = before.argv
  }
}

/** In place: `os.homedir()` and child processes see only what process.env itself was told. */

function setEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}
