// Broken, hostile and unlucky shell hooks, through the whole engine: the right outcome in time, one visible reason,
// nothing lost beside it, and no process left behind.

import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import type { Outcome } from 'carabiner'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runs } from '../property/runs.js'
import { until } from '../runners/until.js'
import {
  codes,
  group,
  has,
  matching,
  NO_HANG,
  printing,
  ShellProject,
  texts,
  traces,
} from './shell-project.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
/** Longer than any test may take. */
const FOREVER = 300

let project: ShellProject
beforeEach(() => {
  project = new ShellProject()
})
afterEach(async () => {
  await project.settled()
  const left = project.running()
  await project.remove()
  expect(left).toEqual([])
}, NO_HANG.timeout)

const GATE = { PreToolUse: [group('echo the gate says no >&2; exit 2')] }
const BAD = 'bad:PreToolUse#1'

/** Everything the user can read about this hook, beside the trace. */
function said({ messages, diagnostics }: Outcome, name = BAD): readonly string[] {
  const about = diagnostics.filter(({ text }) => text.startsWith(`${name}: `))
  return texts([...messages.filter(({ source }) => source === name), ...about])
}

/** The only hook of the plugin `bad`. */
function bad(handler: object | string, more: object = {}): void {
  project.plugin('bad', { PreToolUse: [group(handler)] }, more)
}

interface Failure {
  readonly why: string
  readonly says: RegExp
}

/** A hook that fails, in every company: alone, beside a gate, and as a gate itself. `prepare` puts its files there. */
async function failsLoudly(
  handler: { readonly command: string; readonly args?: readonly string[]; readonly timeout?: number },
  { why, says }: Failure,
  prepare: (project: ShellProject) => unknown = () => {},
): Promise<void> {
  const [alone, beside, closed] = await Promise.all([
    inCompany(handler, {}, prepare),
    inCompany(handler, { gate: GATE }, prepare),
    inCompany({ ...handler, onFailure: 'block' }, {}, prepare),
  ])
  expect(alone).toMatchObject({ action: 'continue', hooks: [{ name: BAD, status: 'failed', why }] })
  expect(alone.permission).toBeUndefined()
  expect(said(alone)).toEqual([expect.stringMatching(says)])
  expect(alone.messages).toMatchObject([{ level: 'warning', source: BAD }])

  expect(beside).toMatchObject({ action: 'deny', reason: 'the gate says no' })
  expect(traces(beside, 'failed')).toMatchObject([{ name: BAD, why }])
  expect(said(beside)).toEqual([expect.stringMatching(says)])

  expect(closed).toMatchObject({ action: 'deny', hooks: [{ why, countsAs: 'deny' }] })
  expect(closed.reason).toMatch(/^hook crashed \(fail-safe deny\): bad:PreToolUse#1: /)
  expect(said(closed)).toEqual([expect.stringMatching(says)])
}

/** The outcome in a project of its own, after which nothing runs any more. */
async function inCompany(
  handler: object,
  others: Readonly<Record<string, object>>,
  prepare: (project: ShellProject) => unknown,
): Promise<Outcome> {
  const own = new ShellProject()
  try {
    prepare(own)
    own.plugin('bad', { PreToolUse: [group(handler)] })
    for (const [name, hooks] of Object.entries(others)) own.plugin(name, hooks)
    const outcome = await own.fire('PreToolUse', BASH)
    await own.settled()
    expect(own.running()).toEqual([])
    return outcome
  } finally {
    await own.remove()
  }
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's, or the shell's
const PROGRAM = '${CLAUDE_PLUGIN_ROOT}/hook.sh'

describe('a program that cannot be started', NO_HANG, () => {
  const HOOK = '.amplifier/hooks/bad/hook.sh'
  const script =
    (text: string, mode = 0o755) =>
    (to: ShellProject) =>
      to.file(HOOK, text, mode)
  const folder = (to: ShellProject) => mkdirSync(to.path(HOOK), { recursive: true })
  const PLAIN = script('#!/bin/sh\nexit 0\n', 0o644)
  const CRLF = script('#!/bin/sh\r\nexit 2\r\n')
  const FOREIGN = script('#!/no/such/interpreter -x\n')

  it.each<[string, RegExp, ((to: ShellProject) => unknown)?]>([
    ['is missing', /exited with 127.*hook\.sh/],
    ['is not executable', /exited with 126.*chmod \+x/, PLAIN],
    ['is a folder', /exited with 126/, folder],
    ['has Windows line ends', /exited with 12[67]/, CRLF],
    ['names an interpreter that is not there', /exited with 12[67]/, FOREIGN],
  ])('%s', async (_what, says, prepare) => {
    await failsLoudly({ command: PROGRAM }, { why: 'HOOK_EXIT', says }, prepare)
  })

  it.each<[string, RegExp, ((to: ShellProject) => unknown)?]>([
    ['is missing', /there is no such file/],
    ['is not executable', /not executable \(chmod \+x\)/, PLAIN],
    ['is a folder', /it is a folder/, folder],
    ['has Windows line ends', /Windows line endings \(CRLF\)/, CRLF],
    ['names an interpreter that is not there', /"\/no\/such\/interpreter", which does not exist/, FOREIGN],
  ])('%s (without a shell)', async (_what, says, prepare) => {
    await failsLoudly({ command: PROGRAM, args: ['x'] }, { why: 'HOOK_NOT_STARTED', says }, prepare)
  })

  it('mentions the folder of a plugin, and is in none', async () => {
    project.root({ PreToolUse: [group(`${PROGRAM}; exit 2`)] })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_NOT_STARTED' }])
    expect(said(outcome, 'project:PreToolUse#1')).toEqual([
      expect.stringMatching(/only hooks of a plugin have/),
    ])
  })

  it.each([
    ['in a shell', { command: PROGRAM }],
    ['without one', { command: PROGRAM, args: [] }],
  ])('without a first line is a shell script: its deny counts (%s)', async (_how, handler) => {
    script('echo from a bare script >&2\nexit 2\n')(project)
    bad(handler)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'from a bare script',
    })
  })
})

