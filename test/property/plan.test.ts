// What explain() says is what happens: the order of the plan is the order of the trace.

import { HookRegistry } from 'carabiner'
import { type Hook, planOf, resolveEvent } from 'carabiner/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { madeHook } from '../core/made-hook.js'
import { runs } from './runs.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const drawn = fc.array(
  fc.record({
    priority: fc.integer({ min: -1, max: 1 }),
    lane: fc.constantFrom(null, 'a', 'b'),
    global: fc.boolean(),
    kind: fc.constantFrom('function' as const, 'process' as const),
    holds: fc.boolean(),
    role: fc.constantFrom('intercept' as const, 'intercept' as const, 'approve' as const),
  }),
  { maxLength: 8 },
)

it('hooks run in the order, and for the reasons, that the plan gives', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (draws) => {
      const started: string[] = []
      const registry = new HookRegistry()
      for (const [i, { priority, lane, global, kind, holds, role }] of draws.entries()) {
        const name = `h${i}`
        const hook: Partial<Hook> = {
          priority,
          lane: role === 'approve' ? null : lane,
          kind,
          role,
          origin: { scope: global ? 'global' : 'host', source: 'code' },
          condition: () => (holds ? true : 'not today'),
          run: () => void started.push(name),
        }
        registry.add(madeHook(name, hook))
      }
      const event = { name: 'PreToolUse', data: CALL, session: undefined }
      const plan = planOf(resolveEvent('PreToolUse'), event, registry.snapshot(), undefined)
      const outcome = await registry.emit('PreToolUse', CALL)

      const planned = [...plan.steps.flatMap(({ lanes }) => lanes.flat()), ...plan.approvers]
      expect(started.toSorted()).toEqual(planned.toSorted())
      for (const { lanes } of plan.steps) {
        for (const lane of lanes) expect(started.filter((name) => lane.includes(name))).toEqual(lane)
      }
      const stepOf = new Map(
        plan.steps.flatMap(({ lanes }, i) => lanes.flat().map((name) => [name, i] as const)),
      )
      const steps = started.filter((name) => stepOf.has(name)).map((name) => stepOf.get(name))
      expect(steps).toEqual(steps.toSorted((a, b) => (a ?? 0) - (b ?? 0)))
      const skipped = plan.candidates.filter(({ matched }) => !matched)
      expect(outcome.hooks.filter(({ status }) => status === 'skipped').map(({ name }) => name)).toEqual(
        skipped.map(({ name }) => name),
      )
    }),
    { numRuns: runs(300) },
  )
})
