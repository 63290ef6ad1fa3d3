// Real shells that say in their first line that they work on: who waits, how long they may, who ends them, what they bring.

import { existsSync } from 'node:fs'
import {
  type ContextMessage,
  type Hooks,
  type HooksOptions,
  memoryAudit,
  type Outcome,
  type Session,
} from 'carabiner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HookContext, LateAnswer } from '../../../src/core/hooks/hook.js'
import { commandHook } from '../../../src/runners/command/command-hook.js'
import { HandedOn } from '../../../src/runners/command/handed-on.js'
import { Programs } from '../../../src/runners/command/programs.js'
import {
  codes,
  group,
  NO_HANG,
  printing,
  ShellProject,
  texts,
  traces,
} from '../../conformance/shell-project.js'
import { laneHook } from '../../core/made-hook.js'
import { until } from '../until.js'
import { FOREVER, Workshop } from './workshop.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const POST = { ...BASH, tool_response: 'ok' }
const ASYNC = `echo '{"async": true}'`
const context = (text: string, event = 'PostToolUse') =>
  printing({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
/** Waits for a file of the project, which the test makes. */
const waitFor = (name: string) => `until [ -e "$CLAUDE_PROJECT_DIR/${name}" ]; do sleep 0.02; done`
const never = `sleep ${FOREVER}`

let project: ShellProject
beforeEach(() => {
  project = new ShellProject()
})
afterEach(() => project.remove())

interface Opened {
  readonly hooks: Hooks
  readonly session: Session
}

async function opened(event: string, command: string | object, options: HooksOptions = {}): Promise<Opened> {
  project.root({ [event]: [group(command)] })
  const hooks = await project.open(options)
  return { hooks, session: hooks.session({ id: 's1', cwd: project.dir }) }
}

/** What the next event carries, once nothing runs on any more. */
async function afterwards({ hooks, session }: Opened): Promise<Outcome> {
  await session.leave()
  return hooks.session({ id: 's1', cwd: project.dir }).fire('PreToolUse', BASH)
}

const go = (name = 'go') => project.file(name, '')
const isThere = (name: string) => until(`${name} is there`, () => existsSync(project.path(name)))

describe('a hook whose first line says that it works on', NO_HANG, () => {
  it('is not waited for; what it prints afterwards goes out with the next event', async () => {
    const one = await opened('PostToolUse', `${ASYNC}; ${waitFor('go')}; ${context('found')}`)
    const first = await one.session.fire('PostToolUse', POST)
    expect(traces(first, 'detached')).toHaveLength(1)
    expect([first.injections, first.diagnostics]).toEqual([[], []])
    go()
    const next = await afterwards(one)
    expect([texts(next.injections), codes(next.diagnostics)]).toEqual([['found'], []])
  })

  it.each([
    ['with a time-out', `echo '{"async":true,"asyncTimeout":60000}'`],
    ['without its end', `printf '{"async":true}'`],
    ['in two pieces', `printf '{"async":'; sleep 0.1; echo 'true}'`],
    ['behind blanks', `printf '  {"async": true}\\n'`],
    ['behind a byte order mark', `printf '\\357\\273\\277{"async": true}\\n'`],
    ['with the end of a Windows line', `printf '{"async": true}\\r\\n'`],
    ['of a program in another language', `node -e 'console.log(JSON.stringify({async: true}))'`],
  ])('may write it %s', async (_how, line) => {
    const one = await opened('PostToolUse', `${line}; ${waitFor('go')}; echo; ${context('found')}`)
    expect(traces(await one.session.fire('PostToolUse', POST), 'detached')).toHaveLength(1)
    go()
    expect(texts((await afterwards(one)).injections)).toEqual(['found'])
  })

  it('tells the user what it says in the end', async () => {
    const one = await opened('PostToolUse', `${ASYNC}; ${printing({ systemMessage: 'all done' })}`)
    await one.session.fire('PostToolUse', POST)
    expect((await afterwards(one)).messages).toMatchObject([{ text: 'all done', level: 'info' }])
  })

  it('that prints that line alone brings nothing, and nothing is wrong', async () => {
    const one = await opened('PostToolUse', ASYNC)
    await one.session.fire('PostToolUse', POST)
    const next = await afterwards(one)
    expect([next.injections, next.messages, next.diagnostics]).toEqual([[], [], []])
  })

  it('prints plain text, which is context on SessionStart, as of one that was waited for', async () => {
    const one = await opened('SessionStart', `${ASYNC}; echo plain words`)
    await one.session.fire('SessionStart', {})
    expect(texts((await afterwards(one)).injections)).toEqual(['plain words'])
  })

  it.each([
    ['by its exit code', 'echo no >&2; exit 2'],
    ['in its answer', printing({ decision: 'block', reason: 'no' })],
    [
      'in the place of PreToolUse',
      printing({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }),
    ],
    ['by stopping all', printing({ continue: false })],
  ])('cannot deny %s later, and that is reported', async (_how, command) => {
    const one = await opened('PreToolUse', `${ASYNC}; ${waitFor('go')}; ${command}`)
    expect((await one.session.fire('PreToolUse', BASH)).action).toBe('continue')
    go()
    await one.session.leave()
    const next = await one.hooks.session({ id: 's1' }).fire('UserPromptSubmit', { prompt: 'hi' })
    expect([next.action, codes(next.diagnostics)]).toEqual(['continue', ['async-verdict-ignored']])
  })

  it.each([
    ['by its exit code', 'echo no >&2; exit 2'],
    ['in its answer', printing({ decision: 'block', reason: 'no' })],
    ['and works on', `${printing({ decision: 'block', reason: 'no' })}; ${never}`],
  ])('H1: denies %s in the same breath', async (_how, command) => {
    const { hooks, session } = await opened('PreToolUse', `${ASYNC}; ${command}`)
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
    await hooks.close()
    expect(project.running()).toEqual([])
  })

  it('H1: is no longer a gate, which is reported and recorded', async () => {
    const audit = memoryAudit()
    const { hooks, session } = await opened('PreToolUse', ASYNC, { audit })
    const outcome = await session.fire('PreToolUse', BASH)
    expect([outcome.action, traces(outcome, 'detached')]).toMatchObject(['continue', { length: 1 }])
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
    expect(texts(outcome.messages)[0]).toMatch(
      /did not judge; the operation went on without it\. .*"async": true/,
    )
    await hooks.close()
    expect(audit.records[0]?.unguarded).toMatchObject([{ why: 'ANSWER_INVALID' }])
  })

  it.each([
    ['works on', never],
    ['fails', 'echo broken >&2; exit 3'],
    ['is killed', 'kill -9 $$'],
    ['says no more', 'exit 0'],
  ])('H1: one that %s closes the gate where its failure would, and is ended', async (_how, command) => {
    const { hooks, session } = await opened('PreToolUse', {
      command: `${ASYNC}; ${command}`,
      onFailure: 'block',
    })
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny' })
    await hooks.close()
    expect(project.running()).toEqual([])
  })

  it.each(['Stop', 'SubagentStop'])(
    'on %s cannot keep the agent going any more, but its context still reaches the model',
    async (event) => {
      const one = await opened(event, `${ASYNC}; ${context('tests fail', event)}`)
      expect((await one.session.fire(event)).action).toBe('continue')
      const next = await afterwards(one)
      expect([texts(next.injections), codes(next.diagnostics)]).toEqual([['tests fail'], []])
    },
  )

  it('so does that of a hook that is async by its configuration', async () => {
    const one = await opened('Stop', { command: context('tests fail', 'Stop'), async: true })
    expect((await one.session.fire('Stop')).action).toBe('continue')
    const next = await afterwards(one)
    expect([texts(next.injections), codes(next.diagnostics)]).toEqual([['tests fail'], []])
  })

  it('a hook that is async by its configuration may print the line as well', async () => {
    const one = await opened('PostToolUse', { command: `${ASYNC}; ${context('found')}`, async: true })
    await one.session.fire('PostToolUse', POST)
    const next = await afterwards(one)
    expect([texts(next.injections), codes(next.diagnostics)]).toEqual([['found'], []])
  })

  it('one that finally prints an invalid answer closes no gate, and the user is told', async () => {
    const one = await opened('PreToolUse', `${ASYNC}; echo '{"decision": }'`)
    expect((await one.session.fire('PreToolUse', BASH)).action).toBe('continue')
    await one.session.leave()
    const next = await one.hooks.session({ id: 's1' }).fire('UserPromptSubmit', { prompt: 'hi' })
    expect([next.action, codes(next.diagnostics)]).toEqual(['continue', ['late-failed']])
    expect(next.messages).toMatchObject([{ level: 'warning' }])
    expect(texts(next.messages)[0]).toContain('JSON')
  })

  it('may print more than the output limit, which is reported as a failure', async () => {
    const one = await opened('PostToolUse', `${ASYNC}; head -c 2000000 /dev/zero | tr '\\0' x`)
    await one.session.fire('PostToolUse', POST)
    const next = await afterwards(one)
    expect([next.injections, codes(next.diagnostics)]).toEqual([[], ['late-failed']])
  })

  it('can still read its input afterwards', async () => {
    const one = await opened('PostToolUse', `${ASYNC}; cat > "$CLAUDE_PROJECT_DIR/seen"`)
    await one.session.fire('PostToolUse', { ...POST, tool_response: 'x'.repeat(300_000) })
    await one.session.leave()
    expect(JSON.parse(project.read('seen')).tool_response).toHaveLength(300_000)
  })

  it('hands on variables that it sets afterwards', async () => {
    project.root({
      SessionStart: [group(`${ASYNC}; echo A=late >> "$CLAUDE_ENV_FILE"; echo oops >> "$CLAUDE_ENV_FILE"`)],
      PreToolUse: [group('echo "[$A]" >&2; exit 2')],
    })
    const hooks = await project.open()
    const session = hooks.session({ id: 's1', cwd: project.dir })
    await session.fire('SessionStart', {})
    const next = await afterwards({ hooks, session })
    expect([next.reason, codes(next.diagnostics)]).toEqual(['[late]', ['malformed-field']])
  })
})

describe('lines that do not count', NO_HANG, () => {
  it.each([
    ['says it later', `echo '{"systemMessage":"first"}'; ${ASYNC}`],
    ['says it false', `echo '{"async": false}'`],
    ['says it in a text', `echo 'this is {"async": true}'`],
    ['says it as part of more', `echo '{"async": true, "decision": "block"} x'`],
  ])('a hook that %s is waited for', async (_how, command) => {
    const { session } = await opened('PreToolUse', `${command}; touch "$CLAUDE_PROJECT_DIR/ended"`)
    const outcome = await session.fire('PreToolUse', BASH)
    expect(traces(outcome, 'detached')).toEqual([])
    expect(existsSync(project.path('ended'))).toBe(true)
  })

  it('an endless first line is not read forever', async () => {
    const { session } = await opened('PreToolUse', `head -c 100000 /dev/zero | tr '\\0' '{'; echo; exit 2`)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })
})

const CONTEXT: HookContext = {
  signal: new AbortController().signal,
  onAbort: () => {},
  session: undefined,
  outcome: undefined,
  note: () => {},
  onFailure: 'continue',
  printed: () => {},
  lastWord: () => {},
}

/** What a hook that has 5 seconds, and may have 300, answers at once. */
function answerOf(command: string, programs: Programs): unknown {
  const { run: _, ...hook } = laneHook('late', { timeoutMs: 5000 })
  const place = { projectDir: project.dir, hooksDir: project.dir }
  const spec = { hook, handler: { command }, place, env: 'inherit', longestMs: 300_000 } as const
  const made = commandHook(spec, { report: () => {} }, programs, new HandedOn())
  return made.run({ name: 'PostToolUse', data: POST, session: undefined }, CONTEXT)
}

it.each([
  [1, null],
  [3, null],
  [127, null],
  [null, 'SIGKILL'],
] as const)('has failed if it ended with %s %s right after that line', async (code, signal) => {
  const programs = new Programs()
  const stdout = '{"async": true}\n'
  programs.run = async () => ({ code, signal, stdout, stderr: '', cut: false })
  await expect(answerOf('unused', programs)).rejects.toMatchObject({ code: 'HOOK_EXIT' })
})

describe('its time', NO_HANG, () => {
  async function timeFor(line: string): Promise<number> {
    const programs = new Programs()
    const answer = await answerOf(`echo '${line}'`, programs)
    expect(answer).toBeInstanceOf(LateAnswer)
    const late = answer as LateAnswer
    await late.finish(CONTEXT)
    await programs.idle()
    return late.timeoutMs
  }

  it.each([
    ['what the line asks for, in milliseconds', '{"async":true,"asyncTimeout":60000}', 60_000],
    ['that of the hook where the line asks for less', '{"async":true,"asyncTimeout":1500}', 5000],
    ['that of the hook where the line asks for none', '{"async":true}', 5000],
    ['that of the hook where the line asks for nonsense', '{"async":true,"asyncTimeout":"1"}', 5000],
    ['never above max_timeout', '{"async":true,"asyncTimeout":300001}', 300_000],
    ['never above max_timeout, not for ever either', '{"async":true,"asyncTimeout":1e999}', 300_000],
  ])('is %s', async (_what, line, expected) => {
    expect(await timeFor(line)).toBe(expected)
  })

  it('over, it is ended, and the user is told', async () => {
    const one = await opened('PostToolUse', { command: `${ASYNC}; ${never}`, timeout: 0.3 })
    await one.session.fire('PostToolUse', POST)
    const next = await afterwards(one)
    expect(codes(next.diagnostics)).toEqual(['late-failed'])
    expect(texts(next.messages)[0]).toContain('0.3 s')
    await until('it is gone', () => project.running().length === 0)
  })
})

describe('its end', NO_HANG, () => {
  const working = `${ASYNC}; touch "$CLAUDE_PROJECT_DIR/works"; ${never}`

  it('does not come with an abort of the fire that began it', async () => {
    const one = await opened('PostToolUse', `${ASYNC}; ${waitFor('go')}; ${context('all the same')}`)
    const controller = new AbortController()
    const readOn = new Promise<void>((resolve) => {
      const waits = () => {
        resolve()
        return new Promise<never>(() => {})
      }
      one.hooks.register('PostToolUse', waits, { priority: 30 }) // so that it runs when the line was read
    })
    const fired = one.session.fire('PostToolUse', POST, { signal: controller.signal })
    await readOn
    controller.abort()
    await expect(fired).rejects.toMatchObject({ code: 'ABORTED' })
    go()
    expect(texts((await afterwards(one)).injections)).toEqual(['all the same'])
  })

  it('is waited for by close()', async () => {
    const { hooks, session } = await opened(
      'PostToolUse',
      `${ASYNC}; ${waitFor('go')}; touch "$CLAUDE_PROJECT_DIR/done"`,
    )
    await session.fire('PostToolUse', POST)
    const closed = hooks.close()
    go()
    await closed
    expect(existsSync(project.path('done'))).toBe(true)
  })

  it('comes with close({ abort: true }), for its whole group', async () => {
    const { hooks, session } = await opened('PostToolUse', `${working} & wait`)
    await session.fire('PostToolUse', POST)
    await isThere('works')
    await hooks.close({ abort: true })
    expect(project.running()).toEqual([])
  })

  it('is ended with everything it started, and that is reported', async () => {
    const { hooks, session } = await opened('PostToolUse', `${ASYNC}; ${never} > /dev/null 2>&1 &`)
    await session.fire('PostToolUse', POST)
    await hooks.close()
    expect(project.running()).toEqual([])
    expect(codes(hooks.diagnostics)).toContain('left-running')
  })
})

describe('a program that continues, but whose rest is never taken', NO_HANG, () => {
  it('is ended by the signal it was started with', async () => {
    const [workshop, programs, controller] = [new Workshop(), new Programs(), new AbortController()]
    try {
      const goesOn = (line: string) => line === 'later'
      const going = await programs.run(
        workshop.script(`echo later; ${never}`),
        controller.signal,
        () => {},
        goesOn,
      )
      expect(going).toMatchObject({ stdout: 'later\n' })
      controller.abort()
      await programs.idle()
      await workshop.noneRunning()
    } finally {
      workshop.close()
    }
  })

  it('is ended by the new signal, not the first one, once its rest is taken', async () => {
    const [workshop, programs] = [new Workshop(), new Programs()]
    const [old, now] = [new AbortController(), new AbortController()]
    try {
      const script = workshop.script(`echo later; ${never}`)
      const going = await programs.run(
        script,
        old.signal,
        () => {},
        () => true,
      )
      if (!('rest' in going)) throw new Error('it ended')
      const rest = going.rest(now.signal)
      old.abort()
      expect(workshop.running().length).toBeGreaterThan(0)
      now.abort(new Error('enough'))
      await expect(rest).rejects.toThrow('enough')
      await programs.idle()
      await workshop.noneRunning()
    } finally {
      workshop.close()
    }
  })
})

describe('asyncRewake', NO_HANG, () => {
  const wakes = (command: string, more: object = {}) => ({ command, asyncRewake: true, ...more })

  it('exit code 2 wakes the model with what stands on standard error', async () => {
    const heard: ContextMessage[] = []
    const wake = (message: ContextMessage) => void heard.push(message)
    const { hooks, session } = await opened('Stop', wakes('echo out; echo tests fail >&2; exit 2'), { wake })
    expect((await session.fire('Stop')).action).toBe('continue')
    await hooks.close()
    expect(heard).toMatchObject([{ role: 'system', content: 'tests fail', metadata: { event: 'Stop' } }])
  })

  it.each([
    ['standard output where the other is empty', 'echo out; exit 2', 'out'],
    ['its own name where it says nothing', 'exit 2', 'Hook project:Stop#1 exited with 2'],
  ])('or with %s', async (_what, command, expected) => {
    const heard: string[] = []
    const wake = ({ content }: ContextMessage) => void heard.push(content)
    const { hooks, session } = await opened('Stop', wakes(command), { wake })
    await session.fire('Stop')
    await hooks.close()
    expect(heard).toEqual([expected])
  })

  it('rewakeMessage stands before it, rewakeSummary is for the user', async () => {
    const heard: string[] = []
    const wake = ({ content }: ContextMessage) => void heard.push(content)
    const more = { rewakeMessage: 'The tests say:', rewakeSummary: 'Tests failed' }
    const one = await opened('Stop', wakes('echo 3 fail >&2; exit 2', more), { wake })
    await one.session.fire('Stop')
    const next = await afterwards(one)
    expect(heard).toEqual(['The tests say:\n3 fail'])
    expect([texts(next.injections), texts(next.messages)]).toEqual([[], ['Tests failed']])
  })

  it('if the host has no wake, the model hears of it with the next event', async () => {
    const one = await opened('Stop', wakes('echo 3 fail >&2; exit 2'))
    await one.session.fire('Stop')
    const next = await afterwards(one)
    expect(texts(next.injections)).toEqual(['3 fail'])
    expect(codes(one.hooks.diagnostics)).toEqual(['wake-waits'])
  })

  it.each([
    ['0', 'echo fine >&2'],
    ['1', 'echo broken >&2; exit 1'],
  ])('exit code %s wakes nobody', async (_code, command) => {
    const heard: unknown[] = []
    const { hooks, session } = await opened('Stop', wakes(command), { wake: (one) => void heard.push(one) })
    await session.fire('Stop')
    await hooks.close()
    expect(heard).toEqual([])
  })

  it('a failure is reported like that of any async hook', async () => {
    const one = await opened('Stop', wakes('echo broken >&2; exit 1'))
    await one.session.fire('Stop')
    const next = await afterwards(one)
    expect([codes(next.diagnostics), texts(next.messages)]).toEqual([
      ['late-failed'],
      [expect.stringContaining('broken')],
    ])
  })
})
