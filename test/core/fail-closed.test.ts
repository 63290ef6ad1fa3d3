// The setting on_failure: "block" on every event of the catalogue: it closes gates, and nothing that is no gate.

import { createHooks, type HookContext, HookRegistry } from 'carabiner'
import { knownEvents } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import { madeHook } from './made-hook.js'

const VALUES = { string: 'text', number: 1, boolean: true, object: {}, list: [], json: 'text' } as const

const events = knownEvents().map((kind) => ({
  event: kind.name,
  isGate: kind.deny === 'block' && !kind.denyOnlyClaudeFormat,
  data: Object.fromEntries(Object.entries(kind.required).map(([field, type]) => [field, VALUES[type]])),
}))

function broken(): never {
  throw new Error('it broke')
}

async function failing(event: string, data: object, on_failure: 'block' | 'continue') {
  const hooks = await createHooks({ globals: false, settings: { on_failure } })
  hooks.register(event, broken, { name: 'broken', onFailure: 'continue' })
  return hooks.session().fire(event, data)
}

describe('G11: functions and commands fail alike', () => {
  const POLICIES = ['block', 'continue', 'byEvent'] as const

  test.each(events)('$event', async ({ event, data }) => {
    for (const on_failure of ['block', 'continue'] as const) {
      for (const onFailure of POLICIES) {
        const [one, other] = await Promise.all(
          (['function', 'command'] as const).map(async (kind) => {
            const globals = new HookRegistry({ scope: 'global' })
            globals.add(madeHook('broken', { events: new Set([event]), kind, onFailure, run: broken }))
            const hooks = await createHooks({ globals, settings: { on_failure } })
            const {
              action,
              reason,
              injections,
              messages,
              hooks: traces,
            } = await hooks.session().fire(event, data)
            return { action, reason, injections, messages, countsAs: traces[0]?.countsAs }
          }),
        )
        expect(other).toEqual(one)
      }
    }
  })

  test('a hook knows what its failure would count as', async () => {
    const seen: string[] = []
    const note = (_: string, __: object, { onFailure }: HookContext) => void seen.push(onFailure)
    for (const on_failure of ['block', 'continue'] as const) {
      const hooks = await createHooks({ globals: false, settings: { on_failure } })
      hooks.register('PreToolUse', note, { onFailure: 'continue' })
      hooks.register('PostToolUse', note, { onFailure: 'continue' })
      hooks.register('PostToolUse', note, { onFailure: 'block' })
      hooks.register('Stop', note, { onFailure: 'block' })
      await hooks.session().callTool({ name: 'Bash', input: {} }, () => 'done')
      await hooks.session().fire('Stop', {})
    }
    expect(seen).toEqual([
      'block',
      'continue',
      'block',
      'continue',
      'continue',
      'continue',
      'block',
      'continue',
    ])
  })
})

describe('a hook that says onFailure: "continue" fails', () => {
  test('there are gates and others among the events', () => {
    expect(events.filter(({ isGate }) => isGate).length).toBeGreaterThan(10)
    expect(events.filter(({ isGate }) => !isGate).length).toBeGreaterThan(10)
  })

  test.each(events)('$event with on_failure: "block"', async ({ event, data, isGate }) => {
    const outcome = await failing(event, data, 'block')
    expect(outcome.action).toBe(isGate ? 'deny' : 'continue')
    expect(outcome.reason ?? '').toMatch(isGate ? /^hook crashed \(fail-safe deny\): broken: it broke/ : /^$/)
    // The model of an event that is no gate is told nothing: the hook said that its failure does not count.
    expect(outcome.injections).toEqual([])
    const countsAs = isGate ? 'deny' : 'continue'
    expect(outcome.hooks).toMatchObject([{ name: 'broken', status: 'failed', countsAs }])
    expect(outcome.messages).toMatchObject([{ level: 'warning', source: 'broken' }])
  })

  test.each(events)('$event with on_failure: "continue"', async ({ event, data }) => {
    const outcome = await failing(event, data, 'continue')
    expect([outcome.action, outcome.injections]).toEqual(['continue', []])
    expect(outcome.hooks).toMatchObject([{ status: 'failed', countsAs: 'continue' }])
  })
})
