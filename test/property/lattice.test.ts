import {
  abortTurn,
  askUser,
  deny,
  type Hook,
  HookRegistry,
  type HookResult,
  hardAbort,
  inject,
  modify,
  type Outcome,
  proceed,
  respond,
  type Verdict,
} from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { madeHook } from '../core/made-hook.js'
import { runs } from './runs.js'

// ---- random hooks ---------------------------------------------------------------------------------------------

type Failure = 'throws' | 'rejects' | 'answers nonsense'

/** One hook as drawn; its name and the values it sets are given by its place, so that no two are alike. */
interface Draw {
  readonly action: HookResult['action'] | Failure
  readonly patches: readonly Key[]
  readonly injects: boolean
  readonly speaks: boolean
  readonly allows: boolean
  readonly gated: boolean
  /** Answers at once, or when the scheduler lets it. */
  readonly waits: boolean
}

/** Hooks that are configured together: one lane, or each on its own. */
interface Group {
  readonly priority: number
  readonly kind: 'functions' | 'lane' | 'lanes'
  readonly draws: readonly Draw[]
}

interface Placed {
  readonly name: string
  readonly value: number
  readonly draw: Draw
  readonly priority: number
  readonly lane: string | null
}

const KEYS = ['a', 'b', 'c'] as const
type Key = (typeof KEYS)[number]

const CALL = { tool_name: 'Bash', tool_input: {}, a: 0, b: 0, c: 0 }
const RANKS: readonly Verdict[] = ['continue', 'respond', 'ask_user', 'deny', 'abort_turn', 'hard_abort']
const rank = (verdict: Verdict) => RANKS.indexOf(verdict)
const stops = (verdict: Verdict) => rank(verdict) >= rank('deny')

const draw: fc.Arbitrary<Draw> = fc.record({
  action: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('continue' as const, 'modify' as const, 'inject_context' as const),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'ask_user' as const,
        'respond' as const,
        'deny' as const,
        'abort_turn' as const,
        'hard_abort' as const,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('throws' as const, 'rejects' as const, 'answers nonsense' as const),
    },
  ),
  patches: fc.subarray([...KEYS]),
  injects: fc.boolean(),
  speaks: fc.boolean(),
  allows: fc.boolean(),
  gated: fc.boolean(),
  waits: fc.boolean(),
})

const group: fc.Arbitrary<Group> = fc.record({
  priority: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom('functions' as const, 'lane' as const, 'lanes' as const),
  draws: fc.array(draw, { minLength: 1, maxLength: 4 }),
})

/** Groups as a configuration has them. */
const configuration = fc.array(group, { maxLength: 5 })
/** All hooks in one step, a lane each. */
const parallel = fc
  .array(draw, { minLength: 1, maxLength: 8 })
  .map((draws) => [{ priority: 20, kind: 'lanes', draws } as const])
