// A pager for more lines than the terminal has. A project may set PAGER and its like (.envrc, a workspace's settings), and
// one that shows nothing would have the user agree to what nobody saw: only known pagers run, with our own options.

import { spawnSync } from 'node:child_process'
import { basename } from 'node:path'
import { programEnvironment } from '../../effects/shell/own-environment.js'
import { agentMark } from '../../files/agent-shell.js'
import { callerEnv } from '../../files/caller.js'

/** With the options that show colours, leave the text on the screen, and say which keys go on and close. */
const PAGERS: Readonly<Record<string, readonly string[]>> = {
  less: ['-R', '-X', '-Psspace\\: more   q\\: close'],
  more: [],
  most: [],
  moar: [],
  moor: [],
  ov: [],
}

/** False if no pager ran. `lines` hold nothing that controls a terminal. */
export function paged(lines: readonly string[]): boolean {
  const rows = process.stdout.rows || 24
  const wanted = basename((callerEnv().PAGER ?? 'less').trim().split(/\s+/)[0] ?? '')
  // `PAGER=cat` and an empty one are how people switch pagers off; an agent would wait for ever.
  if (lines.length < rows || wanted === '' || wanted === 'cat' || agentMark() !== undefined) return false
  const env = pagerEnvironment()
  for (const name of new Set([wanted, 'less', 'more'])) {
    const args = Object.hasOwn(PAGERS, name) ? PAGERS[name] : undefined
    if (!args) continue
    const input = `${lines.join('\n')}\n`
    const { status } = spawnSync(name, args, { input, stdio: ['pipe', 'inherit', 'inherit'], env })
    // One that was killed, or could not start, may have shown nothing.
    if (status === 0) return true
  }
  return false
}

/** What a pager needs. HOME, XDG_CONFIG_HOME and TERMINFO would lead it to files of a project that hide text or write files. */
const NEEDED = /^(?:PATH|TERM|COLORTERM|LANG|LC_\w+)$/

/** less must neither run programs, nor open or write files. */
function pagerEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(programEnvironment()).filter(([name]) => NEEDED.test(name))
  return { ...Object.fromEntries(own), LESSSECURE: '1', LESSHISTFILE: '-' }
}
