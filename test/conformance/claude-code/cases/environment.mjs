// What a hook finds around it, and what it leaves for those after it.

import { at, bash, on, pre } from './make.mjs'

const EXPORTS = 'echo "export FROM_HOOK=yes" >> "$CLAUDE_ENV_FILE"'
const TELL = 'echo "$FROM_HOOK" >> okran'

/** @param {string} event @param {string} command */
const runs = (event, command) => on(event, event, { handler: { type: 'command', command } })

export const environment = [
  bash('env: project dir', 'where the project is', [
    pre('A', { handler: { type: 'command', command: 'echo "$CLAUDE_PROJECT_DIR" >> okran' } }),
  ]),
  bash('env: cwd', 'a hook runs in the project', [
    pre('A', { handler: { type: 'command', command: 'pwd >> okran' } }),
  ]),
  bash('env: file on PreToolUse', 'there is none', [
    pre('A', { handler: { type: 'command', command: 'echo "file:$CLAUDE_ENV_FILE" >> okran' } }),
  ]),
  at(
    'SessionStart',
    'env: file of SessionStart, in Bash',
    'a tool has the variable',
    [runs('SessionStart', EXPORTS)],
    {
      tool_input: { command: TELL, description: 'd' },
    },
  ),
  at('SessionStart', 'env: file of SessionStart, in a later hook', 'whether a hook has the variable', [
    runs('SessionStart', EXPORTS),
    runs('PreToolUse', 'echo "hook:$FROM_HOOK" >> okran'),
  ]),
  at(
    'CwdChanged',
    'env: file of CwdChanged, in Bash',
    'a tool has the variable',
    [runs('CwdChanged', EXPORTS)],
    {
      tool_name: null,
      files: { 'sub/x': '' },
      run: {
        turns: [
          { tools: [{ name: 'Bash', input: { command: 'cd sub', description: 'd' } }] },
          {
            tools: [{ name: 'Bash', input: { command: 'echo "$FROM_HOOK" >> ../okran', description: 'd' } }],
          },
        ],
      },
    },
  ),
  bash(
    'env: plugin root',
    'where the plugin is',
    [
      pre('A', {
        source: 'plugin:hooks/hooks.json',
        handler: { type: 'command', command: 'basename "$CLAUDE_PLUGIN_ROOT" >> okran' },
      }),
    ],
    { plugin: [{ dir: 'plug', files: [] }] },
  ),
  bash('env: session id', 'whether it is there', [
    pre('A', {
      handler: { type: 'command', command: 'test -n "$CLAUDE_CODE_SESSION_ID" && echo yes >> okran' },
    }),
  ]),
]
