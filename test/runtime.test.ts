// createHooks(): what it refuses, what it lists and explains, and how it ends.

import {
  askUser,
  createHooks,
  deny,
  globalHooks,
  HookRegistry,
  type Hooks,
  type HooksOptions,
  hook,
  inject,
  MemoryStore,
  modify,
} from 'carabiner'
import { compileMatcher } from 'carabiner/core'
import { describe, expect, test, vi } from 'vitest'
import { laneHook, madeHook } from './core/made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const refused = { name: 'HookError', code: 'OPTIONS_INVALID' }
const never = () => new Promise<never>(() => {})

describe('options', () => {
  test('none is needed', async () => {
    const hooks = await createHooks()
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
    await hooks.close()
  })

  test.each<[string, unknown]>([
    ['an unknown name', { aprover: () => 'Allow' }],
    ['display', { display: 'stdout' }],
    ['context', { context: {} }],
    ['audit', { audit: [] }],
    ['admit', { admit: true }],
    ['clock', { clock: 5 }],
    ['approver', { approver: 'allow' }],
    ['approver as null', { approver: null }],
    ['store', { store: {} }],
    ['store with a method missing', { store: { load: () => ({}), update: () => undefined } }],
    ['store as text', { store: 'memory' }],
    ['settings as null', { settings: null }],
    ['settings as text', { settings: 'strict' }],
    ['an unknown setting', { settings: { onFailure: 'block' } }],
    ['on_failure', { settings: { on_failure: 'deny' } }],
    ['recheck', { settings: { recheck: true } }],
    ['injection_size_limit', { settings: { injection_size_limit: -1 } }],
    ['injection_size_limit as text', { settings: { injection_size_limit: '10' } }],
    ['injection_budget_per_turn', { settings: { injection_budget_per_turn: Number.NaN } }],
    ['stop_block_cap', { settings: { stop_block_cap: 1.5 } }],
    ['stop_block_cap as null', { settings: { stop_block_cap: null } }],
    ['stop_block_total', { settings: { stop_block_total: Number.POSITIVE_INFINITY } }],
    ['protect_system_messages', { settings: { protect_system_messages: 'no' } }],
    ['a setting that is a bigint', { settings: { stop_block_cap: 5n } }],
    ['globals as text', { globals: 'none' }],
    ['globals as an object', { globals: {} }],
    ['globals as null', { globals: null }],
  ])('%s is refused', async (_, options) => {
    await expect(createHooks(options as HooksOptions)).rejects.toMatchObject(refused)
  })

  test('a refusal names the option and what is known', async () => {
    const misspelt = createHooks({ aprover: () => 'Allow' } as HooksOptions)
    await expect(misspelt).rejects.toThrow(/aprover.*approver/)
    const unknown = createHooks({ settings: { recheck_all: true } } as HooksOptions)
    await expect(unknown).rejects.toThrow(/recheck_all.*recheck/)
    const value = createHooks({ settings: { recheck: 'always' } } as unknown as HooksOptions)
    await expect(value).rejects.toThrow(/recheck.*"final" or "all" or "skipped".*always/)
  })

  test('what is undefined is absent', async () => {
    const options = { approver: undefined, display: undefined, settings: { recheck: undefined } }
    const hooks = await createHooks({ ...options, globals: false } as unknown as HooksOptions)
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test('null is a limit that there is not', async () => {
    const settings = { injection_size_limit: null, injection_budget_per_turn: null }
    const hooks = await createHooks({ globals: false, settings })
    hooks.register('PreToolUse', () => inject('x'.repeat(100_000)))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.injections[0]?.text).toHaveLength(100_000)
  })
})

describe('globals', () => {
  test('the hooks of the process run everywhere, unless it is said otherwise', async () => {
    const off = globalHooks.register('PreToolUse', () => deny('everywhere'))
    try {
      const [with_, without] = [await createHooks(), await createHooks({ globals: false })]
      expect((await with_.session().fire('PreToolUse', BASH)).reason).toBe('everywhere')
      expect((await without.session().fire('PreToolUse', BASH)).action).toBe('continue')
    } finally {
      off()
    }
  })

  test('another registry can take their place', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({ globals })
    const session = hooks.session()
    globals.register('PreToolUse', () => deny('mine'))
    expect((await session.fire('PreToolUse', BASH)).reason).toBe('mine')
  })

  test('two createHooks share nothing but them', async () => {
    const [one, two] = [await createHooks({ globals: false }), await createHooks({ globals: false })]
    one.register('PreToolUse', () => deny('one'))
    expect((await two.session().fire('PreToolUse', BASH)).action).toBe('continue')
    expect(two.list()).toEqual([])
  })
})

