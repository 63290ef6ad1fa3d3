import { compileMatcher, type Hook, HookRegistry, resolveEvent } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FORMER_TOOL_NAMES, formerNamesOf } from '../../src/core/events/catalogue.js'
import { HookSet } from '../../src/core/hooks/hook-set.js'
import { readPattern } from '../../src/core/hooks/pattern.js'
import { madeHook } from '../core/made-hook.js'
import { runs } from './runs.js'

// ---- the naive matcher -----------------------------------------------------------------------------------------

/** Claude Code's rules with the engine's own regular expressions. */
function naive(pattern: string, value: string): boolean {
  if (pattern === '' || pattern === '*') return true
  const names = [value, ...formerNamesOf(value)]
  if (/^[A-Za-z0-9_\- ,|]+$/.test(pattern)) {
    const wanted = pattern.split(/[|,]/).map((name) => name.trim())
    return names.some((name) => wanted.includes(name))
  }
  const expression = new RegExp(pattern)
  return names.some((name) => expression.test(name))
}

function takes(pattern: string, value: string): boolean {
  return compileMatcher(pattern)?.test(value) ?? true
}

// ---- random patterns and values --------------------------------------------------------------------------------

const TOOLS = [
  'Bash',
  'BashOutput',
  'Edit',
  'MultiEdit',
  'Write',
  'Read',
  'Agent',
  'Task',
  'TaskStop',
  'KillShell',
]
const tool = fc.oneof(
  fc.constantFrom(...TOOLS),
  fc.constantFrom('mcp__a__b', 'sub-agent', 'two words', ''),
  fc.string({ unit: fc.constantFrom(...'abE_-| .*'), maxLength: 6 }),
)

/** A list, with the spaces and separators that people write. */
const list = fc
  .array(fc.tuple(fc.constantFrom(...TOOLS, 'two words', 'a-b'), fc.constantFrom('|', ',', ' | ', ', ')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.map(([name, separator], i) => (i === 0 ? name : separator + name)).join(''))

const atom = fc.oneof(
  fc.constantFrom(...TOOLS),
  fc.constantFrom(
    'a',
    'b',
    'E',
    '_',
    '.',
    '\\.',
    '\\w',
    '\\d',
    '\\W',
    '\\S',
    '\\b',
    '[a-z]',
    '[^a-z]',
    '[Bb]',
    'mcp__',
  ),
)

/** An expression that the linear engine can express. Small, like the values: the naive matcher backtracks. */
const { expression } = fc.letrec<{ expression: string; part: string; group: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `${a}|${b}`),
    tie('expression').map((inner) => `^${inner}`),
    tie('expression').map((inner) => `${inner}$`),
  ),
  part: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('group'), fc.constantFrom('', '*', '+', '?', '{1,2}', '*?')).map(([a, b]) => a + b),
  ),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('expression'))
    .map(([open, inner]) => `${open}${inner})`),
}))

/** Node 24 also takes `(?<n>(?<n>a)|b)`, which the specification refuses, as we do. */
function isValid(pattern: string): boolean {
  try {
    return Boolean(readPattern(pattern) && new RegExp(pattern))
  } catch {
    return false
  }
}

const pattern = fc.oneof(list, expression.filter(isValid), fc.constantFrom('', '*', '.*', '^Task$'))

// ---- the claims ------------------------------------------------------------------------------------------------

