// Kiro's hooks: one file a hook in its editor, entries of an agent's file in its CLI. Exit codes decide.

import { resolveEvent } from '../../core/events/events.js'
import type { Reply } from '../claude-code/decode.js'
import { type AgentSystem, defined, named, on, type Sent, same } from './agent-system.js'
import { inClaudeTerms, objectIn, onlyClosing, refused } from './spoken.js'

const TOOLS = named(
  `Bash=execute_bash,shell,execute_cmd Read=fs_read,read Write=fs_write,write Edit=fs_write,write MultiEdit=fs_write,write
  WebFetch=web_fetch,web WebSearch=web_search,web`,
)

function payload({ as, data, tool, input, projectDir }: Sent) {
  return defined({
    hook_event_name: as,
    cwd: data.cwd ?? projectDir,
    prompt: data.prompt,
    ...(tool !== undefined && { tool_name: tool, tool_input: input }),
    tool_response: data.tool_response,
  })
}

/** Events on which plain text is context. */
const SPEAKS: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
])

export const kiro: AgentSystem = {
  name: 'kiro',
  title: 'Kiro',
  file: '.kiro/hooks/hooks.json',
  isAt: /\/\.kiro\/hooks\/|\.kiro\.hook$/,
  layout: 'triggers',
  head: { version: 'v1' },
  topKeys: [
    'version',
    '$schema',
    'name',
    'description',
    'enabled',
    'when',
    'then',
    'workspaceFolderName',
    'shortName',
  ],
  keys: ['name', 'description', 'trigger', 'action', 'enabled', 'prompt', 'patterns', 'toolTypes'],
  unit: 'seconds',
  timeout: 60,
  events: {
    ...same('SessionStart UserPromptSubmit PreToolUse PostToolUse Stop'),
    PostFileSave: { ...on('FileChanged'), change: 'change' },
    PostFileCreate: { ...on('FileChanged'), change: 'add' },
    PostFileDelete: { ...on('FileChanged'), change: 'unlink' },
    PreTaskExec: on('TaskCreated'),
    PostTaskExec: on('TaskCompleted'),
    promptSubmit: on('UserPromptSubmit'),
    preToolUse: on('PreToolUse'),
    postToolUse: on('PostToolUse'),
    agentStop: on('Stop'),
    sessionStart: on('SessionStart'),
    fileEdited: { ...on('FileChanged'), change: 'change' },
    fileSaved: { ...on('FileChanged'), change: 'change' },
    fileCreated: { ...on('FileChanged'), change: 'add' },
    fileDeleted: { ...on('FileChanged'), change: 'unlink' },
    preTaskExecution: on('TaskCreated'),
    postTaskExecution: on('TaskCompleted'),
    userTriggered: on(null),
    manual: on(null),
  },
  tools: TOOLS,
  mcpName: (server, tool) => `@${server}/${tool}`,
  matching: 'search',
  closesByCode: true,
  startsInProject: true,
  env: ({ data }) => ({
    ...(typeof data.prompt === 'string' && { USER_PROMPT: data.prompt }),
    ...(typeof data.file_path === 'string' && { KIRO_HOOK_FILE: data.file_path }),
  }),
  payload,
  answer: (reply, { event, data }) => {
    const text = reply.stdout.trim()
    if (reply.code !== 0 && reply.code !== null && resolveEvent(event).deny === 'block')
      return refused(reply, reply.stderr, reply.stdout, `its command exited with ${reply.code}`)
    if (reply.code !== 0 || text === '' || objectIn(text) || !SPEAKS.has(event)) return reply
    // What it says becomes the agent's next instruction, once.
    if (event === 'Stop' && data.stop_hook_active === true) return { ...reply, stdout: '' }
    return inClaudeTerms(event, { context: text }, {}, reply)
  },
}

export const amazonQ: AgentSystem = {
  name: 'amazon-q',
  title: 'Amazon Q',
  file: '.amazonq/cli-agents/default.json',
  isAt: /\/\.(?:amazonq|aws\/amazonq)\/|\/\.kiro\/agents\//,
  layout: 'flat',
  keys: ['timeout_ms', 'cache_ttl_seconds', 'max_output_size'],
  timeoutKey: 'timeout_ms',
  unit: 'milliseconds',
  timeout: 30,
  events: {
    agentSpawn: on('SessionStart'),
    userPromptSubmit: on('UserPromptSubmit'),
    preToolUse: on('PreToolUse'),
    postToolUse: on('PostToolUse'),
    stop: on('Stop'),
  },
  tools: TOOLS,
  fields: { file_path: 'path', content: 'file_text', old_string: 'old_str', new_string: 'new_str' },
  mcpName: (server, tool) => `@${server}/${tool}`,
  matching: 'glob',
  payload,
  answer: textOnlyAtStart,
}

/** Plain text is context when an agent starts and when a prompt is sent; elsewhere nothing that is printed counts. */
function textOnlyAtStart(reply: Reply, { event }: Sent): Reply {
  if (
    reply.code === 0 &&
    !objectIn(reply.stdout) &&
    (event === 'SessionStart' || event === 'UserPromptSubmit')
  )
    return reply
  return onlyClosing(reply)
}