describe('register and list', () => {
  test('every hook with what it is, in order of registration by layer', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({ globals })
    hooks.register('tool:pre', () => undefined, {
      name: 'gate',
      priority: 5,
      matcher: 'Write|Edit',
      timeout: 2.5,
    })
    hooks.register('*', () => undefined, { name: 'watcher', role: 'observe' })
    globals.add(
      laneHook('script', {
        origin: { scope: 'project', source: 'my-plugin', file: 'hooks.json', line: 7 },
        timeoutMs: 30_000,
      }),
    )
    expect(hooks.list()).toEqual([
      expect.objectContaining({
        name: 'script',
        kind: 'command',
        role: 'intercept',
        events: ['PreToolUse'],
        matcher: null,
        priority: 20,
        timeout: 30,
        scope: 'project',
        source: 'my-plugin',
        file: 'hooks.json',
        line: 7,
      }),
      {
        id: 'host:gate',
        name: 'gate',
        kind: 'function',
        role: 'intercept',
        events: ['PreToolUse'],
        matcher: 'Write|Edit',
        priority: 5,
        timeout: 2.5,
        onFailure: 'byEvent',
        scope: 'host',
        source: 'code',
        state: 'ready',
      },
      expect.objectContaining({ name: 'watcher', role: 'observe', events: 'all', timeout: 60 }),
    ])
    expect(JSON.parse(JSON.stringify(hooks.list()))).toEqual(hooks.list())
  })

  test('names default to the function’s own, else to event and number, and are made unique', async () => {
    const hooks = await createHooks({ globals: false })
    function guard() {}
    hooks.register('PreToolUse', guard)
    hooks.register('PreToolUse', guard)
    hooks.register('PreToolUse', () => undefined)
    hooks.register('PreToolUse', () => undefined)
    const names = hooks.list().map(({ name }) => name)
    expect(names[0]).toBe('guard')
    expect(names.slice(2)).toEqual(['PreToolUse#1', 'PreToolUse#2'])
    expect(new Set(names).size).toBe(4)
  })

  test('hook values: added in order, removed by value, by name, or all at once', async () => {
    const hooks = await createHooks({ globals: false })
    const one = hook('pre_tool_use', () => ['deny', 'one'] as const)
    const two = hook('pre_tool_use', () => ['deny', 'two'] as const)
    const off = hooks.registerHooks([one, two])
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).reason).toBe('one')
    hooks.unregister(one)
    expect((await session.fire('PreToolUse', BASH)).reason).toBe('two')
    off()
    off()
    expect(hooks.list()).toEqual([])
    hooks.register('PreToolUse', () => deny('three'), { name: 'three' })
    hooks.unregister('three')
    hooks.unregister('never was')
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test('hooks of a session are not in the list', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.session().register('PreToolUse', () => undefined)
    expect(hooks.list()).toEqual([])
  })
})