describe('a program that ends badly', NO_HANG, () => {
  it.each(['KILL', 'TERM', 'SEGV', 'ABRT', 'PIPE', 'HUP'])('by SIG%s', async (signal) => {
    const says = new RegExp(`was killed by SIG${signal}`)
    await failsLoudly({ command: `kill -${signal} $$; sleep ${FOREVER}` }, { why: 'HOOK_EXIT', says })
  })

  it('by a signal to its whole group', async () => {
    await failsLoudly({ command: 'kill -9 0' }, { why: 'HOOK_EXIT', says: /was killed by SIGKILL/ })
  })

  it('by a signal, after it has printed a deny: the deny counts', async () => {
    bad(`${printing({ decision: 'block', reason: 'before I go' }).replace('exit 0', 'kill -9 $$')}`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'before I go' })
  })

  it('by a signal, after it has printed an allow: with onFailure "block" the gate is closed', async () => {
    const specific = { hookEventName: 'PreToolUse', permissionDecision: 'allow' }
    const allow = printing({ hookSpecificOutput: specific }).replace('exit 0', 'kill -9 $$')
    bad({ command: allow, onFailure: 'block' })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.permission).toBeUndefined()
  })

  it.each([1, 3, 126, 127, 128, 255])('with exit code %i', async (code) => {
    const says = new RegExp(`exited with ${code}: a word`)
    await failsLoudly({ command: `echo a word >&2; exit ${code}` }, { why: 'HOOK_EXIT', says })
  })

  it('and shouts into the terminal: what is shown holds no control sequence', async () => {
    bad(`printf '\\033[2J\\033]0;pwned\\007\\342\\200\\256evil' >&2; exit 1`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(said(outcome)).toEqual([expect.stringContaining('evil')])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(said(outcome).join()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
  })
})

describe('a program that does not end', NO_HANG, () => {
  const late: Failure = { why: 'HOOK_TIMEOUT', says: /did not answer within its 0\.4 s/ }
  const timeout = 0.4

  it.each<[string, string]>([
    ['sleeps', `sleep ${FOREVER}`],
    ['is stopped', `kill -STOP $$; sleep ${FOREVER}`],
    ['is stopped with its whole group', `sleep ${FOREVER} & kill -STOP 0; wait`],
    ['ignores TERM', `trap '' TERM INT HUP; while :; do sleep ${FOREVER}; done`],
    ['is stopped, and ignores TERM', `trap '' TERM; while :; do kill -STOP $$; done`],
    ['prints a byte a second', 'while :; do printf x; sleep 1; done'],
    ['prints a byte a second to stderr', 'while :; do printf x >&2; sleep 1; done'],
    ['prints without end', 'yes'],
    ['prints without end, and ignores TERM', `trap '' TERM PIPE; while :; do yes; done`],
    ['has closed its output', `exec >&- 2>&-; sleep ${FOREVER}`],
    ['has closed its input', `exec <&-; sleep ${FOREVER}`],
    ['has printed half a deny, and goes on', `printf '{"decision":"block","reason":'; sleep ${FOREVER}`],
    ['has printed an allow, and goes on', `echo '{"decision":"approve"}'; sleep ${FOREVER}`],
    ['waits for children', `sleep ${FOREVER} & sleep ${FOREVER} | cat & wait`],
    ['starts itself again and again', `while :; do sleep ${FOREVER} & wait $!; done`],
    ['reads an input that has ended', `cat; cat; sleep ${FOREVER}`],
    ['is exec’ed', `exec sleep ${FOREVER}`],
  ])('%s', async (_what, command) => {
    await failsLoudly({ command, timeout }, late)
  })

  it('is bounded by the time-out of the fire, too', async () => {
    bad(`sleep ${FOREVER}`)
    project.plugin('gate', GATE)
    const hooks = await project.open()
    const outcome = await hooks.session().fire('PreToolUse', BASH, { timeout: 5 })
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toContain(`Hook ${BAD} did not judge`)
    expect(traces(outcome, 'failed')).toMatchObject([{ name: BAD, why: 'HOOK_TIMEOUT' }])
    expect(said(outcome)).toEqual([expect.stringContaining("before the event's deadline")])
  })

  it('is ended with the fire that is aborted, and the tool does not run', async () => {
    bad(`touch started; sleep ${FOREVER} & sleep ${FOREVER}`)
    const hooks = await project.open()
    const controller = new AbortController()
    let called = false
    const call = hooks.session({ cwd: project.dir }).callTool(
      { name: 'Bash', input: { command: 'ls' } },
      () => {
        called = true
      },
      { signal: controller.signal },
    )
    const settled = expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await until('it runs', () => project.running().length > 1)
    controller.abort()
    await settled
    await project.settled()
    expect([called, project.running()]).toEqual([false, []])
  })

  it('is waited for by close(), and is gone then', async () => {
    bad({ command: `trap '' TERM; touch started; sleep ${FOREVER} & while :; do wait; done`, timeout: 0.4 })
    await project.fire('PreToolUse', BASH)
    await project.settled()
    expect(project.running()).toEqual([])
  })

  it('does not lose the effects of its siblings', async () => {
    bad({ command: `sleep ${FOREVER}`, timeout: 0.4 })
    const specific = {
      hookEventName: 'PreToolUse',
      updatedInput: { command: 'ls' },
      additionalContext: 'safer',
    }
    project.plugin('other', {
      PreToolUse: [group(printing({ systemMessage: 'changed', hookSpecificOutput: specific }))],
    })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ modified: true, data: { tool_input: { command: 'ls' } } })
    expect(texts(outcome.injections)).toEqual(['safer'])
    expect(texts(outcome.messages)).toContain('changed')
    expect(said(outcome)).toHaveLength(1)
  })
})

