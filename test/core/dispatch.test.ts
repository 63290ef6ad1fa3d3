// Who runs when, what each one sees, and what becomes of a hook that fails or is late.

import {
  abortTurn,
  askUser,
  createHooks,
  type Data,
  deny,
  type HookResult,
  type Hooks,
  type HooksOptions,
  hardAbort,
  hook,
  inject,
  modify,
  type Outcome,
  proceed,
  respond,
} from 'carabiner'
import { compileMatcher, type Hook, HookRegistry, type Run } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import { laneHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** A command hook in a lane of its own, as a runner would make it. */
const made = (name: string, run: Run, more: Partial<Hook> = {}) => laneHook(name, { run, ...more })

function withMade(hooks: readonly Hook[], options: HooksOptions = {}): Promise<Hooks> {
  const registry = new HookRegistry({ scope: 'global' })
  for (const one of hooks) registry.add(one)
  return createHooks({ ...options, globals: registry })
}

async function fireMade(hooks: readonly Hook[], options: HooksOptions = {}): Promise<Outcome> {
  return (await withMade(hooks, options)).session().fire('PreToolUse', BASH)
}

function latch<T = void>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open!: (value: T) => void
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

const statuses = ({ hooks }: Outcome) => hooks.map(({ name, status, why }) => [name, why ?? status])
const codes = ({ diagnostics }: Outcome) => diagnostics.map(({ code }) => code)
const commandOf = (data: Data) => (data.tool_input as Data).command
const never = () => new Promise<never>(() => {})

describe('an allow of a hook that has a condition', () => {
  const allows = (isSure: Hook['isSure'], answer = proceed({ permission: 'allow', userMessage: 'hi' })) =>
    fireMade([made('a', () => answer, isSure && { condition: () => true, isSure })])

  test('counts if the condition surely means the call', async () => {
    for (const isSure of [undefined, () => true]) expect((await allows(isSure)).permission).toBe('allow')
  })

  test('is dropped, and that is said, if it only may; the rest of the answer counts', async () => {
    const outcome = await allows(() => false)
    expect([outcome.action, outcome.permission, codes(outcome)]).toEqual([
      'continue',
      undefined,
      ['answer-misplaced'],
    ])
    expect(outcome.messages.map(({ text }) => text)).toContain('hi')
    expect((await allows(() => false, deny('no'))).action).toBe('deny')
  })
})

describe('order', () => {
  test('ascending priority, whatever the order of registration', async () => {
    const hooks = await createHooks({ globals: false })
    const ran: string[] = []
    for (const priority of [10, -5, 0, 2.5]) {
      hooks.register('PreToolUse', () => void ran.push(String(priority)), { priority })
    }
    await hooks.session().fire('PreToolUse', BASH)
    expect(ran).toEqual(['-5', '0', '2.5', '10'])
  })

  test('among equals: global before host before session, then as registered', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({ globals })
    const ran: string[] = []
    const note = (name: string) => () => void ran.push(name)
    const session = hooks.session({ hooks: [hook('PreToolUse', note('session'))] })
    session.register('PreToolUse', note('session later'))
    hooks.register('PreToolUse', note('host'))
    hooks.register('PreToolUse', note('host later'))
    globals.register('PreToolUse', note('global'))
    globals.register('PreToolUse', note('global later'))
    await session.fire('PreToolUse', BASH)
    expect(ran).toEqual(['global', 'global later', 'host', 'host later', 'session', 'session later'])
  })

  test('priority counts before scope', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({ globals })
    const ran: string[] = []
    globals.register('PreToolUse', () => void ran.push('global'), { priority: 1 })
    const session = hooks.session()
    session.register('PreToolUse', () => void ran.push('session'))
    await session.fire('PreToolUse', BASH)
    expect(ran).toEqual(['session', 'global'])
  })

  test('in-process before configured at one priority: functions, resident hooks, then the shared step', async () => {
    const ran: string[] = []
    const note = (name: string) => () => void ran.push(name)
    await fireMade([
      made('command', note('command'), { priority: 0 }),
      made('resident', note('resident'), { priority: 0, kind: 'process', lane: null }),
      made('function', note('function'), { priority: 0, kind: 'function', lane: null }),
    ])
    expect(ran).toEqual(['function', 'resident', 'command'])
  })

  test('a hook of every event stands where its priority puts it', async () => {
    const hooks = await createHooks({ globals: false })
    const ran: string[] = []
    hooks.register('PreToolUse', () => void ran.push('one event'), { priority: 1 })
    hooks.register('*', (event) => void ran.push(`every event: ${event}`))
    await hooks.session().fire('tool:pre', BASH)
    expect(ran).toEqual(['every event: PreToolUse', 'one event'])
  })

  test('functions are a step each: the later one sees what the earlier one changed', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register('PreToolUse', async () => modify({ tool_input: { command: 'ls -a' } }))
    hooks.register('PreToolUse', (_, { tool_input }) => void seen.push(tool_input.command))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(seen).toEqual(['ls -a'])
    expect(commandOf(outcome.data)).toBe('ls -a')
    expect(outcome.modified).toBe(true)
  })

  test('a function that denies ends the chain, and those behind it are in the trace', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => deny('no'), { name: 'gate' })
    hooks.register('PreToolUse', () => abortTurn('later'), { name: 'behind' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(statuses(outcome)).toEqual([
      ['gate', 'ran'],
      ['behind', 'ended'],
    ])
  })

  test('an ask or a respond ends nothing: a later deny still counts', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => askUser('may I?'))
    hooks.register('PreToolUse', () => respond('an answer'))
    hooks.register('PreToolUse', () => deny('no'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(outcome.response).toBeUndefined()
  })
})

