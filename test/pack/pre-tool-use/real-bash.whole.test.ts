// The real bash is the judge: whatever the guard has nothing to say about leaves the protected files as they were.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { programOf } from '../../effects/shell/stub-world.js'
import { runs, seeded } from '../../property/runs.js'
import { CanaryWorld } from './canary-world.js'
import { isSafe, soup } from './file-soup.js'

/** Always the same; more and others by hand: `CARABINER_RUNS=20 npx vitest run test/pack/pre-tool-use/real-bash.whole.test.ts`. */
const RUNS = runs(300)
const bash = programOf('bash')

describe.skipIf(!bash)('what is allowed leaves the protected files alone', () => {
  it('random commands', { timeout: 60_000 + RUNS * 500 }, async () => {
    let allowed = 0
    await fc.assert(
      fc.asyncProperty(soup.filter(isSafe), async (command) => {
        const world = new CanaryWorld()
        try {
          if ((await world.project.verdict(command)) !== 'none') return
          allowed++
          const before = world.standing()
          world.run(bash ?? '', command)
          expect(world.standing()).toEqual(before)
        } finally {
          world.remove()
        }
      }),
      { numRuns: RUNS, ...seeded(7) },
    )
    // A guard that lets nothing pass would prove nothing.
    expect(allowed).toBeGreaterThan(RUNS / 20)
  })
})
