// Hooks in shadow mode, among others: the event goes as it would without them, and says what they would have done.

import {
  abortTurn,
  askUser,
  createHooks,
  deny,
  HookRegistry,
  hardAbort,
  inject,
  memoryAudit,
  modify,
  type Outcome,
  proceed,
  respond,
} from 'carabiner'
import type { Hook } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LateAnswer, type Run, WholeData } from '../../src/core/hooks/hook.js'
import { laneHook, madeHook } from '../core/made-hook.js'
import { runs } from './runs.js'

// ---- random hooks ---------------------------------------------------------------------------------------------

const EVENTS = {
  PreToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PostToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: 'ok' },
  UserPromptSubmit: { prompt: 'go on' },
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  ModelRequest: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  Stop: {},
} as const
type EventName = keyof typeof EVENTS

/** What hooks may do, by name. `mark` tells two of them apart. */
const DEEDS = {
  'goes on': () => () => undefined,
  denies: (mark) => () => deny(`no ${mark}`, { userMessage: `told ${mark}` }),
  asks: (mark) => () => askUser(`sure ${mark}?`),
  answers: (mark) => () => respond({ by: mark }),
  'ends the turn': (mark) => () => abortTurn(`enough ${mark}`),
  'ends the agent': (mark) => () => hardAbort(`enough ${mark}`),
  changes: (mark) => () => modify({ [`key ${mark}`]: mark }),
  'changes the call': (mark) => () => modify({ tool_input: { command: `echo ${mark}` } }),
  'replaces everything':
    (mark) =>
    ({ data }) =>
      new WholeData({ ...data, whole: mark }),
  injects: (mark) => () => inject(`remember ${mark}`),
  allows: () => () => proceed({ permission: 'allow' }),
  'sets the title': (mark) => () => proceed({ host: { sessionTitle: mark } }),
  throws: (mark) => () => {
    throw new Error(`oops ${mark}`)
  },
  rejects: (mark) => async () => Promise.reject(new Error(`oops ${mark}`)),
  'answers nonsense': () => () => ({ action: 'explode' }),
  'is late': (mark) => async () => new LateAnswer(60_000, async () => inject(`late ${mark}`)),
  'says its last word':
    (mark) =>
    async (_, { lastWord }) => {
      lastWord(deny(`last ${mark}`))
      throw new Error(`oops ${mark}`)
    },
} as const satisfies Record<string, (mark: string) => Run>

interface Draw {
  readonly deed: keyof typeof DEEDS
  readonly inLane: boolean
  readonly role: 'intercept' | 'approve'
  readonly onFailure: 'block' | 'continue'
  readonly detached: boolean
  readonly capped: boolean
  /** Absent: it counts. */
  readonly shadow: 'mode' | 'admit' | undefined
}

