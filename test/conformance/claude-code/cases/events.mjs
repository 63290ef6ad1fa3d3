// The same answers on every other event that can be provoked: which are honoured there, and how.

import { SUBAGENT } from '../mock-model.mjs'
import { at, context, on, says } from './make.mjs'
import { MCP } from './matchers.mjs'

/** @typedef {import('../case.mjs').Case} Case */
/** @typedef {import('./make.mjs').Part} Part */

const BLOCK = '{"decision":"block","reason":"no"}'
const HALT = '{"continue":false,"stopReason":"halted"}'
const TWO_PROMPTS = { prompts: ['MAIN_PROMPT go', 'go on'] }

/** What is asked on every event. @param {string} event @returns {Readonly<Record<string, Part>>} */
const questions = (event) => ({
  text: { stdout: 'a line' },
  context: { stdout: context(event, 'a hint') },
  block: { stdout: BLOCK },
  'exit 2': { exit: 2, stderr: 'no' },
  'exit 1': { exit: 1, stdout: 'a line', stderr: 'oops' },
  halt: { stdout: HALT },
  systemMessage: { stdout: '{"systemMessage":"to you"}' },
})

/** @param {string} event @param {Partial<Case>} more @param {readonly string[]} [only] @param {Part} [part] */
function asked(event, more, only, part = {}) {
  return Object.entries(questions(event))
    .filter(([question]) => only === undefined || only.includes(question))
    .map(([question, says]) =>
      at(
        event,
        `${event} ${question}`,
        `what ${question} means on ${event}`,
        [on(event, 'A', { ...part, ...says })],
        more,
      ),
    )
}

/** Stops the first time only. @type {Part} */
const ONCE = { script: '[ -e stubs/twice ] && exit 0; touch stubs/twice' }
const FAILING = { tool_input: { command: 'cat nowhere', description: 'd' } }
const AGENT = {
  tool_name: 'Agent',
  tool_input: {
    description: 'd',
    prompt: SUBAGENT,
    subagent_type: 'general-purpose',
    run_in_background: false,
  },
}
/** @type {Partial<Case>} */
const COMPACT = { tool_name: null, run: { prompts: ['MAIN_PROMPT go', '/compact keep it'] } }
/** @type {Partial<Case>} */
const EXPANSION = {
  tool_name: null,
  files: { '.claude/commands/mycmd.md': 'EXPANDED $ARGUMENTS' },
  run: { prompts: ['/mycmd arg1'] },
}
/** Asks for a permission that nobody can give. @type {Partial<Case>} */
const NOBODY = { run: { ask: true, hostless: true, spy: ['PostToolUse'] } }
/** @param {object} decision */
const permission = (decision) => says('PermissionRequest', { decision })
/** Waits until a hook ran, for events that come when they come. */
const UNTIL_RAN = 'i=0; while [ ! -e ran ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done; sleep 0.2'

/** @type {Partial<Case>} */
const WATCHED = {
  files: { 'watched.txt': 'before' },
  tool_input: { command: `sleep 0.5; echo after > watched.txt; ${UNTIL_RAN}`, description: 'd' },
}
/** What the new settings bring shows whether they are applied. @type {Partial<Case>} */
const CHANGED = {
  settings: { project: {} },
  tool_input: { command: `sleep 0.5; cp changed.json .claude/settings.json; ${UNTIL_RAN}`, description: 'd' },
  files: {
    'changed.json':
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo APPLIED >> {{PROJECT}}/okran"}]}]}}',
  },
}
/** @type {Partial<Case>} */
const REFUSED = {
  tool_name: null,
  run: { turns: Array.from({ length: 6 }, () => ({ status: 400 })), ...TWO_PROMPTS },
}
/** @type {Partial<Case>} */
const SWITCH = {
  tool_name: null,
  run: {
    prompts: [
      'MAIN_PROMPT go',
      {
        type: 'control_request',
        request_id: 'switch',
        request: { subtype: 'set_model', model: 'claude-opus-4-5' },
      },
    ],
  },
}
/** @type {Partial<Case>} */
const WORKTREE = {
  tool_name: null,
  run: { args: ['--worktree', 'wt1'] },
  fires: [{ event: 'WorktreeCreate', data: { name: 'wt1' } }],
}

