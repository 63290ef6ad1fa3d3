// What the examples of all SDKs share: five tasks, and the hooks that judge them.

import { askUser, createHooks, deny, inject, modify, respond } from 'carabiner'

/** What hooks do, and the command that the model wants to run. */
export const TASKS = [
  ['denied', 'rm -r build'],
  ['rewritten', 'npm install'],
  ['asked', 'git push'],
  ['answered', 'date'],
  ['injected', 'npm test'],
]

/** Hooks around the tool with this name. */
export async function hooksAround(matcher) {
  const hooks = await createHooks()
  hooks.register(
    'PreToolUse',
    function guard(_event, { tool_input: { command } }) {
      if (command === 'rm -r build') return deny('Nothing is deleted here.')
      if (command === 'npm install')
        return modify({ tool_input: { command: 'npm install --ignore-scripts' } })
      if (command === 'git push') return askUser('Push to the remote?')
      if (command === 'date') return respond('Tuesday')
    },
    { matcher },
  )
  hooks.register(
    'PostToolUse',
    function linter(_event, { tool_input: { command } }) {
      if (command === 'npm test') return inject('The linter has two warnings.')
    },
    { matcher },
  )
  return hooks
}
