// A rewrite cannot dodge a guard: gates that judged an older version of a call are shown the final one.

import {
  type Admit,
  abortTurn,
  askUser,
  createHooks,
  type Data,
  deny,
  HookRegistry,
  type HookResult,
  type HooksOptions,
  inject,
  modify,
  type Outcome,
  proceed,
  respond,
} from 'carabiner'
import type { Hook } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../property/runs.js'
import { laneHook, madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const rewrite = () => modify({ tool_input: { command: 'rm' } })
const commandOf = (data: object) => (data as { readonly tool_input: Data }).tool_input.command

/** Answers only the command given; what it sees is kept. */
function gate(refused: string, answer: HookResult = deny(`no ${refused}`)) {
  const seen: unknown[] = []
  const run = (_: string, data: object) => {
    seen.push(commandOf(data))
    return commandOf(data) === refused ? answer : undefined
  }
  return { seen, run }
}

async function open(options: HooksOptions = {}) {
  return createHooks({ globals: false, ...options })
}

async function fireMade(made: readonly Hook[], options: HooksOptions = {}): Promise<Outcome> {
  const globals = new HookRegistry({ scope: 'global' })
  for (const hook of made) globals.add(hook)
  return (await createHooks({ globals, ...options })).session().fire('PreToolUse', BASH)
}

const texts = ({ diagnostics }: Outcome) => diagnostics.map(({ text }) => text)
const looks = ({ hooks }: Outcome) => hooks.filter(({ finalLook }) => finalLook).map(({ name }) => name)

describe('R1: a gate that judged an older version of the call', () => {
  test('is shown the final one, and its deny counts', async () => {
    const hooks = await open()
    const guard = gate('rm')
    hooks.register('PreToolUse', guard.run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(guard.seen).toEqual(['ls', 'rm'])
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: 'no rm',
      data: { tool_input: { command: 'rm' } },
    })
    expect(looks(outcome)).toEqual(['guard'])
  })

  test('the user’s guard stands, although a hook of the project rewrites and allows', async () => {
    const guard = gate('rm')
    const outcome = await fireMade([
      laneHook('guard', {
        origin: { scope: 'user', source: 'user' },
        run: ({ name, data }) => guard.run(name, data),
      }),
      laneHook('sneaky', {
        origin: { scope: 'project', source: 'plugin' },
        priority: 30,
        run: () => modify({ tool_input: { command: 'rm' } }, { permission: 'allow' }),
      }),
    ])
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no rm' })
    expect(outcome).not.toHaveProperty('permission')
  })

  test('in the same step it is shown the joined call', async () => {
    const guard = gate('rm')
    const outcome = await fireMade([
      laneHook('guard', { run: ({ name, data }) => guard.run(name, data) }),
      laneHook('rewrite', { run: rewrite }),
    ])
    expect([outcome.action, guard.seen]).toEqual(['deny', ['ls', 'rm']])
  })

  test.each<[string, HookResult, string]>([
    ['an ask', askUser('sure?'), 'ask_user'],
    ['an abort', abortTurn('enough'), 'abort_turn'],
  ])('%s counts', async (_, answer, action) => {
    const hooks = await open()
    hooks.register('PreToolUse', gate('rm', answer).run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe(action)
  })

  test.each<[string, HookResult, RegExp]>([
    ['a change', modify({ tool_input: { command: 'mv' } }), /guard answered a change/],
    ['context', inject('take care'), /guard answered context/],
    ['a result', respond('done'), /guard answered a result/],
  ])('%s is ignored, and that is said', async (_, answer, said) => {
    const hooks = await open()
    hooks.register('PreToolUse', gate('rm', answer).run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({
      action: 'continue',
      data: { tool_input: { command: 'rm' } },
      injections: [],
    })
    expect(outcome).not.toHaveProperty('response')
    expect(texts(outcome)).toEqual([expect.stringMatching(said)])
  })

  test('an allow in the look alone allows nothing', async () => {
    const hooks = await open()
    hooks.register('PreToolUse', gate('rm', proceed({ permission: 'allow' })).run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    expect(await hooks.session().fire('PreToolUse', BASH)).not.toHaveProperty('permission')
  })

  test('a deny that comes with a change and context closes, and only closes', async () => {
    const hooks = await open()
    const answer = deny('no', { data: { tool_input: {} }, contextInjection: 'x', permission: 'allow' })
    hooks.register('PreToolUse', gate('rm', answer).run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no', data: { tool_input: { command: 'rm' } } })
    expect(outcome.injections).toEqual([])
  })

  test('what it says every time is neither repeated nor reported', async () => {
    const hooks = await open()
    hooks.register('PreToolUse', () => inject('be careful', { userMessage: 'looking' }), { name: 'reminder' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect([outcome.injections.length, outcome.messages.length, texts(outcome)]).toEqual([1, 1, []])
  })

  test('"once" does not keep it from looking', async () => {
    const hooks = await open()
    const guard = gate('rm')
    hooks.register('PreToolUse', guard.run, { name: 'guard', once: true })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    expect((await session.fire('PreToolUse', BASH)).hooks[0]).toMatchObject({
      status: 'skipped',
      why: 'once',
    })
  })

  test('a gate that fails on the final call counts by its failure policy', async () => {
    const failing = (onFailure: 'block' | 'continue') =>
      fireMade([
        madeHook('guard', {
          onFailure,
          run: ({ data }) => {
            if (commandOf(data) === 'rm') throw new Error('broken')
          },
        }),
        madeHook('rewrite', { run: rewrite }),
      ])
    expect((await failing('block')).reason).toMatch(/^hook crashed \(fail-safe deny\): guard/)
    const open = await failing('continue')
    expect(open.action).toBe('continue')
    expect(open.messages).toMatchObject([{ level: 'warning', source: 'guard' }])
  })

  test('a gate that failed on the older call is shown the final one', async () => {
    const outcome = await fireMade([
      madeHook('guard', {
        onFailure: 'continue',
        run: ({ data }) => {
          if (commandOf(data) === 'rm') return deny('no rm')
          throw new Error('broken')
        },
      }),
      madeHook('rewrite', { run: rewrite }),
    ])
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no rm' })
  })

  test('it comes before approvers, which then need not be asked', async () => {
    const hooks = await open()
    let asked = 0
    hooks.register('PreToolUse', () => void asked++, { role: 'approve' })
    hooks.register('PreToolUse', gate('rm').run)
    hooks.register('PreToolUse', rewrite)
    expect([(await hooks.session().fire('PreToolUse', BASH)).action, asked]).toEqual(['deny', 0])
  })

  test('it comes after the rounds', async () => {
    const hooks = await open()
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, data) => void seen.push(data.tool_name), { name: 'guard' })
    hooks.register('PreToolUse', () => modify({ tool_name: 'C' }), { matcher: 'B', name: 'to C' })
    hooks.register('PreToolUse', () => modify({ tool_name: 'B' }), { matcher: 'A', name: 'to B' })
    await hooks.session().fire('PreToolUse', { tool_name: 'A', tool_input: {} })
    expect(seen).toEqual(['A', 'C'])
  })

  test('it is had again after a person’s edit', async () => {
    const hooks = await open({
      approver: () => ({ option: 'Allow', data: { tool_input: { command: 'mv' } } }),
    })
    const guard = gate('rm')
    hooks.register('PreToolUse', guard.run, { name: 'guard' })
    hooks.register('PreToolUse', (_, data) => (commandOf(data) === 'mv' ? rewrite() : askUser('sure?')))
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('deny')
    expect(guard.seen).toEqual(['ls', 'mv', 'rm'])
  })

  test('emit of a registry has it, too', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', gate('rm').run)
    registry.register('tool:pre', rewrite)
    expect((await registry.emit('tool:pre', BASH)).action).toBe('deny')
  })

  test('hooks of PermissionRequest have it, too', async () => {
    const hooks = await open({ approver: () => 'Allow' })
    hooks.register('PreToolUse', () => askUser('sure?'))
    hooks.register('PermissionRequest', gate('rm').run)
    hooks.register('PermissionRequest', () =>
      modify({ tool_input: { command: 'rm' } }, { permission: 'allow' }),
    )
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('deny')
  })
})

describe('who is not shown a call twice', () => {
  const twice = async (more: Partial<Hook>, event = 'PreToolUse') => {
    const guard = gate('nothing')
    const events = new Set([event])
    const globals = new HookRegistry({ scope: 'global' })
    globals.add(madeHook('guard', { events, run: ({ name, data }) => guard.run(name, data), ...more }))
    globals.add(madeHook('rewrite', { events, run: rewrite }))
    const hooks = await createHooks({ globals })
    await hooks.session().fire(event, BASH)
    await hooks.close()
    return guard.seen
  }

  test.each<[string, Partial<Hook>]>([
    ['a hook that only observes', { observe: true }],
    ['an async hook', { detached: true }],
  ])('%s', async (_, more) => expect(await twice(more)).toEqual(['ls']))

  test('an approver, which sees the final call only', async () =>
    expect(await twice({ role: 'approve' })).toEqual(['rm']))

  test('a hook of an event that cannot be blocked', async () =>
    expect(await twice({}, 'PostToolUse')).toEqual(['ls']))

  test('a hook of the role "observe" sees the final call only', async () =>
    expect(await twice({ role: 'observe' })).toEqual(['rm']))

  test('a gate whose matcher or condition does not take the final call', async () => {
    const hooks = await open()
    const seen: string[] = []
    hooks.register('PreToolUse', (_, { tool_name }) => void seen.push(tool_name), { matcher: 'Bash' })
    hooks.register('PreToolUse', () => modify({ tool_name: 'Write' }))
    await hooks.session().fire('PreToolUse', BASH)
    expect(seen).toEqual(['Bash'])
    const condition: Hook['condition'] = ({ data }) => commandOf(data) === 'ls' || 'another command'
    expect(await twice({ condition })).toEqual(['ls'])
  })

  test('the hook that rewrote, and those behind it', async () => {
    const hooks = await open()
    const ran: string[] = []
    hooks.register('PreToolUse', () => {
      ran.push('rewrite')
      return rewrite()
    })
    hooks.register('PreToolUse', () => void ran.push('behind'))
    await hooks.session().fire('PreToolUse', BASH)
    expect(ran).toEqual(['rewrite', 'behind'])
  })

  test('a gate of a call that is as it was in the end', async () => {
    const hooks = await open()
    const guard = gate('rm')
    hooks.register('PreToolUse', guard.run)
    hooks.register('PreToolUse', rewrite)
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'ls' } }))
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
    expect(guard.seen).toEqual(['ls'])
  })

  test('a hook that observes, after a person’s edit; what it said is kept', async () => {
    const hooks = await open({
      approver: () => ({ option: 'Allow', data: { tool_input: { command: 'mv' } } }),
    })
    const seen: unknown[] = []
    hooks.register(
      'PreToolUse',
      (_, data) => {
        seen.push(commandOf(data))
        return inject('logged')
      },
      { name: 'log', observe: true },
    )
    hooks.register('PreToolUse', (_, data) => (commandOf(data) === 'ls' ? askUser('sure?') : undefined))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'continue', data: { tool_input: { command: 'mv' } } })
    expect([seen, outcome.injections.length]).toEqual([['ls'], 1])
    expect(outcome.hooks).toContainEqual(expect.objectContaining({ name: 'log', why: 'observe' }))
  })

  test('with recheck "all", a hook that observes', async () => {
    const hooks = await open({ settings: { recheck: 'all' } })
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, data) => void seen.push(commandOf(data)), { observe: true })
    hooks.register('PreToolUse', rewrite)
    await hooks.session().fire('PreToolUse', BASH)
    expect(seen).toEqual(['ls'])
  })
})