describe('explain', () => {
  async function planned() {
    const ran = vi.fn<() => undefined>()
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({
      globals,
      admit: ({ name }) => name !== 'stranger' || { why: 'untrusted', detail: 'nobody reviewed it' },
    })
    hooks.register('PreToolUse', ran, { name: 'observer', role: 'observe' })
    hooks.register('PreToolUse', ran, { name: 'approver', role: 'approve' })
    hooks.register('PreToolUse', ran, { name: 'other tool', matcher: 'Write' })
    hooks.register('PreToolUse', ran, { name: 'gate' })
    hooks.register('Stop', ran, { name: 'other event' })
    const run = ran
    globals.add(laneHook('script', { run, origin: { scope: 'project', source: 'plugin', file: 'h.json' } }))
    globals.add(laneHook('group 1', { run, lane: 'group' }))
    globals.add(laneHook('group 2', { run, lane: 'group' }))
    globals.add(laneHook('stranger', { run }))
    globals.add(laneHook('rule', { run, condition: () => 'the command is not git' }))
    globals.add(madeHook('global', { run, origin: { scope: 'global', source: 'code' } }))
    return { hooks, ran }
  }

  test('steps and lanes, approvers and observers', async () => {
    const { hooks } = await planned()
    expect(hooks.explain('tool:pre', BASH)).toMatchObject({
      event: 'PreToolUse',
      steps: [
        { priority: 0, lanes: [['global']] },
        { priority: 0, lanes: [['gate']] },
        { priority: 20, lanes: [['script'], ['group 1', 'group 2']] },
      ],
      approvers: ['approver'],
      observers: ['observer'],
    })
  })

  test('every candidate with its order and origin, and why it would not run', async () => {
    const { hooks } = await planned()
    const { candidates } = hooks.explain('PreToolUse', BASH)
    expect(candidates.map(({ name, matched, why }) => [name, matched, why])).toEqual([
      ['global', true, undefined],
      ['other tool', false, 'matcher'],
      ['gate', true, undefined],
      ['script', true, undefined],
      ['group 1', true, undefined],
      ['group 2', true, undefined],
      ['stranger', false, 'untrusted'],
      ['rule', false, 'if'],
      ['approver', true, undefined],
      ['observer', true, undefined],
    ])
    expect(candidates.map(({ order }) => order)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const of = (name: string) => candidates.find((one) => one.name === name)
    expect(of('script')?.origin).toEqual({ scope: 'project', source: 'plugin', file: 'h.json' })
    expect(of('gate')).toMatchObject({ kind: 'function', role: 'intercept', priority: 0 })
    expect(of('other tool')?.detail).toMatch(/"Write".*tool_name "Bash"/)
    expect(of('stranger')?.detail).toBe('nobody reviewed it')
    expect(of('rule')?.detail).toBe('the command is not git')
  })

  test('runs nothing, writes nothing and shows nothing', async () => {
    const { hooks, ran } = await planned()
    hooks.explain('PreToolUse', BASH)
    const store = new MemoryStore()
    const update = vi.spyOn(store, 'update')
    const told = vi.fn()
    const quiet = await createHooks({ globals: false, store, audit: told, display: told })
    quiet.register('UserPromptSubmit', ran)
    quiet.explain('UserPromptSubmit', { prompt: 'hello' })
    await hooks.close()
    await quiet.close()
    expect(ran).not.toHaveBeenCalled()
    expect(told).not.toHaveBeenCalled()
    expect(update).not.toHaveBeenCalled()
  })

  test('what it says is what happens', async () => {
    const { hooks, ran } = await planned()
    const { candidates } = hooks.explain('PreToolUse', BASH)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    const inPath = candidates.filter(({ role }) => role !== 'observe')
    for (const { name, matched, why } of inPath) {
      const trace = outcome.hooks.find((one) => one.name === name)
      expect([name, trace?.status, trace?.why]).toEqual([name, matched ? 'ran' : 'skipped', why])
    }
    await hooks.close()
    expect(ran).toHaveBeenCalledTimes(candidates.filter(({ matched }) => matched).length)
  })

  test('data may be incomplete; it is plain data itself', async () => {
    const { hooks } = await planned()
    const plan = hooks.explain('PreToolUse', { tool_name: 'Write' })
    expect(plan.candidates.find(({ name }) => name === 'other tool')?.matched).toBe(true)
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
  })

  test('an event that nobody listens to has an empty plan', async () => {
    const hooks = await createHooks({ globals: false })
    expect(hooks.explain('my:event')).toEqual({
      event: 'my:event',
      steps: [],
      approvers: [],
      observers: [],
      candidates: [],
    })
  })

  test('a pattern is explained as written', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    globals.add(laneHook('script', { matcher: compileMatcher('^mcp__.*') }))
    const hooks = await createHooks({ globals })
    expect(hooks.explain('PreToolUse', BASH).candidates[0]?.detail).toMatch(/\^mcp__\.\*/)
  })

  test('a session explains its own hooks too', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    session.register('PreToolUse', () => undefined, { name: 'of the session' })
    expect(session.explain('PreToolUse', BASH).candidates).toMatchObject([
      { name: 'of the session', origin: { scope: 'session' } },
    ])
    expect(hooks.explain('PreToolUse', BASH).candidates).toEqual([])
  })
})

