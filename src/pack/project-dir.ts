// Which project an event belongs to.

import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/** As hosts name it to their hooks. The event's `cwd` moves with the agent, and its settings would be left behind. */
const VARIABLES = [
  'AMPLIFIER_PROJECT_DIR',
  'CLAUDE_PROJECT_DIR',
  'GEMINI_PROJECT_DIR',
  'QWEN_PROJECT_DIR',
  'CURSOR_PROJECT_DIR',
  'FACTORY_PROJECT_DIR',
  'CODEBUDDY_PROJECT_DIR',
]

/**
 * The nearest folder with a repository or settings in it, from where the host says that the project is, or else from the
 * event's `cwd`; where there is none, that folder. So it is the same one for a host that was started in a folder of a
 * repository, and for whoever types a command there.
 */
export function projectDirOf(cwd: string | undefined, env: NodeJS.ProcessEnv, home: string): string {
  const named = VARIABLES.map((name) => env[name]).find((value) => value !== undefined && isAbsolute(value))
  const start = resolve(named ?? (cwd !== undefined && isAbsolute(cwd) ? cwd : workingFolder(home)))
  return marked(start, home) ?? start
}

/** A folder that was removed under us has no name. */
function workingFolder(home: string): string {
  try {
    return process.cwd()
  } catch {
    return home
  }
}

function marked(start: string, home: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const isHome = folder === home
    if (existsSync(join(folder, '.git')) || (!isHome && existsSync(join(folder, '.amplifier')))) return folder
    if (isHome || dirname(folder) === folder) return undefined
  }
}