/** All hooks in one step, some lanes with several. */
const step = fc
  .array(fc.array(draw, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
  .map((lanes) => lanes.map((draws) => ({ priority: 20, kind: 'lane' as const, draws })))

function placed(groups: readonly Group[]): readonly Placed[] {
  let count = 0
  return groups.flatMap(({ priority, kind, draws }, g) =>
    draws.map((one) => {
      const name = `h${++count}`
      const lane = { functions: null, lane: `group ${g}`, lanes: name }[kind]
      return { name, value: count, draw: one, priority, lane }
    }),
  )
}

function isFailure(action: Draw['action']): action is Failure {
  return action === 'throws' || action === 'rejects' || action === 'answers nonsense'
}

function patchOf({ draw: { patches }, value }: Placed): Record<string, number> {
  return Object.fromEntries(patches.map((key) => [key, value]))
}

function answerOf(one: Placed): HookResult {
  const { action, patches, injects, speaks, allows } = one.draw
  const more = {
    ...(patches.length > 0 && { data: patchOf(one) }),
    ...(injects && { contextInjection: `injection of ${one.name}` }),
    ...(speaks && { userMessage: `message of ${one.name}` }),
    ...(allows && { permission: 'allow' as const }),
  }
  switch (action) {
    case 'deny':
      return deny(`reason of ${one.name}`, more)
    case 'abort_turn':
      return abortTurn(`reason of ${one.name}`, more)
    case 'hard_abort':
      return hardAbort(`reason of ${one.name}`, more)
    case 'ask_user':
      return askUser(`reason of ${one.name}`, more)
    case 'respond':
      return respond(one.name, { ...more, reason: `reason of ${one.name}` })
    case 'modify':
      return modify(patchOf(one), more)
    case 'inject_context':
      return inject(`injection of ${one.name}`, more)
    default:
      return proceed(more)
  }
}

/** What a hook's answer comes to on PreToolUse. */
function verdictOf({ draw: { action, gated } }: Placed): Verdict {
  if (isFailure(action)) return gated ? 'deny' : 'continue'
  return action === 'modify' || action === 'inject_context' ? 'continue' : action
}

function hookOf(one: Placed, scheduler: fc.Scheduler): Hook {
  const { action, gated, waits } = one.draw
  const act = (): unknown => {
    if (action === 'throws' || action === 'rejects') throw new Error(`${one.name} broke`)
    return action === 'answers nonsense' ? { decision: 'block' } : answerOf(one)
  }
  const run = () =>
    waits || action === 'rejects' ? scheduler.schedule(Promise.resolve(), one.name).then(act) : act()
  return madeHook(one.name, {
    run,
    kind: one.lane === null ? 'function' : 'command',
    priority: one.priority,
    lane: one.lane,
    onFailure: gated ? 'block' : 'continue',
  })
}

/** Emits to these hooks, registered in this order, answering in the order the scheduler draws. */
function emitted(hooks: readonly Placed[], scheduler: fc.Scheduler): Promise<Outcome> {
  const registry = new HookRegistry()
  for (const one of hooks) registry.add(hookOf(one, scheduler))
  return scheduler.waitFor(registry.emit('PreToolUse', CALL))
}

// ---- what must come of them, worked out the naive way ----------------------------------------------------------

interface Expected {
  readonly action: Verdict
  readonly reason: string | undefined
  readonly permission: 'allow' | undefined
  readonly data: Record<string, unknown>
  readonly ran: readonly string[]
  readonly injections: readonly string[]
  readonly messages: readonly string[]
}

function expected(hooks: readonly Placed[]): Expected {
  const ran: Placed[] = []
  const data: Record<string, unknown> = { ...CALL }
  for (const now of stepsOf(hooks)) {
    const inStep = runStep(now)
    ran.push(...inStep)
    const patch = Object.assign({}, ...inStep.map((one) => answered(one)?.data ?? {}))
    Object.assign(data, patch)
    if (inStep.some((one) => stops(verdictOf(one)))) break
  }
  const highest = Math.max(0, ...ran.map((one) => rank(verdictOf(one))))
  const action = RANKS[highest] as Verdict
  const winner = ran.find((one) => rank(verdictOf(one)) === highest)
  // These hooks answer every call alike: whoever allowed an older version allows the final one, too.
  const allows = ran.some((one) => answered(one)?.permission === 'allow')
  const allowed = allows && ran.every((one) => answered(one) !== undefined)
  return {
    action,
    reason: action === 'continue' ? undefined : reasonOf(winner),
    permission: allowed && highest <= rank('respond') ? 'allow' : undefined,
    data,
    ran: ran.map((one) => one.name),
    injections: ran.flatMap((one) => answered(one)?.contextInjection ?? []),
    messages: ran.flatMap((one) => {
      const answer = answered(one)
      return answer ? (answer.userMessage ?? []) : `failure of ${one.name}`
    }),
  }
}

/** Undefined where the hook fails. */
function answered(one: Placed): HookResult | undefined {
  return isFailure(one.draw.action) ? undefined : answerOf(one)
}

function reasonOf(one: Placed | undefined): string | undefined {
  if (!one) return undefined
  return isFailure(one.draw.action) ? `failure of ${one.name}` : `reason of ${one.name}`
}

/** By priority; functions before lanes; then as configured. */
function stepsOf(hooks: readonly Placed[]): readonly (readonly Placed[])[] {
  const steps: Placed[][] = []
  for (const priority of [...new Set(hooks.map((one) => one.priority))].sort((a, b) => a - b)) {
    const here = hooks.filter((one) => one.priority === priority)
    for (const one of here) if (one.lane === null) steps.push([one])
    const lanes = here.filter((one) => one.lane !== null)
    if (lanes.length > 0) steps.push(lanes)
  }
  return steps
}

/** Who runs in a step: all of it, less what comes after a stop in the same lane. */
function runStep(hooks: readonly Placed[]): readonly Placed[] {
  const ended = new Set<string | null>()
  return hooks.filter((one) => {
    if (ended.has(one.lane)) return false
    if (stops(verdictOf(one))) ended.add(one.lane)
    return true
  })
}

/** A hook that judged an older version of the call is shown the final one; here that changes nothing. */
function firstRuns({ hooks }: Outcome) {
  return hooks.filter(({ finalLook }) => !finalLook)
}

/** An outcome in the words of `Expected`. */
function observed(outcome: Outcome): Expected {
  return {
    action: outcome.action,
    reason: outcome.action === 'continue' ? undefined : shortened(outcome.reason),
    permission: outcome.permission,
    data: Object.fromEntries(Object.keys(CALL).map((key) => [key, outcome.data[key]])),
    ran: firstRuns(outcome)
      .filter(({ status }) => status !== 'skipped')
      .map(({ name }) => name),
    injections: outcome.injections.map(({ text }) => text),
    messages: outcome.messages.map(({ text }) => shortened(text) ?? ''),
  }
}

/** The text of a failure says more than is compared here. */
function shortened(text: string | undefined): string | undefined {
  const failure = /^(?:Hook (h\d+) failed;|hook crashed \(fail-safe deny\): (h\d+):)/.exec(text ?? '')
  return failure ? `failure of ${failure[1] ?? failure[2]}` : text
}

const proceeds = ({ action }: { readonly action: Verdict }) => (stops(action) ? 'stopped' : action)

// ---- the claims ------------------------------------------------------------------------------------------------

describe('any set of hooks', () => {
  it('comes to what a naive evaluation comes to, whatever the latencies', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const hooks = placed(groups)
        expect(observed(await emitted(hooks, scheduler))).toEqual(expected(hooks))
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('whether the operation proceeds', () => {
  it('does not depend on the order of registration or on latency', async () => {
    const shuffled = configuration.chain((groups) => {
      const hooks = placed(groups)
      return fc.tuple(fc.constant(hooks), fc.shuffledSubarray([...hooks], { minLength: hooks.length }))
    })
    await fc.assert(
      fc.asyncProperty(
        shuffled,
        fc.scheduler(),
        fc.scheduler(),
        async ([hooks, others], scheduler, other) => {
          const here = await emitted(hooks, scheduler)
          const there = await emitted(others, other)
          expect(proceeds(there)).toBe(proceeds(here))
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('is refused by any single deny, abort or failing gate, wherever it stands', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const hooks = placed(groups)
        const refused = hooks.some((one) => stops(verdictOf(one)))
        expect(stops((await emitted(hooks, scheduler)).action)).toBe(refused)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('inside one step', () => {
  it('action, reason, data and effects do not depend on latency', async () => {
    await fc.assert(
      fc.asyncProperty(step, fc.scheduler(), fc.scheduler(), async (groups, scheduler, other) => {
        const hooks = placed(groups)
        const here = observed(await emitted(hooks, scheduler))
        expect(observed(await emitted(hooks, other))).toEqual(here)
      }),
      { numRuns: runs(300) },
    )
  })

  it('the action does not depend on the order of registration either', async () => {
    const shuffled = parallel.chain((groups) => {
      const hooks = placed(groups)
      return fc.tuple(fc.constant(hooks), fc.shuffledSubarray([...hooks], { minLength: hooks.length }))
    })
    await fc.assert(
      fc.asyncProperty(
        shuffled,
        fc.scheduler(),
        fc.scheduler(),
        async ([hooks, others], scheduler, other) => {
          const here = await emitted(hooks, scheduler)
          const there = await emitted(others, other)
          expect(there.action).toBe(here.action)
          expect(there.permission).toBe(here.permission)
          expect([...observed(there).injections].sort()).toEqual([...observed(here).injections].sort())
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('the later in configuration order wins a key, also where lanes are interleaved', async () => {
    const registry = new HookRegistry()
    const add = (name: string, lane: string, value: number) =>
      registry.add(madeHook(name, { kind: 'command', lane, priority: 20, run: () => modify({ a: value }) }))
    add('first', 'x', 1)
    add('second', 'y', 2)
    add('third', 'x', 3)
    expect((await registry.emit('PreToolUse', CALL)).data.a).toBe(3)
  })

  it('a hook that sets a key back to what it was has changed it all the same', async () => {
    const registry = new HookRegistry()
    const add = (name: string, lane: string, value: number) =>
      registry.add(madeHook(name, { kind: 'command', lane, priority: 20, run: () => modify({ a: value }) }))
    add('first', 'x', 1)
    add('second', 'y', 2)
    add('third', 'y', CALL.a)
    expect((await registry.emit('PreToolUse', CALL)).data.a).toBe(CALL.a)
  })

  it('a key named __proto__ is a key like any other', async () => {
    const registry = new HookRegistry()
    const data = JSON.parse('{ "__proto__": { "polluted": true }, "a": 1 }')
    registry.add(madeHook('lane', { kind: 'command', lane: 'x', run: () => ({ action: 'modify', data }) }))
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(outcome.data.a).toBe(1)
    expect(Object.hasOwn(outcome.data, '__proto__')).toBe(true)
    expect('polluted' in outcome.data).toBe(false)
  })
})

describe('the lattice', () => {
  it('lets nothing lower hide something higher that was answered', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const hooks = placed(groups)
        const byName = new Map(hooks.map((one) => [one.name, one]))
        const outcome = await emitted(hooks, scheduler)
        const answered = outcome.hooks
          .filter(({ status }) => status === 'ran' || status === 'failed')
          .map(({ name }) => verdictOf(byName.get(name) as Placed))
        expect(rank(outcome.action)).toBe(Math.max(0, ...answered.map(rank)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('leaves no hook unasked but for a stop before it', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const hooks = placed(groups)
        const outcome = await emitted(hooks, scheduler)
        const names = firstRuns(outcome).map(({ name }) => name)
        expect(names.sort()).toEqual(hooks.map(({ name }) => name).sort())
        const unasked = outcome.hooks.filter(({ status }) => status === 'skipped')
        expect(unasked.every(({ why }) => why === 'ended')).toBe(true)
        if (unasked.length > 0) expect(stops(outcome.action)).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('effects', () => {
  it('are never lost: every injection and message of every hook that ran, in hook order', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const outcome = await emitted(placed(groups), scheduler)
        const ran = firstRuns(outcome).filter(({ status }) => status === 'ran')
        expect(outcome.injections.map(({ text, source }) => [source, text])).toEqual(
          ran.flatMap(({ name, answer }) =>
            answer?.contextInjection ? [[name, answer.contextInjection]] : [],
          ),
        )
        const said = outcome.messages.filter(({ level }) => level === 'info')
        expect(said.map(({ text, source }) => [source, text])).toEqual(
          ran.flatMap(({ name, answer }) => (answer?.userMessage ? [[name, answer.userMessage]] : [])),
        )
        const failures = firstRuns(outcome).filter(({ status }) => status === 'failed')
        const warnings = outcome.messages.filter(({ level }) => level === 'warning')
        expect(warnings.map(({ source }) => source)).toEqual(failures.map(({ name }) => name))
      }),
      { numRuns: runs(300) },
    )
  })

  it('are never lost: every key that a hook patched, unless a later one overwrote it', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.scheduler(), async (groups, scheduler) => {
        const hooks = placed(groups)
        const byName = new Map(hooks.map((one) => [one.name, one]))
        const outcome = await emitted(hooks, scheduler)
        const last = new Map<string, number>()
        for (const { name, status } of firstRuns(outcome)) {
          const one = byName.get(name) as Placed
          if (status === 'ran') for (const key of one.draw.patches) last.set(key, one.value)
        }
        for (const key of KEYS) expect(outcome.data[key]).toBe(last.get(key) ?? CALL[key])
        expect(outcome.modified).toBe(last.size > 0)
      }),
      { numRuns: runs(300) },
    )
  })
})
