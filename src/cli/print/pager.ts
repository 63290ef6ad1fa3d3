// A pager for more lines than the terminal has: `$PAGER`, less or more, and none where output is not a terminal.

import { spawnSync } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { programEnvironment, withoutProject } from '../../shell/own-environment.js'

/** False if no pager ran. `lines` hold nothing that controls a terminal. */
export function paged(lines: readonly string[]): boolean {
  const rows = process.stdout.rows || 24
  if (lines.length < rows) return false
  const { PAGER } = withoutProject()
  // less must neither run other programs nor open other files.
  const env = { ...programEnvironment(), LESSSECURE: '1' }
  for (const [name = '', ...args] of [words(PAGER), ['less', '-R'], ['more']]) {
    if (name === '' || !isOfUser(name)) continue
    const { error } = spawnSync(name, args, {
      input: `${lines.join('\n')}\n`,
      stdio: ['pipe', 'inherit', 'inherit'],
      env,
    })
    if (!error) return true
  }
  return false
}

function words(text = ''): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** A program in the current folder is not the user's. */
function isOfUser(name: string): boolean {
  return isAbsolute(name) || !name.includes('/')
}
