// pi: an extension of ours in its folder of extensions. Those of projects are silently skipped unless somebody approves them.

import { pluginFile } from '../forms/plugin-file.js'
import type { HostSetup } from '../host-setup.js'

const BINDINGS = `
/** What the session was told when it began, until its next prompt can carry it. */
let waiting = ''

const read = (answer) => answer

function withInput(payload, input) {
  return { ...payload, event: { ...payload.event, input } }
}

/** Without a screen, its notifications go nowhere. */
function show(ctx, message, type) {
  if (ctx.hasUI === false || !ctx.ui?.notify) process.stderr.write(\`Carabiner: \${message}\\n\`)
  else ctx.ui.notify(message, type)
}

export default function (pi) {
  const asked = async (name, event, ctx) => {
    const told = await ask(name, { event, cwd: ctx.cwd, session_id: ctx.sessionManager?.getSessionId?.() })
    if (told.message) show(ctx, told.message, 'warning')
    return told
  }

  pi.on('session_start', async (event, ctx) => {
    const told = await asked('SessionStart', event, ctx)
    if (told.deny !== undefined) show(ctx, told.deny, 'error')
    waiting = told.context ?? ''
  })
  pi.on('input', async (event, ctx) => {
    const told = await asked('UserPromptSubmit', event, ctx)
    if (told.deny !== undefined) {
      show(ctx, told.deny, 'error')
      return { action: 'handled' }
    }
    waiting = [waiting, told.context].filter(Boolean).join('\\n\\n')
    if (told.prompt !== undefined) return { action: 'transform', text: told.prompt }
  })
  pi.on('before_agent_start', async () => {
    if (!waiting) return
    const content = waiting
    waiting = ''
    return { message: { customType: 'carabiner', content, display: false } }
  })
  pi.on('tool_call', async (event, ctx) => {
    const told = await asked('PreToolUse', event, ctx)
    if (told.deny !== undefined) return { block: true, reason: told.deny }
    if (told.input) replace(event.input, told.input)
  })
  pi.on('tool_result', async (event, ctx) => {
    const told = await asked(event.isError ? 'PostToolUseFailure' : 'PostToolUse', event, ctx)
    const texts = [told.output, told.deny, told.context].filter(Boolean)
    if (texts.length === 0) return
    const kept = told.output === undefined ? event.content : []
    return { content: [...kept, { type: 'text', text: texts.join('\\n\\n') }] }
  })
  pi.on('agent_end', async (event, ctx) => {
    const told = await asked('Stop', { type: event.type }, ctx)
    if (told.deny === undefined) return
    // A message of the user would first go through the hooks for prompts, and pi may have ended before they answer.
    const message = { customType: 'carabiner', content: told.deny, display: true }
    pi.sendMessage(message, { deliverAs: 'followUp', triggerTurn: true })
  })
  pi.on('session_before_compact', async (event, ctx) => {
    const told = await asked('PreCompact', { type: event.type }, ctx)
    if (told.deny === undefined) return
    show(ctx, told.deny, 'error')
    return { cancel: true }
  })
  pi.on('session_compact', async (event, ctx) => {
    await asked('PostCompact', { type: event.type }, ctx)
  })
  pi.on('session_shutdown', async (event, ctx) => {
    await asked('SessionEnd', event, ctx)
  })
}
`

export const setup: HostSetup = {
  programs: ['pi'],
  folder: '.pi/agent',
  variable: 'PI_CODING_AGENT_DIR',
  // pi also loads .js, and checks no types in it.
  files: [{ name: 'extensions/carabiner.js', form: pluginFile('pi', BINDINGS) }],
  events: {
    SessionStart: 'session_start',
    SessionEnd: 'session_shutdown',
    UserPromptSubmit: 'input',
    PreToolUse: 'tool_call',
    PostToolUse: 'tool_result',
    PostToolUseFailure: 'tool_result',
    Stop: 'agent_end',
    PreCompact: 'session_before_compact',
    PostCompact: 'session_compact',
  },
}
