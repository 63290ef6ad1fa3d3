// Cline 3: a plugin of ours. Its hook files could refuse, too, but that would end the whole run.

import { pluginFile } from '../forms/plugin-file.js'
import type { HostSetup } from '../host-setup.js'

const BINDINGS = `
function read(answer) {
  return {
    ...(answer.cancel ? { deny: answer.errorMessage || 'Carabiner refused it' } : { message: answer.errorMessage }),
    input: answer.overrideInput,
    context: answer.contextModification,
  }
}

function withInput(payload, input) {
  return { ...payload, tool_call: { ...payload.tool_call, input } }
}

let root = process.cwd()
let logger

/** Messages to the person, until the model can be told: plugins have no other way to be heard. */
let waiting = []
const passedOn = new Set()

function contextOf(...texts) {
  const messages = waiting.map((text) => \`Tell the user what Carabiner says: \${text}\`)
  waiting = []
  const context = [...texts, ...messages].filter(Boolean).join('\\n\\n')
  return context ? { appendContext: context } : {}
}

async function asked(event, hookName, snapshot, more) {
  const { agentId, parentAgentId, conversationId } = snapshot ?? {}
  const told = await ask(event, {
    clineVersion: '3',
    hookName,
    taskId: conversationId,
    workspaceRoots: [root],
    agent_id: agentId,
    parent_agent_id: parentAgentId,
    ...more,
  })
  if (told.message) {
    logger?.log?.(\`Carabiner: \${told.message}\`, { severity: 'warn' })
    if (!passedOn.has(told.message)) waiting.push(told.message)
    passedOn.add(told.message)
  }
  return told
}

function promptIn(snapshot) {
  const last = (snapshot?.messages ?? []).filter(({ role }) => role === 'user').at(-1)
  return (last?.content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\\n')
}

export default {
  name: 'carabiner',
  manifest: { capabilities: ['hooks'] },
  setup(_, ctx) {
    root = ctx?.workspaceInfo?.rootPath ?? root
    logger = ctx?.logger
  },
  hooks: {
    async beforeRun({ snapshot }) {
      const told = await asked('SessionStart', 'agent_start', snapshot, {})
      if (told.deny !== undefined) return { stop: true, reason: told.deny }
      // A subagent's prompt is not the user's.
      const more = snapshot?.parentAgentId ? {} : await asked('UserPromptSubmit', 'prompt_submit', snapshot, {
        userPromptSubmit: { prompt: promptIn(snapshot) },
      })
      if (more.deny !== undefined) return { stop: true, reason: more.deny }
      return contextOf(told.context, more.context)
    },
    async beforeTool({ snapshot, toolCall, tool, input }) {
      const call = { id: toolCall?.toolCallId ?? toolCall?.id, name: toolCall?.toolName ?? tool?.name, input }
      const told = await asked('PreToolUse', 'tool_call', snapshot, { tool_call: call })
      if (told.deny !== undefined) return { skip: true, reason: told.deny }
      return {
        ...(told.input !== undefined && { input: told.input }),
        ...contextOf(told.context),
      }
    },
    async afterTool({ snapshot, toolCall, tool, input, result }) {
      const call = { id: toolCall?.toolCallId ?? toolCall?.id, name: toolCall?.toolName ?? tool?.name, input }
      const told = await asked('PostToolUse', 'tool_result', snapshot, {
        tool_result: { ...call, output: result?.output ?? result },
      })
      if (told.deny !== undefined) return { stop: true, reason: told.deny }
      return contextOf(told.context)
    },
    async afterRun({ snapshot }) {
      await asked('Stop', 'agent_end', snapshot, {})
    },
  },
}
`

const FILE = { name: 'plugins/carabiner.js', form: pluginFile('cline-core', BINDINGS) }

export const setup: HostSetup = {
  programs: ['cline'],
  folder: '.cline',
  files: [FILE],
  project: { folder: '.cline', files: [FILE] },
  events: {
    SessionStart: 'beforeRun',
    UserPromptSubmit: 'beforeRun',
    PreToolUse: 'beforeTool',
    PostToolUse: 'afterTool',
    Stop: 'afterRun',
  },
  notes: [
    'Cline 3 goes on without plugins that take longer than 4 seconds to load: set CLINE_PLUGIN_IMPORT_TIMEOUT_MS=60000 for it.',
  ],
}
