// How many files differ from the last commit, asked of git itself, which may be slow or not there.

import { spawnSync } from 'node:child_process'

const TIMEOUT_MS = 1500
const MAX_OUTPUT = 1024 * 1024

/** A repository names programs that git would start for a status; those stay off. */
const QUIET = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-optional-locks']

export interface GitStatus {
  readonly changed: readonly string[]
  readonly untracked: readonly string[]
}

/** Undefined where git is missing, too slow, or refuses. */
export function gitStatus(folder: string, env: NodeJS.ProcessEnv): GitStatus | undefined {
  const run = spawnSync(
    'git',
    [...QUIET, 'status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=all'],
    {
      cwd: folder,
      env: { ...env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' },
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  if (run.error || run.status !== 0) return undefined
  const entries = run.stdout.split('\0').filter((entry) => entry.length > 3)
  const named = (isUntracked: boolean) =>
    entries.filter((entry) => entry.startsWith('??') === isUntracked).map((entry) => entry.slice(3))
  return { changed: named(false), untracked: named(true) }
}
