// Crush's hook file: crush.json with a flat list for its one event. Exit code 49 ends the turn.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { type HookFile, named, type Sent } from '../hook-files/hook-file.js'
import { firstText, inClaudeTerms, objectIn, verdictIn } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: 'crush.json',
  isAt: /\/\.?crush\.json$|\/\.config\/crush\//,
  layout: 'flat',
  keys: ['name'],
  unit: 'seconds',
  tools: named('MultiEdit=multiedit,edit Glob=glob Grep=grep WebFetch=fetch Agent=agent TodoWrite=todos'),
  matching: 'search',
  grants: ['PreToolUse'],
  env: ({ projectDir, sessionId, as, tool }) => ({
    CRUSH: '1',
    AGENT: 'crush',
    AI_AGENT: 'crush',
    CRUSH_EVENT: as,
    CRUSH_SESSION_ID: sessionId,
    CRUSH_CWD: projectDir,
    ...(tool !== undefined && { CRUSH_TOOL_NAME: tool }),
  }),
  payload: ({ as, data, tool, input, sessionId, projectDir }) =>
    definedFields({
      event: as,
      session_id: sessionId,
      cwd: data.cwd ?? projectDir,
      tool_name: tool,
      tool_input: input,
    }),
  answer,
}

const HALT = 49

function answer(reply: Reply, { event, data, ours }: Sent): Reply {
  const said = objectIn(reply.stdout)
  if (reply.code === HALT) {
    const reason = reply.stderr.trim() || (said && firstText(said, 'reason')) || 'Halted'
    return inClaudeTerms(event, { stops: true, reason, verdict: 'deny' }, {}, { ...reply, code: 0 })
  }
  if (!said || isObject(said.hookSpecificOutput)) return reply
  const { decision, halt, reason, context, updated_input: input, version: _, ...others } = said
  const verdict = halt === true ? 'deny' : verdictIn(decision)
  const spoken = {
    verdict,
    stops: halt === true,
    reason: typeof reason === 'string' ? reason : undefined,
    context: Array.isArray(context) ? context.join('\n') : typeof context === 'string' ? context : undefined,
    input: isObject(input) ? { ...(data.tool_input as object), ...ours(input as Sent['input']) } : undefined,
  } as const
  const isOdd = verdict === undefined && decision !== undefined && decision !== null
  return inClaudeTerms(event, spoken, isOdd ? { ...others, decision } : others, reply)
}
