// Limits that count with a fleet: what shares a count, who may loosen it, and what follows while nobody can count.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type HooksOptions, type Session } from 'carabiner'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Counters } from '../../src/core/hooks/count.js'
import { hooksUnder } from '../../src/runtime.js'
import { runs } from '../property/runs.js'
import { MemoryCounters } from '../store/contracts/memory-counters.js'

const FEW = { id: 'few', effects: ['install'], then: 'deny', at_most: 2, per: 'hour', across: 'fleet' }
const OWNER = process.getuid?.() ?? 0

let folder: string
let now: number
let fleet: MemoryCounters
const open: Hooks[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-fleet-limits-'))
  now = Date.now()
  fleet = new MemoryCounters(() => now)
  vi.stubEnv('CARABINER_HOME', join(folder, 'data'))
})

afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(open.splice(0).map((hooks) => hooks.close()))
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

type Scope = 'company' | 'user' | 'project'
const FILES: Readonly<Record<Scope, string>> = {
  company: 'policy/rules.json',
  user: 'home/.amplifier/rules.json',
  project: 'project/.amplifier/rules.json',
}

/** A machine of its own, with these rules. */
async function machine(
  files: Partial<Readonly<Record<Scope, readonly object[]>>>,
  options: HooksOptions = {},
): Promise<Hooks> {
  const root = mkdtempSync(join(folder, 'machine-'))
  for (const name of ['home', 'project']) mkdirSync(join(root, name))
  for (const [scope, rules] of Object.entries(files)) {
    const path = join(root, FILES[scope as Scope])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ rules }))
  }
  const hooks = await hooksUnder(
    { path: join(root, 'policy'), owner: OWNER },
    {
      ...{ projectDir: join(root, 'project'), home: join(root, 'home'), globals: false, trust: 'all' },
      ...{ clock: () => now, counters: fleet },
      ...options,
    },
  )
  open.push(hooks)
  return hooks
}

const sessionOf = (hooks: Hooks) => hooks.session({ id: 's' })
const install = (session: Session, more: object = {}) =>
  session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'npm install x' }, ...more })

async function actions(...machines: readonly Hooks[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const hooks of machines) found.push((await install(sessionOf(hooks))).action)
  return found
}

describe('a limit of the fleet', () => {
  it('counts the calls of all machines in an hour', async () => {
    const [a, b] = [await machine({ user: [FEW] }), await machine({ user: [FEW] })]
    expect(await actions(a, b, a, b)).toEqual(['continue', 'continue', 'deny', 'deny'])
    now += 62 * 60_000
    expect(await actions(b, b, a)).toEqual(['continue', 'continue', 'deny'])
    expect((await install(sessionOf(a))).reason).toContain(
      'there may be at most 2 such calls per hour in the whole fleet',
    )
  })

  it('judges each machine by its own number, while a new one is rolled out', async () => {
    const [old, young] = [await machine({ user: [FEW] }), await machine({ user: [{ ...FEW, at_most: 3 }] })]
    expect(await actions(old, young, old, young, young)).toEqual([
      ...['continue', 'continue', 'deny'],
      ...['continue', 'deny'],
    ])
  })

  it.each([
    ['same_call', { same_call: 2 }],
    ['denies', { denies: 2, effects: '*' }],
  ])('may be %s', async (_, more) => {
    const { at_most: __, ...rest } = FEW
    const NO = { id: 'no', effects: ['install'], then: 'deny' }
    const rules = [{ ...rest, then: 'end_turn', ...more }, ...('denies' in more ? [NO] : [])]
    const [a, b] = [await machine({ user: rules }), await machine({ user: rules })]
    const allowed = 'denies' in more ? 'deny' : 'continue'
    expect(await actions(a)).toEqual([allowed])
    expect(await actions(b)).toEqual([allowed])
    expect(await actions(a)).toEqual(['abort_turn'])
  })

  it('counts what models used', async () => {
    const { at_most: _, ...rest } = FEW
    const rules = [{ ...rest, tokens: 100 }]
    const [a, b] = [await machine({ user: rules }), await machine({ user: rules })]
    for (const hooks of [a, b]) {
      const session = sessionOf(hooks)
      expect((await install(session)).action).toBe('continue')
      await session.fire('ModelResponse', { model: 'm', response: { usage: { total_tokens: 60 } } })
      await session.close()
    }
    expect(await actions(a, b)).toEqual(['deny', 'deny'])
  })

  it('is not asked about calls that no rule meets', async () => {
    const session = sessionOf(await machine({ user: [FEW] }))
    const data = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }
    await session.fire('PreToolUse', data)
    await session.fire('PostToolUse', { ...data, tool_response: 'ok' })
    await session.close()
    expect(fleet.asked).toEqual([])
  })

  it('does not count calls of rules in shadow mode with those that count', async () => {
    const shadow = await machine({ user: [{ ...FEW, mode: 'shadow' }] })
    expect(await actions(shadow, shadow, shadow)).toEqual(['continue', 'continue', 'continue'])
    expect(await actions(await machine({ user: [FEW] }))).toEqual(['continue'])
  })
})

