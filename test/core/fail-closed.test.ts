// The setting on_failure: "block" on every event of the catalogue: it closes gates, and nothing that is no gate.

import { createHooks } from 'carabiner'
import { knownEvents } from 'carabiner/core'
import { describe, expect, test } from 'vitest'

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
