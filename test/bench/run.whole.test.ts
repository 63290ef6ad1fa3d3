// The benches run and print what they promise; how fast anything is, is not for a test to say.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

const questions = readdirSync('bench')
  .filter((file) => file.endsWith('.mjs') && !['run.mjs', 'measure.mjs'].includes(file))
  .map((file) => file.replace('.mjs', ''))

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', 'bench/run.mjs', '--quick', ...args],
    { encoding: 'utf8' },
  )
  expect(status, stderr).toBe(0)
  return { stdout, stderr }
}

it.each(questions)('%s prints its rows as JSON, or says why not', { timeout: 600_000 }, (question) => {
  const { stdout, stderr } = run('--json', question)
  const { benches } = JSON.parse(stdout)
  if (benches.length === 0) expect(stderr).toContain('SKIPPED')
  for (const bench of benches) {
    expect(Object.keys(bench).sort()).toEqual(['baseline', 'limit', 'name', 'ok', 'ratio', 'unit', 'value'])
    for (const figure of [bench.value, bench.baseline]) expect(Number.isFinite(figure)).toBe(true)
    expect(bench.ratio).toBeCloseTo(bench.value / bench.baseline)
    expect(bench.ok).toBe(bench.limit === null || bench.ratio <= bench.limit)
  }
  const names = benches.map(({ name }: { name: string }) => name)
  expect(new Set(names).size).toBe(names.length)
})

it('prints several questions as a table', { timeout: 600_000 }, () => {
  const [header, ...rows] = run('idle', 'if-rule').stdout.trimEnd().split('\n')
  expect(header).toMatch(/value +baseline +ratio +limit/)
  expect(rows.length).toBeGreaterThan(2)
  expect(rows[0]).toMatch(
    /^emit, no handler \/ async function +[\d.]+ us +[\d.]+ us +[\d.]+x +<= 1.5x +(ok|OVER)$/,
  )
})