describe('steps and lanes', () => {
  test('the lanes of one step run at once', async () => {
    const started = { first: latch(), second: latch() }
    const outcome = await fireMade([
      made('first', async () => {
        started.first.open()
        await started.second.promise
        return inject('one')
      }),
      made('second', async () => {
        started.second.open()
        await started.first.promise
        return inject('two')
      }),
    ])
    expect(outcome.injections.map(({ text }) => text)).toEqual(['one', 'two'])
  })

  test('an abort reaches the hooks of every lane, and all of them are in the trace', async () => {
    const signals: AbortSignal[] = []
    const controller = new AbortController()
    const run: Run = (_, { signal }) => {
      if (signals.push(signal) === 3) queueMicrotask(() => controller.abort())
      return never()
    }
    const hooks = await withMade(['a', 'b', 'c'].map((name) => made(name, run)))
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    const error = await fired.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ABORTED', outcome: { hooks: [{}, {}, {}] } })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true])
  })

  test('the hooks of one lane run one after another and thread data', async () => {
    const seen: unknown[] = []
    const lane = { lane: 'group' }
    const outcome = await fireMade([
      made('first', async () => modify({ tool_input: { command: 'ls 1' } }), lane),
      made(
        'second',
        ({ data }) => {
          seen.push(commandOf(data))
          return modify({ tool_input: { command: `${commandOf(data)} 2` } })
        },
        lane,
      ),
    ])
    expect(seen).toEqual(['ls 1'])
    expect(commandOf(outcome.data)).toBe('ls 1 2')
    expect(codes(outcome)).not.toContain('conflict')
  })

  test('lanes do not see each other; their changes are joined, and the next step sees them together', async () => {
    const seen: Record<string, Data> = {}
    const see = (name: string, patch: object) =>
      made(name, ({ data }) => {
        seen[name] ??= data
        return modify(patch)
      })
    const outcome = await fireMade([
      see('first', { one: 1 }),
      see('second', { two: 2 }),
      made('next step', ({ data }) => void Object.assign(seen, { next: data }), { priority: 30 }),
    ])
    expect(seen.second).not.toHaveProperty('one')
    expect(seen.next).toMatchObject({ one: 1, two: 2 })
    expect(outcome.data).toMatchObject({ one: 1, two: 2 })
    const first = outcome.hooks.filter(({ finalLook }) => !finalLook)
    expect(first.map(({ changed }) => changed)).toEqual([['one'], ['two'], undefined])
  })

  test('a deny ends its lane; siblings finish; later steps do not start', async () => {
    const ran: string[] = []
    const note = (name: string, answer = proceed()) => {
      return async () => {
        ran.push(name)
        return answer
      }
    }
    const outcome = await fireMade([
      made('gate', note('gate', deny('no')), { lane: 'group' }),
      made('behind the gate', note('behind the gate'), { lane: 'group' }),
      made('sibling', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        ran.push('sibling')
        return inject('from the sibling')
      }),
      made('next step', note('next step'), { priority: 30 }),
    ])
    expect(ran).toEqual(['gate', 'sibling'])
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(outcome.injections.map(({ text }) => text)).toEqual(['from the sibling'])
    expect(Object.fromEntries(statuses(outcome))).toEqual({
      gate: 'ran',
      'behind the gate': 'ended',
      sibling: 'ran',
      'next step': 'ended',
    })
  })

  test.each([
    ['deny', 'abort_turn', deny('low'), abortTurn('high')],
    ['abort_turn', 'hard_abort', abortTurn('low'), hardAbort('high')],
    ['respond', 'deny', respond('low'), deny('high')],
    ['ask_user', 'deny', askUser('low'), deny('high')],
  ])('inside a step %s never hides %s', async (_, action, low, high) => {
    for (const answers of [
      [low, high],
      [high, low],
    ]) {
      const outcome = await fireMade(answers.map((answer, i) => made(`hook ${i}`, async () => answer)))
      expect(outcome).toMatchObject({ action, reason: 'high' })
    }
  })

  test('two lanes change one key: the later in configuration order wins, though it finished first', async () => {
    const second = latch()
    const outcome = await fireMade([
      made('first', async () => {
        await second.promise
        return modify({ tool_input: { command: 'first' } })
      }),
      made('second', async () => {
        second.open()
        return modify({ tool_input: { command: 'second' } })
      }),
    ])
    expect(commandOf(outcome.data)).toBe('second')
    const conflicts = outcome.diagnostics.filter(({ code }) => code === 'conflict')
    expect(conflicts).toHaveLength(1)
    expect(conflicts[0]?.text).toMatch(/first.*second.*tool_input/)
  })

  test('the same value from two lanes is no conflict', async () => {
    const same = () => modify({ tool_input: { command: 'same' } })
    const outcome = await fireMade([made('first', same), made('second', same)])
    expect(commandOf(outcome.data)).toBe('same')
    expect(codes(outcome)).toEqual([])
  })

  test('a field under its two names is one field: changing it under either is a conflict', async () => {
    const events = new Set(['PostToolUse'])
    const hooks = await withMade([
      made('first', () => modify({ tool_response: 'first' }), { events }),
      made('second', () => modify({ tool_result: 'second' }), { events }),
    ])
    const outcome = await hooks.session().fire('PostToolUse', { ...BASH, tool_response: 'sent' })
    expect(outcome.data).toMatchObject({ tool_response: 'second', tool_result: 'second' })
    expect(codes(outcome)).toContain('conflict')
  })

  test('a conflict with a sequential lane is reported once, between lanes', async () => {
    const rewrite = (command: string) => () => modify({ tool_input: { command } })
    const outcome = await fireMade([
      made('alone', rewrite('a')),
      made('group 1', rewrite('b'), { lane: 'group' }),
      made('group 2', rewrite('c'), { lane: 'group' }),
    ])
    expect(commandOf(outcome.data)).toBe('c')
    const conflicts = outcome.diagnostics.filter(({ code }) => code === 'conflict')
    expect(conflicts.every(({ text }) => text.includes('alone'))).toBe(true)
    expect(conflicts.length).toBeGreaterThan(0)
  })

  test('what a step decides does not depend on who finishes first', async () => {
    const answers = [
      proceed({ data: { tool_input: { command: 'a' }, extra: 'a' }, contextInjection: 'text a' }),
      deny('b says no', { data: { tool_input: { command: 'b' } }, userMessage: 'message b' }),
      deny('c says no', { contextInjection: 'text c', userMessage: 'message c' }),
    ]
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    const outcomes: unknown[] = []
    for (const order of orders) {
      const turns = answers.map(() => latch())
      turns[order[0] as number]?.open()
      const lanes = answers.map((answer, i) =>
        made(`hook ${i}`, async () => {
          await turns[i]?.promise
          turns[order[order.indexOf(i) + 1] ?? -1]?.open()
          return answer
        }),
      )
      const { hooks, data, ...outcome } = await fireMade(lanes)
      const { timestamp: _, session_id: __, ...call } = data
      outcomes.push({ ...outcome, call, hooks: hooks.map(({ ms: _, ...trace }) => trace) })
    }
    expect(outcomes[0]).toMatchObject({
      action: 'deny',
      reason: 'b says no',
      call: { tool_input: { command: 'b' }, extra: 'a' },
      injections: [{ text: 'text a' }, { text: 'text c' }],
      messages: [{ text: 'message b' }, { text: 'message c' }],
    })
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
  })
})

