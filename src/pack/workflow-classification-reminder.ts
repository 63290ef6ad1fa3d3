// A prompt was sent: a short reminder to say first what kind of work it is.

import { saying } from './answer.js'
import { fenced } from './fenced.js'
import { lockOf } from './lock.js'
import type { PackHook } from './pack-hook.js'

const MAX_BYTES = 2048

const REMINDER = `Before you begin, decide which kind of work this prompt asks for, and follow its steps:
- question: answer it; change no files.
- investigation: find out and report what was seen; change no files.
- operation: do what was asked and nothing besides; check that it worked.
- change: understand the code first, make the smallest change that does it, run the tests, say what was not done.
- several of these: make a list, and take them one after another.`

/** Set by whoever started the agent for one of its own workflows. */
const RUNNING = 'CARABINER_WORKFLOW'

export const workflowClassificationReminder: PackHook = {
  name: 'workflow-classification-reminder',
  event: 'UserPromptSubmit',
  run(input, { settings, state, env }) {
    if (input.event !== 'UserPromptSubmit' || !settings.workflow.enabled) return undefined
    const prompt = input.userPrompt?.trim() ?? ''
    // A command has its own workflow, and who is in one already knows.
    if (prompt === '' || prompt.startsWith('/') || env[RUNNING] || lockOf(state)) return undefined
    return saying([fenced('workflow', settings.workflow.text ?? REMINDER, MAX_BYTES)])
  },
}
