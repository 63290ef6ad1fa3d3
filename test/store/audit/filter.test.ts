import { describe, expect, it } from 'vitest'
import type { AuditedHook, AuditRecord } from '../../../src/core/session/audit-record.js'
import { DECISIONS, type FilterOptions, filterOf } from '../../../src/store/audit/filter.js'
import { statsOf } from '../../../src/store/audit/stats.js'
import type { Entry } from '../../../src/store/audit-log.js'

const NOW = Date.parse('2026-01-31T12:00:00Z')

function fire(more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    kind: 'fire',
    time: '2026-01-31T11:00:00.000Z',
    session: 's1',
    event: 'PreToolUse',
    tool: 'Bash',
    digest: 'd',
    action: 'continue',
    hooks: [],
    injections: [],
    diagnostics: [],
    ms: 5,
    ...more,
  }
}

function hook(more: Partial<AuditedHook> = {}): AuditedHook {
  return { name: 'guard', kind: 'command', source: 'project', status: 'ran', ms: 1, ...more }
}

const fits = (options: FilterOptions, entry: Entry) => filterOf(options, NOW)(entry)

describe('a filter', () => {
  it('without anything lets everything pass', () => {
    expect(fits({}, fire())).toBe(true)
  })

  it.for([
    [{ session: 's1' }, { session: 's2' }],
    [{ event: 'PreToolUse' }, { event: 'Stop' }],
    [{ tool: 'Bash' }, { tool: 'Write' }],
    [{ kind: 'fire' }, { kind: 'late' }],
    [{ decision: 'continue' }, { decision: 'deny' }],
    [{ since: '2h' }, { since: '59m' }],
    [{ until: '1h' }, { until: '61m' }],
    [{ since: '2026-01-31T10:59:59Z' }, { since: '2026-01-31T11:00:01Z' }],
    [{ since: '2026-01-31' }, { since: '2026-02-01' }],
    [{ since: '1w' }, { since: '0.5s' }],
    [
      { session: 's1', tool: 'Bash' },
      { session: 's1', tool: 'Write' },
    ],
  ] as const)('%o, and not %o', ([passing, other]) => {
    expect([fits(passing, fire()), fits(other, fire())]).toEqual([true, false])
  })

  it('finds hooks that had a part in it, and grants of theirs', () => {
    const entry = fire({ hooks: [hook(), hook({ name: 'other' })] })
    expect([fits({ hook: 'other' }, entry), fits({ hook: 'none' }, entry)]).toEqual([true, false])
    const ofPlugin = fire({ hooks: [hook({ name: 'plugin:PreToolUse#1' })] })
    expect([fits({ hook: 'plugin' }, ofPlugin), fits({ hook: 'plug' }, ofPlugin)]).toEqual([true, false])
    expect(fits({ tool: 'bash' }, fire({ tool: 'Bash' }))).toBe(true)
    expect(fits({ event: 'tool:pre' }, fire({ event: 'PreToolUse' }))).toBe(true)
    expect(() => filterOf({ kind: 'aproval' })).toThrow(/did you mean approval/)
    expect(fits({ hook: 'guard' }, { kind: 'revoked', time: 'x', hook: 'guard' })).toBe(true)
  })

  it('knows every decision, and a short name', () => {
    const actions = [
      'continue',
      'deny',
      'ask_user',
      'respond',
      'abort_turn',
      'hard_abort',
      'aborted',
    ] as const
    for (const action of actions) expect(fits({ decision: action }, fire({ action }))).toBe(true)
    const bypass = { kind: 'bypass', time: 'x', event: 'Stop', action: 'continue' } as const
    expect([fits({ decision: 'bypass' }, bypass), fits({ decision: 'bypass' }, fire({}))]).toEqual([
      true,
      false,
    ])
    expect(fits({ decision: 'revoked' }, { kind: 'revoked', time: 'x' })).toBe(true)
    expect(DECISIONS).toHaveLength(actions.length + 6)
    expect(fits({ decision: 'ask' }, fire({ action: 'ask_user' }))).toBe(true)
    expect(fits({ decision: 'failed' }, fire({ hooks: [hook({ status: 'failed' })] }))).toBe(true)
    expect(fits({ decision: 'failed' }, fire({ hooks: [hook()] }))).toBe(false)
    const modified = (action: AuditRecord['action']) => fire({ action, modified: true })
    expect(fits({ decision: 'modify' }, modified('continue'))).toBe(true)
    expect(fits({ decision: 'continue' }, modified('continue'))).toBe(true)
    expect([fire(), modified('deny')].some((one) => fits({ decision: 'modify' }, one))).toBe(false)
    const answer = {
      kind: 'approval',
      time: 'x',
      session: 's',
      event: 'e',
      id: 'i',
      digest: 'd',
      by: 'me',
    } as const
    expect(fits({ decision: 'deny' }, { ...answer, decision: 'deny' })).toBe(true)
    expect(fits({ decision: 'deny' }, { ...answer, decision: 'allow' })).toBe(false)
  })

  it('is not thrown off by entries that are not as they should be', () => {
    const odd = { kind: 'fire', time: 'never', hooks: [null, 1, {}] } as unknown as Entry
    for (const options of [{ hook: 'x' }, { decision: 'failed' }, { since: '1h' }, { until: '1h' }])
      expect(fits(options, odd)).toBe(false)
  })

  it.for(['yesterday', '15 parsecs', '15', '2026', '-1h', '2026-13-01', ''])(
    'refuses the time %s',
    (since) => {
      expect(() => filterOf({ since })).toThrow(
        /since must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 15m, 2h or 3d/,
      )
    },
  )

  it('refuses a decision that there is not, and says which it may have been', () => {
    expect(() => filterOf({ decision: 'denny' })).toThrow(
      /no decision "denny"; did you mean deny\?; choose from continue/,
    )
    expect(() => filterOf({ decision: 'toString' })).toThrow(/no decision/)
  })
})