describe('a program that leaves others behind', NO_HANG, () => {
  /** Starts a process that has left the group when the next command runs. */
  const FAR = `setsid sh -c 'touch far; exec sleep ${FOREVER}' & until [ -e far ]; do sleep 0.01; done;`

  it('in its group: they hold the answer up no longer than the drain, and are ended', async () => {
    bad(`sleep ${FOREVER} & (sleep ${FOREVER} | cat) & echo the parent denies >&2; exit 2`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the parent denies' })
    await project.settled()
    expect(project.running()).toEqual([])
  })

  it.skipIf(!has('setsid'))('in a session of their own: reported, not hunted (needs setsid)', async () => {
    bad(`${FAR} echo the parent denies >&2; exit 2`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the parent denies' })
    expect(codes(outcome.diagnostics)).toEqual(['left-running'])
    expect(said(outcome)).toHaveLength(1)
    await project.settled()
    const [left, ...others] = project.running()
    expect([left, others]).toEqual([expect.any(Number), []])
    process.kill(left as number, 'SIGKILL')
    await until('it is gone', () => project.running().length === 0)
  })

  it.skipIf(!has('setsid'))('after a time-out, too: reported, not hunted (needs setsid)', async () => {
    bad({ command: `${FAR} sleep ${FOREVER}`, timeout: 3 })
    const hooks = await project.open()
    const outcome = await hooks.session({ cwd: project.dir }).fire('PreToolUse', BASH)
    expect(outcome.hooks).toMatchObject([{ why: 'HOOK_TIMEOUT' }])
    await project.settled()
    const left = project.running()
    for (const pid of left) process.kill(pid, 'SIGKILL')
    await until('it is gone', () => project.running().length === 0)
    expect(left).toHaveLength(1)
    // In the outcome, or where what came later is told.
    expect(codes([...outcome.diagnostics, ...hooks.diagnostics])).toContain('left-running')
  })

  it('in its group, with the answer still unsaid: whatever is lost is not lost in silence', async () => {
    // As `exec > >(slow filter)` does: the program has ended, and a child has yet to print what it said.
    bad(`(sleep 1; echo '{"decision":"block","reason":"said late"}') & exit 0`)
    const outcome = await project.fire('PreToolUse', BASH)
    const heard = outcome.action === 'deny' ? [outcome.reason] : said(outcome)
    expect(heard).toHaveLength(1)
  })
})

describe('output', NO_HANG, () => {
  it('of a gigabyte is a failure that names the bound', async () => {
    const before = process.memoryUsage().rss
    bad({ command: 'head -c 1000000000 /dev/zero; exit 0', timeout: 50 })
    project.plugin('gate', GATE)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the gate says no' })
    expect(traces(outcome, 'failed')).toMatchObject([{ name: BAD, why: 'HOOK_OUTPUT' }])
    expect(said(outcome)).toEqual([expect.stringContaining('more than the output limit')])
    expect(JSON.stringify(outcome).length).toBeLessThan(100_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000)
  })

  it('over the bound, and exit code 2: a deny, with what can be read as its reason', async () => {
    bad({ command: `head -c 3000000 /dev/zero | tr '\\0' x; echo the reason >&2; exit 2`, timeout: 50 })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the reason' })
    expect(said(outcome)).toEqual([expect.stringContaining('output limit')])
  })

  it('over the bound on stderr, and exit code 2: a deny', async () => {
    bad({ command: `head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 2`, timeout: 50 })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^x+/)
  })

  it('that is no UTF-8: a deny stands, what cannot be read is replaced', async () => {
    bad(`printf '{"decision":"block","reason":"caf\\351 \\377"}'`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'caf\ufffd \ufffd',
    })
    bad(`printf 'caf\\351' >&2; exit 2`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'caf\ufffd' })
  })

  it('in UTF-16 is no answer and no crash; the gate beside it holds', async () => {
    bad(`printf '\\377\\376{\\0"\\0d\\0"\\0}\\0'`)
    project.plugin('gate', GATE)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'the gate says no',
    })
  })

  it('of two JSON documents is a failure', async () => {
    const two = `echo '{"systemMessage":"a"}'; echo '{"systemMessage":"b"}'`
    await failsLoudly({ command: two }, { why: 'ANSWER_INVALID', says: /not valid JSON/ })
  })

  it('of two JSON documents of which one closes is closed', async () => {
    bad(`echo '{"continue":true}'; echo '{"decision":"block","reason":"b"}'`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'b' })
    expect(said(outcome)).toEqual([expect.stringContaining('Print one JSON object')])
  })

  it('of two JSON documents, and exit code 2: a deny, and the documents are reported', async () => {
    bad(`echo '{}'; echo '{}'; echo because >&2; exit 2`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'because' })
    expect(said(outcome)).toEqual([expect.stringContaining('not valid JSON')])
  })

  it('D2: of log lines around a deny is a deny, and that is said', async () => {
    bad(`echo 'checking…'; echo '{"decision":"block","reason":"found"}'; echo done`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'found' })
    expect(said(outcome)).toEqual([expect.stringContaining('logs go to stderr')])
  })

  it('of log lines around an allow or a rewrite is neither', async () => {
    const specific =
      '{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}'
    bad(`echo 'checking…'; echo '{"hookSpecificOutput":${specific}}'`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'continue', modified: false })
    expect(outcome.permission).toBeUndefined()
    expect(said(outcome)).toEqual([expect.stringContaining('something like an answer')])
  })

  it('D1: past the time-out: a deny that was printed whole counts', async () => {
    bad({ command: `echo '{"decision":"block","reason":"in time"}'; sleep 300`, timeout: 2 })
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'in time' })
    expect(said(outcome).join()).toContain('it did not answer within its 2 s; its deny counts')
  })

  it('D1: past the time-out: half a deny, and an allow, count for nothing', async () => {
    for (const printed of ['{"decision":"block","rea', '{"decision":"approve"}']) {
      project.file('half', printed)
      await failsLoudly(
        { command: `cat ${project.path('half')}; sleep 300`, timeout: 2 },
        { why: 'HOOK_TIMEOUT', says: /within its 2 s/ },
      )
    }
  })

  it('D1: over the bound: a deny that was printed before counts', async () => {
    bad(`echo '{"decision":"block","reason":"first"}'; yes | head -c 2000000`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'first' })
  })

  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  it('nested without end, where data is expected, is a failure', async () => {
    const answer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":${nested(100_000)}}}`
    const failure = { why: 'ANSWER_INVALID', says: /tool_input.*nested/s }
    await failsLoudly({ command: 'cat deep.json' }, failure, (to) => to.file('deep.json', answer))
  })

  it('nested without end beside a deny: the deny stands', async () => {
    const deep = nested(50_000)
    const specific = `{"hookEventName":"PreToolUse","updatedInput":${deep}}`
    project.file(
      'deep.json',
      `{"decision":"block","reason":"no","hookSpecificOutput":${specific},"x":${deep}}`,
    )
    bad(`cat ${project.path('deep.json')}`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('with a key that stands twice: the last counts, as in JSON', async () => {
    bad(`echo '{"decision":"approve","reason":"a","decision":"block","reason":"b"}'`)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'b' })
  })

  it('D3: with a deny that a later key of the same name would take back is a deny', async () => {
    bad(`echo '{"decision":"block","reason":"a","decision":"approve"}'`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'a' })
    expect(said(outcome)).toEqual([expect.stringContaining('is in its answer more than once')])
  })

  it('with __proto__ and its kin decides nothing, pollutes nothing, and is reported', async () => {
    const inner = '{"decision":"block","permissionDecision":"deny","continue":false}'
    bad(`echo '{"__proto__":${inner},"constructor":{"prototype":${inner}}}'`)
    const outcome = await project.fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(said(outcome)).toEqual([expect.stringContaining('__proto__')])
    expect(({} as Record<string, unknown>).decision).toBeUndefined()
  })

  it('with __proto__ in the input it rewrites: a key like any other, and no prototype', async () => {
    const input = '{"command":"ls","__proto__":{"polluted":true}}'
    bad(`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":${input}}}'`)
    project.plugin('later', { PreToolUse: [group('cat > seen')] }, { priority: 30 })
    const outcome = await project.fire('PreToolUse', BASH)
    const { tool_input } = outcome.data as { tool_input: Record<string, unknown> }
    expect(tool_input.command).toBe('ls')
    expect(tool_input.polluted).toBeUndefined()
    expect(project.read('seen')).toContain('"command":"ls"')
  })

  it('that never reads five megabytes of input does not matter', async () => {
    bad('echo unread >&2; exit 2')
    const call = { tool_name: 'Write', tool_input: { content: 'x'.repeat(5_000_000) } }
    expect(await project.fire('PreToolUse', call)).toMatchObject({ action: 'deny', reason: 'unread' })
  })
})

