// What is kept of a call: never a secret, wherever it stands; nothing that controls a terminal; little of what is long.

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/core/base/json.js'
import { keepSecret } from '../../../src/core/base/secrets.js'
import { gistOf, isKeptCall, keptLine } from '../../../src/store/audit-calls/kept-call.js'
import type { KeptCall } from '../../../src/store/audit-calls.js'
import { FORMS, planted } from '../../conformance/planted-secrets.js'
import { runs } from '../../property/runs.js'
import { judged } from './judged.js'

const VALUES = Object.values(planted())
beforeAll(() => keepSecret(VALUES))

const input = (tool_input: Json) => judged('id', { data: { tool_name: 'Bash', tool_input } })
const keptOf = (tool_input: Json): KeptCall => JSON.parse(keptLine(input(tool_input)))

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...textsIn(one),
  ])
}

/** Neither as it stands in the file nor in fields put together. */
function expectNone(line: string, secret: string): void {
  const forms = [secret, JSON.stringify(secret).slice(1, -1)]
  expect(forms.filter((form) => line.includes(form))).toEqual([])
  expect(textsIn(JSON.parse(line)).join('')).not.toContain(secret)
}

describe('no secret is kept', () => {
  const secret = fc.constantFrom(...FORMS, ...VALUES)
  const edge = fc.constantFrom(' ', '\n', '"', "'", '=', ':', '/', '(', ';', ',', '\u001b[0m', '\u200b', '')
  const words = fc.string({ maxLength: 20 })
  const around = fc.tuple(
    words,
    edge,
    edge.filter((one) => one !== ''),
    words,
  )

  /** A tree with the text in some place: a value, a key, a list, deep inside. */
  const planting = (text: string): fc.Arbitrary<Json> =>
    fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constant(text as Json),
        fc.dictionary(words, fc.constant('x')).map((more): Json => ({ ...more, command: text })),
        fc.constant({ [text]: 'value' } as Json),
        fc.tuple(words, tie('tree'), words).map((list): Json => list),
        fc.tuple(words, tie('tree')).map(([key, tree]): Json => ({ a: 1, [key]: tree, b: [null, true] })),
      ),
    })).tree

  it('planted anywhere in a call', () => {
    const cases = secret.chain((one) =>
      around.chain(([before, left, right, after]) =>
        fc.tuple(fc.constant(one), planting(`${before} ${left}${one}${right}${after}`)),
      ),
    )
    fc.assert(
      fc.property(cases, ([one, tree]) => expectNone(keptLine(input(tree)), one)),
      { numRuns: runs(2000) },
    )
  })

  it('split over fields', () => {
    const cases = fc.tuple(
      fc.constantFrom(...FORMS, ...VALUES),
      fc.double({ min: 0.1, max: 0.9, noNaN: true }),
      fc.constantFrom<(a: string, b: string) => Json>(
        (a, b) => ({ a, b }),
        (a, b) => [a, b],
        (a, b) => ({ [a]: b }),
        (a, b) => ({ args: ['echo', a], more: { deep: [b] } }),
      ),
    )
    fc.assert(
      fc.property(cases, ([one, where, split]) => {
        const at = Math.max(1, Math.floor(one.length * where))
        const line = keptLine(input(split(one.slice(0, at), one.slice(at))))
        expect(textsIn(JSON.parse(line).call).join('').includes(one)).toBe(false)
        // The keys between them would hide a secret from this: put values alone together, too.
        const values = textsIn(JSON.parse(line).call.tool_input).filter((text) => one.includes(text))
        expect(values.join('')).not.toBe(one)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('in changes, injections, output of failed hooks, and names', () => {
    for (const one of [...FORMS, ...VALUES]) {
      const hook = { name: `hook ${one}`, kind: 'command', source: one, ms: 1 } as const
      const call = judged('id', {
        session: `session ${one}`,
        event: `My ${one}`,
        data: { tool_name: one, tool_input: {} },
        outcome: {
          ...judged('id').outcome,
          injections: [{ text: `know ${one}`, role: 'user', ephemeral: false, source: one }],
          hooks: [
            {
              ...hook,
              status: 'failed',
              why: 'HOOK_FAILED',
              detail: one,
              stderr: `\u001b[31m${one}\u001b[0m`,
            },
            { ...hook, status: 'ran', changes: [{ path: `a/${one}`, before: { x: one }, after: [one] }] },
          ],
        },
      })
      expectNone(keptLine(call), one)
    }
  })

  it.for([
    ['the name on the way', { path: 'tool_input/env/API_TOKEN', before: 'short1', after: 'short1x' }],
    ['a name above it', { path: 'tool_input/credentials/a', before: 'short1' }],
    ['the option before it', { path: 'tool_input/args/1', before: 'short1', after: 'short1x' }],
    ['a header', { path: 'tool_input/headers/Cookie', after: 'short1' }],
    ['a cut value', { path: 'tool_input/body', before: '{"a":1,"API_TOKEN":"short1","b":"…' }],
    [
      'an object',
      {
        path: 'tool_input/x',
        before: { API_TOKEN: 'short1' },
        after: [{ name: 'API_TOKEN', value: 'short1' }],
      },
    ],
  ] as const)('in a change: %s', ([, change]) => {
    const hook = { name: 'h', kind: 'command', source: 's', ms: 1, status: 'ran' } as const
    const tool_input = { args: ['--token', 'short1x'], env: {} }
    const outcome = { ...judged('id').outcome, hooks: [{ ...hook, changes: [change] }] }
    const line = keptLine(judged('id', { data: { tool_name: 'Bash', tool_input }, outcome }))
    expect(JSON.parse(line).changes).toHaveLength(1)
    expect(line).not.toContain('short1')
  })

  it('in changes that removed an option with its value', () => {
    const changes = [
      { path: 'tool_input/args/1', before: '--token' },
      { path: 'tool_input/args/2', before: 'short1' },
    ]
    const hook = { name: 'h', kind: 'command', source: 's', ms: 1, status: 'ran', changes } as const
    const outcome = { ...judged('id').outcome, hooks: [hook] }
    expect(keptLine(judged('id', { outcome }))).not.toContain('short1')
  })

  it.for([
    ['a header in a list', { args: ['-H', 'Authorization', 'abc123'] }, 'abc123'],
    ['an option in a list', { args: ['--token', 'x7'] }, 'x7'],
    ['an option with its value', { command: 'login --password hunter22 --user me' }, 'hunter22'],
    ['an option with an equals sign', { command: 'login --api-key=k3y' }, 'k3y'],
    ['a login', { command: 'curl -u me:pa55w0rd https://example.org' }, 'pa55w0rd'],
    ['a header', { command: `curl -H "X-Api-Key: k3y-k3y" https://example.org` }, 'k3y-k3y'],
    ['a cookie', { headers: { Cookie: 'session=abcdef; theme=x' } }, 'abcdef'],
    ['a cookie in a command', { command: `curl --header 'Cookie: session=abcdef'` }, 'abcdef'],
    ['a variable', { env: { DATABASE_PASSWORD: 'short1' } }, 'short1'],
    ['a variable of a command', { command: 'DB_PASSWORD=short1 ./run' }, 'short1'],
    ['a name and its value', { env: [{ name: 'API_TOKEN', value: 'short1' }] }, 'short1'],
    ['an address', { url: 'https://me:hunter2hunter2@example.org/x' }, 'hunter2hunter2'],
    ['a parameter', { url: 'https://example.org/?access_key=short1&x=1' }, 'short1'],
    ['everything below such a name', { credentials: { a: { b: ['short1'] } } }, 'short1'],
    ['a number', { password: 12345678 }, '12345678'],
    ['a private key', { text: '-----BEGIN PRIVATE KEY-----\nMIIEabc\n-----END PRIVATE KEY-----' }, 'MIIEabc'],
    ['a line of YAML', { content: 'user: me\npassword: short1\n' }, 'short1'],
    ['short JSON in a text', { body: JSON.stringify({ a: 1, password: 'sh"rt1' }) }, 'rt1'],
    ['JSON in JSON', { body: JSON.stringify({ a: JSON.stringify({ password: 'short1' }) }) }, 'short1'],
    ['JSON in a text', { body: JSON.stringify({ password: 'correct horse battery' }) }, 'correct horse'],
  ] as const)('%s', ([, given, hidden]) => {
    expect(keptLine(input(given as unknown as Json))).not.toContain(hidden)
  })

  it('numbers that only sound like one stay', () => {
    expect(keptOf({ max_tokens: 4096 }).call).toMatchObject({ tool_input: { max_tokens: 4096 } })
  })
})

describe('what is kept', () => {
  it('is one line without anything that controls a terminal', () => {
    const line = keptLine(
      input({ command: 'a\nb\u001b]0;title\u0007\u202e\u0000\r', 'k\u001b[2J': '\u009b31m' }),
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    expect(isKeptCall(JSON.parse(line))).toBe(true)
    expect(JSON.parse(line).exact).toBe(false)
  })

  it('is bounded, whatever is sent', () => {
    const deep = (depth: number): Json => (depth === 0 ? 'x' : { a: deep(depth - 1) })
    const huge: readonly Json[] = [
      { command: 'x'.repeat(5_000_000) },
      { command: '\u001b'.repeat(1_000_000) },
      { command: '"\\'.repeat(100_000) },
      { command: '漢'.repeat(100_000) },
      Array.from({ length: 100_000 }, (_, i) => i),
      Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 1e300)),
      Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`${i}`.repeat(50), i])),
      deep(2000),
    ]
    for (const one of huge) {
      const line = keptLine(input(one))
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(64 * 1024)
      expect(isKeptCall(JSON.parse(line))).toBe(true)
      expect(JSON.parse(line).exact).toBe(false)
    }
  })

  it('can be read back, however much hooks changed, said and printed', () => {
    const long = 'a b '.repeat(5000)
    const changes = Array.from({ length: 32 }, (_, i) => ({
      path: `tool_input/${i}`,
      before: long,
      after: { a: [long] },
    }))
    const hooks = Array.from({ length: 20 }, (_, i) => ({
      name: `h${i}`,
      kind: 'command' as const,
      source: 's',
      ms: 1,
      status: 'failed' as const,
      stderr: long,
      changes,
    }))
    const injections = Array.from({ length: 50 }, () => ({
      text: long,
      role: 'user' as const,
      ephemeral: false,
      source: 'h1',
    }))
    const line = keptLine(judged('id', { outcome: { ...judged('id').outcome, hooks, injections } }))
    const kept: unknown = JSON.parse(line)
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(64 * 1024)
    expect(
      isKeptCall(kept) && [kept.changes, kept.injections, kept.failures].every((one) => one.length > 0),
    ).toBe(true)
  })

  it('names of hooks hide nothing that they say', () => {
    const injections = [{ text: 'careful', role: 'user' as const, ephemeral: false, source: 'secret-guard' }]
    const line = keptLine(judged('id', { outcome: { ...judged('id').outcome, injections } }))
    expect(JSON.parse(line).injections).toEqual([{ source: 'secret-guard', text: 'careful' }])
  })

  it('takes a moment', () => {
    const started = performance.now()
    for (const text of [
      'password='.repeat(20_000),
      'x-key: '.repeat(20_000),
      '--a '.repeat(40_000),
      "'".repeat(99_999),
    ])
      keptLine(input({ command: text }))
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it.for([
    [{ command: 'ls -l' }, 'ls -l'],
    [{ file_path: '/a/b', content: 'x' }, '/a/b'],
    [{ url: 'https://example.org' }, 'https://example.org'],
    [{ n: 1 }, '{"n":1}'],
  ] as const)('%j is recognised by %s', ([given, gist]) => {
    expect(gistOf(keptOf(given))).toBe(gist)
  })
})
