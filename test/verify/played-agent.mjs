// An agent of a few lines: asks the model, and runs its calls past a hook. Told how to misbehave by its first argument.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , manner, url, prompt = ''] = process.argv
const settings = join(process.env.HOME ?? '', 'agent.json')
/** Commands by event. @type {Record<string, string>} */
const hooks = existsSync(settings) ? JSON.parse(readFileSync(settings, 'utf8')) : {}

if (manner === 'crashes') throw new Error('it broke at the start')
if (manner === 'hangs') setInterval(() => {}, 1000)
else await talk(prompt)

/** @param {string} text @param {boolean} [isSubagent] */
async function talk(text, isSubagent = false) {
  /** @type {object[]} */
  const messages = [{ role: 'user', content: `${text}\n${context('UserPromptSubmit')}` }]
  for (;;) {
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', tools: [{ name: 'Bash' }, { name: 'Write' }], messages }),
    })
    const { content } = /** @type {{ content: any[] }} */ (await response.json())
    messages.push({ role: 'assistant', content })
    const [{ type, name, input }] = content
    if (type === 'text') {
      const { reason } = isSubagent ? {} : ask({ hook_event_name: 'Stop' })
      if (!reason) return
      messages.push({ role: 'user', content: reason })
    } else messages.push({ role: 'user', content: await called(name, input) })
  }
}

/** What the model is told of a call. @param {string} name @param {any} input @returns {Promise<string>} */
async function called(name, input) {
  const call = { hook_event_name: 'PreToolUse', tool_name: name, tool_input: input }
  const {
    permissionDecision: decision,
    permissionDecisionReason: reason,
    updatedInput,
  } = ask(call).hookSpecificOutput ?? {}
  if ((decision === 'deny' || decision === 'ask') && manner !== 'ignores')
    return manner === 'silent' ? 'no' : `refused: ${reason}`
  const { command, file_path: file } = updatedInput ?? input
  if (name === 'Agent') await talk(input.prompt, true)
  else if (name === 'Write') writeFileSync(file, 'canary')
  else spawnSync('sh', ['-c', command])
  return `done ${context('PostToolUse')}`
}

/** @param {string} event */
function context(event) {
  return ask({ hook_event_name: event }).hookSpecificOutput?.additionalContext ?? ''
}

/** @param {{ hook_event_name: string }} payload @returns {any} */
function ask(payload) {
  const hook = hooks[payload.hook_event_name]
  if (hook === undefined || manner === 'unhooked') return {}
  const { stdout } = spawnSync('sh', ['-c', hook], { input: JSON.stringify(payload), encoding: 'utf8' })
  return JSON.parse(stdout || '{}')
}
