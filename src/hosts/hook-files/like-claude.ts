// What agents took from Claude Code: keys of an entry, its payload, and its answers or flat ones.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { definedFields } from '../host.js'
import type { Sent } from './hook-file.js'
import { firstText, inClaudeTerms, objectIn, verdictIn } from './spoken.js'

export const CLAUDE_KEYS = [
  'args',
  'shell',
  'async',
  'asyncRewake',
  'if',
  'once',
  'statusMessage',
  'env',
  'prompt',
  'model',
  'url',
  'headers',
  'allowedEnvVars',
  'server',
  'tool',
  'input',
  'continueOnBlock',
  'onFailure',
]

export function likeClaude({ as, data, tool, input }: Pick<Sent, 'as' | 'data' | 'tool' | 'input'>) {
  return definedFields({
    ...data,
    hook_event_name: as,
    ...(tool !== undefined && { tool_name: tool, tool_input: input }),
  })
}

/** Claude Code's answers, where exit code 2 also denies a permission request. */
export function byCodeToo(reply: Reply, { event }: Sent): Reply {
  if (event !== 'PermissionRequest' || reply.code !== 2) return reply
  const said = objectIn(reply.stdout)
  const reason = reply.stderr.trim() || (said && firstText(said, 'reason', 'message')) || 'Denied'
  return inClaudeTerms(event, { verdict: 'deny', reason }, {}, { ...reply, code: 0 })
}

/** `decision`, `reason`, `additionalContext` and `continue` at the top level. */
export function flat(reply: Reply, { event }: Sent): Reply {
  const said = objectIn(reply.stdout)
  if (!said || isObject(said.hookSpecificOutput)) return reply
  const { decision, reason, additionalContext, ...others } = said
  const verdict = verdictIn(decision)
  const spoken = {
    verdict: verdict === 'allow' && event !== 'PreToolUse' ? undefined : verdict,
    reason: typeof reason === 'string' ? reason : undefined,
    context: typeof additionalContext === 'string' ? additionalContext : undefined,
  } as const
  const rest = verdict === undefined && decision !== undefined ? { ...others, decision } : others
  return inClaudeTerms(event, spoken, rest, reply)
}