describe('a matcher', NO_HANG, () => {
  const LONG = 'a'.repeat(50_000)
  const fire = (tool_name: string) => project.fire('PreToolUse', { tool_name, tool_input: {} })

  it.each<[string, boolean, boolean]>([
    ['^(a+)+$', true, false],
    ['^(a|a)*$', true, false],
    ['(a|aa)+$', true, false],
    ['([a-z]+)*!$', false, true],
  ])('%s on a name of 50,000 letters answers promptly, and rightly', async (matcher, plain, marked) => {
    project.plugin('bad', { PreToolUse: [matching(matcher, 'exit 2')] })
    const started = performance.now()
    expect([(await fire(LONG)).action, (await fire(`${LONG}!`)).action]).toEqual([
      plain ? 'deny' : 'continue',
      marked ? 'deny' : 'continue',
    ])
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  it.each(['^(?=(a+)+$)x', '(a+)+\\1$', '^(?!(b+)+$).*(c+)+$'])(
    '%s cannot be matched in linear time: the hook runs for everything, which is said once',
    async (matcher) => {
      project.plugin('bad', { PreToolUse: [matching(matcher, 'exit 2')] })
      expect((await fire(`${LONG}!`)).action).toBe('deny')
      expect((await project.open()).diagnostics).toMatchObject([{ code: 'matcher-unsafe', line: 5 }])
    },
  )

  it('that the engine gives up on when it is tried does not make fire reject, and hides no gate', async () => {
    project.plugin('bad', { PreToolUse: [matching('(?!x)'.repeat(50_000), 'exit 0')] })
    project.plugin('gate', GATE)
    const fired = fire('Bash').then(
      ({ action, reason }) => [action, reason],
      ({ message }: Error) => ['rejected', message.slice(-40)],
    )
    expect(await fired).toEqual(['deny', 'the gate says no'])
  })

  it.each<[string, unknown]>([
    ['a list', ['Bash']],
    ['a number', 7],
    ['null', null],
    ['an object of another kind', { tools: ['Bash'] }],
  ])('that is %s drops its group, not the neighbour, with file and line', async (_what, matcher) => {
    const file = project.plugin('bad', { PreToolUse: [matching(matcher, 'exit 0'), ...GATE.PreToolUse] })
    expect(await fire('Bash')).toMatchObject({ action: 'deny', reason: 'the gate says no' })
    expect((await project.open()).diagnostics).toMatchObject([{ code: 'entry-invalid', file, line: 5 }])
  })

  it.each(['Bash(git commit*)', 'Write(docs/**', '*Bash', 'tool == "Bash" && x'])(
    '%s is said to be none',
    async (matcher) => {
      project.plugin('bad', { PreToolUse: [matching(matcher, 'exit 0')] })
      project.plugin('gate', GATE)
      expect((await fire('Bash')).action).toBe('deny')
      expect((await project.open()).diagnostics).toMatchObject([{ code: 'matcher-invalid', line: 5 }])
    },
  )
})

describe('names that a careless shell takes apart', NO_HANG, () => {
  const NAMES = [
    'with spaces',
    `it's "quoted"`,
    `$HOME \${PATH} $(touch pwned) \`touch pwned\``,
    'a;touch pwned;b',
    'star * and [x] & more | <in> out#',
    '-rf',
    'new\nline',
    'ünïcödé 日本 💥',
    '%s %d \\n',
  ]

  it.each(NAMES)('a plugin in %j runs, in a shell and without one, and denies', async (name) => {
    const hook =
      '#!/bin/sh\nprintf %s "$CLAUDE_PLUGIN_ROOT" >> "$CLAUDE_PROJECT_DIR/seen"; echo "$1" >&2; exit 2\n'
    project.script(`.amplifier/hooks/${name}/hook.sh`, hook)
    const root = project.path(`.amplifier/hooks/${name}`)
    for (const handler of [{ command: `"${PROGRAM}" said` }, { command: PROGRAM, args: ['said'] }]) {
      project.file('seen', '')
      project.plugin(name, { PreToolUse: [group(handler)] })
      const outcome = await project.fire('PreToolUse', BASH)
      expect(outcome).toMatchObject({ action: 'deny', reason: 'said', messages: [] })
      expect(project.read('seen')).toBe(root)
    }
    expect(project.read('pwned')).toBe('')
    expect(project.read(`.amplifier/hooks/${name}/pwned`)).toBe('')
  })

  it.each(NAMES)('a project in %j works as any other', async (name) => {
    const odd = new ShellProject(name)
    try {
      odd.root({ PreToolUse: [group('pwd -P > "$CLAUDE_PROJECT_DIR/seen"; echo no >&2; exit 2')] })
      expect(await odd.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
      expect(odd.read('seen')).toBe(`${odd.dir}\n`)
      expect(odd.read('pwned')).toBe('')
    } finally {
      await odd.remove()
    }
  })
})

describe('a configuration that changes under way', NO_HANG, () => {
  /** Denies once the file `go` is there. */
  const WAITING = {
    command: 'touch started; until [ -e go ]; do sleep 0.01; done; echo held >&2; exit 2',
    timeout: 40,
  }
  const waiting = () => project.plugin('bad', { PreToolUse: [group(WAITING)] })

  const hasStarted = () => project.running().length > 0

  it('is replaced: the fire under way keeps its hooks, the next one has the new', async () => {
    waiting()
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    const fired = session.fire('PreToolUse', BASH)
    await until('the hook runs', hasStarted)
    project.plugin('bad', { PreToolUse: [group('exit 0')] })
    await hooks.reload()
    project.file('go', '')
    expect(await fired).toMatchObject({ action: 'deny', reason: 'held' })
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  it('is deleted: the deny under way counts', async () => {
    waiting()
    const hooks = await project.open()
    const fired = hooks.session({ cwd: project.dir }).fire('PreToolUse', BASH)
    await until('the hook runs', hasStarted)
    rmSync(project.path('.amplifier'), { recursive: true })
    await hooks.reload()
    project.file('go', '')
    expect(await fired).toMatchObject({ action: 'deny', reason: 'held' })
    expect(hooks.list()).toEqual([])
  })

  it('becomes unreadable: what it said stays in force, and is said once', async () => {
    const file = waiting()
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    const fired = session.fire('PreToolUse', BASH)
    await until('the hook runs', hasStarted)
    project.file('.amplifier/hooks/bad/hooks.json', '{ "hooks": { "PreToolUse": [')
    await hooks.reload()
    project.file('go', '')
    expect(await fired).toMatchObject({ action: 'deny', reason: 'held' })
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'held' })
    expect(codes(hooks.diagnostics)).toEqual(['config-invalid', 'config-kept'])
    expect(hooks.diagnostics[0]).toMatchObject({ file })
  })

  it('loses a hook’s script before it is started: a failure, and the gate beside it holds', async () => {
    const script = project.script('.amplifier/hooks/bad/hook.sh', '#!/bin/sh\nexit 0\n')
    bad(`"${PROGRAM}"`)
    project.plugin('gate', GATE)
    const hooks = await project.open()
    rmSync(script)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the gate says no' })
    expect(traces(outcome, 'failed')).toMatchObject([{ name: BAD }])
    expect(said(outcome)).toHaveLength(1)
  })

  it('is moved away with the whole project: hooks fail visibly, and nothing hangs', async () => {
    bad('exit 2')
    const hooks = await project.open()
    const away = `${project.dir}-moved`
    renameSync(project.dir, away)
    try {
      const outcome = await hooks.session().fire('PreToolUse', BASH)
      expect(outcome.hooks).toMatchObject([{ status: 'failed', why: 'HOOK_NOT_STARTED' }])
      expect(said(outcome)).toEqual([expect.stringContaining('is gone')])
      await hooks.reload()
    } finally {
      renameSync(away, project.dir)
    }
  })

  it('is read again while many fires are under way: each denies, none is lost', async () => {
    project.plugin('gate', GATE)
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    const fires = Array.from({ length: 10 }, async (_, i) => {
      if (i % 2) await hooks.reload()
      return session.fire('PreToolUse', BASH)
    })
    const outcomes = await Promise.all(fires)
    expect(outcomes.map(({ action }) => action)).toEqual(Array(10).fill('deny'))
  })

  it('while watched: a change counts without reload(), and close() ends the watch', async () => {
    bad('exit 0')
    const hooks = await project.open({ watch: true })
    const session = hooks.session({ cwd: project.dir })
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    project.plugin('gate', GATE)
    await until('the new gate is there', () => hooks.list().length === 2)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })
})

describe('a configuration file that is hostile', NO_HANG, () => {
  const read = async (text: string | Uint8Array) => {
    project.file('.amplifier/hooks/bad/hooks.json', text)
    project.plugin('gate', GATE)
    const hooks = await project.open()
    const outcome = await hooks.session({ cwd: project.dir }).fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the gate says no' })
    return hooks.diagnostics
  }

  it.each<[string, string | Uint8Array]>([
    ['empty', ''],
    ['a word', 'hooks'],
    ['null', 'null'],
    ['a list', '[]'],
    ['cut off', '{"hooks":{"PreToolUse":[{"hooks":[{"type":"comm'],
    ['binary', Uint8Array.from({ length: 300 }, (_, i) => i % 256)],
    ['UTF-16', Buffer.from('{"hooks":{}}', 'utf16le')],
    ['two documents', '{"hooks":{}}\n{"hooks":{}}'],
    ['a list without end', '['.repeat(100_000)],
    ['an object without end', '{"a":'.repeat(100_000)],
    ['two megabytes', `{"hooks":{},"x":"${'x'.repeat(2_000_000)}"}`],
  ])('%s: one diagnostic with file and line, and the gate of another plugin holds', async (_what, text) => {
    expect(await read(text)).toMatchObject([
      {
        code: 'config-invalid',
        file: project.path('.amplifier/hooks/bad/hooks.json'),
        line: expect.any(Number),
      },
    ])
  })

  it.each<[string, (path: string) => unknown]>([
    ['a folder', (path) => mkdirSync(path, { recursive: true })],
    ['a pipe that nobody writes to', (path) => execFileSync('mkfifo', [path])],
    ['a link that leads nowhere', (path) => symlinkSync('/no/such/file', path)],
    ['a link to itself', (path) => symlinkSync(path, path)],
    ['a device without end', (path) => symlinkSync('/dev/zero', path)],
  ])('%s: one diagnostic, nobody waits, and the gate of another plugin holds', async (_what, make) => {
    mkdirSync(project.path('.amplifier/hooks/bad'), { recursive: true })
    make(project.path('.amplifier/hooks/bad/hooks.json'))
    project.plugin('gate', GATE)
    const hooks = await project.open()
    const outcome = await hooks.session({ cwd: project.dir }).fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'the gate says no' })
    expect(hooks.diagnostics).toMatchObject([{ code: 'config-invalid' }])
  })

  it('files beside the folders of plugins are no plugins, and harm nobody', async () => {
    project.file('.amplifier/hooks/README.md', 'how to')
    project.file('.amplifier/hooks/.DS_Store', '')
    symlinkSync('/no/such/folder', project.path('.amplifier/hooks/gone'))
    project.plugin('gate', GATE)
    expect(await project.fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'the gate says no',
    })
    expect(texts((await project.open()).diagnostics)).toEqual([expect.stringContaining('the link is broken')])
  })

  const handler = '{"type":"command","command":"exit 0"}'

  it.each<[string, string, string]>([
    [
      'a group nested without end',
      `{"hooks":{"PreToolUse":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      'entry-invalid',
    ],
    [
      'a handler nested without end',
      `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 0","args":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}]}}`,
      'entry-invalid',
    ],
    [
      'an event twice',
      `{"hooks":{"PreToolUse":[{"hooks":[${handler}]}],"PreToolUse":[{"hooks":[${handler}]}]}}`,
      'entry-invalid',
    ],
    [
      'the key hooks twice',
      `{"hooks":{"Stop":[{"hooks":[${handler}]}]},"hooks":{"Stop":[{"hooks":[${handler}]}]}}`,
      'entry-invalid',
    ],
    ['constructor for an event', `{"hooks":{"constructor":[{"hooks":[${handler}]}]}}`, 'unknown-event'],
    [
      'a command with a NUL',
      '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 0\\u0000"}]}]}}',
      'entry-invalid',
    ],
    [
      '__proto__ for a type',
      '{"hooks":{"PreToolUse":[{"hooks":[{"type":"__proto__","command":"exit 0"}]}]}}',
      'entry-invalid',
    ],
  ])('%s: one diagnostic, and the gate of another plugin holds', async (_what, text, code) => {
    const diagnostics = await read(text)
    expect(codes(diagnostics)).toEqual([code])
    expect(({} as Record<string, unknown>).hooks).toBeUndefined()
  })

  it('__proto__ for an event is a key that begins with _, and so a remark: it runs nothing and pollutes nothing', async () => {
    expect(await read(`{"hooks":{"__proto__":{"PreToolUse":[{"hooks":[${handler}]}]}}}`)).toEqual([])
    expect((await project.open()).list()).toHaveLength(1)
    expect(({} as Record<string, unknown>).PreToolUse).toBeUndefined()
  })

  it.each<[string, unknown]>([
    ['a group that is null', null],
    ['a group that is a word', 'Bash'],
    ['a group without hooks', { matcher: 'Bash' }],
    ['a group whose hooks are an object', { hooks: { type: 'command', command: 'exit 0' } }],
    ['a handler in place of a group', { type: 'command', command: 'exit 0' }],
    ['a matcher that is a number', { matcher: 1, hooks: [{ type: 'command', command: 'exit 0' }] }],
    ['a handler that is null', { hooks: [null] }],
    ['a handler without a type', { hooks: [{ command: 'exit 0' }] }],
    ['a handler of another type', { hooks: [{ type: 'zap', command: 'exit 0' }] }],
    ['a handler without a command', { hooks: [{ type: 'command' }] }],
    ['a command that is a list', { hooks: [{ type: 'command', command: ['exit', '0'] }] }],
    ['a command that is empty', { hooks: [{ type: 'command', command: ' ' }] }],
    ['a time-out in words', { hooks: [{ type: 'command', command: 'exit 0', timeout: '1' }] }],
    ['a time-out of nothing', { hooks: [{ type: 'command', command: 'exit 0', timeout: 0 }] }],
    ['a time-out below nothing', { hooks: [{ type: 'command', command: 'exit 0', timeout: -1 }] }],
    ['an onFailure that is none', { hooks: [{ type: 'command', command: 'exit 0', onFailure: 'deny' }] }],
    ['a shell that is none', { hooks: [{ type: 'command', command: 'exit 0', shell: 'fish' }] }],
    ['arguments that are a text', { hooks: [{ type: 'command', command: 'true', args: '-x' }] }],
    ['an "if" that is a list', { hooks: [{ type: 'command', command: 'exit 0', if: ['Bash'] }] }],
  ])('%s is left out with one diagnostic; those before and after it stay', async (_what, entry) => {
    const before = group('echo before >> "$CLAUDE_PROJECT_DIR/ran"')
    const after = group('echo after >> "$CLAUDE_PROJECT_DIR/ran"; echo no >&2; exit 2')
    const file = project.plugin('bad', { PreToolUse: [before, entry, after], Stop: [before] })
    const hooks = await project.open()
    const session = hooks.session({ cwd: project.dir })
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
    await session.fire('Stop', {})
    expect(project.lines('ran').sort()).toEqual(['after', 'before', 'before'])
    expect(hooks.diagnostics).toMatchObject([{ code: 'entry-invalid', file, line: expect.any(Number) }])
  })

  it('ten thousand handlers in one group load, and can be told apart', async () => {
    const handlers = Array.from({ length: 10_000 }, (_, i) => `{"type":"command","command":"exit ${i}"}`)
    project.file('.amplifier/hooks/bad/hooks.json', `{"hooks":{"Notification":[{"hooks":[${handlers}]}]}}`)
    const ids = (await project.open()).list().map(({ id }) => id)
    expect(new Set(ids).size).toBe(10_000)
  })
})

