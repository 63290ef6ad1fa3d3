// For each prompt: reminds the model to decide first what kind of work it asks for.

import { fenced, saying } from './answer.js'
import { lockModeOf } from './lock-mode.js'
import type { PackHook } from './pack-hook.js'

const MAX_BYTES = 2048

const REMINDER = `Before you begin, decide what kind of work this prompt asks for, and follow its steps:
- question: answer it; do not change files.
- investigation: find out and report what you saw; do not change files.
- operation: do what was asked and nothing else; check that it worked.
- change: understand the code first, make the smallest change that works, run the tests, say what is left undone.
- several of these: make a list and do them one after another.`

/** Set by a program that starts the agent as part of its own workflow. */
const RUNNING = 'CARABINER_WORKFLOW'

export const workflowClassificationReminder: PackHook = {
  name: 'workflow-classification-reminder',
  event: 'UserPromptSubmit',
  run(input, { settings, state, env }) {
    if (input.event !== 'UserPromptSubmit' || !settings.workflow.enabled) return undefined
    const prompt = input.userPrompt?.trim() ?? ''
    // A command has its own workflow, and an agent in a workflow needs no reminder.
    if (prompt === '' || prompt.startsWith('/') || env[RUNNING] || lockModeOf(state)) return undefined
    return saying([fenced('workflow', settings.workflow.text ?? REMINDER, MAX_BYTES)])
  },
}