describe('grants', () => {
  test('are listed and revoked', async () => {
    const hooks = await createHooks({ globals: false, approver: () => 'Allow always' })
    const asks = () => askUser('ok?', { approvalOptions: ['Allow always', 'Deny'] })
    hooks.register('PreToolUse', asks, { name: 'asker' })
    expect(await hooks.grants()).toEqual([])
    await hooks.session({ cwd: '/project' }).fire('PreToolUse', BASH)
    const [grant, ...others] = await hooks.grants()
    expect(others).toEqual([])
    expect(grant).toMatchObject({ event: 'PreToolUse', tool: 'Bash', cwd: '/project' })
    expect(grant?.hook).toMatch(/asker/)
    expect(grant?.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(await hooks.revoke(grant?.id ?? '')).toBe(true)
    expect(await hooks.revoke(grant?.id ?? '')).toBe(false)
    expect(await hooks.revoke('never was')).toBe(false)
    expect(await hooks.grants()).toEqual([])
  })
})

describe('diagnostics', () => {
  test('what goes wrong outside any outcome, and only that', async () => {
    const hooks = await createHooks({ globals: false })
    const broken = () => {
      throw new Error('broken')
    }
    hooks.register('PreToolUse', broken, { name: 'in the path' })
    hooks.register('PreToolUse', broken, { name: 'beside it', role: 'observe' })
    expect(hooks.diagnostics).toEqual([])
    await hooks.session().fire('PreToolUse', BASH)
    await hooks.close()
    expect(hooks.diagnostics.map(({ code }) => code)).toEqual(['late-failed'])
    expect(hooks.diagnostics[0]?.text).toMatch(/beside it.*broken/)
  })

  test('a pattern that cannot be matched safely is reported, wherever it is registered', async () => {
    const unsafe = { matcher: '^(a+)+(?!b)\\1$' }
    const everywhere: ((hooks: Hooks) => Pick<Hooks, 'register'>)[] = [
      (hooks) => hooks,
      (hooks) => hooks.session(),
    ]
    for (const where of everywhere) {
      const hooks = await createHooks({ globals: false })
      where(hooks).register('PreToolUse', () => undefined, unsafe)
      expect(hooks.diagnostics.map(({ code }) => code)).toContain('matcher-unsafe')
    }
  })

  test('do not grow without end', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    for (let i = 0; i < 1000; i++) session.notify('PreToolUse', { i })
    await session.close()
    expect(hooks.diagnostics.length).toBeGreaterThan(0)
    expect(hooks.diagnostics.length).toBeLessThan(500)
  })
})

describe('close', () => {
  test('no session fires afterwards, and none is made', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    await hooks.close()
    await hooks.close()
    const closed = { code: 'SESSION_CLOSED' }
    expect(session.closed).toBe(true)
    await expect(session.fire('PreToolUse', BASH)).rejects.toMatchObject(closed)
    expect(() => hooks.session()).toThrow(expect.objectContaining(closed))
  })

  test('waits for what runs aside', async () => {
    const hooks = await createHooks({ globals: false })
    let done = false
    const observer = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      done = true
    }
    hooks.register('PreToolUse', observer, { role: 'observe' })
    await hooks.session().fire('PreToolUse', BASH)
    expect(done).toBe(false)
    await hooks.close()
    expect(done).toBe(true)
  })

  test('does not wait longer than the time-out of what runs aside', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', never, { role: 'observe', timeout: 0.02 })
    await hooks.session().fire('PreToolUse', BASH)
    await hooks.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed' }])
  })

  test('await using closes', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    await hooks[Symbol.asyncDispose]()
    expect(session.closed).toBe(true)
  })

  test('a call that is under way is finished', async () => {
    const hooks = await createHooks({ globals: false })
    let release: () => void = () => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    hooks.register('PreToolUse', async () => {
      await waiting
      return modify({ tool_input: { command: 'judged' } })
    })
    const fired = hooks.session().fire('PreToolUse', BASH)
    const closing = hooks.close()
    release()
    expect((await fired).data.tool_input).toEqual({ command: 'judged' })
    await closing
  })
})
