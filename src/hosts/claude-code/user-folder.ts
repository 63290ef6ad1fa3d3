// The folder of Claude Code's settings for a user. Hooks read it at every start, so it loads nothing of setup.

import { join } from 'node:path'
import { callerPath } from '../../files/caller.js'

export function userSettingsFolder(home: string, env: NodeJS.ProcessEnv): string {
  return env.CLAUDE_CONFIG_DIR ? callerPath(env.CLAUDE_CONFIG_DIR) : join(home, '.claude')
}
