// Values that JSON cannot carry pass between a caller and a tool or model; hooks see what JSON can carry of them.

import { createHooks, type Data, type ModelRequest, modify } from 'carabiner'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLarge, runs } from '../property/runs.js'

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
  closed: { secret: 1 },
  cyclic: { self: '[circular: shown above]' },
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

  test.runIf(isLarge)('data of endless size is refused, soon', async () => {
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

// ---- whatever it is, hooks see what is in it ---------------------------------------------------------------------

/** A value, every text that a tool could read from it, and changes that its owner could make while hooks judge it. */
interface Made {
  readonly value: unknown
  readonly texts: readonly string[]
  readonly changes: readonly ((text: string) => void)[]
}

class Titled extends Map {
  constructor(readonly title: unknown) {
    super()
  }
}

/** Each holds one value in its own way. Some can be changed later. */
const HOLDERS: Readonly<Record<string, (inner: unknown) => readonly [object, ((text: string) => void)?]>> = {
  plain: (inner) => [{ a: inner }],
  list: (inner) => [[1, inner]],
  sparse: (inner) => [Object.assign([], { 3: inner })],
  bare: (inner) => [Object.assign(Object.create(null), { a: inner })],
  map: (inner) => changing(new Map<unknown, unknown>([['a', inner]]), (map, text) => map.set('b', text)),
  keys: (inner) => [new Map([[inner, 1]])],
  set: (inner) => changing(new Set([inner]), (set, text) => set.add(text)),
  titled: (inner) => [new Titled(inner)],
  inherited: (inner) => [Object.create({ a: inner })],
  error: (inner) => [new Error('e', { cause: inner })],
  aggregate: (inner) => [new AggregateError([inner])],
  failed: (inner) => [Object.assign(new Error('e'), { detail: inner })],
  rendering: (inner) => [{ a: inner, toJSON: () => 'fine' }],
  dated: (inner) => [Object.assign(new Date(0), { a: inner })],
  boxed: (inner) => [Object.assign(new String('s'), { a: inner })],
  bytes: (inner) => [Object.assign(new Uint8Array(2), { a: inner })],
  callable: (inner) => [Object.assign(() => 1, { a: inner })],
  instance: (inner) =>
    changing(
      new (class {
        command: unknown = inner
      })(),
      (one, text) => {
        one.command = text
      },
    ),
  getter: (inner) => [
    new (class {
      readonly #hidden = inner
      get command() {
        return this.#hidden
      }
    })(),
  ],
  circular: (inner) => [
    new (class {
      readonly self = this
      readonly a = inner
    })(),
  ],
  accessor: (inner) => [Object.defineProperty({}, 'a', { enumerable: true, get: () => inner })],
}

function changing<T extends object>(value: T, change: (value: T, text: string) => void) {
  return [value, (text: string) => change(value, text)] as const
}

function form(text: string): FormData {
  const made = new FormData()
  made.append('a', 'x')
  made.append('a', text)
  return made
}

/** Each is one text in another guise. */
const GUISES: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => new String(text),
  (text) => new Headers({ a: text }),
  (text) => new URLSearchParams({ a: text }),
  (text) => new URL(`https://a.example/${text}`),
  (text) => new Error(text),
  (text) => new RegExp(text),
  (text) => Symbol.for(text).description,
  form,
]

const made: fc.Arbitrary<Made> = fc.letrec<{ value: Made }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(fc.constantFrom(...GUISES), fc.nat(999)).map(([guise, n]) => {
      const text = `text-${n}-end`
      return { value: guise(text), texts: [text], changes: [] }
    }),
    fc.constantFrom(1, true, null, 5n, undefined, new Date(0)).map((value) => {
      return { value, texts: [], changes: [] }
    }),
    fc.tuple(fc.constantFrom(...Object.values(HOLDERS)), tie('value')).map(([hold, inner]) => {
      const [value, change] = hold(inner.value)
      return { value, texts: inner.texts, changes: [...inner.changes, ...(change ? [change] : [])] }
    }),
    fc.tuple(tie('value'), tie('value')).map(([one, other]) => ({
      value: { one: one.value, other: other.value },
      texts: [...one.texts, ...other.texts],
      changes: [...one.changes, ...other.changes],
    })),
  ),
})).value

const missing = (texts: readonly string[], seen: unknown) =>
  texts.filter((text) => !JSON.stringify(seen).includes(text))

describe('whatever a value is made of', () => {
  test('a gate sees every text that the tool could read', async () => {
    await fc.assert(
      fc.asyncProperty(made, async ({ value, texts }) => {
        const { seen } = await called({ value })
        expect(missing(texts, seen[0])).toEqual([])
      }),
      { numRuns: runs(2000) },
    )
  })

  test('hooks see every text in the result of a tool', async () => {
    await fc.assert(
      fc.asyncProperty(made, async ({ value, texts }) => {
        const seen: unknown[] = []
        const hooks = await createHooks({ globals: false })
        hooks.register('PostToolUse', (_, { tool_response }) => void seen.push(tool_response))
        await hooks.session().callTool({ name: 'Any', input: {} }, () => value)
        expect(missing(texts, seen)).toEqual([])
      }),
      { numRuns: runs(2000) },
    )
  })

  test('the tool gets what was judged, or nothing, however it is changed meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(made, async ({ value, changes }) => {
        const hooks = await createHooks({ globals: false })
        hooks.register('PreToolUse', () => {
          for (const change of changes) change('changed')
        })
        let ran = false
        const call = await hooks.session().callTool({ name: 'Any', input: { value } }, () => {
          ran = true
        })
        expect([ran, call.status]).toEqual(changes.length > 0 ? [false, 'denied'] : [true, 'ok'])
      }),
      { numRuns: runs(1000) },
    )
  })

  test('a request to a model that is changed meanwhile is not sent', async () => {
    const hooks = await createHooks({ globals: false })
    const parts = new Map([['text', 'fine']])
    hooks.register('ModelRequest', () => void parts.set('text', 'changed'))
    const request = { model: 'm', messages: [{ role: 'user', content: parts }] }
    const call = await hooks.session().callModel(request, () => 'answer')
    expect(call).toMatchObject({
      status: 'denied',
      reason: expect.stringContaining('changed while hooks were judging'),
    })
  })

  test.each([
    ['a file', new Blob(['secret'])],
    ['a promise', Promise.resolve('secret')],
    ['a stream', new ReadableStream()],
    ['an iterator', ['secret'].values()],
    ['a weak reference', new WeakRef({ a: 'secret' })],
    [
      'a secret',
      new (class Secret {
        readonly #secret = 'secret'
        read() {
          return this.#secret
        }
      })(),
    ],
  ])('hooks are told that %s cannot be shown', async (_, value) => {
    const { seen } = await called({ value })
    expect(JSON.stringify(seen[0])).toContain('its content cannot be shown]')
  })
})
