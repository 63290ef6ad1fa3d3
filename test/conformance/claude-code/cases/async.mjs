// Hooks that hold nobody up: `async`, `asyncRewake`, and an answer that says so.

import { at, bash, context, on, pre, says, verdict } from './make.mjs'

/** @typedef {import('../case.mjs').Case} Case */

/** A second call, that waits until the hook has ended: what it said is there by then. */
const LATER = {
  tools: [
    {
      name: 'Bash',
      input: {
        command:
          'i=0; while [ ! -e stubs/A.pid ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done; sleep 0.5',
        description: 'd',
      },
    },
  ],
}
const CALL = {
  tools: [{ name: 'Bash', input: { command: 'touch ran.txt && echo TOOL_RAN', description: 'd' } }],
}
/** @type {Partial<Case>} */
const TWO_CALLS = { run: { turns: [CALL, LATER], prompts: ['MAIN_PROMPT go', 'go on'] } }
const SAYS = says(
  'PreToolUse',
  { permissionDecision: 'deny', permissionDecisionReason: 'no', additionalContext: 'a hint' },
  { systemMessage: 'to you' },
)
/** Only the first time: the second call is there to wait for it. */
const ONCE = { script: '[ -e stubs/A.pid ] && exit 0' }

export const asyncHooks = [
  bash(
    'async deny',
    'its verdict is late',
    [pre('A', { ...ONCE, fields: { async: true }, stdout: verdict('deny', 'no') })],
    TWO_CALLS,
  ),
  bash(
    'async exit 2',
    'its verdict is late',
    [pre('A', { ...ONCE, fields: { async: true }, exit: 2, stderr: 'no' })],
    TWO_CALLS,
  ),
  bash(
    'async context',
    'its context comes later',
    [pre('A', { ...ONCE, fields: { async: true }, stdout: context('PreToolUse', 'a hint') })],
    TWO_CALLS,
  ),
  bash(
    'async everything',
    'what counts of all that it says',
    [pre('A', { ...ONCE, fields: { async: true }, stdout: SAYS })],
    TWO_CALLS,
  ),
  bash(
    'async text',
    'a text says nothing',
    [pre('A', { ...ONCE, fields: { async: true }, stdout: 'a line' })],
    TWO_CALLS,
  ),
  bash(
    'async rewrite',
    'too late to change the call',
    [
      pre('A', {
        ...ONCE,
        fields: { async: true },
        stdout: says('PreToolUse', { updatedInput: { command: 'echo OTHER' } }),
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'async halt',
    'its verdict is late',
    [pre('A', { ...ONCE, fields: { async: true }, stdout: '{"continue":false,"stopReason":"halted"}' })],
    TWO_CALLS,
  ),
  bash(
    'async fails',
    'nobody waits for it',
    [pre('A', { ...ONCE, fields: { async: true }, exit: 1, stderr: 'oops' })],
    TWO_CALLS,
  ),
  bash(
    'async onFailure block',
    'nobody waits for it',
    [pre('A', { ...ONCE, fields: { async: true, onFailure: 'block' }, exit: 1, stderr: 'oops' })],
    TWO_CALLS,
  ),
  bash(
    'asyncRewake exit 2',
    'the model is woken',
    [pre('A', { ...ONCE, fields: { asyncRewake: true }, exit: 2, stderr: 'wake up' })],
    TWO_CALLS,
  ),
  bash(
    'asyncRewake exit 2, printed',
    'the model is woken',
    [pre('A', { ...ONCE, fields: { asyncRewake: true }, exit: 2, stdout: 'printed' })],
    TWO_CALLS,
  ),
  bash(
    'asyncRewake exit 0',
    'nobody is woken',
    [pre('A', { ...ONCE, fields: { asyncRewake: true }, stdout: context('PreToolUse', 'a hint') })],
    TWO_CALLS,
  ),
  bash(
    'asyncRewake exit 1',
    'nobody is woken',
    [pre('A', { ...ONCE, fields: { asyncRewake: true }, exit: 1, stderr: 'oops' })],
    TWO_CALLS,
  ),
  bash(
    'asyncRewake deny',
    'its verdict is late',
    [pre('A', { ...ONCE, fields: { asyncRewake: true }, stdout: verdict('deny', 'no') })],
    TWO_CALLS,
  ),
  bash(
    'says async',
    'its verdict is late',
    [
      pre('A', {
        script: `[ -e stubs/A.pid ] && exit 0; echo '{"async":true}'`,
        stdout: verdict('deny', 'no'),
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'says async, then context',
    'its context comes later',
    [
      pre('A', {
        script: `[ -e stubs/A.pid ] && exit 0; echo '{"async":true}'; sleep 1`,
        stdout: context('PreToolUse', 'a hint'),
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'says async, no newline',
    'whether a line must end',
    [
      pre('A', {
        script: `[ -e stubs/A.pid ] && exit 0; printf '{"async":true}'; sleep 1`,
        stdout: verdict('deny', 'no'),
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'says async, alone',
    'nothing more',
    [pre('A', { script: `[ -e stubs/A.pid ] && exit 0`, stdout: '{"async":true}' })],
    TWO_CALLS,
  ),
  bash(
    'says async, exit 2',
    'its verdict is late',
    [
      pre('A', {
        script: `[ -e stubs/A.pid ] && exit 0; echo '{"async":true}'; sleep 1`,
        exit: 2,
        stderr: 'no',
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'says async, after a line',
    'not the first thing that it says',
    [
      pre('A', {
        script: `[ -e stubs/A.pid ] && exit 0; echo checking; echo '{"async":true}'; sleep 1`,
        stdout: verdict('deny', 'no'),
      }),
    ],
    TWO_CALLS,
  ),
  bash(
    'says async, in one document',
    'with a verdict beside it',
    [
      pre('A', {
        ...ONCE,
        stdout: JSON.stringify({
          async: true,
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'deny',
            permissionDecisionReason: 'no',
          },
        }),
      }),
    ],
    TWO_CALLS,
  ),
  ...[1, 300].map((asyncTimeout) =>
    bash(
      `says async, asyncTimeout ${asyncTimeout}`,
      'what it means for a hook that takes 3 s',
      [
        pre('A', {
          script: `[ -e stubs/A.pid ] && exit 0; echo '{"async":true,"asyncTimeout":${asyncTimeout}}'; sleep 3`,
          stdout: context('PreToolUse', 'a hint'),
        }),
      ],
      TWO_CALLS,
    ),
  ),
  bash(
    'says async false',
    'is not async',
    [
      pre('A', {
        ...ONCE,
        stdout: JSON.stringify({
          async: false,
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'deny',
            permissionDecisionReason: 'no',
          },
        }),
      }),
    ],
    TWO_CALLS,
  ),
  at(
    'UserPromptSubmit',
    'async on UserPromptSubmit',
    'its context comes later',
    [
      on('UserPromptSubmit', 'A', {
        ...ONCE,
        fields: { async: true },
        stdout: context('UserPromptSubmit', 'a hint'),
      }),
    ],
    { run: { turns: [LATER], prompts: ['MAIN_PROMPT go', 'go on'] } },
  ),
  at(
    'UserPromptSubmit',
    'async text on UserPromptSubmit',
    'whether a text comes later',
    [on('UserPromptSubmit', 'A', { ...ONCE, fields: { async: true }, stdout: 'a line' })],
    { run: { turns: [LATER], prompts: ['MAIN_PROMPT go', 'go on'] } },
  ),
  at(
    'SessionStart',
    'async on SessionStart',
    'its context comes later',
    [
      on('SessionStart', 'A', {
        ...ONCE,
        fields: { async: true },
        stdout: context('SessionStart', 'a hint'),
      }),
    ],
    { run: { turns: [LATER], prompts: ['MAIN_PROMPT go', 'go on'] } },
  ),
  at(
    'Stop',
    'async on Stop',
    'does not keep the agent going',
    [on('Stop', 'A', { ...ONCE, fields: { async: true }, stdout: '{"decision":"block","reason":"no"}' })],
    { run: { turns: [{ text: 'done' }, LATER], prompts: ['MAIN_PROMPT go', 'go on', 'and on'] } },
  ),
  at(
    'Stop',
    'asyncRewake on Stop',
    'wakes the model',
    [on('Stop', 'A', { ...ONCE, fields: { asyncRewake: true }, exit: 2, stderr: 'wake up' })],
    { run: { turns: [{ text: 'done' }, LATER], prompts: ['MAIN_PROMPT go', 'go on', 'and on'] } },
  ),
]
