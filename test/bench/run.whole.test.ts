// The benches run and print what they promise; how fast anything is, is not for a test to say.

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { QUESTIONS } from '../../bench/questions.mjs'

const FIELDS = ['baseline', 'high', 'limit', 'low', 'name', 'ok', 'question', 'ratio', 'unit', 'value']

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', 'bench/run.mjs', '--quick', ...args],
    { encoding: 'utf8' },
  )
  expect(status, stderr).toBe(0)
  return { stdout, stderr }
}

it.each(QUESTIONS)('%s prints its rows as JSON, or says why not', { timeout: 600_000 }, (question) => {
  const { stdout, stderr } = run('--json', question)
  const { benches } = JSON.parse(stdout)
  if (benches.length === 0) expect(stderr).toContain('SKIPPED')
  for (const bench of benches) {
    expect(
      Object.keys(bench)
        .filter((key) => key !== 'peer')
        .sort(),
    ).toEqual(FIELDS)
    for (const figure of [bench.value, bench.baseline, bench.ratio])
      expect(Number.isFinite(figure), JSON.stringify(bench)).toBe(true)
    expect(bench.question).toBe(question)
    expect(bench.low).toBeLessThanOrEqual(bench.ratio)
    expect(bench.high).toBeGreaterThanOrEqual(bench.ratio)
    expect(bench.ok).toBe(bench.limit === null || bench.ratio <= bench.limit)
  }
  const names = benches.map(({ name }: { name: string }) => name)
  expect(new Set(names).size).toBe(names.length)
})

it('prints several questions as a table', { timeout: 600_000 }, () => {
  const [header, ...rows] = run('idle', 'if-rule').stdout.trimEnd().split('\n')
  expect(header).toMatch(/ratio +middle half +limit/)
  expect(rows[0]).toMatch(
    /^emit, no handler \/ async function +[\d.]+x +[\d.]+x – [\d.]+x +<= 1.5x +(ok|OVER)$/,
  )
  expect(rows.at(-1)).toMatch(/^7 figures; \d of 6 within their limits; 0 worse/)
})

it('refuses a question that it does not know, and saves no quick run', () => {
  const ends = (...args: string[]) =>
    spawnSync(process.execPath, ['bench/run.mjs', ...args], { encoding: 'utf8' })
  expect(ends('no-such')).toMatchObject({
    status: 64,
    stderr: expect.stringMatching(/no-such.*Choose.*idle/),
  })
  expect(ends('--save', '--quick', 'idle')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('cannot be saved'),
  })
})
