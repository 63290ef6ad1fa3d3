// Detects whether an agent runs this process or its caller, from variables that agents set and from the programs that started it.

import { readFileSync } from 'node:fs'
import { callerEnv, callerPid } from './caller.js'
import { type Ancestor, ancestors, startOf } from './process.js'

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

/** The names of agents' programs, without editors: people have terminals inside them. Needed because an agent does not set its variables for itself, and a shell can drop them. */
export const AGENT_PROGRAMS: readonly string[] = [
  'agy',
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
  'kiro-cli',
  'kiro-cli-chat',
  'letta',
  'opencode',
  'openhands',
  'pi',
  'qchat',
  'qwen',
]

const YES = /^-[a-z]*y$|^--(?:yes|yes-always|always-approve)$/

/** Options without a value, by agent: the same letter means something else elsewhere. */
export const UNASKED_FLAGS: ReadonlyMap<string, RegExp> = new Map([
  ['cursor-agent', /^-[a-z]*f$|^--(?:force|approve-mcps)$/],
  ['aider', /^--yes(?:-always)?$/],
  ...['gemini', 'qwen', 'crush', 'kimi', 'cline', 'openhands'].map((name) => [name, YES] as const),
  ...['kiro-cli', 'kiro-cli-chat', 'qchat'].map((name) => [name, /^-[a-z]*a$/] as const),
])

/** Agents that npm installs, as `cli.js`, `index.js` and the like, and the names of their programs. */
export const AGENT_PACKAGES: ReadonlyMap<string, string> = new Map([
  ['@anthropic-ai/claude-code', 'claude'],
  ['@openai/codex', 'codex'],
  ['@google/gemini-cli', 'gemini'],
  ['@qwen-code/qwen-code', 'qwen'],
  ['@github/copilot', 'copilot'],
  ['@augmentcode/auggie', 'auggie'],
  ['@charmland/crush', 'crush'],
  ['@letta-ai/letta-code', 'letta'],
  ['opencode-ai', 'opencode'],
  ['cline', 'cline'],
])

const AGENT_PACKAGE = new RegExp(
  `[\\\\/]node_modules[\\\\/](?:${[...AGENT_PACKAGES.keys()].join('|').replaceAll('/', '[\\\\/]')})[\\\\/]`,
)

/** Programs that run a file of another name. */
const RUNNER = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|pypy[\d.]*|ruby|uv|(?:ba|da|z)?sh)$/

/** The search for agents stops at this process. Tests are built with their own runner here, which an agent may have started. */
const TOP: number = 0

/**
 * The evidence that an agent runs this process: `CLAUDECODE says that an agent is running this`. Undefined if there is none.
 * A program can change its own variables and become another program, but it cannot change the processes above it. Linux
 * shows their names and initial variables, macOS only names, Windows nothing. A process that leaves its parents
 * (`setsid`, a service, a scheduled job) and drops the variables is not detected. A caller that is gone counts as an agent.
 */
export function agentMark(): string | undefined {
  const [env, pid] = [callerEnv(), callerPid()]
  const isOwn = pid === process.pid
  const own = AGENT_VARIABLES.find((name) => env[name]) ?? startedWith(isOwn ? 'self' : pid)
  if (own === undefined && !isOwn && startOf(pid) === undefined) return `process ${pid}, which asked, is gone`
  return own === undefined ? markAmong(ancestors(TOP)) : `${own} says that an agent is running this`
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

/** The agent that this process is, judged by its program's name or the file it runs. */
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

/** The first of the variables in a process's initial environment. Undefined if the system does not tell. */
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