describe('rewrites cannot dodge a guard', () => {
  const rename = (to: string) => () => modify({ tool_name: to })

  test('a guard that was skipped by its matcher runs when a later hook makes it match', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => deny('no writing'), { name: 'guard', matcher: 'Write' })
    hooks.register('PreToolUse', rename('Write'), { name: 'rename', priority: 5 })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no writing' })
    expect(statuses(outcome)).toEqual([
      ['rename', 'ran'],
      ['guard', 'ran'],
    ])
  })

  test('a guard that was skipped by its condition runs when a later hook makes it hold', async () => {
    const condition: Hook['condition'] = ({ data }) => commandOf(data) === 'rm' || 'no rm in it'
    const outcome = await fireMade([
      made('guard', () => deny('no rm'), { condition, priority: 1 }),
      made('rewrite', () => modify({ tool_input: { command: 'rm' } }), { priority: 2 }),
    ])
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no rm' })
    expect(statuses(outcome)).toEqual([
      ['guard', 'if'],
      ['rewrite', 'ran'],
      ['guard', 'ran'],
    ])
  })

  test('conditions and matchers see the data as it is when their step begins', async () => {
    const asked: unknown[] = []
    const condition: Hook['condition'] = ({ data }) => {
      asked.push(commandOf(data))
      return true
    }
    const lane = { lane: 'group' }
    await fireMade([
      made('rewrite', () => modify({ tool_input: { command: 'changed' } }), { ...lane }),
      made('same step', () => undefined, { ...lane, condition }),
      made('next step', () => undefined, { condition, priority: 30 }),
    ])
    expect(asked).toEqual(['ls', 'changed'])
  })

  test('a hook that no longer matches is skipped, visibly', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', rename('Write'), { name: 'rename' })
    hooks.register('PreToolUse', () => deny('no bash'), { name: 'bash only', matcher: 'Bash', priority: 5 })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(statuses(outcome)).toEqual([
      ['rename', 'ran'],
      ['bash only', 'matcher'],
    ])
  })

  /** Each hook makes one match that stands before it, so that every change needs a round of its own. */
  async function chain(length: number): Promise<Outcome> {
    const hooks = await createHooks({ globals: false })
    for (let i = 0; i < length; i++) {
      const options = { name: `hook ${i}`, matcher: `Tool${i}`, priority: -i }
      hooks.register('PreToolUse', rename(`Tool${i + 1}`), options)
    }
    return hooks.session().fire('PreToolUse', { tool_name: 'Tool0', tool_input: {} })
  }

  test('three more rounds are run', async () => {
    const outcome = await chain(4)
    expect(outcome.action).toBe('continue')
    expect(outcome.data.tool_name).toBe('Tool4')
    expect(outcome.hooks.filter(({ status }) => status === 'ran')).toHaveLength(4)
  })

  test('a fourth is not: the call is denied as unstable', async () => {
    const outcome = await chain(5)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^HOOK_UNSTABLE/)
    expect(outcome.hooks.filter(({ status }) => status === 'ran')).toHaveLength(4)
  })

  test('recheck "skipped": a gate that judged an older version is reported as stale, and not asked again', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'skipped' } })
    let asked = 0
    hooks.register('PreToolUse', () => void asked++, { name: 'gate' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm' } }), { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(asked).toBe(1)
    const stale = outcome.diagnostics.filter(({ code }) => code === 'stale')
    expect(stale).toHaveLength(1)
    expect(stale[0]?.text).toMatch(/gate.*recheck/)
  })

  test('recheck "skipped": a gate that judged an older version inside a sequential lane is reported once', async () => {
    const outcome = await fireMade(
      [
        made('gate', () => undefined, { lane: 'group' }),
        made('rewrite', () => modify({ tool_input: { command: 'rm' } }), { lane: 'group' }),
      ],
      { settings: { recheck: 'skipped' } },
    )
    expect(codes(outcome)).toEqual(['stale'])
  })

  test('nothing is stale where the data did not change in the end', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => undefined, { name: 'gate' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm' } }), { name: 'there' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'ls' } }), { name: 'and back' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(commandOf(outcome.data)).toBe('ls')
    expect(outcome.diagnostics.filter(({ text }) => text.startsWith('gate'))).toEqual([])
  })

  test('recheck "all" shows the gate the final call, and its deny counts', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    const gate = (_: string, data: { readonly tool_input: Data }) =>
      data.tool_input.command === 'rm' ? deny('no rm') : undefined
    hooks.register('PreToolUse', gate, { name: 'gate' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm' } }), { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no rm' })
    expect(codes(outcome)).not.toContain('stale')
  })

  test('recheck "all" asks nobody twice about the same call', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    const ran: string[] = []
    hooks.register('PreToolUse', () => void ran.push('gate'))
    hooks.register('PreToolUse', () => {
      ran.push('rewrite')
      return modify({ tool_input: { command: 'rm' } })
    })
    hooks.register('PreToolUse', () => void ran.push('behind'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(ran).toEqual(['gate', 'rewrite', 'behind', 'gate'])
    expect(outcome.action).toBe('continue')
  })

  test.each<[string, HookResult, string]>([
    ['an explicit allow', proceed({ permission: 'allow' }), 'permission'],
    ['a respond', respond('the files'), 'response'],
  ])(
    'recheck "all": %s for an older version of the call does not hold for the final one',
    async (_, answer, key) => {
      const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
      const judge = (_: string, { tool_input }: { readonly tool_input: Data }) =>
        tool_input.command === 'ls' ? answer : undefined
      hooks.register('PreToolUse', judge, { name: 'judge' })
      const session = hooks.session()
      expect(await session.fire('PreToolUse', BASH)).toHaveProperty(key)
      hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm' } }), { name: 'rewrite' })
      const outcome = await session.fire('PreToolUse', BASH)
      expect(outcome.action).toBe('continue')
      expect(outcome).not.toHaveProperty(key)
    },
  )

  test('every candidate is in the trace, also where some ran more than once', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    hooks.register('PreToolUse', () => undefined, { name: 'gate' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm' } }), { name: 'rewrite' })
    hooks.register('PreToolUse', () => undefined, { name: 'idle', matcher: 'Write' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(new Set(outcome.hooks.map(({ name }) => name))).toEqual(new Set(['gate', 'rewrite', 'idle']))
  })

  test('hooks that keep rewriting each other’s changes are denied as unstable', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    let runs = 0
    const append =
      (letter: string) =>
      (_: string, { tool_input }: { readonly tool_input: Data }) => {
        runs++
        return modify({ tool_input: { command: `${tool_input.command}${letter}` } })
      }
    hooks.register('PreToolUse', append('a'))
    hooks.register('PreToolUse', append('b'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^HOOK_UNSTABLE/)
    expect(runs).toBeLessThanOrEqual(8)
  })

  test('unstable does not hide an abort', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    let round = 0
    hooks.register('PreToolUse', () => {
      round++
      return round === 3 ? hardAbort('enough') : modify({ tool_input: { command: `a${round}` } })
    })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: `b${round}` } }))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'hard_abort', reason: 'enough' })
  })

  test('an approver sees the final call, may not change it, and can refuse it', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register(
      'PreToolUse',
      (_, { tool_input }) => {
        seen.push(tool_input.command)
        return modify({ tool_input: { command: 'by the approver' } })
      },
      { name: 'approver', role: 'approve', priority: -100 },
    )
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'final' } }))
    const session = hooks.session()
    const outcome = await session.fire('PreToolUse', BASH)
    expect(seen).toEqual(['final'])
    expect(commandOf(outcome.data)).toBe('final')
    expect(outcome.diagnostics.map(({ text }) => text).join()).toMatch(/approver/)

    hooks.register('PreToolUse', () => deny('not approved'), { role: 'approve' })
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'not approved' })
  })

  test('approvers are not asked about a call that is denied already', async () => {
    const hooks = await createHooks({ globals: false })
    let asked = 0
    hooks.register('PreToolUse', () => void asked++, { role: 'approve', name: 'approver' })
    hooks.register('PreToolUse', () => deny('no'), { name: 'gate' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(asked).toBe(0)
    expect(statuses(outcome)).toEqual([
      ['gate', 'ran'],
      ['approver', 'ended'],
    ])
  })

  test('all approvers must approve: the first that refuses gives the reason', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => undefined, { role: 'approve' })
    hooks.register('PreToolUse', () => deny('first no'), { role: 'approve' })
    hooks.register('PreToolUse', () => deny('second no'), { role: 'approve' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'first no' })
  })

  test('an approver that fails refuses, also on an event where other failures are ignored', async () => {
    const hooks = await createHooks({ globals: false })
    const broken = () => {
      throw new Error('broken')
    }
    hooks.register('PreToolUse', broken, { role: 'approve' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/broken/)
  })
})

