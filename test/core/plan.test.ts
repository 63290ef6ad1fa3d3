import { createHooks } from 'carabiner'
import { type Admit, compileMatcher, type Hook, type HookEvent, planOf, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { HookSet } from '../../src/core/hooks/hook-set.js'
import { admissionOf, lanesOf, skipOf, stepAt } from '../../src/core/run/plan.js'
import { laneHook, madeHook } from './made-hook.js'

const PRE = resolveEvent('PreToolUse')
const EVENT: HookEvent = {
  name: 'PreToolUse',
  data: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  session: undefined,
}

const plan = (hooks: readonly Hook[], admit?: Admit) => planOf(PRE, EVENT, new HookSet([hooks]), admit)
const names = (lanes: readonly (readonly Hook[])[]) => lanes.map((lane) => lane.map((hook) => hook.name))

describe('steps and lanes', () => {
  it('functions and resident hooks are a step each', () => {
    const hooks = [madeHook('a'), madeHook('b', { kind: 'process' }), madeHook('c', { priority: 1 })]
    expect(plan(hooks).steps).toEqual([
      { priority: 0, lanes: [['a']] },
      { priority: 0, lanes: [['b']] },
      { priority: 1, lanes: [['c']] },
    ])
  })

  it('hooks with lanes at one priority are one step, a lane each', () => {
    expect(plan([laneHook('a'), laneHook('b'), laneHook('c')]).steps).toEqual([
      { priority: 20, lanes: [['a'], ['b'], ['c']] },
    ])
  })

  it('hooks that share a lane run in sequence', () => {
    const hooks = [laneHook('a', { lane: 'group' }), laneHook('b', { lane: 'group' }), laneHook('c')]
    expect(plan(hooks).steps).toEqual([{ priority: 20, lanes: [['a', 'b'], ['c']] }])
  })

  it('another priority is another step', () => {
    const hooks = [laneHook('a'), laneHook('b', { priority: 10 }), madeHook('c', { priority: 15 })]
    expect(plan(hooks).steps).toEqual([
      { priority: 10, lanes: [['b']] },
      { priority: 15, lanes: [['c']] },
      { priority: 20, lanes: [['a']] },
    ])
  })

  it('functions at the priority of a step come before it', () => {
    const hooks = [laneHook('a'), madeHook('f', { priority: 20 }), laneHook('b')]
    expect(plan(hooks).steps).toEqual([
      { priority: 20, lanes: [['f']] },
      { priority: 20, lanes: [['a'], ['b']] },
    ])
  })

  it('a hook that does not run leaves its place in the step', () => {
    const hooks = [laneHook('a'), laneHook('b', { matcher: compileMatcher('Edit') }), laneHook('c')]
    expect(plan(hooks).steps).toEqual([{ priority: 20, lanes: [['a'], ['c']] }])
  })

  it('stepAt ends where the priority or the lanes end', () => {
    const hooks = [
      laneHook('a'),
      laneHook('b'),
      laneHook('c', { priority: 21 }),
      madeHook('d', { priority: 21 }),
    ]
    expect(names([stepAt(hooks, 0), stepAt(hooks, 1), stepAt(hooks, 2), stepAt(hooks, 3)])).toEqual([
      ['a', 'b'],
      ['b'],
      ['c'],
      ['d'],
    ])
  })

  it('lanesOf keeps the order of lanes and of their hooks', () => {
    const hooks = [
      laneHook('a', { lane: 'x' }),
      laneHook('b', { lane: 'y' }),
      laneHook('c', { lane: 'x' }),
      laneHook('d', { lane: 'y' }),
    ]
    expect(names(lanesOf(hooks))).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ])
  })
})

