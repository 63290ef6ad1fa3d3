// Counting what a policy in shadow mode would have changed.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ShadowTable } from '../../src/fleet/shadow-table.js'
import { seeded } from '../property/runs.js'

const entry = (action: string, ...hooks: object[]) => ({
  kind: 'fire',
  time: '2026-11-18T10:00:00Z',
  tool: 'Bash',
  action,
  hooks,
})
const rules = (reason: string, would = 'deny', version = 8) => ({
  name: `fleet@${version}:rules`,
  source: `fleet@${version}`,
  mode: 'shadow',
  would: { action: would, reason },
})
const FORBIDS = 'Not here. The rule no-push forbids this: the call would push main.'

it('counts each rule and hook, and how many calls went on', () => {
  const table = new ShadowTable()
  table.add('a', entry('continue', rules(FORBIDS)))
  table.add('b', entry('continue', rules(`${FORBIDS}\nThe rule slow asks first: the call would wait.`)))
  table.add('b', entry('deny', rules(FORBIDS)))
  const guard = {
    name: 'fleet@8/guard:PreToolUse#1',
    source: 'fleet@8/guard',
    mode: 'shadow',
    would: { action: 'ask_user' },
  }
  table.add('a', entry('continue', guard))
  expect(table.rows()).toMatchObject([
    {
      version: 8,
      what: 'rule no-push',
      would: 'deny',
      calls: 3,
      changed: 2,
      machines: ['a', 'b'],
      machineCount: 2,
    },
    { what: 'guard:PreToolUse#1', would: 'ask_user', calls: 1, changed: 1, machines: ['a'] },
    { what: 'rule slow', calls: 1 },
  ])
  expect(table.rows()[0]?.examples).toHaveLength(3)
})

it('counts events at which a version was tried, and hooks that failed there', () => {
  const table = new ShadowTable()
  const ran = (version: number, more = {}) => ({
    name: `fleet@${version}/guard:PreToolUse#1`,
    source: `fleet@${version}/guard`,
    status: 'ran',
    mode: 'shadow',
    ...more,
  })
  const failed = { status: 'failed', would: { action: 'continue' }, detail: 'exit code 1' }
  table.add('a', entry('continue', ran(8), ran(8)))
  table.add('b', entry('continue', ran(8, failed), ran(9, { status: 'skipped' })))
  table.add('b', entry('continue', { name: 'own', source: 'user', status: 'ran' }))
  expect(table.trials()).toEqual([{ version: 8, calls: 2, machines: 2 }])
  expect(table.rows()).toMatchObject([
    {
      version: 8,
      what: 'guard:PreToolUse#1',
      would: 'fail',
      calls: 1,
      examples: [{ reason: 'exit code 1' }],
    },
  ])
  expect(new ShadowTable(9).trials()).toEqual([])
})

it.each(['ask_user', 'respond', 'deny', 'abort_turn', 'aborted'])(
  'does not count a call as one that went on if its result was %s',
  (action) => {
    const table = new ShadowTable()
    table.add('a', entry(action, rules(FORBIDS)))
    table.add('a', entry(action, rules(FORBIDS, 'hard_abort')))
    expect(table.rows()).toMatchObject([
      { calls: 1, changed: 0 },
      { calls: 1, changed: 0 },
    ])
  },
)

it('leaves out other versions, other hooks in shadow mode, and hooks that would have let the call go on', () => {
  const table = new ShadowTable(8)
  table.add('a', entry('continue', rules(FORBIDS, 'deny', 7)))
  table.add('a', entry('continue', { ...rules(FORBIDS), source: 'user' }))
  table.add('a', entry('continue', rules('', 'continue')))
  expect(table.rows()).toEqual([])
})

it('takes anything that a machine may send', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (whole, would) => {
      const table = new ShadowTable()
      table.add('a', whole)
      table.add('a', { ...entry('continue'), hooks: [whole, { ...rules(''), would }] })
      expect(table.rows().length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 300, ...seeded(28) },
  )
})