describe('time-outs', () => {
  test('a hook that is overdue has failed; its signal is aborted and the next hook runs', async () => {
    const hooks = await createHooks({ globals: false })
    let signal: AbortSignal | undefined
    let next = 0
    hooks.register(
      'PreToolUse',
      (_, __, context) => {
        signal = context.signal
        return never()
      },
      { name: 'slow', timeout: 0.02, onFailure: 'continue' },
    )
    hooks.register('PreToolUse', () => void next++)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks[0]).toMatchObject({ name: 'slow', status: 'failed', why: 'HOOK_TIMEOUT' })
    expect(outcome.messages[0]).toMatchObject({ level: 'warning', source: 'slow' })
    expect(signal?.aborted).toBe(true)
    expect(signal?.reason).toMatchObject({ code: 'HOOK_TIMEOUT' })
    expect(next).toBe(1)
  })

  test('an overdue gate denies', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', never, { name: 'gate', timeout: 0.02 })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\): gate/)
  })

  test.each([
    ['a deny', () => deny('too late')],
    ['a change', () => modify({ tool_input: { command: 'too late' } })],
    ['an injection', () => inject('too late')],
  ])('%s that comes late is dropped', async (_, answer) => {
    const late = latch()
    const outcome = await fireMade([
      made(
        'slow',
        async () => {
          await late.promise
          return answer()
        },
        { timeoutMs: 20, lane: null, kind: 'process' },
      ),
      made('next', async () => {
        late.open()
        await new Promise((resolve) => setImmediate(resolve))
        return undefined
      }),
    ])
    expect(outcome.action).toBe('continue')
    expect(commandOf(outcome.data)).toBe('ls')
    expect(outcome.injections).toEqual([])
    expect(statuses(outcome)).toEqual([
      ['slow', 'HOOK_TIMEOUT'],
      ['next', 'ran'],
    ])
  })

  test.each([
    ['deny', deny('no', { data: { tool_input: { command: 'too late' } } }), 'deny'],
    ['ask_user', askUser('ok?'), 'ask_user'],
    ['abort_turn', abortTurn('enough'), 'abort_turn'],
    ['hard_abort', hardAbort('enough'), 'hard_abort'],
    ['modify', modify({ tool_input: { command: 'too late' } }), 'continue'],
    ['inject_context', inject('too late'), 'continue'],
  ])('a hook that let no timer run is late: of its %s only what closes counts', async (_, answer, action) => {
    const busy = async () => {
      const end = performance.now() + 30
      while (performance.now() < end) {}
      return answer
    }
    const outcome = await fireMade([made('busy', busy, { timeoutMs: 10 })])
    expect([outcome.action, commandOf(outcome.data), outcome.injections]).toEqual([action, 'ls', []])
  })

  test('one overdue lane does not take its siblings with it', async () => {
    const outcome = await fireMade([
      made('slow', never, { timeoutMs: 20 }),
      made('quick', async () => inject('on time')),
    ])
    expect(statuses(outcome)).toEqual([
      ['slow', 'HOOK_TIMEOUT'],
      ['quick', 'ran'],
    ])
    expect(outcome.injections).toMatchObject([{ text: 'on time' }])
  })

  test('the next hook of a lane runs after one that was overdue', async () => {
    const outcome = await fireMade([
      made('slow', never, { timeoutMs: 20, lane: 'group' }),
      made('next', async () => deny('no'), { lane: 'group' }),
    ])
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('the time-out of a fire bounds all hooks together; those it cuts short or keeps from starting have failed', async () => {
    const hooks = await createHooks({ globals: false })
    const started: string[] = []
    hooks.register('PreToolUse', never, { name: 'running', onFailure: 'continue', observe: true })
    hooks.register('PreToolUse', () => void started.push('waiting'), { name: 'waiting' })
    const outcome = await hooks.session().fire('PreToolUse', BASH, { timeout: 0.02 })
    expect(started).toEqual([])
    expect(statuses(outcome)).toEqual([
      ['running', 'HOOK_TIMEOUT'],
      ['waiting', 'HOOK_TIMEOUT'],
    ])
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/waiting.*not started/)
  })

  test('the time-out of a fire reaches into lanes and to approvers', async () => {
    const outcome = await (
      await withMade([
        made('lane', never, { observe: true }),
        made('approver', () => undefined, { role: 'approve', lane: null, onFailure: 'block' }),
      ])
    )
      .session()
      .fire('PreToolUse', BASH, { timeout: 0.02 })
    expect(statuses(outcome)).toEqual([
      ['lane', 'HOOK_TIMEOUT'],
      ['approver', 'HOOK_TIMEOUT'],
    ])
    expect(outcome.action).toBe('deny')
  })

  test('a hook without a time-out before it does not cost a later hook its own', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', async () => undefined, { name: 'short', timeout: 0.02 })
    const while30ms = () => new Promise<undefined>((resolve) => setTimeout(resolve, 30, undefined))
    hooks.register('PreToolUse', while30ms, { name: 'unlimited', timeout: 1e9 })
    hooks.register('PreToolUse', never, { name: 'stuck', timeout: 0.02 })
    const fired = hooks.session().fire('PreToolUse', BASH)
    const stuck = new Promise<'never answered'>((resolve) =>
      setTimeout(resolve, 60_000, 'never answered').unref(),
    )
    expect(await Promise.race([fired, stuck])).toMatchObject({ action: 'deny' })
  })

  test('a hook in a lane that fails is a failure of that hook alone', async () => {
    const outcome = await fireMade([
      made('broken', async () => {
        throw new Error('broken')
      }),
      made('sibling', async () => modify({ tool_input: { command: 'sibling' } })),
      made('next step', ({ data }) => inject(String(commandOf(data))), { priority: 30 }),
    ])
    expect(outcome.action).toBe('continue')
    expect(outcome.injections).toMatchObject([{ text: 'sibling' }])
    expect(outcome.messages[0]?.text).toMatch(/broken.*broken/)
  })
})

