// A pager for more lines than the terminal has: `$PAGER`, less or more, and none where output is not a terminal.

import { spawnSync } from 'node:child_process'
import { findPrograms, searchPath } from '../../trust/program-search.js'

/** False if no pager ran. `lines` hold nothing that controls a terminal. */
export function paged(lines: readonly string[]): boolean {
  const rows = process.stdout.rows || 24
  if (lines.length < rows) return false
  for (const [name = '', ...args] of [words(process.env.PAGER), ['less', '-R'], ['more']]) {
    const file = fileOf(name)
    if (file === undefined) continue
    const { error } = spawnSync(file, args, {
      input: `${lines.join('\n')}\n`,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: environment(),
    })
    if (!error) return true
  }
  return false
}

function words(text = ''): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** A program in the current folder is not the user's. */
function fileOf(name: string): string | undefined {
  if (name === '' || name.startsWith('/')) return name || undefined
  const folder = process.cwd()
  return findPrograms([name], searchPath(folder).folders, folder).programs[name]
}

/** less must neither run other programs nor open other files. */
function environment(): NodeJS.ProcessEnv {
  const { LESSOPEN: _, LESSCLOSE: __, ...rest } = process.env
  return { ...rest, LESSSECURE: '1' }
}
