// Kiro's hook files: a list of triggers, or one file a hook in older versions. Exit codes decide.

import { resolveEvent } from '../../core/events/events.js'
import { payload } from '../amazon-q/hook-file.js'
import { type HookFile, named } from '../hook-files/hook-file.js'
import { inClaudeTerms, objectIn, refused } from '../hook-files/spoken.js'

/** Events on which plain text is context. */
const SPEAKS: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
])

export const hookFile: HookFile = {
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
  tells: ['agent', 'askAgent'],
  events: {
    PostFileSave: { change: 'change' },
    PostFileCreate: { change: 'add' },
    PostFileDelete: { change: 'unlink' },
    fileEdited: { change: 'change' },
    fileSaved: { change: 'change' },
    fileCreated: { change: 'add' },
    fileDeleted: { change: 'unlink' },
  },
  tools: named(
    `Bash=execute_bash,shell,execute_cmd Edit=fs_write,write,str_replace,fs_append WebFetch=web_fetch,web
    WebSearch=web_search,web`,
  ),
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
