// What the JSON of a hook means on the events of a tool call, field by field, right and wrong.

import { bash, COMMAND, pre, says, verdict } from './make.mjs'

/** @typedef {import('../case.mjs').Case} Case */

const EVENT = 'PreToolUse'
const OTHER = { command: 'touch other.txt && echo OTHER', description: 'd' }

/** @param {string} name @param {string} about @param {unknown} answer @param {Partial<Case>} [more] */
function answer(name, about, answer, more = {}) {
  const stdout = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return bash(`answer ${name}`, about, [pre('A', { stdout })], {
    ...more,
    run: { spy: ['PostToolUse'], prompts: ['MAIN_PROMPT go', 'go on'], ...more.run },
  })
}

/** @param {object} fields */
const own = (fields) => ({ hookSpecificOutput: { hookEventName: EVENT, ...fields } })
const DENY = { permissionDecision: 'deny', permissionDecisionReason: 'no' }

export const answers = [
  // The verdicts, in both spellings.
  answer('deny', 'the tool does not run', verdict('deny', 'no')),
  answer('deny without reason', 'the tool does not run', verdict('deny')),
  answer('ask', 'the host is asked', verdict('ask', 'sure?')),
  answer('ask without reason', 'the host is asked', verdict('ask')),
  answer('allow', 'spares the question', verdict('allow', 'fine'), { run: { ask: true } }),
  answer('silence', 'spares no question', '', { run: { ask: true } }),
  answer('defer', 'neither runs nor is refused', verdict('defer', 'later')),
  answer('unknown verdict', 'no answer at all', verdict('maybe', 'x')),
  answer('verdict in capitals', 'no answer at all', verdict('DENY', 'x')),
  answer('verdict with a blank', 'no answer at all', verdict('deny ', 'x')),
  answer('block', 'the old spelling of deny', { decision: 'block', reason: 'old no' }),
  answer('block without reason', 'the old spelling of deny', { decision: 'block' }),
  answer(
    'approve',
    'the old spelling of allow',
    { decision: 'approve', reason: 'x' },
    { run: { ask: true } },
  ),
  answer('decision deny', 'no value of decision', { decision: 'deny', reason: 'x' }),
  answer('decision allow', 'no value of decision', { decision: 'allow' }, { run: { ask: true } }),
  answer('block and allow', 'a deny in either place', {
    decision: 'block',
    reason: 'old no',
    ...own({ permissionDecision: 'allow' }),
  }),
  answer('approve and deny', 'a deny in either place', { decision: 'approve', ...own(DENY) }),
  answer('reason at the top', 'the reason of a verdict stands beside it', {
    reason: 'top',
    ...own({ permissionDecision: 'deny' }),
  }),
  // Other fields.
  answer('context', 'shown to the model', own({ additionalContext: 'a hint' })),
  answer('context of nothing', 'an empty text is none', own({ additionalContext: '' })),
  answer(
    'context with tags',
    'tags of the host are made harmless',
    own({ additionalContext: 'a <b>hint</b>' }),
  ),
  answer('context and systemMessage', 'both', {
    systemMessage: 'to you',
    ...own({ additionalContext: 'to it' }),
  }),
  answer('systemMessage', 'shown to the user', { systemMessage: 'to you' }),
  answer('systemMessage of nothing', 'an empty text is none', { systemMessage: '' }),
  answer('suppressOutput', 'changes nothing here', { suppressOutput: true, ...own(DENY) }),
  answer('continue true', 'says nothing', { continue: true }),
  answer('continue false', 'ends the turn', { continue: false, stopReason: 'halted' }),
  answer('continue false without reason', 'ends the turn', { continue: false }),
  answer('continue false and deny', 'ends the turn, and the tool does not run', {
    continue: false,
    stopReason: 'halted',
    ...own(DENY),
  }),
  answer('stopReason alone', 'says nothing', { stopReason: 'halted' }),
  answer('terminalSequence', 'for a terminal', { terminalSequence: '\u001b]9;hello\u0007' }),
  // Rewriting the call.
  answer('updatedInput', 'replaces the input', own({ updatedInput: OTHER })),
  answer(
    'updatedInput and allow',
    'replaces the input',
    own({ permissionDecision: 'allow', updatedInput: OTHER }),
    { run: { ask: true } },
  ),
  answer(
    'updatedInput, not allowed',
    'replaces the input of a call that needs a permission',
    own({ updatedInput: OTHER }),
    { run: { ask: true } },
  ),
  answer(
    'updatedInput and ask',
    'the host is asked about the new input',
    own({ permissionDecision: 'ask', permissionDecisionReason: 'sure?', updatedInput: OTHER }),
  ),
  answer('updatedInput and deny', 'a deny', own({ ...DENY, updatedInput: OTHER })),
  answer(
    'updatedInput, whole',
    'keys that are not given are gone',
    own({ updatedInput: { command: 'echo OTHER' } }),
  ),
  answer(
    'updatedInput, same',
    'changes nothing',
    own({ updatedInput: { command: COMMAND, description: 'd' } }),
  ),
  answer('updatedInput is text', 'no answer at all', own({ updatedInput: 'echo OTHER' })),
  answer('updatedInput is a list', 'no answer at all', own({ updatedInput: ['echo OTHER'] })),
  answer('updatedInput is null', 'no answer at all', own({ updatedInput: null })),
  // Wrong types, and null.
  answer(
    'reason is a number',
    'a deny all the same, here',
    own({ permissionDecision: 'deny', permissionDecisionReason: 7 }),
  ),
  answer(
    'reason is null',
    'a deny all the same, here',
    own({ permissionDecision: 'deny', permissionDecisionReason: null }),
  ),
  answer('block, reason is a number', 'a deny all the same, here', { decision: 'block', reason: 7 }),
  answer('deny beside a bad systemMessage', 'a deny all the same, here', { systemMessage: 7, ...own(DENY) }),
  answer('deny beside a bad continue', 'a deny all the same, here', { continue: 'false', ...own(DENY) }),
  answer(
    'deny beside a bad context',
    'a deny all the same, here',
    own({ ...DENY, additionalContext: ['x'] }),
  ),
  answer('block beside a bad part', 'a deny all the same, here', {
    decision: 'block',
    reason: 'no',
    hookSpecificOutput: 'x',
  }),
  answer(
    'allow beside a bad context',
    'no answer at all',
    own({ permissionDecision: 'allow', additionalContext: ['x'] }),
    { run: { ask: true } },
  ),
  answer('verdict is a number', 'no answer at all', own({ permissionDecision: 1 })),
  answer('verdict is null', 'no answer at all', own({ permissionDecision: null })),
  answer('context is a list', 'no answer at all', own({ additionalContext: ['a', 'b'] })),
  answer('context is null', 'no answer at all', own({ additionalContext: null })),
  answer('systemMessage is null', 'no answer at all', { systemMessage: null }),
  answer('decision is null', 'no answer at all', { decision: null }),
  answer('continue is text', 'no answer at all', { continue: 'false' }),
  answer('continue is null', 'no answer at all', { continue: null }),
  answer('suppressOutput is text', 'no answer at all', { suppressOutput: 'yes' }),
  answer('part is null', 'no answer at all', { hookSpecificOutput: null }),
  answer('part is a list', 'no answer at all', { hookSpecificOutput: [] }),
  // The name of the event.
  answer('no event name', 'no answer at all', { hookSpecificOutput: DENY }),
  answer('wrong event name', 'no answer at all', says('PostToolUse', DENY)),
  answer('unknown event name', 'no answer at all', says('Whatever', DENY)),
  answer('event name in lower case', 'no answer at all', says('pretooluse', DENY)),
  answer('block beside a wrong event name', 'the block stands at the top', {
    decision: 'block',
    reason: 'no',
    hookSpecificOutput: { hookEventName: 'PostToolUse' },
  }),
  bash('answer wrong event name, exit 2', 'exit 2 blocks all the same', [
    pre('A', { exit: 2, stdout: says('PostToolUse', DENY), stderr: 'on stderr' }),
  ]),
  // At the wrong level, and unknown.
  answer('verdict at the top', 'ignored', { permissionDecision: 'deny', permissionDecisionReason: 'no' }),
  answer('context at the top', 'ignored', { additionalContext: 'a hint' }),
  answer('updatedInput at the top', 'ignored', { updatedInput: OTHER }),
  answer('block inside', 'ignored', own({ decision: 'block', reason: 'no' })),
  answer('continue inside', 'ignored', own({ continue: false })),
  answer('unknown keys', 'ignored', { verdict: 'deny', ...own({ foo: 1 }) }),
  answer('unknown keys beside a deny', 'ignored', { verdict: 'x', ...own({ ...DENY, foo: 1 }) }),
  answer('of PermissionRequest', 'ignored', own({ decision: { behavior: 'deny', message: 'no' } })),
  answer('camel case', 'ignored', { hook_specific_output: { permission_decision: 'deny' } }),
  answer(
    'what came in',
    'a hook that prints its input',
    '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"},"reason":"other"}',
  ),
]
