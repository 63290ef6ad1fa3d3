import { compileMatcher, type Hook, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { HookSet, Listeners, matches } from '../../src/core/hooks/hook-set.js'
import { laneHook, madeHook } from './made-hook.js'

const PRE = resolveEvent('PreToolUse')
const STOP = resolveEvent('Stop')
const names = (hooks: readonly Hook[] = []) => hooks.map((hook) => hook.name)
const globally = { origin: { scope: 'global', source: 'code' } } as const

function order(...layers: (readonly Hook[])[]): string[] {
  return names(new HookSet(layers).listeners(PRE)?.interceptors)
}

describe('order', () => {
  it('is by priority, ascending', () => {
    const hooks = [10, -5, 0, 1.5].map((priority) => madeHook(String(priority), { priority }))
    expect(order(hooks)).toEqual(['-5', '0', '1.5', '10'])
  })

  it('keeps the order of registration among equals', () => {
    expect(order([madeHook('c'), madeHook('a'), madeHook('b')])).toEqual(['c', 'a', 'b'])
  })

  it('puts the earlier layer first among equals', () => {
    expect(order([madeHook('first')], [madeHook('second')], [madeHook('third')])).toEqual([
      'first',
      'second',
      'third',
    ])
  })

  it('puts global before the rest of the same priority', () => {
    const own = [madeHook('own'), madeHook('early', { priority: -1 })]
    expect(order(own, [madeHook('everywhere', globally)])).toEqual(['early', 'everywhere', 'own'])
  })

  it('puts functions before resident hooks before configured ones of the same priority', () => {
    const hooks = [
      laneHook('command', { priority: 0 }),
      madeHook('resident', { kind: 'process' }),
      madeHook('function'),
    ]
    expect(order(hooks)).toEqual(['function', 'resident', 'command'])
  })

  it('asks for the scope before the kind', () => {
    const hooks = [madeHook('function'), madeHook('resident', { kind: 'process', ...globally })]
    expect(order(hooks)).toEqual(['resident', 'function'])
  })

  it('lets priority outrank scope and kind', () => {
    const hooks = [madeHook('function', { priority: 21, ...globally }), laneHook('command')]
    expect(order(hooks)).toEqual(['command', 'function'])
  })
})

describe('who listens', () => {
  it('nobody where no hook has the event', () => {
    expect(new HookSet([]).listeners(PRE)).toBeUndefined()
    expect(new HookSet([[madeHook('a')]]).listeners(STOP)).toBeUndefined()
  })

  it('hooks of the event and hooks of all events', () => {
    const set = new HookSet([
      [madeHook('pre'), madeHook('any', { events: 'all' }), madeHook('stop', { events: new Set(['Stop']) })],
    ])
    expect(names(set.listeners(PRE)?.interceptors)).toEqual(['pre', 'any'])
    expect(names(set.listeners(STOP)?.interceptors)).toEqual(['any', 'stop'])
    expect(names(set.listeners(resolveEvent('my:event'))?.interceptors)).toEqual(['any'])
  })

  it('each in its role', () => {
    const listeners = new HookSet([
      [
        madeHook('watcher', { role: 'observe' }),
        madeHook('judge', { role: 'approve' }),
        madeHook('gate'),
        madeHook('second judge', { role: 'approve', priority: -1 }),
      ],
    ]).listeners(PRE)
    expect(names(listeners?.interceptors)).toEqual(['gate'])
    expect(names(listeners?.approvers)).toEqual(['second judge', 'judge'])
    expect(names(listeners?.observers)).toEqual(['watcher'])
  })

  it('is worked out once', () => {
    const set = new HookSet([[madeHook('a')]])
    expect(set.listeners(PRE)).toBe(set.listeners(PRE))
  })

  it('does not change when the list it was made of does', () => {
    const hooks = [madeHook('a')]
    const set = new HookSet([hooks])
    hooks.push(madeHook('b'))
    expect(names(set.all())).toEqual(['a'])
    expect(names(set.listeners(PRE)?.interceptors)).toEqual(['a'])
  })

  it('lists all in the order of layers', () => {
    expect(names(new HookSet([[madeHook('b', { priority: 9 })], [madeHook('a')]]).all())).toEqual(['b', 'a'])
  })

  it('knows whether any runs once', () => {
    expect(new Listeners(PRE, [madeHook('a')]).anyOnce).toBe(false)
    expect(new Listeners(PRE, [madeHook('a'), madeHook('b', { once: true })]).anyOnce).toBe(true)
  })
})

describe('selection by matcher', () => {
  const bash = madeHook('bash', { matcher: compileMatcher('Bash') })
  const edits = madeHook('edits', { matcher: compileMatcher('Edit|Write'), priority: 1 })
  const every = madeHook('every', { priority: 2 })

  it.each([
    ['Bash', ['bash', 'every'], [0, 2]],
    ['Write', ['edits', 'every'], [1, 2]],
    ['Read', ['every'], [2]],
    ['', ['every'], [2]],
  ])('%s', (value, selected, positions) => {
    const listeners = new Listeners(PRE, [every, edits, bash])
    const selection = listeners.select(value)
    expect(names(selection.hooks)).toEqual(selected)
    expect(selection.positions).toEqual(positions)
    expect(listeners.select(value)).toBe(selection)
  })

  it('takes everyone on an event without a matcher field', () => {
    const listeners = new Listeners(STOP, [{ ...bash, events: 'all' }, every])
    expect(names(listeners.select('').hooks)).toEqual(['bash', 'every'])
    expect(names(listeners.select('Read').hooks)).toEqual(['bash', 'every'])
  })

  it('asks a matcher once per value', () => {
    const asked: string[] = []
    const test = (value: string) => {
      asked.push(value)
      return true
    }
    const listeners = new Listeners(PRE, [madeHook('a', { matcher: { pattern: 'a', test } })])
    for (const value of ['Bash', 'Edit', 'Bash', 'Edit']) listeners.select(value)
    expect(asked).toEqual(['Bash', 'Edit'])
  })

  it('stays right for more values than it remembers', () => {
    const listeners = new Listeners(PRE, [bash, every])
    for (let i = 0; i < 2000; i++) expect(names(listeners.select(`tool-${i}`).hooks)).toEqual(['every'])
    expect(names(listeners.select('Bash').hooks)).toEqual(['bash', 'every'])
  })

  it('selects interceptors alone', () => {
    const listeners = new Listeners(PRE, [bash, { ...every, role: 'approve' }])
    expect(names(listeners.select('Bash').hooks)).toEqual(['bash'])
  })
})

describe('many events', () => {
  it('stays right for more events than it remembers', () => {
    const set = new HookSet([[madeHook('any', { events: 'all' }), madeHook('pre')]])
    for (let i = 0; i < 2000; i++) {
      expect(names(set.listeners(resolveEvent(`my:${i}`))?.interceptors)).toEqual(['any'])
    }
    expect(names(set.listeners(PRE)?.interceptors)).toEqual(['any', 'pre'])
  })
})

describe('matches', () => {
  it('a hook without a matcher matches everything', () => {
    expect(matches(madeHook('a'), 'Bash')).toBe(true)
    expect(matches(madeHook('a', { matcher: compileMatcher('Edit') }), 'Bash')).toBe(false)
  })
})
