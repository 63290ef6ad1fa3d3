// Cursor's hooks: flat snake_case answers, an event for each kind of tool, and a matcher for the text of a command.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { EDITS, type HookFile, mcpParts, named, resultText, type Sent } from '../hook-files/hook-file.js'
import { firstText, inClaudeTerms, objectIn, refused, verdictIn, without } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.cursor/hooks.json',
  isAt: /\/\.cursor(?:-plugin)?\/|\/(?:etc|ProgramData|Application Support)\/[Cc]ursor\/hooks\.json$/,
  layout: 'flat',
  head: { version: 1 },
  topKeys: ['version', '$schema'],
  keys: ['loop_limit', 'failClosed', 'model', 'prompt', 'shell', 'cwd', 'env', 'args'],
  unit: 'seconds',
  events: {
    beforeShellExecution: { tools: ['Bash'], over: 'command' },
    afterShellExecution: { tools: ['Bash'], over: 'command' },
    beforeMCPExecution: { tools: ['mcp'] },
    afterMCPExecution: { tools: ['mcp'] },
    beforeReadFile: { tools: ['Read'] },
    afterFileEdit: { tools: EDITS },
    // Cursor asks us about completions as about files; nothing here makes any.
    beforeTabFileRead: { to: null },
    afterTabFileEdit: { to: null },
  },
  tools: named('Write=Write Edit=Write,StrReplace NotebookEdit=Write,EditNotebook Glob=Glob Agent=Task'),
  mcpName: (_, tool) => `MCP:${tool}`,
  matching: 'search',
  startsInProject: true,
  env: ({ data }) => ({
    CURSOR_VERSION: VERSION,
    ...(typeof data.transcript_path === 'string' && { CURSOR_TRANSCRIPT_PATH: data.transcript_path }),
  }),
  payload: (sent) => ({ ...base(sent), ...details(sent) }),
  answer,
}

const VERSION = '3.0.0'

function base({ sessionId, as, projectDir, data }: Sent) {
  return definedFields({
    conversation_id: sessionId,
    generation_id: typeof data.prompt_id === 'string' ? data.prompt_id : sessionId,
    model: data.model ?? 'default',
    session_id: sessionId,
    hook_event_name: as,
    cursor_version: VERSION,
    workspace_roots: [projectDir],
    user_email: null,
    transcript_path: data.transcript_path ?? null,
  })
}

function details(sent: Sent) {
  const { as, data, tool, input } = sent
  const { cwd } = data
  const duration = data.duration_ms
  switch (as) {
    case 'beforeShellExecution':
      return definedFields({ command: input.command, cwd, sandbox: false })
    case 'afterShellExecution':
      return definedFields({
        command: input.command,
        output: resultText(data.tool_response),
        duration,
        sandbox: false,
      })
    case 'beforeMCPExecution':
    case 'afterMCPExecution':
      return mcpCall(sent)
    case 'beforeReadFile':
      return definedFields({ file_path: input.file_path, content: '', attachments: [] })
    case 'afterFileEdit':
      return definedFields({ file_path: input.file_path, edits: editsIn(input) })
    case 'beforeSubmitPrompt':
      return definedFields({ prompt: data.prompt, attachments: [] })
    case 'sessionStart':
      return { is_background_agent: false }
    case 'sessionEnd':
      return definedFields({ reason: data.reason, is_background_agent: false })
    case 'subagentStart':
    case 'subagentStop':
      return definedFields({
        subagent_id: data.agent_id,
        subagent_type: data.agent_type,
        ...(as === 'subagentStop' && {
          status: 'completed',
          summary: data.last_assistant_message ?? '',
          loop_count: data.stop_hook_active === true ? 1 : 0,
          agent_transcript_path: data.agent_transcript_path ?? null,
        }),
      })
    case 'stop':
      return { status: 'completed', loop_count: data.stop_hook_active === true ? 1 : 0 }
    case 'preCompact':
      return definedFields({ trigger: data.trigger })
    case 'afterAgentResponse':
      return definedFields({ text: data.delta ?? data.last_assistant_message ?? '' })
  }
  if (tool === undefined) return data
  return definedFields({
    tool_name: tool,
    tool_input: input,
    tool_use_id: data.tool_use_id,
    cwd,
    ...(as === 'postToolUse' && { tool_output: resultText(data.tool_response), duration }),
    ...(as === 'postToolUseFailure' && {
      error_message: data.error,
      failure_type: 'error',
      duration,
      is_interrupt: data.is_interrupt ?? false,
    }),
  })
}

function mcpCall({ as, data, input }: Sent) {
  const { server, tool } = mcpParts(String(data.tool_name)) ?? { server: '', tool: String(data.tool_name) }
  return definedFields({
    tool_name: tool,
    tool_input: JSON.stringify(input),
    mcp_server_name: server,
    ...(as === 'afterMCPExecution' && {
      result_json: resultText(data.tool_response),
      duration: data.duration_ms,
    }),
  })
}

function editsIn(input: Sent['input']) {
  if (Array.isArray(input.edits)) return input.edits
  return [{ old_string: input.old_string ?? '', new_string: input.new_string ?? input.content ?? '' }]
}

/** Events whose answer is a permission. Anything unreadable refuses there. */
const GATES: ReadonlySet<string> = new Set([
  'preToolUse',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
  'subagentStart',
])

/** The only words that Cursor takes for a permission. */
const PERMISSIONS: readonly unknown[] = ['allow', 'deny', 'ask', undefined]

function answer(reply: Reply, { event, as, failsClosed }: Sent): Reply {
  const said = objectIn(reply.stdout)
  const isSilent = reply.code === 0 && reply.stdout.trim() === ''
  if (isSilent && failsClosed && (GATES.has(as) || event === 'UserPromptSubmit'))
    return refused(reply, 'it printed nothing, and failClosed is true')
  if (reply.code === 2 && !said) return refused(reply, reply.stdout, reply.stderr)
  if (!said) {
    const isUnreadable = reply.code === 0 && reply.stdout.trim() !== '' && GATES.has(as)
    return isUnreadable ? refused(reply, `its answer is not a JSON object: ${reply.stdout}`) : reply
  }
  const { permission, continue: goes, updated_input: input, additional_context: context } = said
  if (GATES.has(as) && !PERMISSIONS.includes(permission))
    return refused(reply, `its permission is not allow, deny or ask: ${JSON.stringify(permission)}`)
  const verdict =
    verdictIn(permission) ?? (goes === false && event === 'UserPromptSubmit' ? 'deny' : undefined)
  const followup = firstText(said, 'followup_message')
  const message = firstText(said, 'user_message', 'userMessage')
  const reason = firstText(said, 'agent_message', 'agentMessage') ?? message ?? followup
  const isFollowed = followup !== undefined && (event === 'Stop' || event === 'SubagentStop')
  const spoken = {
    verdict: isFollowed ? ('deny' as const) : verdict,
    reason: isFollowed ? followup : reason,
    message: verdict === 'deny' || verdict === 'ask' ? undefined : message,
    context: typeof context === 'string' ? context : undefined,
    input: isObject(input) ? input : undefined,
  }
  const taken = ['user_message', 'userMessage', 'agent_message', 'agentMessage', 'additional_context']
  const more = ['followup_message', 'updated_input', ...(verdict ? ['permission'] : [])]
  const stop = verdict && goes === false ? ['continue'] : []
  return inClaudeTerms(event, spoken, without(said, ...taken, ...more, ...stop), reply)
}
