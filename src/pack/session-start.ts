// A session starts: the model is told where it works and what happened here before; the user, what is wrong with the installation.

import { textOf } from '../core/base/errors.js'
import type { HookResult } from '../core/events/result.js'
import { PACK_NAMES } from '../hosts/pack-names.js'
import { saying } from './answer.js'
import { newestExport } from './exports.js'
import { fenced, inline } from './fenced.js'
import { gitStatus } from './git-status.js'
import { healed } from './heal.js'
import { lockOf } from './lock.js'
import { recalledMemory } from './memory.js'
import type { PackContext, PackHook } from './pack-hook.js'
import { headOf } from './pre-tool-use/git-branch.js'
import { preferences } from './preferences.js'
import { registrationProblems, settingsFiles } from './registrations.js'

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
      // First: what was put right is no problem any more.
      [...healed(context), ...installationProblems(context), wishes.problem, lockNotice(context)],
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
    return ["Status: not asked for, because the repository's configuration names programs to run"]
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

/** The model has just lost it; what it needs of it, it can look up. */
function beforeCompaction(context: PackContext): string | undefined {
  const path = newestExport(context.state)
  if (path === undefined) return undefined
  return fenced(
    'transcript',
    `What was said before the context was compacted is in ${inline(path, 600)}`,
    1024,
  )
}

function installationProblems({ home, projectDir, program, env }: PackContext): readonly string[] {
  if (!program) return []
  try {
    return registrationProblems(settingsFiles(home, projectDir, env), PACK_NAMES, program)
  } catch (error) {
    return [`the registration of the hooks could not be checked: ${textOf(error)}`]
  }
}

/** Whoever locked it weeks ago wonders why nothing ends. */
function lockNotice({ state }: PackContext): string | undefined {
  const lock = lockOf(state)
  if (!lock) return undefined
  if ('problem' in lock) return lock.problem
  return `lock mode is on since ${inline(lock.since, 40)}: the agent is kept from stopping; carabiner hook stop --unlock ends it`
}