/** Late effects come in any order, so only hooks in shadow mode are late. */
const draw: fc.Arbitrary<Draw> = fc
  .record({
    deed: fc.constantFrom(...(Object.keys(DEEDS) as (keyof typeof DEEDS)[])),
    inLane: fc.boolean(),
    role: fc.constantFrom('intercept', 'intercept', 'approve'),
    onFailure: fc.constantFrom('block', 'continue'),
    detached: fc.oneof(
      { weight: 5, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    capped: fc.boolean(),
    shadow: fc.constantFrom('mode', 'admit', undefined),
  })
  .map((one) =>
    one.shadow ? one : { ...one, detached: false, deed: one.deed === 'is late' ? 'injects' : one.deed },
  )

function hookOf({ deed, inLane, role, onFailure, detached, capped, shadow }: Draw, at: number): Hook {
  const make = inLane ? laneHook : madeHook
  return make(`hook-${at}`, {
    events: new Set(Object.keys(EVENTS)),
    ...{ role, onFailure, detached },
    ...(shadow === 'mode' && { mode: 'shadow' }),
    ...(capped && { cappedBy: 'Raise the limit' }),
    run: DEEDS[deed](String(at)),
  })
}

/** The hooks by name that are admitted in shadow mode. */
function admitted(draws: readonly Draw[]): ReadonlySet<string> {
  return new Set(draws.flatMap(({ shadow }, at) => (shadow === 'admit' ? [`hook-${at}`] : [])))
}

// ---- the event ------------------------------------------------------------------------------------------------

/** What is under way has come to rest. */
const rest = () => new Promise<void>((resolve) => setImmediate(resolve))

interface Played {
  readonly outcomes: readonly Outcome[]
  readonly recorded: ReturnType<typeof memoryAudit>['records']
}

async function played(
  hooks: readonly Hook[],
  event: EventName,
  shadows: ReadonlySet<string>,
  failClosed: boolean,
): Promise<Played> {
  const globals = new HookRegistry({ scope: 'global' })
  for (const one of hooks) globals.add(one)
  const audit = memoryAudit()
  const all = await createHooks({
    ...{ globals, audit, settings: { on_failure: failClosed ? 'block' : 'continue' } },
    approver: async () => ({ option: 'Deny', by: 'ana' }),
    clock: () => 0,
    admit: ({ name }) => (shadows.has(name) ? 'shadow' : true),
  })
  const session = all.session({ id: 'one' })
  const outcomes = [await session.fire(event, EVENTS[event])]
  await rest()
  outcomes.push(await session.fire('UserPromptSubmit', EVENTS.UserPromptSubmit))
  await all.close()
  return { outcomes, recorded: audit.records }
}

/** All that an agent acts on. That a hook failed is told, so that it can be mended before it counts. */
function counted(
  { hooks: _, diagnostics: __, approval, messages, ...outcome }: Outcome,
  real: readonly Hook[],
) {
  const isReal = (source: string) => real.some(({ name }) => name === source)
  const told = messages.filter(
    ({ source, text }) => isReal(source) || !/^Hook \S+ (?:failed|did not judge); /.test(text),
  )
  return { ...outcome, messages: told, asks: approval?.question.asks, by: approval?.answer?.by }
}

describe('shadow mode', () => {
  it('changes nothing', async () => {
    const cases = fc.tuple(
      fc.array(draw, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...(Object.keys(EVENTS) as EventName[])),
      fc.boolean(),
    )
    await fc.assert(
      fc.asyncProperty(cases, async ([draws, event, failClosed]) => {
        const hooks = draws.map(hookOf)
        const real = hooks.filter((_, at) => draws[at]?.shadow === undefined)
        const [withShadows, without] = await Promise.all([
          played(hooks, event, admitted(draws), failClosed),
          played(real, event, new Set(), failClosed),
        ])
        const [got, expected] = [withShadows, without].map(({ outcomes }) =>
          outcomes.map((one) => counted(one, real)),
        )
        expect(got).toEqual(expected)
      }),
      { numRuns: runs(2000) },
    )
  })

  it.each(['mode', 'admit'] as const)('says what a hook would have done (%s)', async (shadow) => {
    const more = {
      inLane: true,
      role: 'intercept',
      onFailure: 'block',
      detached: false,
      capped: false,
    } as const
    const [first] = (await playedAlone({ deed: 'denies', shadow, ...more })).recorded
    expect(first?.hooks).toMatchObject([{ action: 'continue', would: { action: 'deny', reason: 'no 0' } }])
    expect(first?.diagnostics).toMatchObject([
      {
        code: 'shadow',
        text: 'hook-0: it is in shadow mode; it would deny (no 0), and tell the user something',
      },
    ])
    const [failed] = (await playedAlone({ deed: 'throws', shadow, ...more })).recorded
    expect(failed).toMatchObject({
      action: 'continue',
      hooks: [{ status: 'failed', countsAs: 'continue', would: { action: 'deny' } }],
      diagnostics: [{ code: 'shadow' }],
    })
  })

  it('keeps secrets out of what it says', async () => {
    const secret = `ghp_${'A1b2C3d4'.repeat(5)}`
    const hook = madeHook('leaky', { mode: 'shadow', run: () => deny(`found ${secret}`) })
    const { outcomes, recorded } = await played([hook], 'PreToolUse', new Set(), false)
    expect(JSON.stringify([outcomes, recorded])).not.toContain(secret)
    expect(outcomes[0]?.hooks[0]?.would).toMatchObject({ action: 'deny' })
  })
})

function playedAlone(one: Draw): Promise<Played> {
  return played([hookOf(one, 0)], 'PreToolUse', admitted([one]), false)
}
