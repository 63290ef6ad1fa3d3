// Whether an agent runs this process: told from variables that agents set, here and in the processes that started it.

import { readFileSync } from 'node:fs'
import { statOf } from './process.js'

/** Variables that agents set for the programs they run. Whoever means to deceive unsets them; they stop the rest. */
export const AGENT_VARIABLES: readonly string[] = [
  'CLAUDECODE',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'GEMINI_CLI',
  'QWEN_CODE',
  'CURSOR_AGENT',
  'COPILOT_CLI',
  'CLINE_ACTIVE',
  'CRUSH',
  'GOOSE_TERMINAL',
  'AI_AGENT',
  'AUGMENT_AGENT',
  'OPENCODE',
]

/** No shell is nested deeper. */
const MOST_ANCESTORS = 64
/** Nobody looks beyond this process. Tests are built with the one that runs them, which an agent may have started. */
const TOP: number = 0

/**
 * Undefined if no agent is known to run this process; otherwise why we think so: `CLAUDECODE says that an agent runs this`.
 * A program can change its own variables, but not those that it and the processes above it were started with; only Linux
 * tells us these. A process that both drops the variables and leaves its parents is not found out.
 */
export function agentMark(): string | undefined {
  const own = AGENT_VARIABLES.find((name) => process.env[name]) ?? startedWith('self')
  if (own !== undefined) return `${own} says that an agent runs this`
  let pid = process.ppid
  for (let i = 0; i < MOST_ANCESTORS && pid > 0 && pid !== TOP; i++) {
    const name = startedWith(pid)
    if (name !== undefined) return `${name} says that an agent started process ${pid}, which started this`
    pid = statOf(pid)?.parent ?? 0
  }
  return undefined
}

/** The first of the variables in a process's environment as it began. Undefined where the system does not say. */
function startedWith(pid: number | 'self'): string | undefined {
  try {
    const set = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return AGENT_VARIABLES.find((name) =>
      set.some((one) => one.length > name.length + 1 && one.startsWith(`${name}=`)),
    )
  } catch {
    return undefined // another user's, gone, or no /proc
  }
}
