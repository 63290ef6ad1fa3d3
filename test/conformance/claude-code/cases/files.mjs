// Files that are not as they should be, plugins, and where hooks come from.

import { bash, pre } from './make.mjs'

/** @typedef {import('../case.mjs').Case} Case */

const note = (/** @type {string} */ id) => `{"type":"command","command":"echo ${id} >> {{PROJECT}}/ran"}`
const GOOD = `{"matcher":"Bash","hooks":[${note('GROUP')}]}`

/** A bad entry, with a good hook beside it in its group, its event and its file. @type {Readonly<Record<string, string>>} */
const BAD = {
  'timeout is text': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","timeout":"5"},${note('SIBLING')}]}`,
  'timeout is 0': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","timeout":0},${note('SIBLING')}]}`,
  'timeout is negative': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","timeout":-1},${note('SIBLING')}]}`,
  'type unknown': `{"hooks":[{"type":"info","command":"echo BAD >> {{PROJECT}}/ran"},${note('SIBLING')}]}`,
  'type missing': `{"hooks":[{"command":"echo BAD >> {{PROJECT}}/ran"},${note('SIBLING')}]}`,
  'command missing': `{"hooks":[{"type":"command"},${note('SIBLING')}]}`,
  'command is a list': `{"hooks":[{"type":"command","command":["echo","BAD"]},${note('SIBLING')}]}`,
  'matcher is a number': `{"matcher":7,"hooks":[${note('BAD')}]}`,
  'matcher is null': `{"matcher":null,"hooks":[${note('BAD')}]}`,
  'matcher is a list': `{"matcher":["Bash"],"hooks":[${note('BAD')}]}`,
  'no hooks in the group': '{"matcher":"Bash"}',
  'hooks is an object': `{"matcher":"Bash","hooks":${note('BAD')}}`,
  'a handler in place of a group': note('BAD'),
  'group is null': 'null',
  'if is a number': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","if":7},${note('SIBLING')}]}`,
  'onFailure unknown': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","onFailure":"explode"},${note('SIBLING')}]}`,
  'shell unknown': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","shell":"zsh"},${note('SIBLING')}]}`,
  'async is text': `{"hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","async":"yes"},${note('SIBLING')}]}`,
  'unknown keys': `{"description":"d","hooks":[{"type":"command","command":"echo BAD >> {{PROJECT}}/ran","name":"n"},${note('SIBLING')}]}`,
}

/** @param {string} name @param {string} about @param {Record<string, string>} raw_config @param {Partial<Case>} [more] */
function file(name, about, raw_config, more = {}) {
  return bash(`file ${name}`, about, [], {
    raw_config,
    run: { spy: ['PostToolUse', 'Stop'] },
    fires: FIRES,
    ...more,
  })
}

/** A file that is not read brings no spy, either. @type {import('../case.mjs').Fired[]} */
const FIRES = [
  {
    event: 'PreToolUse',
    data: { tool_name: 'Bash', tool_input: { command: 'touch ran.txt && echo TOOL_RAN', description: 'd' } },
  },
  {
    event: 'PostToolUse',
    data: {
      tool_name: 'Bash',
      tool_input: { command: 'touch ran.txt && echo TOOL_RAN', description: 'd' },
      tool_response: { stdout: 'TOOL_RAN', stderr: '', interrupted: false, isImage: false },
    },
  },
  { event: 'Stop', data: { stop_hook_active: false, last_assistant_message: 'done' } },
]

const malformed = Object.entries(BAD).flatMap(([what, group]) =>
  ['PreToolUse', 'PostToolUse'].map((event) =>
    file(`${event}, ${what}`, 'a bad entry, and what is left of its neighbours', {
      settings: `{"hooks":{"${event}":[${group},${GOOD}],"Stop":[{"hooks":[${note('EVENT')}]}]}}`,
    }),
  ),
)

const ALL = `"hooks":{"PreToolUse":[${GOOD}]}`

