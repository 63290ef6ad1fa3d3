// Which hooks are gates: one rule for the final look, time-outs, trust, and the calls that nobody judged.

import { createHooks, HookError, HookRegistry } from 'carabiner'
import { type Hook, knownEvents, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { canRefuse, isGate, isGuard } from '../../src/core/hooks/gate.js'
import { laneHook, madeHook } from './made-hook.js'

const EVENTS = knownEvents()
const NO_GATES: readonly [string, Partial<Hook>][] = [
  ['an observer', { role: 'observe' }],
  ['an async hook', { detached: true }],
  ['one that wakes the model', { detached: true, wakes: true }],
  ['a logger', { observe: true }],
]
const VALUES = { string: 'text', number: 1, boolean: true, object: {}, list: [], json: 'text' } as const

describe('a gate', () => {
  it.each(EVENTS)('of $name is there if a deny blocks', (kind) => {
    const blocks = kind.deny === 'block'
    const refuses = blocks || kind.deny === 'go-on'
    for (const role of ['intercept', 'approve'] as const) {
      const hook = laneHook('gate', { role, events: new Set([kind.name]) })
      expect([isGate(kind, hook), canRefuse(kind, hook), isGuard(hook)]).toEqual([blocks, refuses, refuses])
    }
  })

  it.each(NO_GATES)('is not %s, on any event', (_, more) => {
    for (const kind of EVENTS) {
      const hook = laneHook('other', { ...more, events: new Set([kind.name]) })
      expect([isGate(kind, hook), canRefuse(kind, hook), isGuard(hook)]).toEqual([false, false, false])
    }
  })

  it("is not a function where only hooks in Claude Code's format may deny", () => {
    const kind = resolveEvent('TaskCompleted')
    expect([isGate(kind, madeHook('function')), isGate(kind, laneHook('command'))]).toEqual([false, true])
  })
})

it.each(EVENTS)('a hook of $name that is not what was trusted closes it if it is a gate', async (kind) => {
  const run = () => {
    throw new HookError('HOOK_NOT_TRUSTED', 'it was changed')
  }
  const data = Object.fromEntries(Object.entries(kind.required).map(([field, type]) => [field, VALUES[type]]))
  for (const [, more] of [['a gate', {}] as const, ...NO_GATES]) {
    const hook = laneHook('changed', { ...more, run, events: new Set([kind.name]) })
    const globals = new HookRegistry({ scope: 'global' })
    globals.add(hook)
    const hooks = await createHooks({ globals })
    const { action } = await hooks.session().fire(kind.name, data)
    expect([more, action]).toEqual([more, isGate(kind, hook) ? 'deny' : 'continue'])
  }
})
