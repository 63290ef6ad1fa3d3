// Values that JSON cannot carry pass between a caller and a tool or model; hooks see what JSON can carry of them.

import { createHooks, type Data, type ModelRequest, modify } from 'carabiner'
import { describe, expect, test } from 'vitest'

class Point {
  readonly x = 1
}
class Closed {
  readonly #secret = 1
  get secret() {
    return this.#secret
  }
}
class Cyclic {
  readonly self = this
}

const VALUES = {
  date: new Date('2026-05-03T00:00:00.000Z'),
  url: new URL('https://example.com/a'),
  map: new Map([['a', 1]]),
  pairs: new Map([[1, 'a']]),
  set: new Set(['a']),
  bytes: new Uint8Array([104, 105]),
  point: new Point(),
  closed: new Closed(),
  cyclic: new Cyclic(),
  big: 9007199254740993n,
  failure: new TypeError('no'),
  pattern: /a+/,
  nan: Number.NaN,
}

/** What hooks see of them. */
const VIEWS = {
  date: '2026-05-03T00:00:00.000Z',
  url: 'https://example.com/a',
  map: { a: 1 },
  pairs: [[1, 'a']],
  set: ['a'],
  bytes: 'aGk=',
  point: { x: 1 },
  closed: '[object Closed]',
  cyclic: '[object Cyclic]',
  big: '9007199254740993',
  failure: 'TypeError: no',
  pattern: '/a+/',
  nan: null,
}

async function called(input: object, patch?: (input: Data) => object) {
  const hooks = await createHooks({ globals: false })
  const seen: unknown[] = []
  hooks.register('PreToolUse', (_, { tool_input }) => {
    seen.push(tool_input)
    return patch && modify({ tool_input: patch(tool_input) })
  })
  hooks.register('PostToolUse', (_, { tool_input }) => void seen.push(tool_input))
  let got: object | undefined
  const run = (given: Data) => {
    got = given
    return 'done'
  }
  const call = await hooks.session().callTool({ name: 'Any', input }, run)
  return { status: call.status, seen, got: got as unknown as Record<string, unknown> }
}

describe('C3: callTool', () => {
  test.each(Object.keys(VALUES) as (keyof typeof VALUES)[])('%s reaches the tool as it was', async (key) => {
    const given = VALUES[key]
    const { got, seen } = await called({ given, deep: [{ given }] })
    expect(got.given).toBe(given)
    expect((got.deep as { given: unknown }[])[0]?.given).toBe(given)
    expect(seen[0]).toEqual({ given: VIEWS[key], deep: [{ given: VIEWS[key] }] })
    expect(seen[1]).toEqual(seen[0])
  })

  test('with no hook at all', async () => {
    const hooks = await createHooks({ globals: false })
    const { result } = await hooks
      .session()
      .callTool({ name: 'Any', input: VALUES }, (input) => input as unknown as typeof VALUES)
    for (const [key, value] of Object.entries(VALUES)) expect((result as never)[key]).toBe(value)
  })

  test('hooks see plain data that is frozen', async () => {
    const { seen } = await called(VALUES)
    expect(JSON.parse(JSON.stringify(seen[0]))).toEqual(seen[0])
    expect([Object.isFrozen(seen[0]), Object.isFrozen((seen[0] as Data).map)]).toEqual([true, true])
  })

  test('a hook that changes one field leaves the others as they were', async () => {
    const { got } = await called(
      { ...VALUES, command: 'ls', deep: { when: VALUES.date, n: 1 } },
      (input) => ({
        ...input,
        command: 'pwd',
        deep: { ...(input.deep as Data), n: 2 },
      }),
    )
    expect(got).toEqual({ ...VALUES, command: 'pwd', deep: { when: VALUES.date, n: 2 } })
    expect(got.map).toBe(VALUES.map)
    expect((got.deep as Data).when).toBe(VALUES.date)
  })

  test('a value that a hook changed is what the hook made of it', async () => {
    const { got } = await called(VALUES, (input) => ({ ...input, date: 'tomorrow', map: { a: 2 } }))
    expect([got.date, got.map, got.url]).toEqual(['tomorrow', { a: 2 }, VALUES.url])
  })

  test('a key that a hook removed is gone', async () => {
    const { got } = await called({ a: VALUES.date, b: VALUES.url }, ({ a }) => ({ a: a ?? null }))
    expect(got).toEqual({ a: VALUES.date })
  })

  test('a caller that changes its input meanwhile changes nothing', async () => {
    const hooks = await createHooks({ globals: false })
    const input = { command: 'ls', when: VALUES.date, list: [1] }
    hooks.register('PreToolUse', () => {
      input.command = 'rm'
      input.list.push(2)
    })
    const { result } = await hooks.session().callTool({ name: 'Any', input }, (given) => given)
    expect(result).toEqual({ command: 'ls', when: VALUES.date, list: [1] })
  })

  test('plain data that contains itself is refused', async () => {
    const input: Record<string, unknown> = { when: VALUES.date }
    input.self = input
    await expect(called(input)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  test('data of endless size is refused, soon', async () => {
    let input: object = { when: VALUES.date }
    for (let i = 0; i < 60; i++) input = { a: input, b: input }
    await expect(called(input)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })
})

describe('C3: callModel', () => {
  const image = { role: 'user', content: [{ type: 'image', image: VALUES.bytes }] }
  const request = {
    model: 'm',
    messages: [{ role: 'system', content: 'be kind' }, image, { role: 'user', content: 'and now?' }],
    tools: [{ name: 'a', execute: () => 1 }],
  }

  async function asked(change: (data: ModelRequest) => object | undefined) {
    const hooks = await createHooks({ globals: false })
    hooks.register('ModelRequest', (_, data) => {
      const patch = change(data as unknown as ModelRequest)
      return patch && modify(patch)
    })
    let got: ModelRequest | undefined
    await hooks.session().callModel(request, (given) => {
      got = given
      return 'answer'
    })
    return got as unknown as typeof request
  }

  test('messages and tools that no hook changed are as they were', async () => {
    const got = await asked(() => undefined)
    expect(got.messages[1]).toEqual(image)
    expect((got.messages[1] as typeof image).content[0]?.image).toBe(VALUES.bytes)
    expect(got.tools[0]).toEqual(request.tools[0])
  })

  test('also where a hook adds or removes one beside them', async () => {
    const added = await asked(({ messages }) => ({ messages: [...messages, { role: 'user', content: 'x' }] }))
    expect((added.messages[1] as typeof image).content[0]?.image).toBe(VALUES.bytes)
    const removed = await asked(({ messages }) => ({ messages: messages.slice(0, 2) }))
    expect((removed.messages[1] as typeof image).content[0]?.image).toBe(VALUES.bytes)
    const renamed = await asked(({ tools = [] }) => ({
      tools: tools.map((tool) => ({ ...(tool as object), note: 1 })),
    }))
    expect(renamed.tools[0]).toMatchObject({ note: 1 })
  })

  test('a bigint is no reason to refuse', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register('ModelRequest', (_, { options }) => void seen.push(options))
    const { status } = await hooks
      .session()
      .callModel({ model: 'm', messages: [], options: { seed: 1n } }, () => 'answer')
    expect([status, seen]).toEqual(['ok', [{ seed: '1' }]])
  })
})