export const files = [
  ...malformed,
  file('comments', 'comments in JSON', { settings: `{ // a comment\n${ALL} /* and one */ }` }),
  file('trailing comma', 'a comma too many', { settings: `{ ${ALL}, }` }),
  file('bom', 'a byte-order mark', { settings: `\uFEFF{ ${ALL} }` }),
  file('duplicate key', 'the last one counts', {
    settings: `{"hooks":{"PreToolUse":[{"hooks":[${note('FIRST')}]}],"PreToolUse":[{"hooks":[${note('LAST')}]}]}}`,
  }),
  file('empty', 'nothing in it', { settings: '', project: `{ ${ALL} }` }),
  file('broken', 'the other file still counts', {
    settings: `{ ${ALL} `,
    project: `{"hooks":{"PreToolUse":[{"hooks":[${note('PROJECT')}]}]}}`,
  }),
  file('unknown event', 'is left out alone', {
    settings: `{"hooks":{"BeforeTool":[${GOOD}],"Stop":[{"hooks":[${note('EVENT')}]}]}}`,
  }),
  file('event in camel case', 'is unknown', {
    settings: `{"hooks":{"preToolUse":[${GOOD}],"Stop":[{"hooks":[${note('EVENT')}]}]}}`,
  }),
  file('event is an object', 'in place of a list', {
    settings: `{"hooks":{"PostToolUse":${GOOD},"Stop":[{"hooks":[${note('EVENT')}]}]}}`,
  }),
  file('hooks is a list', 'in place of an object', {
    settings: `{"hooks":[{"event":"PreToolUse","hooks":[${note('LIST')}]}]}`,
  }),
  file('hooks is null', 'nothing', { settings: '{"hooks":null}', project: `{ ${ALL} }` }),
  file('another bad key', 'that is not about hooks', {
    settings: `{ ${ALL}, "permissions": {"allow": "Bash"} }`,
  }),
  file('three files', 'all count', {
    settings: `{"hooks":{"PreToolUse":[{"hooks":[${note('SESSION')}]}]}}`,
    project: `{"hooks":{"PreToolUse":[{"hooks":[${note('PROJECT')}]}]}}`,
    user: `{"hooks":{"PreToolUse":[{"hooks":[${note('USER')}]}]}}`,
  }),
  file('disableAllHooks', 'in the file itself', { settings: `{ ${ALL}, "disableAllHooks": true }` }),
  file('disableAllHooks in the project', 'switches off the others', {
    settings: `{ ${ALL} }`,
    project: '{"disableAllHooks": true}',
  }),
  file(
    'plugin',
    'hooks/hooks.json',
    { 'plugin:hooks/hooks.json': `{ "description": "d", ${ALL} }` },
    { plugin: [{ dir: 'plug', files: [] }] },
  ),
  file(
    'plugin, no wrapper',
    'events at the top',
    { 'plugin:hooks/hooks.json': `{"PreToolUse":[${GOOD}]}` },
    { plugin: [{ dir: 'plug' }] },
  ),
  file(
    'plugin, inline',
    'in plugin.json',
    {},
    {
      plugin: [
        { dir: 'plug', manifest: { hooks: { PreToolUse: [{ hooks: [JSON.parse(note('INLINE'))] }] } } },
      ],
    },
  ),
  file(
    'plugin, other path',
    'named in plugin.json',
    { 'plugin:config/h.json': `{ ${ALL} }` },
    { plugin: [{ dir: 'plug', manifest: { hooks: './config/h.json' } }] },
  ),
  file(
    'plugin, both',
    'inline and hooks/hooks.json',
    { 'plugin:hooks/hooks.json': `{ ${ALL} }` },
    {
      plugin: [
        { dir: 'plug', manifest: { hooks: { PreToolUse: [{ hooks: [JSON.parse(note('INLINE'))] }] } } },
      ],
    },
  ),
  file(
    'plugin, bad entry',
    'in PreToolUse',
    {
      'plugin:hooks/hooks.json': `{"hooks":{"PreToolUse":[${BAD['timeout is text']},${GOOD}],"Stop":[{"hooks":[${note('EVENT')}]}]}}`,
    },
    { plugin: [{ dir: 'plug' }] },
  ),
  bash('shell bash', 'which shell runs it', [
    pre('A', {
      handler: { type: 'command', shell: 'bash', command: '[[ a == a ]] && echo BASH >> {{PROJECT}}/okran' },
    }),
  ]),
  bash('no shell', 'which shell runs it', [
    pre('A', { handler: { type: 'command', command: '[[ a == a ]] && echo BASH >> {{PROJECT}}/okran' } }),
  ]),
  bash('args', 'one argument stays one', [
    pre('A', {
      handler: {
        type: 'command',
        command: '/bin/sh',
        args: ['-c', 'echo "$#:$1:$2" >> okran', 'x', 'a b', '$HOME'],
      },
    }),
  ]),
  bash('args with placeholders', 'they are filled in', [
    pre('A', {
      handler: {
        type: 'command',
        command: '/bin/sh',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it
        args: ['-c', 'echo "$1" >> okran', 'x', '${CLAUDE_PROJECT_DIR}/x'],
      },
    }),
  ]),
  bash('placeholder in a shell', 'the shell expands it', [
    pre('A', {
      handler: {
        type: 'command',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it
        command: 'echo "${CLAUDE_PROJECT_DIR}" \'${CLAUDE_PROJECT_DIR}\' >> okran',
      },
    }),
  ]),
  bash('plugin root in settings', 'there is none', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it
    pre('A', { handler: { type: 'command', command: 'echo "root:${CLAUDE_PLUGIN_ROOT}" >> okran' } }),
  ]),
]
