// Droid's hook file: Claude Code's format. A changed input holds only the fields to change.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { type HookFile, named } from '../hook-files/hook-file.js'
import { likeClaude } from '../hook-files/like-claude.js'
import { inClaudeTerms, objectIn } from '../hook-files/spoken.js'

export const hookFile: HookFile = {
  file: '.factory/hooks.json',
  isAt: /\/\.factory\//,
  layout: 'groups',
  keys: [],
  unit: 'seconds',
  tools: named('WebFetch=FetchUrl Agent=Task'),
  matching: 'list',
  grants: ['PreToolUse'],
  speaksClaude: 'partly',
  payload: likeClaude,
  answer: (reply, { event, data }) => merged(reply, event, data.tool_input),
}

function merged(reply: Reply, event: string, input: unknown): Reply {
  const said = objectIn(reply.stdout)
  const specific = said?.hookSpecificOutput
  if (!isObject(specific) || !isObject(specific.updatedInput) || !isObject(input)) return reply
  const { updatedInput, ...others } = specific
  return inClaudeTerms(
    event,
    { input: { ...input, ...updatedInput } },
    { ...said, hookSpecificOutput: others },
    reply,
  )
}
