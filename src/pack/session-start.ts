// At the start of a session: tells the model where it works and what happened before, and the user what is wrong with the setup.

import { spawnSync } from 'node:child_process'
import { textOf } from '../core/base/errors.js'
import type { HookResult } from '../core/events/result.js'
import { headOf } from '../effects/git/git-branch.js'
import { programEnvironment } from '../effects/shell/own-environment.js'
import { fenced, inline, saying } from './answer.js'
import { lockModeOf } from './lock-mode.js'
import { preferences, recalledMemory } from './memory.js'
import type { PackContext, PackHook } from './pack-hook.js'
import { registrationProblems, removeDeadHooks, settingsFiles } from './registrations.js'
import { newestExport } from './transcript.js'

const MAX_PROJECT = 2048
const MAX_FILES = 10

export const sessionStart: PackHook = {
  name: 'session-start',
  event: 'SessionStart',
  run(input, context): HookResult | undefined {
    const wishes = preferences(context)
    const compacted = input.extra.source === 'compact'
    return saying(
      [
        projectContext(context),
        wishes.text,
        compacted ? beforeCompaction(context) : recalledMemory(input.sessionId, context),
      ],
      // Comes first, because it solves some of the problems that follow.
      [...removeDeadHooks(context), ...installationProblems(context), wishes.problem, lockNotice(context)],
    )
  },
}

function projectContext({ projectDir, env }: PackContext): string | undefined {
  const head = headOf(projectDir)
  const lines = [`Project: ${inline(projectDir, 400)}`]
  if (head) {
    lines.push(
      'branch' in head ? `Branch: ${inline(head.branch)}` : `Detached at ${head.commit.slice(0, 12)}`,
    )
    lines.push(...statusLines(projectDir, env))
  }
  return fenced('project', lines.join('\n'), MAX_PROJECT)
}

function statusLines(projectDir: string, env: NodeJS.ProcessEnv): readonly string[] {
  const status = gitStatus(projectDir, env)
  if (!status) return ['Status: git did not answer']
  if (status === 'unsafe')
    return ["Status: not checked, because the repository's configuration names programs to run"]
  const { changed, untracked } = status
  if (changed.length + untracked.length === 0) return ['Status: clean']
  return [`Status: ${changed.length} changed, ${untracked.length} untracked`, ...listed(changed)]
}

function listed(files: readonly string[]): readonly string[] {
  if (files.length === 0) return []
  const more = files.length > MAX_FILES ? `, and ${files.length - MAX_FILES} more` : ''
  return [
    `Changed: ${files
      .slice(0, MAX_FILES)
      .map((file) => inline(file))
      .join(', ')}${more}`,
  ]
}

/** The model has just lost the conversation, but can look it up in the export. */
function beforeCompaction(context: PackContext): string | undefined {
  const path = newestExport(context.state)
  if (path === undefined) return undefined
  return fenced(
    'transcript',
    `The conversation before the context was compacted is in ${inline(path, 600)}`,
    1024,
  )
}

function installationProblems({ home, projectDir, program, env }: PackContext): readonly string[] {
  if (!program) return []
  try {
    return registrationProblems(settingsFiles(home, projectDir, env), program).map(
      ({ file, text, fix }) => `${file}: ${text}. To fix it: ${fix}`,
    )
  } catch (error) {
    return [`the registration of the hooks could not be checked: ${textOf(error)}`]
  }
}

/** A user who set it weeks ago would wonder why the agent never stops. */
function lockNotice({ state }: PackContext): string | undefined {
  const lock = lockModeOf(state)
  if (!lock) return undefined
  if ('problem' in lock) return lock.problem
  return `lock mode has been on since ${inline(lock.since, 40)} and keeps the agent from stopping; to end it, run carabiner hook stop --unlock`
}

// ---- git, which may be slow or missing -------------------------------------------------------------------------

const TIMEOUT_MS = 1500
const MAX_OUTPUT = 1024 * 1024

/** Switches off programs that a repository can make git start for a status. */
const GIT_OPTIONS = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-optional-locks']

/** Keeps git from fetching objects that a partial clone lacks: the repository names the program for that too. */
const NO_FETCH = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

interface GitStatus {
  readonly changed: readonly string[]
  readonly untracked: readonly string[]
}

/**
 * Undefined if git is missing, too slow, or refuses. 'unsafe' if the repository's own configuration names filters:
 * programs that git would start to compare files, and that no option switches off without their names.
 */
function gitStatus(folder: string, env: NodeJS.ProcessEnv): GitStatus | 'unsafe' | undefined {
  const keys = gitFields(folder, env, ['config', '--list', '--includes', '--show-scope', '--name-only', '-z'])
  if (keys === undefined) return undefined
  // Scopes and keys alternate.
  if (keys.some((key, i) => OWN_SCOPE.test(keys[i - 1] ?? '') && i % 2 === 1 && PROGRAMS.test(key)))
    return 'unsafe'
  const status = ['status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=all']
  const entries = gitFields(folder, env, status)?.filter((entry) => entry.length > 3)
  if (entries === undefined) return undefined
  const named = (isUntracked: boolean) =>
    entries.filter((entry) => entry.startsWith('??') === isUntracked).map((entry) => entry.slice(3))
  return { changed: named(false), untracked: named(true) }
}

/** The repository's configuration, not the user's or the system's. */
const OWN_SCOPE = /^(?:local|worktree|unknown)$/
/** Includes count too, because an included file may change before the next command. */
const PROGRAMS = /^(?:filter|include|includeif)\./i

/** Fields between NULs; undefined if git did not answer. */
function gitFields(
  folder: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): readonly string[] | undefined {
  const run = spawnSync('git', [...GIT_OPTIONS, ...args], {
    cwd: folder,
    env: {
      ...programEnvironment(folder, env),
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      ...NO_FETCH,
    },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return run.error || run.status !== 0 ? undefined : run.stdout.split('\0')
}
