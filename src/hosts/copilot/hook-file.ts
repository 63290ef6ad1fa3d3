// Copilot's hooks: flat answers. The spelling of an event in the file decides how its payload is spelled.

import { isObject, type Json } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { type HookFile, named, resultText, type Sent } from '../hook-files/hook-file.js'
import { firstText, inClaudeTerms, objectIn, refused, verdictIn, without } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.github/hooks/hooks.json',
  isAt: /\/\.github\/(?:hooks|copilot)\/|\/\.copilot\/|\/github-copilot\/policy\.d\//,
  layout: 'flat',
  head: { version: 1 },
  topKeys: ['version', '$schema', 'disableAllHooks', 'description'],
  keys: [
    'bash',
    'powershell',
    'windows',
    'linux',
    'osx',
    'cwd',
    'env',
    'timeoutSec',
    'url',
    'headers',
    'allowedEnvVars',
    'prompt',
  ],
  commandKey: 'bash',
  timeoutKey: 'timeoutSec',
  unit: 'seconds',
  // Claude Code's names are also Copilot CLI's, so only a version beside them tells.
  isOwnName: (event, file) => /^[A-Z]/.test(event) && 'version' in file,
  tells: ['prompt'],
  events: { preMcpToolCall: { tools: ['mcp'] } },
  tools: named(
    `Grep=grep,rg Glob=glob WebFetch=web_fetch WebSearch=web_search AskUserQuestion=ask_user TodoWrite=update_todo Agent=task`,
  ),
  matching: 'whole',
  grants: ['PreToolUse', 'PermissionRequest'],
  closesByCode: true,
  startsInProject: true,
  // VS Code reads the same files, and fills in its own variable.
  env: ({ projectDir }) => ({ workspaceFolder: projectDir }),
  payload: (sent) => (isPascal(sent) ? likeClaude(sent) : native(sent)),
  answer,
}

function isPascal({ as }: Sent): boolean {
  return /^[A-Z]/.test(as)
}

function native({ sessionId, now, data, tool, input }: Sent) {
  const { cwd } = data
  return definedFields({
    sessionId,
    timestamp: now,
    cwd,
    ...(tool !== undefined && { toolName: tool, toolArgs: input }),
    ...('tool_response' in data && {
      toolResult: { resultType: 'success', textResultForLlm: resultText(data.tool_response) },
    }),
    error: data.error,
    prompt: data.prompt,
    source: data.source,
    reason: data.reason,
    transcriptPath: data.transcript_path,
    stop_hook_active: data.stop_hook_active,
    agentId: data.agent_id,
    agentName: data.agent_type,
    agentType: data.agent_type,
    response: data.last_assistant_message,
    trigger: data.trigger,
    customInstructions: data.custom_instructions,
    message: data.message,
    title: data.title,
    notification_type: data.notification_type,
  })
}

function likeClaude({ as, now, data, input, tool }: Sent) {
  const { tool_response: result, ...rest } = data
  return definedFields({
    ...rest,
    hook_event_name: as,
    timestamp: new Date(now).toISOString(),
    ...(tool !== undefined && { tool_input: input }),
    ...(result !== undefined && {
      tool_result: { result_type: 'success', text_result_for_llm: resultText(result) },
    }),
  })
}

/** It may print a line about its progress, which is no answer. */
function withoutProgress(stdout: string): string {
  if (!stdout.includes('"progress"')) return stdout
  const lines = stdout.split('\n')
  return lines.filter((line) => objectIn(line)?.type !== 'progress').join('\n')
}

function answer(given: Reply, { event, ours }: Sent): Reply {
  const reply = { ...given, stdout: withoutProgress(given.stdout) }
  const said = objectIn(reply.stdout)
  const isGate = event === 'PreToolUse' || event === 'PermissionRequest'
  if (isGate && reply.code === 2) return denied(event, reply, said)
  if (event === 'PreToolUse' && reply.code !== 0 && reply.code !== null) {
    const reason = said && firstText(said, 'permissionDecisionReason', 'message', 'reason')
    return { ...refused(reply, reason, reply.stderr, `its command exited with ${reply.code}`), stdout: '' }
  }
  if (!said || isObject(said.hookSpecificOutput)) return reply
  const { permissionDecision, behavior, decision, modifiedArgs, modifiedResult, interrupt } = said
  const words = { permissionDecision, behavior, decision }
  const known = Object.entries(words).filter(([, word]) => verdictIn(word) !== undefined)
  const verdict = (['deny', 'ask', 'allow'] as const).find((one) =>
    known.some(([, word]) => verdictIn(word) === one),
  )
  const spoken = {
    verdict,
    reason: firstText(said, 'permissionDecisionReason', 'message', 'reason'),
    context: firstText(said, 'additionalContext'),
    input: isObject(modifiedArgs) ? ours(modifiedArgs as Sent['input']) : undefined,
    output: isObject(modifiedResult) ? ((modifiedResult.textResultForLlm ?? '') as Json) : undefined,
    stops: interrupt === true && verdict === 'deny',
  }
  const taken = ['permissionDecisionReason', 'message', 'modifiedArgs', 'modifiedResult']
  // A word that is no verdict here may still close.
  const more = [
    'additionalContext',
    'interrupt',
    ...known.map(([key]) => key),
    ...(verdict ? ['reason'] : []),
  ]
  return inClaudeTerms(event, spoken, without(said, ...taken, ...more), reply)
}

/** On a permission request, Claude Code does not honour the exit code, but Copilot does. */
function denied(event: string, reply: Reply, said: Readonly<Record<string, unknown>> | undefined): Reply {
  const reason =
    (said && firstText(said, 'permissionDecisionReason', 'message', 'reason')) ||
    reply.stderr.trim() ||
    reply.stdout.trim()
  if (event === 'PreToolUse') return { ...refused(reply, reason), stdout: '' }
  return inClaudeTerms(event, { verdict: 'deny', reason: reason || 'Denied' }, {}, { ...reply, code: 0 })
}
