// A prompt was sent: reminds the model to decide first which kind of work it is.

import { fenced, saying } from './answer.js'
import { lockModeOf } from './lock-mode.js'
import type { PackHook } from './pack-hook.js'

const MAX_BYTES = 2048

const REMINDER = `Before you begin, decide which kind of work this prompt asks for, and follow its steps:
- question: answer it; change no files.
- investigation: find out and report what was seen; change no files.
- operation: do what was asked and nothing besides; check that it worked.
- change: understand the code first, make the smallest change that does it, run the tests, say what was not done.
- several of these: make a list, and take them one after another.`

/** Set by a program that starts the agent for a workflow of its own. */
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