describe('in any company', NO_HANG, () => {
  const allow = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } }
  const rewrite = { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'ls' } } }
  /** What a hook may do, and whether it has failed then. */
  const COMPANY: readonly (readonly [string, boolean])[] = [
    ['exit 0', false],
    [printing(allow), false],
    [printing(rewrite), false],
    [printing({ contextInjection: 'note', systemMessage: 'hi' }), false],
    [
      printing({ ...allow, hookSpecificOutput: { ...allow.hookSpecificOutput, permissionDecision: 'ask' } }),
      false,
    ],
    [printing({ async: true }), false],
    ['cat', false],
    ['echo plain; sleep 300 & exit 0', false],
    ['exit 1', true],
    ['kill -9 $$', true],
    ['sleep 300', true],
    ['/no/such/program', true],
    [`echo '{"decision":}'`, true],
    [printing({ decision: 'perhaps' }), true],
    ['yes | head -c 2000000', true],
  ]

  it('a deny denies, with its own reason, and every failure is told', async () => {
    const company = fc.array(fc.nat(COMPANY.length - 1), { maxLength: 5 })
    const denies = fc.constantFrom('echo no >&2; exit 2', printing({ decision: 'block', reason: 'no' }))
    const check = async (before: number[], deny: string, after: number[], sequential: boolean) => {
      const own = new ShellProject()
      try {
        const commands = (list: number[]) => list.map((i) => (COMPANY[i] as [string, boolean])[0])
        // Numbered, because the same command twice would run once.
        const handlers = [...commands(before), deny, ...commands(after)].map((command, i) => ({
          command: `: ${i}; ${command}`,
          ...(command === 'sleep 300' && { timeout: 0.4 }),
        }))
        const groups = sequential
          ? handlers.map((one) => ({ ...group(one), sequential }))
          : [group(...handlers)]
        own.plugin('bad', { PreToolUse: groups })
        const outcome = await own.fire('PreToolUse', BASH)
        expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
        expect(outcome.permission).toBeUndefined()
        const failing = [...before, ...after].filter((i) => COMPANY[i]?.[1])
        const failed = traces(outcome, 'failed')
        expect(failed).toHaveLength(failing.length)
        for (const { name } of failed) {
          expect(outcome.messages.filter(({ source }) => source === name)).toHaveLength(1)
        }
        await own.settled()
        expect(own.running()).toEqual([])
      } finally {
        await own.remove()
      }
    }
    await fc.assert(fc.asyncProperty(company, denies, company, fc.boolean(), check), {
      numRuns: runs(20),
      interruptAfterTimeLimit: 40_000,
    })
  })
})
