import { describe, expect, test } from 'vitest'
import { modify } from '../../src/core/events/result.js'
import { changesBetween } from '../../src/core/run/trace.js'
import { createHooks } from '../../src/runtime.js'

describe('what a hook changed', () => {
  test('is in the trace, value by value: a tool that was added to a request', async () => {
    const hooks = await createHooks({ globals: false })
    const added = { type: 'function', function: { name: 'mine' } }
    hooks.register('ModelRequest', (_, { tools, options }) =>
      modify({ tools: [...tools, added], options: { ...options, temperature: 0 } }),
    )
    const tool = { type: 'function', function: { name: 'echo' } }
    const { hooks: trace } = await hooks
      .session()
      .fire('ModelRequest', { model: 'm', messages: [], tools: [tool], options: { temperature: 1 } })
    expect(trace[0]).toMatchObject({
      changed: ['tools', 'options'],
      changes: [
        { path: 'tools/1', after: added },
        { path: 'options/temperature', before: 1, after: 0 },
      ],
    })
  })

  test('lists are compared from both ends', () => {
    const between = (before: string[], after: string[]) => changesBetween({ k: before }, { k: after }, ['k'])
    expect(between(['b', 'c'], ['a', 'b', 'c'])).toEqual([{ path: 'k/0', after: 'a' }])
    expect(between(['a', 'b', 'c'], ['a', 'c'])).toEqual([{ path: 'k/1', before: 'b' }])
    expect(between(['a', 'a'], ['a'])).toEqual([{ path: 'k/1', before: 'a' }])
    expect(between([], ['a'])).toEqual([{ path: 'k/0', after: 'a' }])
  })

  test('keys that were added and removed, and a value of another kind', () => {
    const before = { k: { gone: 1, same: [1], kind: {} } }
    const after = { k: { same: [1], kind: [], come: null } }
    expect(changesBetween(before, after, ['k'])).toEqual([
      { path: 'k/gone', before: 1 },
      { path: 'k/kind', before: {}, after: [] },
      { path: 'k/come', after: null },
    ])
  })

  test('stays within bounds', () => {
    const many = changesBetween({ k: [] }, { k: Array.from({ length: 10_000 }, (_, i) => i) }, ['k'])
    expect(many).toHaveLength(32)
    const [long] = changesBetween({ k: '' }, { k: 'x'.repeat(1_000_000) }, ['k'])
    expect(String(long?.after)).toHaveLength(2001)
  })
})
