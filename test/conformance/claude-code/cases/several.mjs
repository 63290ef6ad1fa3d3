// Several hooks on one event: whose word counts. `after` makes one finish behind another.

import { at, bash, COMMAND, context, on, pre, says, verdict } from './make.mjs'

const SAID = {
  deny: verdict('deny', 'denied'),
  ask: verdict('ask', 'asked'),
  allow: verdict('allow', 'allowed'),
  rewrite: says('PreToolUse', {
    updatedInput: { command: `${COMMAND} && echo REWRITTEN`, description: 'd' },
  }),
  context: context('PreToolUse', 'a hint'),
  halt: JSON.stringify({ continue: false, stopReason: 'halted' }),
  nothing: '',
}

/** @type {readonly (readonly [keyof typeof SAID, keyof typeof SAID])[]} */
const PAIRS = [
  ['deny', 'allow'],
  ['deny', 'ask'],
  ['deny', 'rewrite'],
  ['deny', 'context'],
  ['deny', 'halt'],
  ['deny', 'nothing'],
  ['ask', 'allow'],
  ['ask', 'rewrite'],
  ['ask', 'context'],
  ['ask', 'halt'],
  ['allow', 'halt'],
  ['allow', 'context'],
  ['rewrite', 'context'],
  ['context', 'halt'],
]

const pairs = PAIRS.flatMap(([one, other]) =>
  [
    [one, other],
    [other, one],
  ].map(([first, second]) =>
    bash(
      `${first} then ${second}`,
      `one hook says ${first}, and when it has ended another says ${second}`,
      [
        pre('A', { stdout: SAID[/** @type {keyof typeof SAID} */ (first)] }),
        pre('B', { stdout: SAID[/** @type {keyof typeof SAID} */ (second)], after: 'A' }),
      ],
      { run: { spy: ['PostToolUse'], prompts: ['MAIN_PROMPT go', 'go on'] } },
    ),
  ),
)

/** @param {string} word */
const rewrite = (word) =>
  says('PreToolUse', { updatedInput: { command: `${COMMAND} && echo ${word}`, description: 'd' } })
/** @param {string} event @param {string} name @param {string} about @param {string} one @param {string} other */
const bothWays = (event, name, about, one, other) => [
  at(
    event,
    `${name}, the first is first`,
    about,
    [on(event, 'A', { stdout: one }), on(event, 'B', { stdout: other, after: 'A' })],
    { run: { spy: ['PostToolUse'] } },
  ),
  at(
    event,
    `${name}, the first is last`,
    about,
    [on(event, 'A', { stdout: one, after: 'B' }), on(event, 'B', { stdout: other })],
    { run: { spy: ['PostToolUse'] } },
  ),
]

export const several = [
  ...pairs,
  ...bothWays(
    'PreToolUse',
    'two denies',
    'the reason is of one of them',
    verdict('deny', 'one'),
    verdict('deny', 'two'),
  ),
  ...bothWays(
    'PreToolUse',
    'two asks',
    'the reason is of one of them',
    verdict('ask', 'one'),
    verdict('ask', 'two'),
  ),
  ...bothWays('PreToolUse', 'two rewrites', 'one of them counts', rewrite('ONE'), rewrite('TWO')),
  ...bothWays(
    'PreToolUse',
    'two contexts',
    'both are shown',
    context('PreToolUse', 'one'),
    context('PreToolUse', 'two'),
  ),
  ...bothWays(
    'UserPromptSubmit',
    'two prompt contexts',
    'both are shown',
    context('UserPromptSubmit', 'one'),
    context('UserPromptSubmit', 'two'),
  ),
  ...bothWays(
    'PostToolUse',
    'two blocks after',
    'both are shown',
    '{"decision":"block","reason":"one"}',
    '{"decision":"block","reason":"two"}',
  ),
  ...bothWays(
    'Stop',
    'two stops',
    'both are shown',
    '{"decision":"block","reason":"one"}',
    '{"decision":"block","reason":"two"}',
  ).map((one) => ({
    ...one,
    // Once: then the agent may stop.
    hooks: one.hooks.map((hook) => ({
      ...hook,
      script: `[ -e stubs/${hook.id}.twice ] && exit 0; touch stubs/${hook.id}.twice`,
    })),
  })),
  bash('two contexts and a deny', 'contexts survive a deny', [
    pre('A', { stdout: context('PreToolUse', 'one') }),
    pre('B', { stdout: verdict('deny', 'no', { additionalContext: 'two' }), after: 'A' }),
    pre('C', { stdout: context('PreToolUse', 'three'), after: 'B' }),
  ]),
  bash('all are awaited', 'a deny does not keep the others from running', [
    pre('A', { exit: 2, stderr: 'no' }),
    pre('B', { after: 'A' }),
    pre('C', { after: 'B', group: 1 }),
  ]),
  at('UserPromptSubmit', 'a blocked prompt loses its contexts', 'no context without the prompt', [
    on('UserPromptSubmit', 'A', { stdout: 'a hint' }),
    on('UserPromptSubmit', 'B', { exit: 2, stderr: 'not this prompt' }),
  ]),
]
