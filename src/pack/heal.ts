// Hooks of the pack whose program is gone, taken out of the user's settings by the installer.

import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { realOf } from '../files/within.js'
import { userSettingsFolder } from '../hosts/own-command.js'
import { inline } from './fenced.js'
import type { PackContext } from './pack-hook.js'
import { type Registration, registrationsIn } from './registrations.js'

/** Milliseconds; a host gives session-start ten seconds. */
const PATIENCE = 5000

/**
 * What was done about them, in words for the user. Nothing is put in their place: which hooks run is the user's choice.
 * What a project brings along is only reported: nobody writes into a repository because a session starts.
 */
export function healed(context: PackContext): readonly string[] {
  const { home, program, env } = context
  const file = join(userSettingsFolder(home, env), 'settings.json')
  const [dead] = deadIn(realOf(file))
  if (!program || !dead) return []
  const done = pruned(context, program.script, file)
  const which = `hooks of the pack in ${file} whose program is gone (${inline(dead.script, 400)})`
  if ('problem' in done) return [`${which} could not be taken out: ${done.problem}`]
  // Another session may have been faster, and has told it.
  return done.written
    ? [`${which} were taken out; carabiner setup claude-code registers those of this program`]
    : []
}

/** What cannot be read is told by whoever checks the registrations. */
function deadIn(file: string): readonly Registration[] {
  try {
    return registrationsIn(file).filter(({ dead }) => dead)
  } catch {
    return []
  }
}

/** As somebody would who types it: the installer keeps a backup, all other entries, and how the file is written. */
function pruned(
  { home, env }: PackContext,
  script: string,
  file: string,
): { readonly written: boolean } | { readonly problem: string } {
  const args = [script, 'setup', 'claude-code', '--user', '--prune', '--json']
  const { status, stdout, error } = spawnSync(process.execPath, args, {
    cwd: home,
    // From another folder: a relative one would be another.
    env: { ...env, HOME: home, ...(env.CLAUDE_CONFIG_DIR && { CLAUDE_CONFIG_DIR: dirname(file) }) },
    encoding: 'utf8',
    timeout: PATIENCE,
  })
  if (error) return { problem: textOf(error) }
  const { written, error: refusal } = objectIn(stdout)
  if (status === 0 && typeof written === 'boolean') return { written }
  const problem = isObject(refusal) ? refusal.message : undefined
  return { problem: typeof problem === 'string' ? inline(problem, 600) : 'carabiner setup did not say why' }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