/** @type {Partial<Case>} */
const REMOVED = {
  tool_name: null,
  run: {
    turns: [
      { tools: [{ name: 'EnterWorktree', input: { name: 'wt1' } }] },
      { tools: [{ name: 'ExitWorktree', input: { action: 'remove', discard_changes: true } }] },
    ],
  },
  fires: [
    { event: 'WorktreeCreate', data: { name: 'wt1' } },
    { event: 'WorktreeRemove', data: { worktree_path: '{{FOLDER}}/wt' } },
  ],
}
const CREATES = on('WorktreeCreate', 'CREATES', { script: 'mkdir -p ../wt', stdout: '{{FOLDER}}/wt\n' })
const ELICITED = { ...MCP, tool_input: { a: 'ask' } }

export const events = [
  at(
    'WorktreeRemove',
    'WorktreeRemove text',
    'says nothing',
    [on('WorktreeRemove', 'A', { stdout: 'a line' }), CREATES],
    REMOVED,
  ),
  at(
    'WorktreeRemove',
    'WorktreeRemove exit 2',
    'ignored',
    [on('WorktreeRemove', 'A', { exit: 2, stderr: 'no' }), CREATES],
    REMOVED,
  ),
  ...asked('Elicitation', ELICITED, ['text', 'exit 2', 'exit 1', 'block']),
  ...asked('ElicitationResult', ELICITED, ['text', 'exit 2', 'block']),
  ...asked('UserPromptSubmit', { tool_name: null }),
  at(
    'UserPromptSubmit',
    'UserPromptSubmit block without reason',
    'a block',
    [on('UserPromptSubmit', 'A', { stdout: '{"decision":"block"}' })],
    { tool_name: null },
  ),
  at(
    'UserPromptSubmit',
    'UserPromptSubmit approve',
    'says nothing',
    [on('UserPromptSubmit', 'A', { stdout: '{"decision":"approve"}' })],
    { tool_name: null },
  ),
  at(
    'UserPromptSubmit',
    'UserPromptSubmit sessionTitle',
    'for the host',
    [on('UserPromptSubmit', 'A', { stdout: says('UserPromptSubmit', { sessionTitle: 'T' }) })],
    { tool_name: null },
  ),
  at(
    'UserPromptSubmit',
    'UserPromptSubmit permissionDecision',
    'not of this event',
    [on('UserPromptSubmit', 'A', { stdout: says('UserPromptSubmit', { permissionDecision: 'deny' }) })],
    { tool_name: null },
  ),
  at(
    'UserPromptSubmit',
    'UserPromptSubmit context and text of another',
    'both are shown',
    [
      on('UserPromptSubmit', 'A', { stdout: 'a line' }),
      on('UserPromptSubmit', 'B', { stdout: context('UserPromptSubmit', 'a hint'), after: 'A' }),
    ],
    { tool_name: null },
  ),
  ...asked('UserPromptExpansion', EXPANSION),
  ...asked('PostToolUse', { run: TWO_PROMPTS }),
  at('PostToolUse', 'PostToolUse block without reason', 'tells the model', [
    on('PostToolUse', 'A', { stdout: '{"decision":"block"}' }),
  ]),
  at('PostToolUse', 'PostToolUse exit 2 without stderr', 'tells the model', [
    on('PostToolUse', 'A', { exit: 2 }),
  ]),
  at('PostToolUse', 'PostToolUse block and context', 'both are told', [
    on('PostToolUse', 'A', {
      stdout: says('PostToolUse', { additionalContext: 'a hint' }, { decision: 'block', reason: 'no' }),
    }),
  ]),
  at('PostToolUse', 'PostToolUse updatedToolOutput', 'replaces what the model sees', [
    on('PostToolUse', 'A', {
      stdout: says('PostToolUse', {
        updatedToolOutput: { stdout: 'REPLACED', stderr: '', interrupted: false, isImage: false },
      }),
    }),
  ]),
  at('PostToolUse', 'PostToolUse updatedToolOutput is text', 'not the shape of this tool', [
    on('PostToolUse', 'A', { stdout: says('PostToolUse', { updatedToolOutput: 'REPLACED' }) }),
  ]),
  at(
    'PostToolUse',
    'PostToolUse updatedMCPToolOutput',
    'replaces what the model sees',
    [
      on('PostToolUse', 'A', {
        stdout: says('PostToolUse', { updatedMCPToolOutput: [{ type: 'text', text: 'REPLACED' }] }),
      }),
    ],
    MCP,
  ),
  ...asked('PostToolUseFailure', { ...FAILING, run: TWO_PROMPTS }),
  ...asked('PostToolBatch', { run: TWO_PROMPTS }),
  ...asked('Stop', { tool_name: null, run: TWO_PROMPTS }, ['text', 'exit 1', 'halt', 'systemMessage']),
  ...asked('Stop', { tool_name: null }, ['context', 'block', 'exit 2'], ONCE),
  at('Stop', 'Stop block always', 'the ninth time it is allowed', [on('Stop', 'A', { stdout: BLOCK })], {
    tool_name: null,
  }),
  at(
    'Stop',
    'Stop context always',
    'the ninth time it is allowed',
    [on('Stop', 'A', { stdout: context('Stop', 'a hint') })],
    { tool_name: null },
  ),
  at(
    'Stop',
    'Stop block and halt',
    'the end of the turn',
    [on('Stop', 'A', { stdout: BLOCK }), on('Stop', 'B', { stdout: HALT, after: 'A' })],
    { tool_name: null },
  ),
  at(
    'Stop',
    'Stop block without reason',
    'goes on',
    [on('Stop', 'A', { stdout: '{"decision":"block"}', ...ONCE })],
    { tool_name: null },
  ),
  ...asked('SessionStart', { tool_name: null, run: TWO_PROMPTS }),
  at(
    'SessionStart',
    'SessionStart text twice',
    'both are shown',
    [on('SessionStart', 'A', { stdout: 'one' }), on('SessionStart', 'B', { stdout: 'two', after: 'A' })],
    { tool_name: null },
  ),
  at(
    'SessionStart',
    'SessionStart on resume',
    'the source is resume',
    [
      on('SessionStart', 'A', { matcher: 'startup', stdout: 'started' }),
      on('SessionStart', 'B', { group: 1, matcher: 'resume', stdout: 'resumed' }),
    ],
    { tool_name: null, run: { again: [['--continue']] } },
  ),
  at(
    'SessionStart',
    'SessionStart on compact',
    'the source is compact',
    [
      on('SessionStart', 'A', { matcher: 'startup' }),
      on('SessionStart', 'B', { group: 1, matcher: 'compact', stdout: 'compacted' }),
    ],
    { tool_name: null, run: { prompts: ['MAIN_PROMPT go', '/compact', 'go on'] } },
  ),
  at(
    'SessionStart',
    'SessionStart on clear',
    'the source is clear',
    [
      on('SessionStart', 'A', { matcher: 'startup' }),
      on('SessionStart', 'B', { group: 1, matcher: 'clear', stdout: 'cleared' }),
      on('SessionEnd', 'C', { matcher: 'clear' }),
    ],
    { tool_name: null, run: { prompts: ['MAIN_PROMPT go', '/clear', 'go on'] } },
  ),
  ...asked('SessionEnd', { tool_name: null }, ['text', 'exit 2', 'systemMessage']),
  ...asked('SubagentStart', AGENT),
  ...asked('SubagentStop', AGENT, ['text', 'exit 1', 'halt', 'systemMessage']),
  ...asked('SubagentStop', AGENT, ['context', 'block', 'exit 2'], ONCE),
  ...asked('PreCompact', COMPACT),
  ...asked('PostCompact', COMPACT),
  at(
    'PermissionRequest',
    'PermissionRequest silence',
    'nobody allows it',
    [on('PermissionRequest', 'A')],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest allow',
    'allowed in place of the person',
    [on('PermissionRequest', 'A', { stdout: permission({ behavior: 'allow' }) })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest allow with input',
    'allowed, with another input',
    [
      on('PermissionRequest', 'A', {
        stdout: permission({ behavior: 'allow', updatedInput: { command: 'echo OTHER', description: 'd' } }),
      }),
    ],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest deny',
    'refused',
    [on('PermissionRequest', 'A', { stdout: permission({ behavior: 'deny', message: 'never' }) })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest deny without message',
    'refused',
    [on('PermissionRequest', 'A', { stdout: permission({ behavior: 'deny' }) })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest deny and interrupt',
    'refused, and the turn ends',
    [
      on('PermissionRequest', 'A', {
        stdout: permission({ behavior: 'deny', message: 'never', interrupt: true }),
      }),
    ],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest exit 2',
    'not honoured',
    [on('PermissionRequest', 'A', { exit: 2, stderr: 'no' })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest block',
    'not honoured',
    [on('PermissionRequest', 'A', { stdout: BLOCK })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest permissionDecision',
    'not of this event',
    [on('PermissionRequest', 'A', { stdout: says('PermissionRequest', { permissionDecision: 'allow' }) })],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest allow then deny',
    'the first to answer',
    [
      on('PermissionRequest', 'A', { stdout: permission({ behavior: 'allow' }) }),
      on('PermissionRequest', 'B', {
        stdout: permission({ behavior: 'deny', message: 'never' }),
        after: 'A',
      }),
    ],
    NOBODY,
  ),
  at(
    'PermissionRequest',
    'PermissionRequest deny then allow',
    'the first to answer',
    [
      on('PermissionRequest', 'A', { stdout: permission({ behavior: 'deny', message: 'never' }) }),
      on('PermissionRequest', 'B', { stdout: permission({ behavior: 'allow' }), after: 'A' }),
    ],
    NOBODY,
  ),
  ...asked('Setup', { tool_name: null, run: { args: ['--init'] } }, ['text', 'context', 'exit 2']),
  ...asked('InstructionsLoaded', { tool_name: null, files: { 'CLAUDE.md': '# rules\n' } }, [
    'text',
    'context',
    'exit 2',
  ]),
  ...asked('CwdChanged', { tool_input: { command: 'cd sub', description: 'd' }, files: { 'sub/x': '' } }, [
    'text',
    'context',
    'exit 2',
  ]),
  ...asked('FileChanged', WATCHED, ['text', 'exit 2'], { matcher: 'watched.txt' }),
  ...asked('ConfigChange', CHANGED, ['text', 'block', 'exit 2']),
  ...asked('MessageDisplay', { tool_name: null }, ['text', 'exit 2', 'halt']),
  ...asked('StopFailure', REFUSED, ['text', 'exit 2', 'block']),
  ...asked('PreModelSwitch', SWITCH, ['text', 'block', 'exit 2', 'exit 1']),
  at(
    'PreModelSwitch',
    'PreModelSwitch matcher',
    'matches the model',
    ['claude-opus-4-5', '.*haiku', '^claude-sonnet'].map((matcher, group) =>
      on('PreModelSwitch', 'ABC'.charAt(group), { group, matcher }),
    ),
    SWITCH,
  ),
  at(
    'PreModelSwitch',
    'PreModelSwitch deny',
    'the model stays',
    [
      on('PreModelSwitch', 'A', {
        stdout: says('PreModelSwitch', { permissionDecision: 'deny', permissionDecisionReason: 'no' }),
      }),
    ],
    SWITCH,
  ),
  at(
    'FileChanged',
    'FileChanged matcher',
    'a list of names, split at |',
    ['other.txt|watched.txt', 'watched', 'other.txt, watched.txt'].map((matcher, group) =>
      on('FileChanged', 'ABC'.charAt(group), { group, matcher }),
    ),
    WATCHED,
  ),
  at(
    'StopFailure',
    'StopFailure matcher',
    'matches the error',
    ['invalid_request|unknown', 'rate_limit', 'unknown, invalid_request', '.*'].map((matcher, group) =>
      on('StopFailure', 'ABCD'.charAt(group), { group, matcher }),
    ),
    REFUSED,
  ),
  at(
    'InstructionsLoaded',
    'InstructionsLoaded matcher',
    'matches the reason',
    ['session_start', 'compact'].map((matcher, group) =>
      on('InstructionsLoaded', 'AB'.charAt(group), { group, matcher }),
    ),
    { tool_name: null, files: { 'CLAUDE.md': '# rules\n' } },
  ),
  at(
    'UserPromptExpansion',
    'UserPromptExpansion matcher',
    'matches the command',
    ['mycmd', 'other'].map((matcher, group) =>
      on('UserPromptExpansion', 'AB'.charAt(group), { group, matcher }),
    ),
    EXPANSION,
  ),
  at(
    'PreCompact',
    'PreCompact matcher',
    'matches the trigger',
    ['manual', 'auto'].map((matcher, group) => on('PreCompact', 'AB'.charAt(group), { group, matcher })),
    COMPACT,
  ),
  at(
    'PostToolUse',
    'PostToolUse matcher',
    'matches the tool',
    ['Bash', 'Write'].map((matcher, group) => on('PostToolUse', 'AB'.charAt(group), { group, matcher })),
  ),
  at(
    'ConfigChange',
    'ConfigChange matcher',
    'matches the source',
    ['project_settings', 'user_settings'].map((matcher, group) =>
      on('ConfigChange', 'AB'.charAt(group), { group, matcher }),
    ),
    CHANGED,
  ),
  at(
    'WorktreeCreate',
    'WorktreeCreate path',
    'the last line is the path',
    [on('WorktreeCreate', 'A', { script: 'mkdir -p ../wt', stdout: 'log\n{{FOLDER}}/wt\n' })],
    WORKTREE,
  ),
  at(
    'WorktreeCreate',
    'WorktreeCreate exit 1',
    'fails',
    [on('WorktreeCreate', 'A', { exit: 1, stderr: 'oops' })],
    WORKTREE,
  ),
  at('WorktreeCreate', 'WorktreeCreate no path', 'fails', [on('WorktreeCreate', 'A')], WORKTREE),
  ...asked(
    'PostModelSwitch',
    {
      tool_name: null,
      run: {
        prompts: [
          'MAIN_PROMPT go',
          {
            type: 'control_request',
            request_id: 'switch',
            request: { subtype: 'set_model', model: 'claude-opus-4-5' },
          },
          'go on',
        ],
      },
    },
    ['text', 'context', 'exit 2'],
  ),
  ...asked('TaskCreated', { tool_name: 'TaskCreate', tool_input: { subject: 'subj', description: 'desc' } }, [
    'text',
    'block',
    'exit 2',
  ]),
  ...asked(
    'TaskCompleted',
    {
      tool_name: null,
      run: {
        turns: [
          { tools: [{ name: 'TaskCreate', input: { subject: 'subj', description: 'desc' } }] },
          { tools: [{ name: 'TaskUpdate', input: { taskId: '1', status: 'completed' } }] },
        ],
      },
    },
    ['text', 'block', 'exit 2'],
  ),
]
