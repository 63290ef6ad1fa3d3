// How many files differ from the last commit, asked of git itself, which may be slow or not there.

import { spawnSync } from 'node:child_process'

const TIMEOUT_MS = 1500
const MAX_OUTPUT = 1024 * 1024

/** A repository names programs that git would start for a status; those stay off. */
const QUIET = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-optional-locks']

/** Nor is what a partial clone lacks fetched: a repository also names the program for that. */
const NO_FETCH = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

export interface GitStatus {
  readonly changed: readonly string[]
  readonly untracked: readonly string[]
}

/**
 * Undefined where git is missing, too slow, or refuses; 'unsafe' where the repository's own configuration names filters,
 * which are programs that git would start to compare files. No option switches them off without their names.
 */
export function gitStatus(folder: string, env: NodeJS.ProcessEnv): GitStatus | 'unsafe' | undefined {
  const keys = asked(folder, env, ['config', '--list', '--includes', '--show-scope', '--name-only', '-z'])
  if (keys === undefined) return undefined
  // Scope and key by turns.
  if (keys.some((key, i) => OWN_SCOPE.test(keys[i - 1] ?? '') && i % 2 === 1 && PROGRAMS.test(key)))
    return 'unsafe'
  const status = ['status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=all']
  const entries = asked(folder, env, status)?.filter((entry) => entry.length > 3)
  if (entries === undefined) return undefined
  const named = (isUntracked: boolean) =>
    entries.filter((entry) => entry.startsWith('??') === isUntracked).map((entry) => entry.slice(3))
  return { changed: named(false), untracked: named(true) }
}

/** Of the repository, and not of the user or the system. */
const OWN_SCOPE = /^(?:local|worktree|unknown)$/
/** Also what is read from elsewhere: the file may be another one for the next command. */
const PROGRAMS = /^(?:filter|include|includeif)\./i

/** Fields between zeros; undefined where git did not answer. */
function asked(
  folder: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): readonly string[] | undefined {
  const run = spawnSync('git', [...QUIET, ...args], {
    cwd: folder,
    env: { ...env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...NO_FETCH },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return run.error || run.status !== 0 ? undefined : run.stdout.split('\0')
}
