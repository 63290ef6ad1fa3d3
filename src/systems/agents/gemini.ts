// Gemini CLI's hooks: one `decision` for all events, in stdout or stderr, and milliseconds.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../claude-code/decode.js'
import { type AgentSystem, defined, named, on, resultText, type Sent, same } from './agent-system.js'
import { ours } from './fields.js'
import { firstOf, inClaudeTerms, objectIn, refused, verdictIn, without } from './spoken.js'

/** Also Qwen Code's. */
export const GEMINI_TOOLS = named(
  `Bash=run_shell_command Read=read_file,read_many_files Write=write_file Edit=replace,edit MultiEdit=replace,edit
  Glob=glob Grep=search_file_content,grep_search,grep LS=list_directory,ls WebFetch=web_fetch
  WebSearch=google_web_search,web_search TodoWrite=write_todos,todo_write`,
)

export const gemini: AgentSystem = {
  name: 'gemini',
  title: 'Gemini CLI',
  file: '.gemini/settings.json',
  isAt: /\/\.gemini\/(?!config\/hooks\.json$)|\/gemini-extension\//,
  layout: 'groups',
  keys: ['name', 'env', 'description'],
  unit: 'milliseconds',
  timeout: 60,
  events: {
    ...same('SessionStart SessionEnd Notification'),
    BeforeTool: on('PreToolUse'),
    AfterTool: on('PostToolUse'),
    BeforeAgent: on('UserPromptSubmit'),
    AfterAgent: on('Stop'),
    BeforeModel: on('ModelRequest'),
    AfterModel: on('ModelResponse'),
    BeforeToolSelection: on(null),
    PreCompress: on('PreCompact'),
  },
  tools: GEMINI_TOOLS,
  mcpName: (server, tool) => `mcp_${server}_${tool}`,
  matching: 'search',
  env: ({ projectDir, sessionId, data }) => ({
    GEMINI_PROJECT_DIR: projectDir,
    GEMINI_SESSION_ID: sessionId,
    GEMINI_CWD: typeof data.cwd === 'string' ? data.cwd : projectDir,
  }),
  payload,
  answer,
}

function payload({ event, as, data, tool, input, now, sessionId }: Sent) {
  const { model, messages, options, response, ...rest } = data
  const isModel = event === 'ModelRequest' || event === 'ModelResponse'
  return defined({
    ...(isModel ? { cwd: rest.cwd } : rest),
    session_id: sessionId,
    transcript_path: data.transcript_path ?? '',
    hook_event_name: as,
    timestamp: new Date(now).toISOString(),
    ...(tool !== undefined && { tool_name: tool, tool_input: input }),
    ...('tool_response' in data && {
      tool_response: {
        llmContent: resultText(data.tool_response),
        returnDisplay: resultText(data.tool_response),
      },
    }),
    ...(as === 'AfterAgent' && {
      prompt: data.prompt ?? '',
      prompt_response: data.last_assistant_message ?? '',
    }),
    ...(as === 'Notification' && { notification_type: 'ToolPermission' }),
    ...(isModel && { llm_request: defined({ model, messages, config: options }) }),
    ...(event === 'ModelResponse' && { llm_response: response ?? {} }),
  })
}

/** JSON counts on every exit code. Without it, any code but 0 and 1 refuses. */
export function answer(reply: Reply, { event, data }: Sent): Reply {
  const text = reply.stdout.trim() || reply.stderr.trim()
  const said = objectIn(text)
  if (!said) {
    if (reply.code === 0) return { ...inClaudeTerms(event, { message: text }, {}, reply), code: 0 }
    if (reply.code === 1 || reply.code === null || text === '') return reply
    return refused(reply, text)
  }
  const specific = isObject(said.hookSpecificOutput) ? said.hookSpecificOutput : {}
  const { tool_input: input, additionalContext, ...others } = specific
  const verdict = verdictIn(said.decision)
  const spoken = {
    verdict,
    reason: firstOf(said, 'reason'),
    message: firstOf(said, 'systemMessage'),
    context: typeof additionalContext === 'string' ? additionalContext : undefined,
    // It merges a changed input over the old one.
    input: isObject(input) ? { ...(data.tool_input as object), ...ours(input) } : undefined,
  }
  const taken = ['systemMessage', 'hookSpecificOutput', ...(verdict ? ['decision', 'reason'] : [])]
  const { hookEventName: _, ...rest } = others
  const more = Object.keys(rest).length > 0 ? { hookSpecificOutput: rest } : {}
  const code = reply.code === 2 && !verdict ? 2 : 0
  return inClaudeTerms(event, spoken, { ...without(said, ...taken), ...more }, { ...reply, code })
}
