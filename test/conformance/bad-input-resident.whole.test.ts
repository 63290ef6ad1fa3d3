// Resident hooks that do not keep to the protocol, through the whole engine: every call returns with the documented
// outcome, and nobody is left behind.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import type { Session } from '../../src/core/session/session.js'
import type { Hooks } from '../../src/hooks.js'
import { createHooks } from '../../src/runtime.js'
import { Workshop } from '../runners/command/workshop.js'
import { MANNERS } from '../runners/process/hall.js'
import { until } from '../runners/until.js'

const MIB = 1024 * 1024
/** Well beyond the memory that it may take. */
const FLOOD = 1024 * MIB
/** Of what answers: a slow machine is no failure. */
const PATIENT = { intercept: 20, approve: 20, hello: 20 }
/** Of what never answers. */
const BRIEF = { intercept: 0.2, approve: 0.2, hello: 20 }
const PRE = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const BASH = { name: 'Bash', input: { command: 'ls' } }

let workshop: Workshop
let hooks: Hooks | undefined

beforeEach(() => {
  workshop = new Workshop()
})

/** Nobody is left, neither alive nor as a zombie of ours. */
afterEach(async () => {
  vi.unstubAllEnvs()
  try {
    if (hooks) await inTime('close()', hooks.close())
    expect(workshop.running()).toEqual([])
    // Who was just ended is reaped in one of the next turns.
    await until('every zombie is reaped', () => zombies().length === 0)
  } finally {
    hooks = undefined
    workshop.close()
  }
})

function zombies(): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,stat='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => {
    const [parent, state = ''] = line.trim().split(/\s+/)
    return Number(parent) === process.pid && state.startsWith('Z')
  })
}

