// Whether an agent runs this process: told from variables that agents set, and from the programs that started it.

import { readFileSync } from 'node:fs'
import { type Ancestor, ancestors } from './process.js'

/** Variables that agents set for the programs they run. */
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

/** The names of agents' own programs. An agent does not set its variables for itself, and a shell can lose them. */
export const AGENT_PROGRAMS: readonly string[] = [
  'aider',
  'auggie',
  'claude',
  'cline',
  'codex',
  'copilot',
  'crush',
  'cursor-agent',
  'droid',
  'gemini',
  'goose',
  'kimi',
  'letta',
  'opencode',
  'openhands',
  'qchat',
  'qwen',
]

/** Agents whose program npm calls `cli.js`, `index.js` and the like. */
const AGENT_PACKAGE =
  /[\\/]node_modules[\\/](?:@anthropic-ai[\\/]claude-code|@openai[\\/]codex|@google[\\/]gemini-cli|@qwen-code[\\/]qwen-code|@github[\\/]copilot|@augmentcode[\\/]auggie|@charmland[\\/]crush|@letta-ai[\\/]letta-code|opencode-ai|cline)[\\/]/

/** Programs that run a file of another name. */
const RUNNER = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|pypy[\d.]*|ruby|uv|(?:ba|da|z)?sh)$/

/** Nobody looks beyond this process. Tests are built with the one that runs them, which an agent may have started. */
const TOP: number = 0

/**
 * Undefined if no agent is known to run this process; otherwise why we think so: `CLAUDECODE says that an agent runs this`.
 * A program can change its own variables and become another program, but it cannot change the processes above it. Linux
 * tells us their names and what variables they began with; macOS tells names alone, Windows nothing. A process that
 * leaves its parents (`setsid`, a service, a job for later) and drops the variables is not found out.
 */
export function agentMark(): string | undefined {
  const own = AGENT_VARIABLES.find((name) => process.env[name]) ?? startedWith('self')
  return own === undefined ? markAmong(ancestors(TOP)) : `${own} says that an agent runs this`
}

/** The nearest comes first. */
export function markAmong(above: Iterable<Ancestor>): string | undefined {
  for (const one of above) {
    const { pid } = one
    const name = startedWith(pid)
    if (name !== undefined) return `${name} says that an agent started process ${pid}, which started this`
    const agent = agentIn(one)
    if (agent !== undefined) return `process ${pid}, which started this, is the agent ${agent}`
  }
  return undefined
}

/** The agent that a process is, by the name of its program or of the file that the program runs. */
function agentIn({ name, words }: Ancestor): string | undefined {
  const [program = '', ...args] = words
  const file = RUNNER.test(baseOf(program)) ? args.find((word) => !word.startsWith('-')) : undefined
  const paths = [program, name, ...(file === undefined ? [] : [file])]
  const known = paths.map(baseOf).find((base) => AGENT_PROGRAMS.includes(base))
  return known ?? paths.map((path) => AGENT_PACKAGE.exec(path)?.[0]).find((found) => found !== undefined)
}

/** `claude` for `/usr/bin/claude` and `claude.exe`. */
function baseOf(path: string): string {
  const base = path.split(/[\\/]/).at(-1) ?? ''
  return base.replace(/^-/, '').replace(/\.(?:[cm]?js|exe|py)$/i, '')
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
