// Gemini CLI's hooks: one `decision` for all events, in stdout or stderr, and milliseconds.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { closingAmong, entriesIn } from '../../systems/closing.js'
import { type HookFile, named, resultText, type Sent } from '../hook-files/hook-file.js'
import { firstText, inClaudeTerms, objectIn, refused, verdictIn, without } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.gemini/settings.json',
  isAt: /\/\.gemini\/(?!config\/hooks\.json$)|\/gemini-extension\//,
  layout: 'groups',
  keys: ['name', 'env', 'description'],
  unit: 'milliseconds',
  hasSequential: true,
  tools: named(
    `Glob=glob Grep=search_file_content,grep_search,grep LS=list_directory,ls WebFetch=web_fetch
    WebSearch=google_web_search,web_search TodoWrite=write_todos,todo_write`,
  ),
  values: { permission_prompt: ['ToolPermission'] },
  mcpName: (server, tool) => `mcp_${server}_${tool}`,
  matching: 'search',
  env: ({ projectDir, sessionId, data }) => ({
    GEMINI_SESSION_ID: sessionId,
    GEMINI_CWD: typeof data.cwd === 'string' ? data.cwd : projectDir,
  }),
  payload,
  answer,
}

function payload({ event, as, data, tool, input, now, sessionId }: Sent) {
  const { model, messages, options, response, ...rest } = data
  const isModel = event === 'ModelRequest' || event === 'ModelResponse'
  return definedFields({
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
    ...(isModel && { llm_request: definedFields({ model, messages, config: options }) }),
    ...(event === 'ModelResponse' && { llm_response: response ?? {} }),
  })
}

/** JSON counts on every exit code. Without it, any code but 0 and 1 refuses. */
function answer(reply: Reply, { event, data, ours }: Sent): Reply {
  const text = reply.stdout.trim() || reply.stderr.trim()
  const said = objectIn(text) ?? objectIn(unquoted(text))
  if (!said) {
    // A refusal among other lines stays one.
    if (reply.code === 0 && closingAmong(entriesIn(text)) !== undefined) return { ...reply, stdout: text }
    if (reply.code === 0) return { ...inClaudeTerms(event, { message: text }, {}, reply), code: 0 }
    if (reply.code === 1 || reply.code === null || text === '') return reply
    return refused(reply, text)
  }
  const specific = isObject(said.hookSpecificOutput) ? said.hookSpecificOutput : {}
  const { tool_input: input, additionalContext, ...others } = specific
  const verdict = verdictIn(said.decision)
  const spoken = {
    verdict,
    reason: firstText(said, 'reason'),
    message: firstText(said, 'systemMessage'),
    context: typeof additionalContext === 'string' ? additionalContext : undefined,
    // It merges a changed input over the old one.
    input: isObject(input) ? { ...(data.tool_input as object), ...ours(input as Sent['input']) } : undefined,
  }
  const taken = ['systemMessage', 'hookSpecificOutput', ...(verdict ? ['decision', 'reason'] : [])]
  const { hookEventName: _, ...rest } = others
  const more = Object.keys(rest).length > 0 ? { hookSpecificOutput: rest } : {}
  const code = reply.code === 2 && !verdict ? 2 : 0
  return inClaudeTerms(event, spoken, { ...without(said, ...taken), ...more }, { ...reply, code })
}

/** Gemini CLI also takes an answer that is JSON in a JSON string. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return ''
  try {
    return String(JSON.parse(text))
  } catch {
    return ''
  }
}
