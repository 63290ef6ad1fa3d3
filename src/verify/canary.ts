// The canaries: what the model asks the agent to do, and the hook that must keep it from doing so.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the hook answers. */
export type CanaryAct = 'deny' | 'rewrite' | 'context' | 'stop' | 'ask' | 'together'

/** Words that nothing else contains: where one appears, the canary's text has arrived. */
export const WORDS = {
  deny: 'carabiner-canary-refused',
  stop: 'carabiner-canary-goes-on',
  ask: 'carabiner-canary-asks',
  rewritten: 'carabiner-canary-rewritten',
  preferences: 'carabiner-canary-preference',
  /** The rule in the guard's reason for `MARKERS.guarded`. */
  guard: 'guard/settings-changed',
  UserPromptSubmit: 'carabiner-context-at-prompt',
  SessionStart: 'carabiner-context-at-start',
  PostToolUse: 'carabiner-context-after-tool',
  PreToolUse: 'carabiner-context-before-tool',
} as const

export type ContextEvent = 'UserPromptSubmit' | 'SessionStart' | 'PostToolUse' | 'PreToolUse'

export const CONTEXT_EVENTS: readonly ContextEvent[] = [
  'UserPromptSubmit',
  'SessionStart',
  'PostToolUse',
  'PreToolUse',
]

/** Names of the files that canaries write into the project. */
export const MARKERS = {
  shell: 'canary-shell',
  file: 'canary-file',
  subagent: 'canary-subagent',
  rewritten: WORDS.rewritten,
  /** The guard protects it. No agent that is proven reads it. */
  guarded: '.crush.json',
} as const

/** A file that the hook appends a line to whenever it has something to say. */
export function canaryLog(home: string): string {
  return join(home, 'canary.log')
}

/** A file that is there once the hook has kept a call from running as it was. */
export function refusalMark(home: string): string {
  return join(home, 'canary.refused')
}

/** Writes the hook and its configuration into a fresh home. They are the user's, so they need no trust. */
export function writeCanary(home: string, act: CanaryAct, node: string): void {
  const script = join(home, 'canary.mjs')
  writeFileSync(script, SCRIPT)
  const handler = {
    type: 'command',
    command: `${quoted(node)} ${quoted(script)} ${act} ${quoted(canaryLog(home))} ${quoted(refusalMark(home))}`,
    timeout: 20,
  }
  const group = (matcher?: string) => [{ ...(matcher && { matcher }), hooks: [handler] }]
  const hooks = {
    deny: { PreToolUse: group('Bash|Write|Edit') },
    rewrite: { PreToolUse: group('Bash') },
    ask: { PreToolUse: group('Bash') },
    stop: { Stop: group() },
    together: { UserPromptSubmit: group(), PreToolUse: group('Write|Edit') },
    context: Object.fromEntries(
      CONTEXT_EVENTS.map((event) => [event, group(event.endsWith('ToolUse') ? 'Bash' : undefined)]),
    ),
  }[act]
  const file = join(home, '.amplifier', 'hooks', 'hooks.json')
  mkdirSync(dirname(file), { recursive: true })
  if (act === 'together') writeFileSync(join(home, '.amplifier', 'preferences.md'), `${WORDS.preferences}\n`)
  writeFileSync(file, `${JSON.stringify({ hooks }, null, 2)}\n`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** It knows only Claude Code's names, as most hooks do. */
const SCRIPT = `import { appendFileSync, readFileSync } from 'node:fs'

const [, , act, log, mark] = process.argv
const { hook_event_name: event, tool_name: tool, tool_input: input = {}, agent_id: agent } = JSON.parse(readFileSync(0, 'utf8'))
const { command = '', file_path: file = '' } = input
const isCanary = /^touch .*canary-(shell|subagent)/.test(command) || /canary-file$/.test(file)
const specific = (fields) => ({ hookSpecificOutput: { hookEventName: event, ...fields } })
const WORDS = ${JSON.stringify(WORDS)}
const answers = {
  deny: () => isCanary && specific({ permissionDecision: 'deny', permissionDecisionReason: WORDS.deny }),
  ask: () => isCanary && specific({ permissionDecision: 'ask', permissionDecisionReason: WORDS.ask }),
  rewrite: () =>
    isCanary &&
    specific({
      permissionDecision: 'allow',
      updatedInput: { ...input, command: command.replace('canary-shell', WORDS.rewritten) },
    }),
  context: () => specific({ additionalContext: WORDS[event] }),
  stop: () => ({ decision: 'block', reason: WORDS.stop }),
  together: () => (event === 'PreToolUse' ? answers.deny() : answers.context()),
}
const answer = answers[act]() || {}
if (Object.keys(answer).length > 0) appendFileSync(log, JSON.stringify({ event, tool, agent }) + '\\n')
if (answer.hookSpecificOutput?.permissionDecision) appendFileSync(mark, '')
console.log(JSON.stringify(answer))
`