describe('statistics', () => {
  it('count what each hook did', async () => {
    const entries = [
      fire({ hooks: [hook({ action: 'deny' }), hook({ name: 'b', status: 'skipped', ms: 0 })] }),
      fire({ hooks: [hook({ status: 'failed', ms: 3 }), hook({ name: 'b', action: 'ask_user' })] }),
      fire({ kind: 'late', time: '2026-01-31T11:30:00.000Z', hooks: [hook({ source: 'user', ms: 7 })] }),
      fire({ time: '2026-01-31T10:00:00.000Z', hooks: [hook({ name: 'b', status: 'detached', ms: 0 })] }),
      fire({ hooks: [hook({ name: 'o', status: 'detached', role: 'observe' })] }),
      { kind: 'bypass', time: 'x', event: 'Stop', action: 'continue' } as const,
    ]
    const [guard, b, user, observer, ...more] = await statsOf(entries)
    expect(more).toEqual([])
    expect(guard).toMatchObject({
      name: 'guard',
      source: 'project',
      runs: 2,
      failures: 1,
      denies: 1,
      asks: 0,
      skipped: 0,
    })
    expect(guard?.last).toBe('2026-01-31T11:00:00.000Z')
    expect(b).toMatchObject({
      name: 'b',
      runs: 1,
      failures: 0,
      asks: 1,
      skipped: 1,
      last: '2026-01-31T11:00:00.000Z',
    })
    expect(user).toMatchObject({ name: 'guard', source: 'user', runs: 1, last: '2026-01-31T11:30:00.000Z' })
    expect(observer).toMatchObject({ name: 'o', runs: 1, medianMs: undefined, p95Ms: undefined })
  })

  it('know median and 95th percentile to some percent, however many there are', async () => {
    function* entries() {
      for (let i = 1; i <= 20_000; i++) yield fire({ hooks: [hook({ ms: i / 10 })] })
    }
    const [{ medianMs = 0, p95Ms = 0 } = {}] = await statsOf(entries())
    expect(medianMs / 1000).toBeGreaterThan(0.97)
    expect(medianMs / 1000).toBeLessThan(1.03)
    expect(p95Ms / 1900).toBeGreaterThan(0.97)
    expect(p95Ms / 1900).toBeLessThan(1.03)
  })

  it('do not tell more hooks apart than they can remember', async () => {
    function* entries() {
      for (let i = 0; i < 10_050; i++) yield fire({ hooks: [hook({ name: `hook ${i}` })] })
    }
    const stats = await statsOf(entries())
    expect(stats).toHaveLength(10_001)
    expect(stats.at(-1)).toMatchObject({ name: 'others', runs: 50 })
  })
})
