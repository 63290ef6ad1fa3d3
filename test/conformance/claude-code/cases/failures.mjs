// Hooks that fail, hang, or stand there twice.

import { at, bash, context, on, pre, verdict } from './make.mjs'

const BLOCK = { onFailure: 'block' }
const HANGS = { sleep: 300, fields: { timeout: 1 } }

/** @param {string} event */
const hangs = (event) => ({ sleep: 300, fields: { timeout: 1 }, stdout: context(event, 'a hint') })
/** The same command twice. @param {string} source @param {object} [more] */
const same = (source, more = {}) => ({
  source,
  handler: { type: 'command', command: 'echo X >> {{PROJECT}}/ran', ...more },
})

/** Tells whether the process of the file still runs after two seconds. It has ended even if nobody has collected it yet. */
const IS_LEFT =
  'is_left() { ps -o stat= -p "$(cat left.pid)" | grep -q "^[^Z]"; }; i=0; while is_left && [ $i -lt 40 ]; do sleep 0.05; i=$((i + 1)); done; is_left && echo left >> okran || echo gone >> okran'

export const failures = [
  bash('a child is left', 'what a hook leaves running, after it ended', [
    pre('A', { script: 'sleep 300 > /dev/null 2>&1 & echo $! > left.pid' }),
    on('PostToolUse', 'B', { handler: { type: 'command', command: IS_LEFT } }),
  ]),
  at(
    'UserPromptSubmit',
    'a long context',
    '6,000 characters that are 12,000 bytes',
    [on('UserPromptSubmit', 'A', { stdout: context('UserPromptSubmit', 'é'.repeat(6000)) })],
    { tool_name: null },
  ),
  bash('onFailure block, exit 1', 'a failure blocks', [pre('A', { exit: 1, stderr: 'oops', fields: BLOCK })]),
  bash('onFailure block, exit 1, allow', 'an answer does not count', [
    pre('A', { exit: 1, stdout: verdict('allow', 'x'), fields: BLOCK }),
  ]),
  bash('onFailure block, exit 1, deny', 'its own reason', [
    pre('A', { exit: 1, stdout: verdict('deny', 'no'), fields: BLOCK }),
  ]),
  bash('onFailure block, exit 0', 'no failure', [pre('A', { fields: BLOCK })]),
  bash('onFailure block, text', 'no failure', [pre('A', { stdout: 'a line', fields: BLOCK })]),
  bash('onFailure block, broken', 'a failure blocks', [pre('A', { stdout: '{broken}', fields: BLOCK })]),
  bash('onFailure block, bad field', 'a failure blocks', [
    pre('A', { stdout: '{"systemMessage":7}', fields: BLOCK }),
  ]),
  bash('onFailure block, signal', 'a failure blocks', [pre('A', { script: 'kill -KILL $$', fields: BLOCK })]),
  bash('onFailure block, no program', 'a failure blocks', [
    pre('A', { handler: { type: 'command', command: '/no/such/program', ...BLOCK } }),
  ]),
  bash('onFailure block, time-out', 'a failure blocks', [
    pre('A', { sleep: 300, fields: { timeout: 1, ...BLOCK } }),
  ]),
  bash('onFailure continue, exit 1', 'as without', [
    pre('A', { exit: 1, fields: { onFailure: 'continue' } }),
  ]),
  at(
    'Stop',
    'onFailure block on Stop',
    'never keeps the agent going',
    [on('Stop', 'A', { exit: 1, stderr: 'oops', fields: BLOCK })],
    { tool_name: null },
  ),
  at('PostToolUse', 'onFailure block on PostToolUse', 'told to the model', [
    on('PostToolUse', 'A', { exit: 1, stderr: 'oops', fields: BLOCK }),
  ]),
  at(
    'UserPromptSubmit',
    'onFailure block on UserPromptSubmit',
    'the prompt is not sent',
    [on('UserPromptSubmit', 'A', { exit: 1, stderr: 'oops', fields: BLOCK })],
    { tool_name: null },
  ),
  bash('time-out', 'a hook that hangs decides nothing', [pre('A', HANGS)]),
  bash('time-out after a deny was printed', 'what it printed does not count', [
    pre('A', { ...HANGS, script_pre: `cat > /dev/null; printf %s '${verdict('deny', 'no')}'` }),
  ]),
  bash('time-out beside a deny', 'the deny stands', [pre('A', HANGS), pre('B', { exit: 2, stderr: 'no' })]),
  bash('time-out, ignores TERM', 'is ended all the same', [
    pre('A', { ...HANGS, script_pre: "trap '' TERM" }),
  ]),
  at(
    'UserPromptSubmit',
    'time-out on UserPromptSubmit',
    'decides nothing',
    [on('UserPromptSubmit', 'A', hangs('UserPromptSubmit'))],
    { tool_name: null },
  ),
  at('Stop', 'time-out on Stop', 'decides nothing', [on('Stop', 'A', HANGS)], { tool_name: null }),
  bash('twice in a group', 'runs once', [pre('A', same('settings')), pre('B', same('settings'))]),
  bash('twice in two groups', 'runs once', [
    pre('A', { ...same('settings'), matcher: 'Bash' }),
    pre('B', { ...same('settings'), group: 1, matcher: '*' }),
  ]),
  bash('twice in two files', 'runs once', [pre('A', same('settings')), pre('B', same('project'))]),
  bash('thrice in three files', 'runs once', [
    pre('A', same('settings')),
    pre('B', same('project')),
    pre('C', same('user')),
  ]),
  bash('twice, another time-out', 'runs once', [
    pre('A', same('settings', { timeout: 9 })),
    pre('B', same('settings', { timeout: 8 })),
  ]),
  bash('twice, another if', 'runs twice', [
    pre('A', same('settings', { if: 'Bash' })),
    pre('B', same('settings', { if: 'Bash(touch *)' })),
  ]),
  bash('twice, another statusMessage', 'runs once', [
    pre('A', same('settings', { statusMessage: 'a' })),
    pre('B', same('settings', { statusMessage: 'b' })),
  ]),
  bash('twice, one with args', 'runs twice', [
    pre('A', same('settings')),
    pre('B', { handler: { type: 'command', command: '/bin/sh', args: ['-c', 'echo Y >> {{PROJECT}}/ran'] } }),
  ]),
  bash('twice, a blank more', 'runs twice', [
    pre('A', same('settings')),
    pre('B', { handler: { type: 'command', command: 'echo X >>  {{PROJECT}}/ran' } }),
  ]),
  bash(
    'twice, file and plugin',
    'runs twice',
    [pre('A', same('settings')), pre('B', same('plugin:hooks/hooks.json'))],
    { plugin: [{ dir: 'plug', files: [] }] },
  ),
  bash(
    'twice, two plugins',
    'runs twice',
    [pre('A', same('plugin/one:hooks/hooks.json')), pre('B', same('plugin/two:hooks/hooks.json'))],
    {
      plugin: [
        { dir: 'one', files: [] },
        { dir: 'two', files: [] },
      ],
    },
  ),
  bash(
    'twice in a plugin',
    'runs once',
    [
      pre('A', same('plugin:hooks/hooks.json')),
      pre('B', { ...same('plugin:hooks/hooks.json'), group: 1, matcher: 'Bash' }),
    ],
    { plugin: [{ dir: 'plug', files: [] }] },
  ),
  bash('once', 'is ignored in settings', [pre('A', { fields: { once: true } })], {
    run: {
      turns: [1, 2].map((at) => ({
        tools: [{ name: 'Bash', input: { command: `echo ${at}`, description: 'd' } }],
      })),
    },
  }),
]
