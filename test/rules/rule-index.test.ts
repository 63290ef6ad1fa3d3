import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Effect, EffectKind } from '../../src/effects/effect.js'
import { EFFECT_KINDS, subjectsOf } from '../../src/rules/effect-kinds.js'
import type { Rule } from '../../src/rules/rule.js'
import { meeting } from '../../src/rules/rule-condition.js'
import { candidatesAmong } from '../../src/rules/rule-index.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { runs } from '../property/runs.js'

const ROOTS = { project: '/home/ann/shop', home: '/home/ann' }

// ---- random effects, with so few names that many of them meet -------------------------------------------------------

const name = fc.constantFrom(
  'a',
  'b',
  'A',
  'a.pem',
  'a-b',
  '.env',
  'ΑΣ',
  'ΑΣb',
  'İ',
  'K',
  'home',
  'ann',
  'shop',
)
const wildName = fc.constantFrom('*', 'a*', '*.pem', '*b', '?', 'a?', '?.pem', 'ΑΣ*', '*Σ', 'K*', '**')
const root = fc.constantFrom('', '/', '/home/ann', '/home/ann/shop', '/HOME/ann/shop', '~', '..')

const joined = (start: string, names: readonly string[]) => [start, ...names].join('/')
const path = fc.tuple(root, fc.array(name, { maxLength: 4 })).map(([start, names]) => joined(start, names))
const pattern = fc
  .tuple(root, fc.array(fc.oneof(name, name, wildName), { maxLength: 4 }))
  .map(([start, names]) =>
    joined(start, names).replace(/^\/(?=[^/])/, (slash) => (start === '' ? '' : slash)),
  )
  .map((text) => (text === '' ? '.' : text))

const place = fc.record({
  path,
  known: fc.constantFrom(true, true, true, false),
  wild: fc.constantFrom(false, false, false, true),
  deep: fc.boolean(),
})

const host = fc.constantFrom(
  'a',
  'A.example.org',
  'b.example.org',
  'localhost',
  'ΑΣ',
  'ΑΣB',
  'release/1',
  'main',
)
const hostPattern = fc.constantFrom(
  ...[
    'a',
    '*',
    'A.*',
    '*.EXAMPLE.org',
    '?',
    'main',
    'release/*',
    'ΑΣ',
    'ΑΣ*',
    '*Σ',
    '{a,main}',
    'a.example.???',
  ],
)
const word = fc.constantFrom('npm', '/usr/bin/npm', './npm', 'publish', 'run', 'x/y', '', '-f', 'ΑΣ')
const commandPattern = fc.constantFrom(
  ...[
    'npm',
    'npm publish',
    'npm run x/y',
    'np*',
    'npm *',
    '* publish',
    '/usr/bin/npm',
    '*',
    'run',
    '?pm',
    'ΑΣ',
    'npm ',
  ],
)

const common = { by: fc.constant('words') }
const maybeHost = fc.option(host, { nil: undefined })
const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc.record({ kind: fc.constantFrom('read', 'write', 'delete'), place, ...common }),
  fc.record({ kind: fc.constant('move'), place, to: place, ...common }),
  fc.record({ kind: fc.constant('run'), program: word, args: fc.array(word, { maxLength: 3 }), ...common }),
  fc.record({ kind: fc.constant('send'), host: maybeHost, from: fc.constant([]), ...common }),
  fc.record({
    kind: fc.constant('git'),
    operation: fc.constantFrom('push', 'status'),
    branch: maybeHost,
    force: fc.boolean(),
    loses: fc.constantFrom('history', 'nothing'),
    ...common,
  }),
  fc.record({
    kind: fc.constant('install'),
    manager: host,
    packages: fc.array(host, { maxLength: 3 }),
    ...common,
  }),
  fc.record({
    kind: fc.constant('setting'),
    owner: host,
    place: fc.option(place, { nil: undefined }),
    ...common,
  }),
  fc.record({ kind: fc.constant('unknown'), why: host, ...common }),
) as fc.Arbitrary<Effect>

const anyPattern = fc.oneof(pattern, pattern, hostPattern, commandPattern)
const patterns = fc.option(fc.oneof(anyPattern, fc.array(anyPattern, { minLength: 1, maxLength: 3 })), {
  nil: undefined,
})
const rule = fc
  .record({
    effects: fc.oneof(
      fc.constant('*' as const),
      fc.uniqueArray(fc.constantFrom(...EFFECT_KINDS), { minLength: 1, maxLength: 6 }),
    ),
    then: fc.constantFrom('deny', 'ask', 'allow'),
    of: patterns,
    except: patterns,
    where: fc.constantFrom(undefined, undefined, { deep: true }, { force: true }, { operation: 'pu*' }),
  })
  .map((one) => JSON.parse(JSON.stringify(one)) as Omit<Rule, 'id'>)

const rules = fc
  .array(rule, { minLength: 1, maxLength: 20 })
  .map((all) => all.map((one, i): Rule => ({ id: `r${i}`, ...one })))

