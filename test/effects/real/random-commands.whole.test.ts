// What bash really does with random commands is among their predicted effects. The commands run in a sandbox.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../property/runs.js'
import { randomCommand } from './random-commands.js'
import { isPossible, tried } from './sandbox.js'

/** About 20 ms each, and several times that on a busy machine. `CARABINER_RUNS=25 CARABINER_SEED=7` tries 50,000 others. */
const COUNT = runs(2000)
const SEED = Number(process.env.CARABINER_SEED ?? 25)
/** Misses have few causes. */
const MOST_SHOWN = 40
/** So many of the commands depend on what only the shell knows. */
const MOST_UNKNOWN = 0.35

const canRun = isPossible()
if (!canRun) console.warn('Skipped: random commands need strace, unshare, setpriv and user namespaces.')

describe.skipIf(!canRun)('random commands', () => {
  it(`do nothing that was not predicted, in ${COUNT} tries`, { timeout: 3_600_000 }, async () => {
    const report = await tried(fc.sample(randomCommand, { numRuns: COUNT, seed: SEED }))
    console.log(
      `seed ${SEED}: ${report.ran} commands, ${report.changed} changed files, ${report.unknown} were unknown`,
    )
    expect(report.missed.slice(0, MOST_SHOWN)).toEqual([])
    expect(report.ran).toBe(COUNT)
    // Otherwise there would be nothing to predict, or nothing predicted.
    expect(report.changed).toBeGreaterThan(COUNT / 4)
    expect(report.unknown).toBeLessThan(COUNT * MOST_UNKNOWN)
  })
})