describe('while nobody can count', () => {
  const AWAY: Counters = { count: () => Promise.reject(new Error('the gateway is away')) }

  it.each(['deny', 'ask', 'tell', 'end_turn'])('a rule that would %s denies', async (then) => {
    const hooks = await machine({ user: [{ ...FEW, then, say: 'Slowly' }] }, { counters: AWAY })
    expect(await install(sessionOf(hooks))).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('which cannot be counted (the gateway is away)'),
    })
  })

  it('a rule that says so only warns', async () => {
    const hooks = await machine({ user: [{ ...FEW, uncounted: 'warn' }] }, { counters: AWAY })
    expect(await install(sessionOf(hooks))).toMatchObject({
      action: 'continue',
      messages: [{ level: 'warning', text: expect.stringContaining('The limit of the rule few is off') }],
      diagnostics: [
        { code: 'rule-uncounted', text: expect.stringContaining('this machine is in none') },
        { code: 'rule-uncounted', text: expect.stringContaining('(the gateway is away)') },
      ],
    })
  })

  it.each([
    ['deny', 'deny'],
    ['warn', 'continue'],
  ])('a call does not wait longer than seconds, then %s', async (uncounted, action) => {
    const hooks = await machine(
      { user: [1, 2, 3].map((i) => ({ ...FEW, id: `few-${i}`, uncounted })) },
      { counters: { count: () => new Promise(() => {}) } },
    )
    const session = sessionOf(hooks)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let outcome: { readonly action: string } | undefined
    const fired = install(session).then((made) => {
      outcome = made
    })
    // Three rules wait together, not one after the other.
    for (let passed = 0; passed <= 5000 && !outcome; passed += 100) {
      await vi.advanceTimersByTimeAsync(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(outcome?.action).toBe(action)
    await fired
  })

  it('a program that does not count with a fleet denies', async () => {
    const hooks = await machine({ user: [FEW] }, { counters: undefined as never })
    expect((await install(sessionOf(hooks))).action).toBe('deny')
  })

  it.each([
    ['denies every call that meets it', {}],
    ['its limit is off', { uncounted: 'warn' }],
  ])('on a machine without a fleet, the list says that %s', async (text, more) => {
    const [project, home] = ['p', 'h'].map((name) => join(folder, name)) as [string, string]
    mkdirSync(project)
    mkdirSync(join(home, '.amplifier'), { recursive: true })
    writeFileSync(
      join(home, '.amplifier', 'rules.json'),
      JSON.stringify({ rules: [{ ...FEW, ...more }] }, null, 2),
    )
    const hooks = await createHooks({ projectDir: project, home, globals: false })
    open.push(hooks)
    expect(hooks.diagnostics).toMatchObject([
      { code: 'rule-uncounted', line: 11, text: expect.stringContaining(text) },
    ])
    const { action, reason } = await install(sessionOf(hooks))
    expect(action).toBe('uncounted' in more ? 'continue' : 'deny')
    if (action === 'deny') expect(reason).toContain('this machine is in no fleet')
  })
})

describe('whose limit it is', () => {
  it.each<[Scope, Scope]>([
    ['company', 'user'],
    ['company', 'project'],
    ['user', 'project'],
  ])('that of the %s counts apart from that of the %s', async (upper, lower) => {
    const noisy = await machine({ [lower]: [{ ...FEW, at_most: 1000 }] })
    expect(await actions(noisy, noisy, noisy)).toEqual(['continue', 'continue', 'continue'])
    const both = await machine({ [upper]: [FEW], [lower]: [{ ...FEW, at_most: 1 }] })
    expect(await actions(both)).toEqual(['deny'])
    expect(await actions(await machine({ [upper]: [FEW] }))).toEqual(['continue'])
    expect(await actions(await machine({ [upper]: [FEW] }))).toEqual(['deny'])
  })

  it('an untrusted project does not ask the fleet, and denies', async () => {
    const hooks = await machine({ project: [FEW] }, { trust: 'enforce' })
    expect(await actions(hooks)).toEqual(['deny'])
    expect(fleet.asked).toEqual([])
  })

  const other = fc.record(
    {
      id: fc.constantFrom('few', 'other'),
      effects: fc.constantFrom(['install'], '*'),
      then: fc.constantFrom('deny', 'ask', 'tell', 'end_turn'),
      say: fc.constant('x'),
      at_most: fc.integer({ min: 1, max: 9 }),
      per: fc.constant('hour'),
      across: fc.constant('fleet'),
      uncounted: fc.constantFrom('deny', 'warn'),
      mode: fc.constantFrom('enforce', 'shadow'),
    },
    { requiredKeys: ['id', 'effects', 'then', 'say', 'at_most', 'per'] },
  )
  const others = fc.uniqueArray(other, { selector: ({ id }) => id, maxLength: 2 })

  it('nothing that users and projects write loosens that of the company', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ user: others, project: others }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.record({ by: fc.nat(), isAway: fc.boolean() }), { maxLength: 6 }),
        async (files, calls) => {
          let isAway = false
          const truth = new MemoryCounters(() => now)
          const counters: Counters = {
            count: async (counting) => {
              if (isAway) throw new Error('away')
              return truth.count(counting)
            },
          }
          const machines: Hooks[] = []
          for (const more of files) machines.push(await machine({ company: [FEW], ...more }, { counters }))
          let allowed = 0
          for (const call of calls) {
            isAway = call.isAway
            const { action } = await install(sessionOf(machines[call.by % machines.length] as Hooks))
            if (isAway) expect(['deny', 'abort_turn']).toContain(action)
            if (action === 'continue' || action === 'ask_user') allowed++
          }
          expect(allowed).toBeLessThanOrEqual(FEW.at_most)
        },
      ),
      { numRuns: runs(100) },
    )
  })
})

describe('a rules file', () => {
  it.each([
    ['needs an hour', { per: 'session' }, /a session is on one machine, not in a fleet/],
    ['needs a limit', { at_most: undefined, per: undefined }, /"across" needs a limit/],
    ['knows only fleets', { across: 'fleets' }, /"across" must be "fleet".*Did you mean "fleet"/s],
  ])('%s', async (_, more, text) => {
    const hooks = await machine({ user: [{ ...FEW, ...more }] })
    const { action, reason } = await install(sessionOf(hooks))
    expect([action, reason]).toEqual(['deny', expect.stringMatching(text)])
  })
})