describe('a matcher', () => {
  it('agrees with the naive matcher', () => {
    fc.assert(
      fc.property(pattern, tool, (written, value) => {
        expect(takes(written, value)).toBe(naive(written, value))
      }),
      { numRuns: runs(1500) },
    )
  })

  it('never takes less than the naive matcher, whatever the pattern', () => {
    const around = fc.constantFrom('(?=', '(?!', '(?<=', '(?<!')
    const odd = fc.oneof(
      fc.tuple(around, expression, expression).map(([look, inner, rest]) => `${look}${inner})${rest}`),
      expression.map((inner) => `(${inner})\\1`),
      expression.map((inner) => `(?<q>${inner})\\k<q>`),
      fc.string({ unit: fc.constantFrom(...'aEB^$.*+?()[]{}|\\12dws'), maxLength: 8 }),
    )
    fc.assert(
      fc.property(odd.filter(isValid), tool, (written, value) => {
        if (naive(written, value)) expect(takes(written, value)).toBe(true)
      }),
      { numRuns: runs(1500) },
    )
  })

  it('in fullmatch mode wants the whole value', () => {
    fc.assert(
      fc.property(expression.filter(isValid), tool, (written, value) => {
        fc.pre(written !== '*' && !Object.hasOwn(FORMER_TOOL_NAMES, value))
        const matcher = compileMatcher(written, { matching: 'fullmatch' })
        expect(matcher?.test(value)).toBe(new RegExp(`^(?:${written})$`).test(value))
      }),
      { numRuns: runs(1000) },
    )
  })

  it('is either compiled or refused with MATCHER_INVALID', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), tool, (written, value) => {
        try {
          expect(takes(written, value)).toBeTypeOf('boolean')
        } catch (error) {
          expect(error).toMatchObject({ code: 'MATCHER_INVALID' })
          expect(isValid(written)).toBe(false)
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('the hooks of an event', () => {
  const drawn = fc.array(
    fc.record({
      pattern,
      events: fc.constantFrom<Hook['events']>(
        'all',
        new Set(['PreToolUse']),
        new Set(['Stop']),
        new Set(['PreToolUse', 'Stop']),
      ),
      priority: fc.integer({ min: -1, max: 1 }),
      global: fc.boolean(),
      kind: fc.constantFrom('function' as const, 'process' as const, 'command' as const),
    }),
    { maxLength: 8 },
  )
  const hooksOf = (draws: typeof drawn extends fc.Arbitrary<infer T> ? T : never): readonly Hook[] =>
    draws.map(({ pattern: written, events, priority, global, kind }, i) =>
      madeHook(`h${i}`, {
        events,
        priority,
        kind,
        matcher: compileMatcher(written),
        lane: kind === 'command' ? `h${i}` : null,
        origin: { scope: global ? 'global' : 'host', source: 'code' },
      }),
    )
  const KINDS = ['function', 'process', 'command']

  /** Everybody who wants the event, sorted by one rule after the other. */
  function naiveSelection(hooks: readonly Hook[], event: string, value: string | null): string[] {
    const wanting = hooks.filter(
      ({ events, matcher }) =>
        (events === 'all' || events.has(event)) &&
        (value === null || !matcher || naive(matcher.pattern, value)),
    )
    const rules: readonly ((hook: Hook) => number)[] = [
      (hook) => hooks.indexOf(hook),
      (hook) => KINDS.indexOf(hook.kind),
      (hook) => (hook.origin.scope === 'global' ? 0 : 1),
      (hook) => (hook.lane === null ? 0 : 1),
      (hook) => hook.priority,
    ]
    let sorted = wanting
    for (const rule of rules) sorted = sorted.toSorted((a, b) => rule(a) - rule(b))
    return sorted.map(({ name }) => name)
  }

  it('are selected as a naive filter and sort selects them, asked once or often', () => {
    fc.assert(
      fc.property(drawn, fc.array(tool, { minLength: 1, maxLength: 6 }), (draws, values) => {
        const hooks = hooksOf(draws)
        const set = new HookSet([hooks])
        for (const value of [...values, ...values]) {
          const selection = set.listeners(resolveEvent('PreToolUse'))?.select(value).hooks ?? []
          expect(selection.map(({ name }) => name)).toEqual(naiveSelection(hooks, 'PreToolUse', value))
        }
        const stopping = set.listeners(resolveEvent('Stop'))?.select('').hooks ?? []
        expect(stopping.map(({ name }) => name)).toEqual(naiveSelection(hooks, 'Stop', null))
      }),
      { numRuns: runs(300) },
    )
  })

  it('run when they are selected, and are in the trace as skipped by their matcher otherwise', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, tool, async (draws, value) => {
        const hooks = hooksOf(draws)
        const registry = new HookRegistry()
        for (const hook of hooks) registry.add(hook)
        const outcome = await registry.emit('PreToolUse', { tool_name: value, tool_input: {} })
        const ran = outcome.hooks.filter(({ status }) => status === 'ran').map(({ name }) => name)
        expect(ran).toEqual(naiveSelection(hooks, 'PreToolUse', value))
        const skipped = outcome.hooks.filter(({ status, why }) => status === 'skipped' && why === 'matcher')
        expect(ran.length + skipped.length).toBe(naiveSelection(hooks, 'PreToolUse', null).length)
      }),
      { numRuns: runs(300) },
    )
  })
})