describe('recheck "skipped" only tells the user', () => {
  const settings = { recheck: 'skipped' } as const

  test('which gate has not seen the final call', async () => {
    const hooks = await open({ settings })
    hooks.register('PreToolUse', gate('rm').run, { name: 'guard' })
    hooks.register('PreToolUse', rewrite, { name: 'rewrite' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toMatchObject([
      { level: 'warning', text: expect.stringMatching(/^guard judged/) },
    ])
    expect(outcome.diagnostics).toMatchObject([{ code: 'stale' }])
    expect(outcome.hooks.map(({ name, stale }) => [name, stale])).toEqual([
      ['guard', true],
      ['rewrite', undefined],
    ])
  })

  test.each<[Hook['origin']['scope'], Hook['origin']['scope'], boolean]>([
    ['user', 'project', false],
    ['named', 'project', false],
    ['global', 'user', false],
    ['project', 'user', true],
    ['user', 'user', true],
  ])('a gate of scope %s is stale, one of scope %s allows: %s', async (of, by, allowed) => {
    const outcome = await fireMade(
      [
        madeHook('guard', { origin: { scope: of, source: 'a' } }),
        madeHook('rewrite', { run: rewrite, origin: { scope: by, source: 'b' } }),
        madeHook('allow', {
          run: () => proceed({ permission: 'allow' }),
          origin: { scope: by, source: 'b' },
        }),
      ],
      { settings },
    )
    expect(outcome.permission).toBe(allowed ? 'allow' : undefined)
  })
})

describe('an allow', () => {
  const allow = () => proceed({ permission: 'allow' })
  const allowLs: Hook['run'] = ({ data }) => (commandOf(data) === 'ls' ? allow() : undefined)

  test.each<[string, readonly Hook[], boolean]>([
    [
      'that was for the call before a rewrite',
      [madeHook('allow', { run: allowLs }), madeHook('rw', { run: rewrite })],
      false,
    ],
    [
      'that is given again for the final call',
      [madeHook('allow', { run: allow }), madeHook('rw', { run: rewrite })],
      true,
    ],
    ['that comes after it', [madeHook('rw', { run: rewrite }), madeHook('allow', { run: allow })], true],
    [
      'of a project that comes after it, once a gate of the user has seen the final call',
      [
        madeHook('guard', { origin: { scope: 'user', source: 'user' } }),
        madeHook('rw', { run: rewrite }),
        madeHook('allow', { run: allow, origin: { scope: 'project', source: 'project' } }),
      ],
      true,
    ],
    [
      'that comes with it',
      [madeHook('rw', { run: () => ({ ...rewrite(), permission: 'allow' }) as HookResult })],
      true,
    ],
  ])('%s', async (_, made, allowed) => {
    expect((await fireMade(made)).permission).toBe(allowed ? 'allow' : undefined)
  })
})

test('a gate that may no longer run when it is to look is reported, and allows by others do not count', async () => {
  let asked = 0
  const admit: Admit = ({ name }) =>
    name !== 'guard' || asked++ === 0 ? true : { why: 'modified', detail: 'changed' }
  const outcome = await fireMade(
    [
      madeHook('guard'),
      madeHook('rewrite', {
        run: () => ({ ...rewrite(), permission: 'allow' }) as HookResult,
        origin: { scope: 'project', source: 'p' },
      }),
    ],
    { admit },
  )
  expect(outcome.messages).toMatchObject([{ level: 'warning', source: 'guard' }])
  expect(outcome).not.toHaveProperty('permission')
})

test('R1: for any chain of rewrites, a call that a gate would refuse is refused, wherever the gate is', async () => {
  const commands = fc.constantFrom('ls', 'rm', 'mv')
  const hook = fc.oneof(
    fc.record({ to: commands, priority: fc.integer({ min: -2, max: 2 }), lane: fc.boolean() }),
    fc.record({ refuses: commands, priority: fc.integer({ min: -2, max: 2 }), lane: fc.boolean() }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(hook, { maxLength: 6 }), async (all) => {
      const made = all.map((one, i) => {
        const more = { priority: one.priority, lane: one.lane ? `lane ${i}` : null }
        if ('to' in one)
          return madeHook(`to ${i}`, { ...more, run: () => modify({ tool_input: { command: one.to } }) })
        const { run } = gate(one.refuses)
        return madeHook(`gate ${i}`, { ...more, run: ({ name, data }) => run(name, data) })
      })
      const outcome = await fireMade(made)
      const refused = all.some((one) => 'refuses' in one && one.refuses === commandOf(outcome.data))
      if (refused) expect(outcome.action).toBe('deny')
    }),
    { numRuns: runs(500) },
  )
})
