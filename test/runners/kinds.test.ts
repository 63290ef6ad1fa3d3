// The table of kinds: a row for each kind that the core knows, complete enough to be used without its runner.

import { describe, expect, test } from 'vitest'
import { HOOK_KINDS } from '../../src/core/hooks/kinds.js'
import { keeperFor } from '../../src/runners/keeper.js'
import type { Kind, Shared } from '../../src/runners/kind.js'
import { KINDS, type KindName, kindOf, runsProgram } from '../../src/runners/kinds.js'

const NAMES = Object.keys(KINDS) as KindName[]

test('there is a row for every kind in the core except functions', () => {
  expect([...NAMES, 'function'].sort()).toEqual(Object.keys(HOOK_KINDS).sort())
})

describe.each(NAMES)('%s', (type) => {
  const kind: Kind = kindOf({ type })

  test('requires only fields that it has, and describes each', () => {
    expect(Object.keys(kind.fields)).toEqual(expect.arrayContaining([...kind.required]))
    for (const [[accepts, wanted], description] of Object.values(kind.fields)) {
      expect([typeof accepts, wanted === '', description === '']).toEqual(['function', false, false])
    }
  })

  test('loads a runner that can be closed before it made a hook', async () => {
    const settings = () => ({ mcp_servers: {} })
    const runner = await kind.load({ settings, keeper: keeperFor('') } as unknown as Shared)
    expect(runner.hooks).toBeTypeOf('function')
    await runner.close?.()
  })
})

test('kinds that start programs are told apart from kinds that ask', () => {
  const programs = ['command', 'process']
  expect(NAMES.filter(runsProgram).sort()).toEqual(programs)
  expect(runsProgram('function')).toBe(false)
})