// ---- asking every rule ----------------------------------------------------------------------------------------------

function isAbout({ effects }: Rule, kind: EffectKind): boolean {
  return effects === '*' || effects.includes(kind)
}

function walked(all: readonly Rule[], effects: readonly Effect[]): readonly string[] {
  return effects.flatMap((one, i) =>
    all
      .filter((each) => isAbout(each, one.kind) && meeting(each, one.kind, ROOTS)(one, subjectsOf(one)))
      .map(({ id }) => `${i} ${id}`),
  )
}

/** Without the rules that an unknown path only could meet. */
function judged(all: readonly Rule[], effects: readonly Effect[]): readonly string[] {
  const hits = rulesInForce({ rules: all }, ROOTS).judge(effects, { permissionMode: undefined, now: 0 })
  return (
    hits
      .filter(({ as }) => as === undefined)
      // Rules about deletes also count for some moves, without the index.
      .filter(({ rule, effect: { kind } }) => rule.effects === '*' || rule.effects.includes(kind))
      .map((hit) => `${effects.indexOf(hit.effect)} ${hit.rule.id}`)
  )
}

describe('the index of rules', () => {
  it('finds exactly the rules that a walk over all of them finds, in the same order', () => {
    let met = 0
    fc.assert(
      fc.property(rules, fc.array(effect, { minLength: 1, maxLength: 8 }), (all, effects) => {
        const expected = walked(all, effects)
        met += expected.length
        expect(judged(all, effects)).toEqual(expected)
      }),
      { numRuns: runs(2000) },
    )
    expect(met).toBeGreaterThan(100)
  })

  it.each([
    [
      'read',
      { place: { path: '/home/ann/shop/src/a7/x.ts', known: true, wild: false, deep: false } },
      'src/a%',
    ],
    ['read', { place: { path: '/home/ann/shop/api/a7', known: true, wild: false, deep: false } }, '**/a%'],
    ['read', { place: { path: '/home/ann/shop/k/x.a7', known: true, wild: false, deep: false } }, '**/*.a%'],
    [
      'read',
      { place: { path: '/home/ann/shop/a7/b/xc', known: true, wild: false, deep: false } },
      'a%/**/*x*{a,b,c}',
    ],
    ['delete', { place: { path: '/srv/a7/b', known: true, wild: false, deep: true } }, '/srv/a%/b/c'],
    ['send', { host: 'a7.example.org', from: [] }, 'a%.example.org'],
    ['send', { host: 'x.a7.org', from: [] }, '*.a%.org'],
    ['run', { program: '/usr/bin/npm', args: ['run', 'a7', '--fast'] }, 'npm run a%'],
    ['git', { operation: 'push', branch: 'release/a7', force: false, loses: 'nothing' }, 'release/a%'],
  ] as const)('looks only at the one of 1000 rules that a %s of %j can meet', (kind, more, written) => {
    const all = Array.from(
      { length: 1000 },
      (_, i): Rule => ({
        id: `r${i}`,
        effects: [kind],
        then: 'deny',
        of: written.replace('%', String(i)),
      }),
    )
    const one = { kind, by: '', ...more } as unknown as Effect
    expect(candidatesAmong(all, kind, ROOTS)(subjectsOf(one))).toEqual([7])
    expect(judged(all, [one])).toEqual(['0 r7'])
  })

  it('keeps rules without patterns for places among the others', () => {
    const all = [{ of: 'x' }, {}, { of: 'src' }, { except: 'y' }, { of: ['src', 'src/*'] }].map(
      (one, i) => ({ id: `r${i}`, effects: ['write'], then: 'ask', ...one }) as Rule,
    )
    const write: Effect = {
      kind: 'write',
      place: { path: '/home/ann/shop/src/a.ts', known: true, wild: false, deep: false },
      by: '',
    }
    expect(candidatesAmong(all, 'write', ROOTS)(subjectsOf(write))).toEqual([1, 2, 3, 4])
  })

  it('finds letters whose lower case depends on their neighbours', () => {
    const all = [{ id: 'r0', effects: ['read'], then: 'allow', of: 'ΑΣ*' } as Rule]
    const read: Effect = {
      kind: 'read',
      place: { path: '/home/ann/shop/ΑΣΒ', known: true, wild: false, deep: false },
      by: '',
    }
    expect(judged(all, [read])).toEqual(['0 r0'])
  })

  it('looks at every rule for a path that only the shell knows', () => {
    const all = [{ of: '.ssh' }, { of: 'src' }].map(
      (one, i) => ({ id: `r${i}`, effects: ['read'], then: 'deny', ...one }) as Rule,
    )
    const read: Effect = {
      kind: 'read',
      place: { path: '$DIR/.ssh', known: false, wild: false, deep: false },
      by: '',
    }
    expect(candidatesAmong(all, 'read', ROOTS)(subjectsOf(read))).toEqual([0, 1])
    expect(judged(all, [read])).toEqual(['0 r0'])
  })
})