/** Far beyond every deadline here: what takes longer hangs. */
async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not return`)), 120_000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

type Entry = Readonly<Record<string, unknown>>

/** A project whose hooks.json has these processes. */
async function opened(processes: Readonly<Record<string, Entry>>): Promise<Session> {
  const folder = workshop.path('.amplifier/hooks')
  mkdirSync(folder, { recursive: true })
  const marked = Object.entries(processes).map(([name, entry]) => [
    name,
    { timeouts: PATIENT, env: { CARABINER_TEST_MARK: workshop.mark }, ...entry },
  ])
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ processes: Object.fromEntries(marked) }))
  hooks = await createHooks({
    projectDir: workshop.folder,
    home: workshop.path('home'),
    trust: 'all',
    globals: false,
  })
  return hooks.session()
}

/** A program after its manners, which are to answer everything with a deny. */
function program(text: string): Entry {
  return { command: [process.execPath, workshop.file('hook.cjs', MANNERS + text)] }
}

function script(text: string): Entry {
  return { command: ['/bin/sh', '-c', text] }
}

const HELLO = `read -r hello; echo '{"id":1,"result":{"ok":true}}'`

const fired = (session: Session): Promise<Outcome> => inTime('fire()', session.fire('PreToolUse', PRE))

/** What was noted in these outcomes and outside any. */
function notes(...outcomes: readonly Outcome[]): string {
  const all = [...outcomes.flatMap(({ diagnostics }) => diagnostics), ...(hooks?.diagnostics ?? [])]
  return all.map(({ code, text }) => `${code} ${text}`).join('\n')
}

/** Each role, and what its failure counts as. */
const ROLES = [
  ['an interceptor goes on', { intercept: ['before_tool'] }, 'continue'],
  [
    'an interceptor with onFailure "block" denies',
    { intercept: ['before_tool'], onFailure: 'block' },
    'deny',
  ],
  ['an approver denies', { intercept: ['approve_tool'] }, 'deny'],
  [
    'an approver with onFailure "continue" goes on',
    { intercept: ['approve_tool'], onFailure: 'continue' },
    'continue',
  ],
] as const

/** The outcome of a failure: verdict, trace and warning agree, and name the hook and what to do. */
function expectFailure(outcome: Outcome, action: 'continue' | 'deny', why: string, says: RegExp): void {
  expect(outcome.action).toBe(action)
  expect(outcome.hooks).toMatchObject([
    { name: 'project:gate', status: 'failed', why, detail: expect.stringMatching(says) },
  ])
  const consequence = action === 'deny' ? 'its gate stays closed' : 'the operation went on without it'
  expect(outcome.messages).toMatchObject([
    { level: 'warning', source: 'project:gate', text: expect.stringMatching(says) },
  ])
  expect(outcome.messages[0]?.text).toContain(`Hook project:gate (`)
  expect(outcome.messages[0]?.text).toContain(consequence)
  if (action === 'continue') expect(outcome.reason).toBeUndefined()
  else {
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\): project:gate: /)
    expect(outcome.reason).toMatch(says)
  }
}

describe.each(ROLES)('%s', (_, role, action) => {
  const DOWN = /it is down: .*; it may be restarted in \d+\.\d s/s

  test('if its process exits at once', async () => {
    const entry = script('echo "no module named x" >&2; exit 3')
    const session = await opened({ gate: { ...entry, ...role, restart: { delay: 60, maxDelay: 60 } } })
    const says = /it exited with code 3 before it answered hook\.hello; .*no module named x.*/
    expectFailure(await fired(session), action, 'HOOK_NOT_STARTED', says)
    expectFailure(await fired(session), action, 'HOOK_NOT_STARTED', DOWN)
  })

  test('if its process never says hello, ignores the end of its input, and TERM', async () => {
    const entry = script(`trap '' TERM; while :; do sleep 1; done`)
    const session = await opened({ gate: { ...entry, ...role, timeouts: { ...PATIENT, hello: 0.3 } } })
    const says = /it did not answer hook\.hello within 0\.3 s/
    expectFailure(await fired(session), action, 'HOOK_NOT_STARTED', says)
  })

  test('if its process sends half a line and stalls, and ignores TERM', async () => {
    const entry = program(`
      process.on('SIGTERM', () => {})
      setInterval(() => {}, 1000)
      other = ({ id }) => process.stdout.write('{"jsonrpc":"2.0","id":' + id)`)
    const session = await opened({ gate: { ...entry, ...role, timeouts: BRIEF } })
    const says = /it did not answer within its 0\.2 s/
    expectFailure(await fired(session), action, 'HOOK_TIMEOUT', says)
    expect(workshop.running()).toHaveLength(1)
  })

  test('if its process closes its input', async () => {
    const entry = script(
      `read -r hello; exec <&-; echo '{"id":1,"result":{"ok":true}}'; while :; do sleep 1; done`,
    )
    const session = await opened({ gate: { ...entry, ...role } })
    expectFailure(await fired(session), action, 'HOOK_FAILED', /it closed its input during a call/)
    await workshop.noneRunning()
  })

  test('if its process is killed in the middle of 64 calls, all of them', async () => {
    const entry = program(`
      let calls = 0
      other = () => { if (++calls === 64) process.kill(process.pid, 'SIGKILL') }`)
    const restart = { delay: 60, maxDelay: 60 }
    const session = await opened({ gate: { ...entry, ...role, restart } })
    const outcomes = await Promise.all(Array.from({ length: 64 }, () => fired(session)))
    for (const outcome of outcomes) {
      expectFailure(outcome, action, 'HOOK_FAILED', /it was killed by SIGKILL during a call/)
    }
    expectFailure(await fired(session), action, 'HOOK_NOT_STARTED', DOWN)
  })
})

describe('noise hides no verdict, and is noted', () => {
  const REFUSAL = {
    before_tool: `{ action: 'deny_tool', reason: 'no' }`,
    approve_tool: `{ approved: false, reason: 'no' }`,
  }
  const CONSENT = { before_tool: `{ action: 'continue' }`, approve_tool: `{ approved: true }` }

  describe.each(['before_tool', 'approve_tool'] as const)('%s', (method) => {
    const refuse = `reply(id, ${REFUSAL[method]})`
    const consent = (id: string) => `reply(${id}, ${CONSENT[method]})`

    test.each([
      [
        'hello twice',
        `on['hook.hello'] = (_, id) => { reply(id, { ok: true }); reply(id, { ok: false }) }; other = ({ id }) => ${refuse}`,
        'A second reply to call 1 was dropped',
      ],
      [
        'unknown ids, also those of calls to come',
        `other = ({ id }) => { ${consent('id + 1')}; ${consent('99')}; ${consent('"x"')}; ${consent('null')}; ${refuse} }`,
        'A reply with the id 99 was dropped: there is no such call',
      ],
      [
        'two answers: the first counts',
        `other = ({ id }) => { ${refuse}; ${consent('id')} }`,
        'A second reply to call 2 was dropped',
      ],
      [
        'its log on standard output',
        `console.log('starting'); other = ({ id }) => { console.log({ id }); ${refuse} }`,
        'starting',
      ],
      [
        'requests to us, which are refused',
        `let asked; other = ({ id, error }) => { if (error) { id = asked; ${refuse} } else { asked = id; send({ id, method: 'agent.run' }) } }`,
        'The request "agent.run" was refused',
      ],
      [
        'notifications to us',
        `other = ({ id }) => { send({ method: 'agent.stop' }); ${refuse} }`,
        'The notification "agent.stop" was dropped',
      ],
    ])('%s', async (_, text, noted) => {
      const session = await opened({ gate: { ...program(text), intercept: [method] } })
      const outcomes = [await fired(session), await fired(session)]
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ action: 'deny', reason: 'no', messages: [] })
      await until('it is noted', () => notes(...outcomes).includes(noted))
      expect(notes(...outcomes)).toContain('rpc-noise project:gate: ')
    })
  })
})

describe('other calls of the agent', () => {
  const DIES = `other = () => process.exit(6)`
  const REQUEST = { model: 'small', messages: [{ role: 'user', content: 'hello' }], tools: [] }

  test('a tool runs once, with its own arguments, where its interceptors died', async () => {
    const session = await opened({
      gate: { ...program(DIES), intercept: ['before_tool', 'after_tool'], restart: false },
    })
    const inputs: unknown[] = []
    const run = (input: unknown) => inputs.push(input) && 'ran'
    const called = await inTime('callTool()', session.callTool(BASH, run))
    expect(called).toMatchObject({ status: 'ok', result: 'ran' })
    expect(inputs).toEqual([BASH.input])
    expectFailure(called.outcome, 'continue', 'HOOK_FAILED', /it exited with code 6 during a call/)
  })

  test('a tool does not run where its approver died', async () => {
    const session = await opened({ gate: { ...program(DIES), intercept: ['approve_tool'] } })
    const called = await inTime(
      'callTool()',
      session.callTool(BASH, () => expect.unreachable()),
    )
    expect(called.status).toBe('denied')
    expectFailure(called.outcome, 'deny', 'HOOK_FAILED', /it exited with code 6 during a call/)
  })

  test('a model is asked as the agent meant it where before_llm died', async () => {
    const session = await opened({ gate: { ...program(DIES), intercept: ['before_llm'] } })
    const asked: unknown[] = []
    const called = await inTime(
      'callModel()',
      session.callModel(REQUEST, (request) => asked.push(request) && 'hi'),
    )
    expect(called).toMatchObject({ status: 'ok', response: 'hi' })
    expect(asked).toEqual([REQUEST])
    expectFailure(called.outcome, 'continue', 'HOOK_FAILED', /it exited with code 6 during a call/)
  })

  test('a model is not asked where before_llm died that must not fail', async () => {
    const gate = { ...program(DIES), intercept: ['before_llm'], onFailure: 'block' }
    const session = await opened({ gate })
    const called = await inTime(
      'callModel()',
      session.callModel(REQUEST, () => expect.unreachable()),
    )
    expect(called.status).toBe('denied')
    expectFailure(called.outcome, 'deny', 'HOOK_FAILED', /it exited with code 6 during a call/)
  })

  test('a conversation that comes back longer than a line may be fails at once, and stays as it was', async () => {
    const text = `on['hook.before_llm'] = ({ messages }, id) => reply(id, { action: 'modify', request: { messages: [...messages, ...messages] } })`
    const session = await opened({ gate: { ...program(text), intercept: ['before_llm'] } })
    const messages = Array.from({ length: 50 }, () => ({ role: 'user', content: 'x'.repeat(100_000) }))
    const asked: { readonly messages: readonly unknown[] }[] = []
    const called = await inTime(
      'callModel()',
      session.callModel({ ...REQUEST, messages }, (request) => asked.push(request) && 'hi'),
    )
    expect(asked[0]?.messages).toHaveLength(50)
    expectFailure(called.outcome, 'continue', 'HOOK_FAILED', /The reply is longer than 1048576 bytes/)
  })

  test("one that is given up is ABORTED, and the process lives on; its late answer is nobody else's", async () => {
    const text = `
      let first
      other = ({ id }) => {
        if (first === undefined) { first = id; writeFileSync('asked', 'x') }
        else { deny(first, 'late'); deny(id, 'second ' + process.pid) }
      }`
    const session = await opened({ gate: { ...program(text), intercept: ['before_tool'] } })
    await givenUp(session)
    const [pid] = workshop.running()
    expect(await fired(session)).toMatchObject({ action: 'deny', reason: `second ${pid}` })
  })

  test('one that is given up leaves nobody who would be told of the end of the process: it is reported', async () => {
    const text = `
      other = () => {
        writeFileSync('asked', 'x')
        setInterval(() => { if (existsSync('go')) process.exit(6) }, 5)
      }`
    const session = await opened({ gate: { ...program(text), intercept: ['before_tool'] } })
    await givenUp(session)
    workshop.file('go', 'go')
    await workshop.noneRunning()
    await until('it is reported', () => notes().includes('process-ended project:gate: it exited with code 6'))
  })

  /** Until its process has read the call, and nobody waits for the answer any more. */
  async function givenUp(session: Session): Promise<void> {
    const controller = new AbortController()
    const call = session.fire('PreToolUse', PRE, { signal: controller.signal })
    await workshop.made('asked')
    controller.abort()
    await expect(inTime('fire()', call)).rejects.toMatchObject({ code: 'ABORTED' })
  }
})

describe('an observer holds nobody up', () => {
  const OBSERVER = { observe: ['tool_exec_start'], restart: { delay: 60, maxDelay: 60 } }

  test.each([
    ['exits at once', 'exit 3', PATIENT, 'HOOK_NOT_STARTED project:gate: it exited with code 3'],
    [
      'never says hello',
      'while :; do sleep 1; done',
      { ...PATIENT, hello: 0.2 },
      'HOOK_NOT_STARTED project:gate: it did not answer hook.hello within 0.2 s',
    ],
    [
      'is killed',
      `${HELLO}; read -r event; kill -9 $$`,
      PATIENT,
      'process-ended project:gate: it was killed by SIGKILL',
    ],
    [
      'closes its input and ignores TERM',
      `trap '' TERM; read -r hello; exec <&-; echo '{"id":1,"result":{"ok":true}}'; while :; do sleep 1; done`,
      PATIENT,
      'process-ended project:gate: it closed its input',
    ],
    [
      'answers what is no question',
      `${HELLO}; read -r event; echo '{"id":7,"result":{"action":"deny_tool"}}'; while read -r line; do :; done`,
      PATIENT,
      'rpc-noise project:gate: A reply with the id 7 was dropped',
    ],
  ])('that %s', async (_, text, timeouts, reported) => {
    const session = await opened({ gate: { ...script(text), ...OBSERVER, timeouts } })
    for (let event = 0; event < 3; event++) {
      expect(await fired(session)).toMatchObject({ action: 'continue', messages: [] })
    }
    await until('it is reported', () => notes().includes(reported))
  })
})

describe('a flood of 1 GB', () => {
  /** Answers after the flood, whatever it is asked. */
  const flooded = (flood: string) => `${HELLO}; read -r call; ${flood}; echo
    while read -r call; do id=\${call#*'"id":'}; id=\${id%%,*}
      echo '{"id":'$id',"result":{"action":"deny_tool","reason":"after the flood"}}'
    done`

  test.each([
    ['without a line break', `head -c ${FLOOD} /dev/zero`],
    ['in short lines of noise', `yes "$(head -c 4000 /dev/zero | tr '\\0' x)" | head -c ${FLOOD}`],
    ['on standard error', `head -c ${FLOOD} /dev/zero >&2`],
  ])('%s: memory is bounded, and calls return meanwhile', async (_, flood) => {
    const session = await opened({
      gate: { ...script(flooded(flood)), intercept: ['before_tool'], onFailure: 'block', timeouts: BRIEF },
    })
    const before = process.memoryUsage().rss
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 10)
    const outcomes: Outcome[] = []
    while (outcomes.at(-1)?.reason !== 'after the flood') outcomes.push(await fired(session))
    clearInterval(timer)
    for (const outcome of outcomes.slice(0, -1)) {
      expectFailure(outcome, 'deny', 'HOOK_TIMEOUT', /it did not answer within its 0\.2 s/)
    }
    expect(outcomes.length).toBeGreaterThan(1)
    expect(most - before).toBeLessThan(200 * MIB)
    expect(notes(...outcomes).split('\n').length).toBeLessThan(100 + outcomes.length)
  })
})

describe('processes that nobody wants any more', () => {
  test('close() in the middle of a start, and of a call, ends both', async () => {
    const session = await opened({
      silent: {
        ...script(`trap '' TERM; echo x > silent; while :; do sleep 1; done`),
        intercept: ['before_tool'],
      },
      mute: { ...program(`other = () => writeFileSync('mute', 'x')`), intercept: ['approve_tool'] },
    })
    const starting = fired(session)
    await workshop.made('silent')
    const [outcome] = await Promise.all([starting, inTime('close()', (hooks as Hooks).close())])
    expect(outcome.hooks[0]).toMatchObject({
      status: 'failed',
      why: 'HOOK_NOT_STARTED',
      detail: expect.stringContaining('the hooks were closed'),
    })
    expect(outcome.action).toBe('deny')
  })

  test('an observer that is told of an event after its entry was removed does not stay', async () => {
    const session = await opened({ gate: { ...program(''), observe: ['tool_exec_start'] } })
    const { promise: gate, resolve: open } = signal()
    const { promise: entered, resolve: enter } = signal()
    const held = hooks as Hooks
    held.register('PreToolUse', async () => {
      enter()
      await gate
    })
    const underWay = fired(session)
    await entered
    writeFileSync(workshop.path('.amplifier/hooks/hooks.json'), '{}')
    await held.reload()
    expect(held.list().map(({ kind }) => kind)).not.toContain('process')
    open()
    await underWay
    await until('it is reported', () =>
      notes().includes('observer-dropped project:gate: events for it are dropped'),
    )
    expect(workshop.running()).toEqual([])
  })

  test('a thousand sessions share one process', async () => {
    const text = `on['hook.before_tool'] = ({ meta }, id) => deny(id, meta.SessionKey + ' ' + process.pid)`
    await opened({ gate: { ...program(text), intercept: ['before_tool'] } })
    const sessions = Array.from({ length: 1000 }, (_, n) => (hooks as Hooks).session({ id: `s${n}` }))
    const outcomes = await Promise.all(sessions.map(fired))
    const [pid] = workshop.running()
    expect(outcomes.map(({ reason }) => reason)).toEqual(sessions.map((_, n) => `s${n} ${pid}`))
  })
})

test('what a process prints while nobody asks it is reported without secrets', async () => {
  vi.stubEnv('GATE_API_KEY', 'a-key-that-nobody-may-see')
  const text = `
    console.log('log ' + process.env.GATE_API_KEY)
    on['hook.event'] = () => { console.error('last ' + process.env.GATE_API_KEY); process.exit(1) }`
  const session = await opened({ gate: { ...program(text), observe: ['tool_exec_start'] } })
  await fired(session)
  await until('its end is reported', () => notes().includes('process-ended'))
  expect(notes()).toContain('last [redacted]')
  expect(notes()).toContain('log [redacted]')
  expect(notes()).not.toContain('a-key-that-nobody-may-see')
})

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
