// Variables that Claude Code's settings define for a project, the user and the company.

import { isAbsolute, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { callerPath } from './caller.js'
import { lstatIfThere } from './if-there.js'
import { oncePerCall } from './looks.js'
import { readPlain } from './plain-file.js'
import { realOf } from './within.js'

export type Env = Readonly<Record<string, string | undefined>>

/** Tells our hooks, and Amplifier's, where the project is. */
export const OUR_PROJECT_VARIABLE = 'AMPLIFIER_PROJECT_DIR'

/** Hosts tell their hooks where the project is by these. The event's `cwd` moves with the agent, away from the settings. */
export const PROJECT_VARIABLES: readonly string[] = [
  OUR_PROJECT_VARIABLE,
  'CLAUDE_PROJECT_DIR',
  'GEMINI_PROJECT_DIR',
  'QWEN_PROJECT_DIR',
  'CURSOR_PROJECT_DIR',
  'FACTORY_PROJECT_DIR',
  'COPILOT_PROJECT_DIR',
  'CRUSH_PROJECT_DIR',
  'CODEBUDDY_PROJECT_DIR',
]

/** The folders that these variables name as the project. */
export function namedIn(env: Env, variables: readonly string[] = PROJECT_VARIABLES): readonly string[] {
  const values = variables.map((name) => env[name])
  return values.filter((value): value is string => value !== undefined && isAbsolute(value))
}

// ---- Claude Code's settings -------------------------------------------------------------------------------------

/** The `env` of a settings file, or why the file cannot be read. */
interface ClaudeEnv {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  readonly problem?: string
}

/** The same limit as in setup. */
const MAX_BYTES = 4 * 1024 * 1024

/** The settings of a project. The shared ones come first. */
export const claudeEnvIn = oncePerCall((folder): readonly ClaudeEnv[] =>
  ['settings.json', 'settings.local.json'].flatMap((name) => envOf(join(folder, '.claude', name))),
)

/** Empty if there is no such file. */
function envOf(file: string): readonly ClaudeEnv[] {
  try {
    // Most folders have none, and throwing an error would take longer.
    if (!lstatIfThere(file)) return []
    const found = readPlain(realOf(file), MAX_BYTES)
    if ('text' in found) return [{ file, env: variablesIn(found.text) }]
    return found.problem === 'is empty' ? [] : [{ file, env: {}, problem: found.problem }]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    return [{ file, env: {}, problem: `cannot be read: ${textOf(error)}` }]
  }
}

function variablesIn(text: string): Readonly<Record<string, string>> {
  try {
    const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    const env = isObject(settings) && isObject(settings.env) ? settings.env : {}
    return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]))
  } catch {
    return {} // Claude Code ignores such a file
  }
}

/** The company's settings, by system. They override a project's. */
const MANAGED: Readonly<Record<string, string>> = {
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
  linux: '/etc/claude-code/managed-settings.json',
}

/** The company's settings of Claude Code on this system, whether the file exists or not. */
export function managedSettings(): string | undefined {
  return MANAGED[process.platform]
}

/** Variables that the company and the user set in Claude Code's settings. */
export function variablesOfUser(
  home: string,
  env: Env,
  isTaken: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const moved = isTaken('CLAUDE_CONFIG_DIR') ? undefined : env.CLAUDE_CONFIG_DIR
  const files = [join(moved ? callerPath(moved) : join(home, '.claude'), 'settings.json')]
  const managed = managedSettings()
  if (managed !== undefined) files.push(managed)
  return Object.assign({}, ...files.flatMap(envOf).map((one) => one.env))
}