describe('candidates', () => {
  it('are nobody where nobody listens', () => {
    expect(plan([madeHook('a', { events: new Set(['Stop']) })])).toEqual({
      event: 'PreToolUse',
      steps: [],
      approvers: [],
      observers: [],
      candidates: [],
    })
  })

  it('are every hook of the event, in order, with what becomes of it', () => {
    const hooks = [
      madeHook('watcher', { role: 'observe' }),
      madeHook('judge', { role: 'approve' }),
      madeHook('editor', { matcher: compileMatcher('Edit|Write'), priority: 5 }),
      madeHook('gate'),
    ]
    const { approvers, observers, steps, candidates } = plan(hooks)
    expect(steps).toEqual([{ priority: 0, lanes: [['gate']] }])
    expect(approvers).toEqual(['judge'])
    expect(observers).toEqual(['watcher'])
    const origin = { scope: 'host', source: 'code' }
    expect(candidates).toEqual([
      { name: 'gate', kind: 'function', role: 'intercept', priority: 0, origin, order: 1, matched: true },
      {
        name: 'editor',
        kind: 'function',
        role: 'intercept',
        priority: 5,
        origin,
        order: 2,
        matched: false,
        why: 'matcher',
        detail: 'matcher "Edit|Write" does not match tool_name "Bash"',
      },
      { name: 'judge', kind: 'function', role: 'approve', priority: 0, origin, order: 3, matched: true },
      { name: 'watcher', kind: 'function', role: 'observe', priority: 0, origin, order: 4, matched: true },
    ])
  })

  it('are plain data', () => {
    const made = plan([madeHook('a'), laneHook('b', { matcher: compileMatcher('^B') })])
    expect(JSON.parse(JSON.stringify(made))).toEqual(made)
  })
})

describe('why a hook does not run', () => {
  it('its matcher', () => {
    const hook = madeHook('a', { matcher: compileMatcher('^Edit$') })
    expect(skipOf(PRE, hook, EVENT, 'Bash', undefined)).toEqual({
      why: 'matcher',
      detail: 'matcher "^Edit$" does not match tool_name "Bash"',
    })
    expect(skipOf(PRE, hook, EVENT, 'Edit', undefined)).toBeUndefined()
  })

  it('its matcher, with a long value shortened', () => {
    const hook = madeHook('a', { matcher: compileMatcher('Edit') })
    expect(skipOf(PRE, hook, EVENT, 'x'.repeat(100), undefined)?.detail).toBe(
      `matcher "Edit" does not match tool_name "${'x'.repeat(57)}…"`,
    )
  })

  it('not its matcher on an event without a matcher field', () => {
    const hook = madeHook('a', { events: 'all', matcher: compileMatcher('Edit') })
    expect(skipOf(resolveEvent('Stop'), hook, { ...EVENT, name: 'Stop' }, '', undefined)).toBeUndefined()
  })

  it('its condition, which sees the event', () => {
    const condition = ({ data }: HookEvent) => (data.tool_name === 'Bash' ? 'not for Bash' : (true as const))
    const hook = madeHook('a', { condition })
    expect(admissionOf(hook, EVENT, undefined)).toEqual({ why: 'if', detail: 'not for Bash' })
    const edit = { ...EVENT, data: { ...EVENT.data, tool_name: 'Edit' } }
    expect(admissionOf(hook, edit, undefined)).toBe(true)
  })

  it('whoever admits hooks', () => {
    const admit: Admit = (hook) =>
      hook.name === 'stranger' ? { why: 'untrusted', detail: 'nobody reviewed it' } : true
    expect(plan([madeHook('stranger'), madeHook('friend')], admit)).toMatchObject({
      steps: [{ lanes: [['friend']] }],
      candidates: [
        { name: 'stranger', matched: false, why: 'untrusted', detail: 'nobody reviewed it' },
        { name: 'friend', matched: true },
      ],
    })
  })

  it('asks for admission only those that match', () => {
    const asked: string[] = []
    const admit: Admit = (hook) => {
      asked.push(hook.name)
      return true
    }
    plan(
      [
        madeHook('matched'),
        madeHook('unmatched', { matcher: compileMatcher('Edit') }),
        madeHook('unfit', { condition: () => 'no' }),
      ],
      admit,
    )
    expect(asked).toEqual(['matched'])
  })
})

describe('explain', () => {
  it('plans without running anything', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = false
    const run = () => {
      ran = true
      return undefined
    }
    hooks.register('PreToolUse', run, { name: 'gate' })
    hooks.register('tool:pre', run, { name: 'editor', matcher: 'Edit' })
    expect(hooks.explain('pre_tool_use', { tool_name: 'Bash', tool_input: {} })).toMatchObject({
      event: 'PreToolUse',
      steps: [{ priority: 0, lanes: [['gate']] }],
      candidates: [{ name: 'gate' }, { name: 'editor', why: 'matcher' }],
    })
    expect(ran).toBe(false)
  })
})
