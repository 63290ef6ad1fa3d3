// A command called in the process of the test: no process is started, and standard input, environment and folder are its own.

import { COMMANDS } from '../../src/cli/commands.js'
import { run } from '../../src/cli/program.js'
import type { Project, Run, RunOptions } from './program.js'

/** One call at a time: the environment and the current directory are those of the whole process. */
export async function inProcess(
  project: Project,
  args: readonly string[],
  { input = '', env, cwd }: RunOptions = {},
): Promise<Run> {
  const printed = { 1: '', 2: '' }
  const restore = surround(project.env(env), cwd ?? project.folder)
  try {
    const code = await run(COMMANDS, args, {
      stdin: typeof input === 'object' ? JSON.stringify(input) : input,
      write: (fd, text) => {
        printed[fd] += text
      },
    })
    return { code, stdout: printed[1], stderr: printed[2] }
  } finally {
    restore()
  }
}

/** Changed in place: `os.homedir()` and child processes see only what process.env itself was told. */
function surround(env: Readonly<Record<string, string>>, cwd: string): () => void {
  const [before, folder] = [{ ...process.env }, process.cwd()]
  setAll(env)
  process.chdir(cwd)
  return () => {
    setAll(before)
    process.chdir(folder)
  }
}

function setAll(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}
