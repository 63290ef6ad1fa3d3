// The real bash judges: every program it runs is among the commands, or the reading says that it does not know.

import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readShell } from '../../../src/effects/shell/shell-reading.js'
import { runs, seeded } from '../../property/runs.js'
import { damaged, soup } from './command-soup.js'
import { programOf, StubWorld } from './stub-world.js'

/** Always the same; more and others by hand: `CARABINER_RUNS=20 npx vitest run test/shell/real-bash.test.ts`. */
const RUNS = runs(120)
const bash = programOf('bash')

describe.skipIf(!bash)('whatever bash runs is seen', () => {
  const world = new StubWorld(bash ?? '')
  afterAll(() => world.remove())

  it.each([
    ['as it was made', soup],
    ['with one character wrong', damaged],
  ])('%s', { timeout: 30_000 + RUNS * 500 }, async (_, commands) => {
    await fc.assert(
      fc.asyncProperty(commands, async (text) => {
        const { commands, unknown } = readShell(text)
        if (unknown) return
        const seen = new Set(commands.map(({ name }) => name))
        const ran = await world.ran(text)
        expect([...ran].filter((name) => !seen.has(name))).toEqual([])
      }),
      { numRuns: RUNS, ...seeded(1) },
    )
  })
})