describe('failure', () => {
  test.each([
    ['continue', 'ask_user'],
    ['block', 'deny'],
  ] as const)('with %s, a change that makes an invalid call leaves an ask: %s', async (onFailure, action) => {
    const run = () => askUser('ok?', { data: { tool_name: 5 } })
    const outcome = await fireMade([made('asks', run, { onFailure })])
    expect(outcome.action).toBe(action)
    expect(outcome.data).toMatchObject(BASH)
  })

  /** Every row of the catalogue's table: event, payload, what a deny does, what a failing function does. */
  const rows = [
    ['PreToolUse', BASH, 'block', 'denies'],
    ['PermissionRequest', BASH, 'block', 'denies'],
    ['PostToolUse', { ...BASH, tool_response: 'x' }, 'tell', 'ignored'],
    ['PostToolUseFailure', { ...BASH, error: 'x' }, 'tell', 'ignored'],
    ['UserPromptSubmit', { prompt: 'hello' }, 'block', 'denies'],
    ['ModelRequest', { model: 'm', messages: [] }, 'block', 'denies'],
    ['ModelResponse', { model: 'm', response: {} }, 'block', 'denies'],
    ['SessionStart', {}, 'none', 'ignored'],
    ['SessionEnd', {}, 'none', 'ignored'],
    ['Stop', {}, 'go-on', 'ignored'],
    ['SubagentStart', {}, 'block', 'denies'],
    ['SubagentStop', {}, 'go-on', 'ignored'],
    ['PreCompact', {}, 'block', 'denies'],
    ['ConfigChange', {}, 'block', 'denies'],
    ['Notification', {}, 'claude only', 'ignored'],
    ['TaskCompleted', {}, 'claude only', 'ignored'],
    ['TeammateIdle', {}, 'claude only', 'ignored'],
  ] as const

  const broken = () => {
    throw new Error('it broke')
  }

  test.each(rows)('a function that fails on %s', async (event, data, _, whenItFails) => {
    const hooks = await createHooks({ globals: false })
    hooks.register(event, broken, { name: 'broken' })
    const outcome = await hooks.session().fire(event, data)
    expect(outcome.action).toBe(whenItFails === 'denies' ? 'deny' : 'continue')
    if (whenItFails === 'denies') {
      expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\): broken: it broke/)
    }
    expect(outcome.hooks).toMatchObject([{ name: 'broken', status: 'failed', why: 'HOOK_FAILED' }])
    expect(outcome.messages).toHaveLength(1)
    expect(outcome.messages[0]).toMatchObject({ level: 'warning', source: 'broken' })
    expect(outcome.messages[0]?.text).toMatch(/broken.*it broke.*Fix the hook/)
  })

  test.each(rows)('onFailure "continue" on %s goes on', async (event, data) => {
    const hooks = await createHooks({ globals: false })
    hooks.register(event, broken, { name: 'broken', onFailure: 'continue' })
    const outcome = await hooks.session().fire(event, data)
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ status: 'failed' }])
    expect(outcome.messages[0]?.text).toMatch(/it broke/)
  })

  test.each(rows)('onFailure "block" on %s closes what can be closed', async (event, data, denyEffect) => {
    const hooks = await createHooks({ globals: false })
    hooks.register(event, broken, { name: 'broken', onFailure: 'block' })
    const outcome = await hooks.session().fire(event, data)
    expect(outcome.action).toBe(denyEffect === 'block' ? 'deny' : 'continue')
    const told = outcome.injections.map(({ text }) => text).join()
    if (denyEffect === 'tell') expect(told).toMatch(/it broke/)
    else expect(told).toBe('')
  })

  test.each(rows)(
    'the setting on_failure "block" on %s closes every gate',
    async (event, data, denyEffect) => {
      const hooks = await createHooks({ globals: false, settings: { on_failure: 'block' } })
      hooks.register(event, broken, { onFailure: 'continue' })
      const outcome = await hooks.session().fire(event, data)
      expect(outcome.action).toBe(denyEffect === 'block' ? 'deny' : 'continue')
    },
  )

  test.each(rows)('a function that denies %s', async (event, data, denyEffect) => {
    const hooks = await createHooks({ globals: false })
    hooks.register(event, () => deny('because'), { name: 'gate' })
    const outcome = await hooks.session().fire(event, data)
    const acts = denyEffect === 'block' || denyEffect === 'go-on'
    expect(outcome.action).toBe(acts ? 'deny' : 'continue')
    if (acts) expect(outcome.reason).toBe('because')
    expect(outcome.injections.map(({ text }) => text)).toEqual(denyEffect === 'tell' ? ['because'] : [])
    expect(outcome.hooks[0]?.answer).toMatchObject({ action: 'deny', reason: 'because' })
    const reported = denyEffect === 'none' || denyEffect === 'claude only'
    expect(codes(outcome)).toEqual(reported ? ['verdict-ignored'] : [])
  })

  test.each(rows)('a function that asks on %s', async (event, data, denyEffect) => {
    const hooks = await createHooks({ globals: false })
    hooks.register(event, () => askUser('may it?'), { name: 'asker' })
    const outcome = await hooks.session().fire(event, data)
    expect(outcome.action).toBe(denyEffect === 'block' ? 'ask_user' : 'continue')
    expect(codes(outcome)).toEqual(denyEffect === 'block' ? [] : ['verdict-ignored'])
  })

  test.each([
    ['throws', broken, 'HOOK_FAILED'],
    ['rejects', async () => broken(), 'HOOK_FAILED'],
    ['answers nonsense', () => 'nonsense', 'ANSWER_INVALID'],
    [
      'rejects later',
      () => new Promise((_, reject) => setImmediate(reject, new Error('later'))),
      'HOOK_FAILED',
    ],
    ['is overdue', never, 'HOOK_TIMEOUT'],
  ])('a command hook that %s goes on by default, and blocks where it says so', async (_, run, why) => {
    const timeoutMs = run === never ? 20 : 60_000
    const open = await fireMade([made('command', run, { timeoutMs })])
    expect(open.action).toBe('continue')
    expect(open.hooks).toMatchObject([{ status: 'failed', why }])
    expect(open.messages).toMatchObject([{ level: 'warning', source: 'command' }])
    const closed = await fireMade([made('command', run, { timeoutMs, onFailure: 'block' })])
    expect(closed.action).toBe('deny')
  })

  test('a registry can say what its hooks do when they fail; a hook can say otherwise', async () => {
    const registry = new HookRegistry({ onFailure: 'continue' })
    registry.register('PreToolUse', broken)
    expect((await registry.emit('PreToolUse', BASH)).action).toBe('continue')
    registry.register('PreToolUse', broken, { onFailure: 'block' })
    expect((await registry.emit('PreToolUse', BASH)).action).toBe('deny')
  })

  test('an explicit allow never outranks a failure', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => proceed({ permission: 'allow' }))
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).permission).toBe('allow')
    hooks.register('PreToolUse', broken, { onFailure: 'continue' })
    const outcome = await session.fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.permission).toBeUndefined()
  })

  test.each([
    ['a deny', deny('no', { permission: 'allow' })],
    ['an ask', askUser('may I?', { permission: 'allow' })],
  ])('an explicit allow never outranks %s', async (_, answer) => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => proceed({ permission: 'allow' }))
    hooks.register('PreToolUse', () => answer)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe(answer.action)
    expect(outcome.permission).toBeUndefined()
  })

  test('a condition that throws is a failure of its hook', async () => {
    const condition = () => {
      throw new Error('bad rule')
    }
    const outcome = await fireMade([
      made('gate', () => undefined, { condition, onFailure: 'block' }),
      made('sibling', () => inject('still here')),
    ])
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks.find(({ name }) => name === 'gate')).toMatchObject({ status: 'failed' })
    expect(outcome.injections).toMatchObject([{ text: 'still here' }])
  })

  test('an outcome is plain JSON', async () => {
    const hooks = await createHooks({ globals: false, approver: () => 'Deny' })
    hooks.register('PreToolUse', () => undefined, { matcher: 'Write' })
    hooks.register('PreToolUse', broken, { onFailure: 'continue' })
    hooks.register('PreToolUse', () =>
      modify({ tool_input: {} }, { contextInjection: 'x', userMessage: 'y' }),
    )
    hooks.register('PreToolUse', () => askUser('ok?'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.hooks).toHaveLength(5)
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome)
  })

  test('admit decides which hooks run, and the reason is in the trace', async () => {
    const ran: string[] = []
    const outcome = await fireMade(
      [
        made('trusted', () => void ran.push('trusted')),
        made('stranger', () => void ran.push('stranger')),
        made('other tool', () => void ran.push('other tool'), { matcher: compileMatcher('Write') }),
      ],
      {
        admit: ({ name }) => name !== 'stranger' || { why: 'untrusted', detail: 'nobody reviewed it' },
      },
    )
    expect(ran).toEqual(['trusted'])
    expect(outcome.hooks.find(({ name }) => name === 'stranger')).toMatchObject({
      status: 'skipped',
      why: 'untrusted',
      detail: 'nobody reviewed it',
    })
  })
})
