// Figures are computed rightly from what rounds measured.

import { describe, expect, it } from 'vitest'
import { isWorse, lastAsked } from '../../bench/history.mjs'
import { childClock, figure, Rounds, race } from '../../bench/measure.mjs'

describe('a row', () => {
  const rounds = new Rounds({
    ours: [30, 20, 50, 40, 90],
    bare: [10, 10, 10, 10, 10],
    none: [5, 5, 5, 5, 5],
    slow: [4000, 4000, 4000, 4000, 4000],
  })

  it('is the median of the rounds’ ratios, with the middle half of them', () => {
    expect(rounds.row('ours / bare', 'ours', 'bare', { limit: 3 })).toEqual({
      ...{ name: 'ours / bare', unit: 'us', value: 40, baseline: 10, limit: 3 },
      ...{ ratio: 4, low: 3, high: 5 },
    })
  })

  it('compares within a round, where noise meets both', () => {
    const noisy = new Rounds({ ours: [20, 2000, 22], bare: [10, 1000, 11] })
    expect(noisy.row('x', 'ours', 'bare')).toMatchObject({ ratio: 2, low: 2, high: 2 })
  })

  it('may be over several calls, over a third one, and over a number', () => {
    expect(rounds.row('x', 'ours', 'bare', { times: 2 }).ratio).toBe(2)
    expect(rounds.row('x', 'ours', 'bare', { over: 'none' }).ratio).toBe(7)
    expect(rounds.row('x', 'ours', 5, { over: 'none' }).ratio).toBe(7)
  })

  it('is told in milliseconds if it is long', () => {
    expect(rounds.row('x', 'slow', 'bare')).toMatchObject({ unit: 'ms', value: 4, baseline: 0.01 })
  })

  it('that is not timed has no spread', () => {
    expect(figure('x', 'MB', 60, 120, 1)).toMatchObject({ ratio: 0.5, low: 0.5, high: 0.5, limit: 1 })
  })
})

it('does not warm up programs that are started anew', async () => {
  let calls = 0
  await race({ program: () => calls++ }, { calls: 1, clock: childClock, most: 9 })
  expect(calls).toBe(1 + 9)
})

it('got worse if the middle halves are apart', () => {
  const row = (low: number, ratio: number, high: number) => ({
    ...{ question: 'q', name: 'n', value: 1, unit: 'us', limit: null },
    ...{ low, ratio, high },
  })
  expect(isWorse(row(1.2, 1.3, 1.4), row(0.9, 1, 1.1))).toBe(true)
  expect(isWorse(row(1.1, 1.3, 1.4), row(0.9, 1, 1.1))).toBe(false)
  expect(isWorse(row(0.5, 0.6, 0.7), row(0.9, 1, 1.1))).toBe(false)
})

describe('what was saved', () => {
  const row = (question: string, name: string, ratio: number) => {
    return { question, name, ratio, low: ratio, high: ratio, limit: null }
  }
  const run = (commit: string, machine: string, ...benches: ReturnType<typeof row>[]) => {
    return { date: '2026-11-18', commit, machine, benches }
  }

  it('counts as it was asked last on such a machine, question by question', () => {
    const all = [
      run('1', 'here', row('trust', 'a', 1), row('audit', 'renamed', 1), row('gone', 'x', 1)),
      run('2', 'here', row('audit', 'b', 2)),
      run('3', 'elsewhere', row('trust', 'a', 3)),
    ]
    const found = lastAsked('here', all).map(({ question, commit, benches }) => {
      return [question, commit, benches.map(({ name }) => name)]
    })
    expect(found).toEqual([
      ['audit', '2', ['b']],
      ['trust', '1', ['a']],
    ])
  })
})
