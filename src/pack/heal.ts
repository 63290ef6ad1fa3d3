// Registrations of an older install, whose program is gone, taken out of the user's settings: those of this program replace them.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { textOf } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { realOf } from '../state/within.js'
import { inline } from './fenced.js'
import type { PackContext } from './pack-hook.js'
import { type Registration, registrationsIn } from './registrations.js'

/** Milliseconds; a host gives session-start ten seconds. */
const PATIENCE = 5000

/**
 * What was done about them, in words for the user. Another install that works is a choice, and only reported; so is what a
 * project brings along: nobody writes into a repository because a session starts.
 */
export function healed(context: PackContext): readonly string[] {
  const { home, program } = context
  const file = realOf(join(home, '.claude', 'settings.json'))
  const [stale] = staleIn(file)
  if (!program || !stale) return []
  const which = `the hooks of an older install in ${file} (${inline(stale.script, 400)}, which is not there)`
  const problem = setUp(context, program.script)
  return [
    problem === undefined
      ? `${which} were replaced by those of this one`
      : `${which} do not run, and could not be replaced: ${problem}`,
  ]
}

/** What cannot be read is told by whoever checks the registrations. */
function staleIn(file: string): readonly Registration[] {
  try {
    return registrationsIn(file).filter(({ script }) => isAbsolute(script) && !existsSync(script))
  } catch {
    return []
  }
}

/** As somebody would who types it: the installer keeps a backup, other people's entries, and how the file is written. */
function setUp({ home, projectDir, env }: PackContext, script: string): string | undefined {
  const args = [script, 'setup', 'claude-code', '--user', '--json']
  const { status, stdout, error } = spawnSync(process.execPath, args, {
    cwd: projectDir,
    env: { ...env, HOME: home },
    encoding: 'utf8',
    timeout: PATIENCE,
  })
  if (status === 0) return undefined
  return error ? textOf(error) : problemIn(stdout)
}

function problemIn(stdout: string): string {
  try {
    const said: unknown = JSON.parse(stdout)
    const problem = isObject(said) && isObject(said.error) ? said.error.message : undefined
    return inline(typeof problem === 'string' ? problem : UNSAID, 600)
  } catch {
    return UNSAID
  }
}

const UNSAID = 'carabiner setup did not say why'
