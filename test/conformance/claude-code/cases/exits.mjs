// How a hook ends, and what it prints: exit codes and signals, times kinds of output.

import { bash, pre, verdict } from './make.mjs'

const DENY = verdict('deny', 'not this')

/** Each way to print. @type {Readonly<Record<string, string>>} */
const PRINTED = {
  nothing: '',
  text: 'just a line',
  deny: DENY,
  broken: '{"decision": block}',
  truncated: DENY.slice(0, -4),
  'two-documents': `${DENY}\n${DENY}`,
  bom: `\uFEFF${DENY}`,
  array: `[${DENY}]`,
  'log-then-json': `checking…\n${DENY}`,
  'json-then-log': `${DENY}\nchecked`,
  'empty-object': '{}',
  padded: `\n\n  ${DENY}  \n\n`,
}

const codes = [0, 1, 2].flatMap((exit) =>
  Object.entries(PRINTED).map(([kind, stdout]) =>
    bash(`exit ${exit}, ${kind}`, `a hook that exits with ${exit} and prints: ${kind}`, [
      pre('A', { exit, stdout, stderr: 'on stderr' }),
    ]),
  ),
)

const others = [3, 126, 127, 255].flatMap((exit) => [
  bash(`exit ${exit}`, `exit ${exit} is no block`, [pre('A', { exit, stderr: 'on stderr' })]),
  bash(`exit ${exit}, deny`, `exit ${exit} with a deny in JSON: the JSON decides`, [
    pre('A', { exit, stdout: DENY }),
  ]),
])

const signals = ['TERM', 'KILL', 'SEGV'].map((signal) =>
  bash(`signal ${signal}`, `a hook that is ended by SIG${signal} decides nothing`, [
    pre('A', { script: `kill -${signal} $$`, stdout: DENY }),
  ]),
)

export const exits = [
  ...codes,
  ...others,
  ...signals,
  bash('exit 2, no stderr', 'a block without a word still blocks', [pre('A', { exit: 2 })]),
  bash('exit 2, text only', 'what is printed is never the reason', [
    pre('A', { exit: 2, stdout: 'printed' }),
  ]),
  bash('exit 2, json block without reason', 'the JSON decides, and has no reason', [
    pre('A', { exit: 2, stdout: '{"decision":"block"}', stderr: 'on stderr' }),
  ]),
  bash('exit 2, json allow', 'JSON cannot overrule exit 2', [
    pre('A', { exit: 2, stdout: verdict('allow', 'fine'), stderr: 'on stderr' }),
  ]),
  bash('exit 2, context', 'a block keeps its context', [
    pre('A', { exit: 2, stdout: verdict('deny', 'no', { additionalContext: 'look at the plan' }) }),
  ]),
  bash('no such program', 'a command that is not there decides nothing', [
    pre('A', { handler: { type: 'command', command: '/no/such/program' } }),
  ]),
  bash('stdin unread', 'a hook need not read what it is given', [
    pre('A', { reads_stdin: false, exit: 2, stderr: 'no' }),
  ]),
]
