// Antigravity's hook file: events under names of the user's choice. A hook before a tool has to give a decision.

import type { Reply } from '../../systems/claude-code/decode.js'
import { type HookFile, named, type Sent } from '../hook-files/hook-file.js'
import { flat } from '../hook-files/like-claude.js'
import { inClaudeTerms, objectIn, refused, verdictIn } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.agents/hooks.json',
  isAt: /\/\.agents\/hooks\.json$|\/\.gemini\/config\/hooks\.json$|\/\.antigravity\//,
  layout: 'named',
  topKeys: [],
  keys: [],
  unit: 'seconds',
  tools: named(
    `MultiEdit=multi_replace_file_content,replace_file_content Grep=grep_search Glob=find_by_name LS=list_dir
    WebSearch=search_web WebFetch=read_url_content`,
  ),
  matching: 'search',
  closedOn: ['PreToolUse'],
  startsInProject: true,
  payload: ({ data, tool, input, sessionId, projectDir }) =>
    definedFields({
      conversationId: sessionId,
      workspacePaths: [projectDir],
      transcriptPath: data.transcript_path ?? '',
      stepIdx: 0,
      ...(tool !== undefined && {
        toolCall: { name: tool, args: { ...input, Cwd: data.cwd ?? projectDir } },
      }),
    }),
  answer,
}

function answer(reply: Reply, sent: Sent): Reply {
  const said = objectIn(reply.stdout)
  if (sent.event !== 'PreToolUse') return flat(reply, sent)
  if (reply.code === 0 && !said) return refused(reply, 'it gave no decision')
  if (!said) return reply
  const { decision, reason, ...others } = said
  const verdict = verdictIn(decision)
  if (verdict === undefined) return refused(reply, `its decision is ${JSON.stringify(decision ?? null)}`)
  const spoken = { verdict, reason: typeof reason === 'string' ? reason : undefined }
  return inClaudeTerms('PreToolUse', spoken, others, reply)
}
