// Which hooks a matcher lets run.

import { at, bash, on, pre } from './make.mjs'

/** @typedef {import('../case.mjs').Case} Case */

/** @param {string} name @param {string} about @param {unknown} matcher @param {Partial<Case>} [more] */
function matching(name, about, matcher, more) {
  return bash(`matcher ${name}`, about, [pre('A', { matcher }), pre('CONTROL', { group: 1 })], more)
}

const WRITE = { tool_name: 'Write', tool_input: { file_path: '{{PROJECT}}/made.txt', content: 'x' } }
const AGENT = {
  tool_name: 'Agent',
  tool_input: {
    description: 'd',
    prompt: 'SUBAGENT_TASK',
    subagent_type: 'general-purpose',
    run_in_background: false,
  },
}

/** A server of one tool, in as few lines as the protocol allows; `ask` makes it ask the user first. */
const MCP_SERVER = `
import { createInterface } from 'node:readline'
const tool = { name: 'do_it', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }
const initialize = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'srv', version: '1' } }
const schema = { type: 'object', properties: { name: { type: 'string' } } }
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const done = (id, text) => send({ id, result: { content: [{ type: 'text', text }] } })
let asking
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (id === 'question') return done(asking, 'ANSWERED ' + result?.action)
  if (method === 'tools/call' && params.arguments.a === 'ask') {
    asking = id
    return send({ id: 'question', method: 'elicitation/create', params: { message: 'your name?', requestedSchema: schema } })
  }
  if (method === 'tools/call') return done(id, 'MCP_SAID')
  const results = { initialize, 'tools/list': { tools: [tool] } }
  if (id !== undefined) send({ id, result: results[method] ?? {} })
})
`
/** @type {Partial<Case>} */
export const MCP = {
  tool_name: 'mcp__srv__do_it',
  tool_input: { a: '1' },
  files: { 'mcp.mjs': MCP_SERVER },
  run: {
    args: ['--mcp-config', '{"mcpServers":{"srv":{"command":"{{NODE}}","args":["{{PROJECT}}/mcp.mjs"]}}}'],
    env: { ENABLE_TOOL_SEARCH: 'false', MCP_CONNECTION_NONBLOCKING: '0' },
  },
}

export const matchers = [
  bash('matcher absent', 'no matcher matches all', [pre('A')]),
  matching('empty', 'an empty matcher matches all', ''),
  matching('*', 'a star matches all', '*'),
  matching('exact', 'a name', 'Bash'),
  matching('other', 'another name', 'Write'),
  matching('case', 'case counts', 'bash'),
  matching('part of a name', 'a name is compared whole', 'Bas'),
  matching('longer than the name', 'a name is compared whole', 'BashOutput'),
  matching('list |', 'a list of names', 'Write|Bash'),
  matching('list ,', 'a list of names', 'Write,Bash'),
  matching('list with spaces', 'names in a list are trimmed', 'Write , Bash | Edit'),
  matching('list with holes', 'an empty name in a list matches nothing', '|Write|'),
  matching('list of one hole', 'a list that is all holes', '|'),
  matching('space only', 'a blank is no empty matcher', ' '),
  matching('padded name', 'a name is trimmed', ' Bash '),
  matching('regex', 'a regular expression, unanchored', 'Ba.h'),
  matching('regex, unanchored', 'a part is enough', '.ash'),
  matching('regex, longer', 'a part of a longer name is no match', 'Bash.'),
  matching('regex, anchored', 'anchors hold', '^Bash$'),
  matching('regex, anchored, not', 'anchors hold', '^ash$'),
  matching('regex, group', 'alternatives', '^(Write|Bash)$'),
  matching('regex, not', 'a look-ahead', '^(?!Write).*$'),
  matching('regex, not this', 'a look-ahead', '^(?!Bash).*$'),
  matching('regex, case', 'case counts', '^bash$'),
  matching('.*', 'matches all', '.*'),
  matching('invalid regex', 'what does not compile is said, and not run', 'Bash('),
  matching('invalid regex, other', 'what does not compile is said, and not run', '['),
  matching('rule in place of a matcher', 'compiles, and never matches', 'Bash(touch *)'),
  matching('mcp exact', 'the whole name', 'mcp__srv__do_it', MCP),
  matching('mcp server', 'a server alone', 'mcp__srv', MCP),
  matching('mcp server and dunder', 'not a prefix', 'mcp__srv__', MCP),
  matching('mcp regex', 'all tools of a server', 'mcp__srv__.*', MCP),
  matching('mcp any', 'all servers', 'mcp__.*', MCP),
  matching('old name', 'Task is Agent', 'Task', AGENT),
  matching('new name', 'Agent', 'Agent', AGENT),
  matching('old name, regex', 'Task is Agent', '^Task$', AGENT),
  matching('write list', 'Edit|Write on Write', 'Edit|Write', WRITE),
  matching('write regex', 'an unanchored part', 'rit', WRITE),
  matching('write other', 'MultiEdit|Edit on Write', 'MultiEdit|Edit', WRITE),
  at('UserPromptSubmit', 'matcher on UserPromptSubmit', 'an event without a matcher field ignores it', [
    on('UserPromptSubmit', 'A', { matcher: 'Bash' }),
  ]),
  at('Stop', 'matcher on Stop', 'an event without a matcher field ignores it', [
    on('Stop', 'A', { matcher: '^never$' }),
  ]),
  at('Stop', 'invalid matcher on Stop', 'an event without a matcher field ignores it', [
    on('Stop', 'A', { matcher: '[' }),
  ]),
  at('PostToolBatch', 'matcher on PostToolBatch', 'an event without a matcher field ignores it', [
    on('PostToolBatch', 'A', { matcher: 'Write' }),
  ]),
  at('SessionStart', 'matcher source', 'SessionStart matches its source', [
    on('SessionStart', 'A', { matcher: 'startup' }),
    on('SessionStart', 'B', { group: 1, matcher: 'resume' }),
    on('SessionStart', 'C', { group: 2, matcher: 'startup|resume' }),
    on('SessionStart', 'D', { group: 3, matcher: 'Bash' }),
  ]),
  at('SessionEnd', 'matcher reason', 'SessionEnd matches its reason', [
    on('SessionEnd', 'A', { matcher: 'other' }),
    on('SessionEnd', 'B', { group: 1, matcher: 'clear' }),
  ]),
  at(
    'SubagentStop',
    'matcher agent',
    'SubagentStop matches the agent',
    [
      on('SubagentStop', 'A', { matcher: 'general-purpose' }),
      on('SubagentStop', 'B', { group: 1, matcher: 'Explore' }),
      on('SubagentStop', 'C', { group: 2, matcher: '^general' }),
    ],
    AGENT,
  ),
]
