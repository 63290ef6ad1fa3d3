import {
  abortTurn,
  askUser,
  type Data,
  deny,
  type Hook,
  HookRegistry,
  type HookResult,
  hardAbort,
  inject,
  knownEvents,
  modify,
  type Outcome,
  proceed,
  resolveEvent,
  respond,
} from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { endsChain } from '../../src/core/events/actions.js'
import { type Ran, type TraceDetails, traceOf, verdictOf } from '../../src/core/run/trace.js'
import { merge, reasonOf } from '../../src/core/verdict/merge.js'
import { laneHook, madeHook } from './made-hook.js'

const PRE = resolveEvent('PreToolUse')
const CALL: Data = { tool_name: 'Bash', tool_input: {} }

function runOf(hook: Hook, status: 'ran' | 'failed', effect: HookResult, more?: TraceDetails): Ran {
  return { trace: traceOf(hook, status, 1, effect, more), hook, effect, left: CALL, endedAt: 1 }
}

/** One run of a hook that answered this. */
function ran(answer: HookResult, more: Partial<Hook> = {}, name = 'hook'): Ran {
  return runOf(madeHook(name, more), 'ran', answer)
}

function failed(effect: HookResult, name = 'broken'): Ran {
  const more = { why: 'HOOK_FAILED', detail: 'boom. Fix the hook.' } as const
  return runOf(madeHook(name), 'failed', effect, more)
}

/** Several answers, in order, by hooks named h0, h1, … */
function merged(event: string, ...answers: readonly HookResult[]) {
  return merge(
    resolveEvent(event),
    answers.map((answer, i) => ran(answer, {}, `h${i}`)),
  )
}

async function outcomeOf(event: string, data: object, ...answers: readonly HookResult[]): Promise<Outcome> {
  const registry = new HookRegistry()
  for (const [i, answer] of answers.entries()) registry.register(event, () => answer, { name: `h${i}` })
  return registry.emit(event, data)
}

const SAMPLE: Record<string, unknown> = {
  string: 'x',
  object: {},
  list: [],
  json: 'x',
  number: 1,
  boolean: true,
}
const sampleOf = (event: string) =>
  Object.fromEntries(
    Object.entries(resolveEvent(event).required).map(([field, type]) => [field, SAMPLE[type]]),
  )

describe('the lattice', () => {
  const ascending: readonly HookResult[] = [
    proceed(),
    respond('answer'),
    askUser('ok?'),
    deny('no'),
    abortTurn('enough'),
    hardAbort('stop'),
  ]

  for (const [i, lower] of ascending.entries()) {
    for (const higher of ascending.slice(i + 1)) {
      it(`${higher.action} outranks ${lower.action}, whoever comes first`, () => {
        expect(merged('PreToolUse', lower, higher).action).toBe(higher.action)
        expect(merged('PreToolUse', higher, lower).action).toBe(higher.action)
      })
    }
  }

  it('modify and inject_context are no verdicts', () => {
    expect(merged('PreToolUse', modify({ a: 1 }), inject('x')).action).toBe('continue')
    expect(merged('PreToolUse', inject('x'), respond(1)).action).toBe('respond')
  })

  it('a deny or abort ends the chain, nothing else does', () => {
    expect(['deny', 'abort_turn', 'hard_abort'].map((verdict) => endsChain(verdict as 'deny'))).toEqual([
      true,
      true,
      true,
    ])
    expect(['continue', 'respond', 'ask_user'].map((verdict) => endsChain(verdict as 'respond'))).toEqual([
      false,
      false,
      false,
    ])
  })

  it('of nothing is continue', () => {
    expect(merge(PRE, [])).toEqual({
      action: 'continue',
      reason: undefined,
      permission: undefined,
      response: undefined,
      injections: [],
      messages: [],
      asking: [],
      diagnostics: [],
    })
  })
})

describe('the reason', () => {
  it('is the winner’s', () => {
    const answers = [askUser('ok?', { reason: 'ask' }), deny('deny'), proceed({ reason: 'go' })]
    expect(merged('PreToolUse', ...answers).reason).toBe('deny')
  })

  it('is the first one’s among equals', () => {
    expect(merged('PreToolUse', deny('first'), deny('second')).reason).toBe('first')
    expect(merged('PreToolUse', askUser('first'), askUser('second')).reason).toBe('first')
  })

  it.each<[HookResult, string]>([
    [{ action: 'deny' }, 'Blocked by hook gate'],
    [deny(''), 'Blocked by hook gate'],
    [{ action: 'ask_user' }, 'Blocked by hook gate'],
    [askUser('ok?'), 'ok?'],
    [askUser('ok?', { reason: 'risky' }), 'risky'],
    [respond(1), 'Answered by hook gate'],
    [{ action: 'hard_abort' }, 'Blocked by hook gate'],
  ])('of %j is %j', (answer, reason) => {
    expect(reasonOf(madeHook('gate'), answer)).toBe(reason)
  })

  it('of a plain continue is none', () => {
    expect(merged('PreToolUse', proceed({ reason: 'whatever' })).reason).toBeUndefined()
  })
})

describe('permission', () => {
  const allow = proceed({ permission: 'allow', reason: 'trusted' })

  it('is allow where a hook said so and nothing higher won', () => {
    expect(merged('PreToolUse', proceed(), allow)).toMatchObject({ permission: 'allow', reason: 'trusted' })
    expect(merged('PreToolUse', allow, respond(1))).toMatchObject({ permission: 'allow', action: 'respond' })
    expect(merged('PreToolUse', modify({ a: 1 }, { permission: 'allow' })).permission).toBe('allow')
  })

  it.each([askUser('ok?'), deny('no'), abortTurn('x'), hardAbort('x')])(
    'never outranks $action',
    (answer) => {
      for (const answers of [
        [allow, answer],
        [answer, allow],
      ]) {
        expect(merged('PreToolUse', ...answers)).toMatchObject({
          action: answer.action,
          permission: undefined,
        })
      }
    },
  )

  it('never outranks a failure', () => {
    expect(merge(PRE, [ran(allow), failed(proceed())]).permission).toBeUndefined()
    expect(merge(PRE, [failed(proceed()), ran(allow)]).permission).toBeUndefined()
  })

  it('is not what continue says', () => {
    expect(merged('PreToolUse', proceed()).permission).toBeUndefined()
  })
})

describe('effects', () => {
  it('are orthogonal to the action', async () => {
    const everything = {
      data: { extra: 1 },
      contextInjection: 'context',
      userMessage: 'message',
    }
    for (const answer of [
      proceed(everything),
      inject('context', { data: everything.data, userMessage: 'message' }),
      modify(everything.data, { contextInjection: 'context', userMessage: 'message' }),
      deny('no', everything),
      askUser('ok?', everything),
      respond(1, everything),
      abortTurn('x', everything),
    ]) {
      expect(await outcomeOf('PreToolUse', CALL, answer)).toMatchObject({
        modified: true,
        data: { extra: 1 },
        injections: [{ text: 'context', source: 'h0' }],
        messages: [{ text: 'message', source: 'h0' }],
        hooks: [{ changed: ['extra'] }],
      })
    }
  })

  it('injections come in hook order, each with its own lifetime', () => {
    const { injections } = merged(
      'PreToolUse',
      inject('one'),
      inject('two', { ephemeral: true, contextInjectionRole: 'user', appendToLastToolResult: true }),
      deny('no', { contextInjection: 'three', contextInjectionRole: 'assistant' }),
    )
    expect(injections).toEqual([
      { text: 'one', role: 'system', ephemeral: false, source: 'h0' },
      { text: 'two', role: 'user', ephemeral: true, source: 'h1', appendToLastToolResult: true },
      { text: 'three', role: 'assistant', ephemeral: false, source: 'h2' },
    ])
  })

  it('an empty injection or message is none', () => {
    expect(merged('PreToolUse', inject('', { userMessage: '' }))).toMatchObject({
      injections: [],
      messages: [],
    })
  })

  it('messages carry level and source, and no control sequences', () => {
    expect(
      merged(
        'PreToolUse',
        proceed({ userMessage: 'plain' }),
        proceed({
          userMessage: '\u001b[31mred\u001b[0m',
          userMessageLevel: 'error',
          userMessageSource: 'linter',
        }),
      ).messages,
    ).toEqual([
      { text: 'plain', level: 'info', source: 'h0' },
      { text: 'red', level: 'error', source: 'linter' },
    ])
  })

  it('injections survive a deny', () => {
    expect(merged('PreToolUse', inject('kept'), deny('no')).injections).toHaveLength(1)
  })

  it('UserPromptSubmit drops them with the prompt', () => {
    expect(merged('UserPromptSubmit', inject('lost', { userMessage: 'kept' }), deny('no'))).toMatchObject({
      action: 'deny',
      injections: [],
      messages: [{ text: 'kept' }],
    })
    expect(merged('UserPromptSubmit', inject('kept')).injections).toHaveLength(1)
  })
})

describe('respond', () => {
  it('gives the first response', () => {
    expect(merged('PreToolUse', respond('first'), respond('second'))).toMatchObject({
      action: 'respond',
      response: 'first',
    })
  })

  it('keeps it under an ask', async () => {
    const outcome = await outcomeOf('PreToolUse', CALL, respond('answer'), askUser('ok?'))
    expect(outcome).toMatchObject({ action: 'ask_user', response: 'answer' })
  })

  it('loses it to a deny', async () => {
    const outcome = await outcomeOf('PreToolUse', CALL, respond('answer'), deny('no'))
    expect(outcome.action).toBe('deny')
    expect(outcome).not.toHaveProperty('response')
  })

  it('may be null', async () => {
    expect(await outcomeOf('PreToolUse', CALL, respond(null))).toMatchObject({
      action: 'respond',
      response: null,
    })
  })
})

describe('asks', () => {
  it('are all kept, in order, under whatever wins', () => {
    const { asking } = merged('PreToolUse', askUser('one'), proceed(), askUser('two'), deny('no'))
    expect(asking.map(({ hook, answer }) => [hook.name, answer.approvalPrompt])).toEqual([
      ['h0', 'one'],
      ['h2', 'two'],
    ])
  })
})

describe('where a verdict can act', () => {
  const blockable = [
    'PreToolUse',
    'PermissionRequest',
    'UserPromptSubmit',
    'ModelRequest',
    'ModelResponse',
    'SubagentStart',
    'PreCompact',
    'ConfigChange',
  ]

  it.each(blockable)('%s: deny and ask_user', async (event) => {
    expect(await outcomeOf(event, sampleOf(event), deny('no'))).toMatchObject({
      action: 'deny',
      reason: 'no',
    })
    expect(await outcomeOf(event, sampleOf(event), askUser('ok?'))).toMatchObject({ action: 'ask_user' })
  })

  it.each(['Stop', 'SubagentStop'])('%s: a deny keeps the agent going, an ask cannot act', async (event) => {
    expect(await outcomeOf(event, {}, deny('go on'))).toMatchObject({ action: 'deny', reason: 'go on' })
    expect(await outcomeOf(event, {}, askUser('ok?'))).toMatchObject({
      action: 'continue',
      diagnostics: [{ code: 'verdict-ignored' }],
    })
  })

  it.each(['PostToolUse', 'PostToolUseFailure'])('%s: a deny tells the model', async (event) => {
    expect(await outcomeOf(event, CALL, deny('look again'), proceed())).toMatchObject({
      action: 'continue',
      injections: [{ text: 'look again', role: 'system', ephemeral: false, source: 'h0' }],
      diagnostics: [],
      hooks: [{ status: 'ran', answer: { action: 'deny' } }, { status: 'ran' }],
    })
    expect(await outcomeOf(event, CALL, askUser('ok?'))).toMatchObject({
      action: 'continue',
      diagnostics: [{ code: 'verdict-ignored' }],
    })
  })

  it.each(['SessionStart', 'SessionEnd', 'Notification', 'TaskCompleted', 'TeammateIdle', 'my:event'])(
    '%s: no function’s deny; it is kept in the trace and reported',
    async (event) => {
      const outcome = await outcomeOf(event, sampleOf(event), deny('no'), askUser('ok?'))
      expect(outcome.action).toBe('continue')
      expect(outcome.hooks).toMatchObject([
        { answer: { action: 'deny' } },
        { answer: { action: 'ask_user' } },
      ])
      expect(outcome.diagnostics).toEqual([
        {
          code: 'verdict-ignored',
          text: `h0 answered deny, which has no effect on ${event}; the operation went on`,
        },
        {
          code: 'verdict-ignored',
          text: `h1 answered ask_user, which has no effect on ${event}; the operation went on`,
        },
      ])
    },
  )

  it.each(['TaskCompleted', 'TeammateIdle'])('%s: a Claude-format hook’s deny', (event) => {
    const kind = resolveEvent(event)
    expect(verdictOf(kind, laneHook('command'), 'deny')).toBe('deny')
    expect(verdictOf(kind, madeHook('function'), 'deny')).toBe('continue')
    expect(verdictOf(kind, madeHook('resident', { kind: 'process' }), 'deny')).toBe('continue')
  })

  it('respond acts on calls alone', () => {
    const responding = knownEvents().filter((kind) => verdictOf(kind, madeHook('a'), 'respond') === 'respond')
    expect(responding.map((kind) => kind.name)).toEqual(['PreToolUse', 'ModelRequest'])
    expect(merged('Stop', respond('x'))).toMatchObject({
      action: 'continue',
      response: undefined,
      diagnostics: [{ code: 'verdict-ignored' }],
    })
  })

  it.each(knownEvents().map((kind) => kind.name))('%s: an abort', (event) => {
    const kind = resolveEvent(event)
    expect(verdictOf(kind, madeHook('a'), 'abort_turn')).toBe('abort_turn')
    expect(verdictOf(kind, madeHook('a'), 'hard_abort')).toBe('hard_abort')
  })
})

describe('failures', () => {
  it('are warnings that name the hook, the error and what to do', () => {
    expect(merge(PRE, [failed(proceed(), 'a'), failed(deny('closed'), 'b')])).toMatchObject({
      action: 'deny',
      reason: 'closed',
      messages: [
        {
          text: 'Hook a failed; the operation went on without it. boom. Fix the hook.',
          level: 'warning',
          source: 'a',
        },
        { text: 'Hook b failed; its gate stays closed. boom. Fix the hook.', level: 'warning', source: 'b' },
      ],
    })
  })
})

it('looks at each hook a few times, however many may not run', () => {
  let looks = 0
  const many = Array.from({ length: 1000 }, (_, i): Ran => {
    const hook = madeHook(`h${i}`)
    const trace = traceOf(hook, 'skipped', 0, proceed(), { why: 'untrusted', detail: '' })
    const one = runOf(hook, 'ran', proceed())
    const look = () => {
      looks++
      return proceed()
    }
    return Object.defineProperty({ ...one, trace }, 'effect', { get: look })
  })
  expect(merge(PRE, many).diagnostics).toHaveLength(1000)
  expect(looks).toBeLessThan(5000)
})

describe('an allow beside a gate that nobody has trusted', () => {
  const skipped = (observe = false): Ran => {
    const hook = laneHook('gate', { origin: { scope: 'project', source: 'project' }, observe })
    const one = runOf(hook, 'ran', proceed())
    return { ...one, trace: traceOf(hook, 'skipped', 0, proceed(), { why: 'untrusted', detail: '' }) }
  }
  const allowing = (scope: 'project' | 'named' | 'user' | 'host'): Ran =>
    runOf(laneHook('a', { origin: { scope, source: 'x' } }), 'ran', proceed({ permission: 'allow' }))

  it.each([
    ['project', undefined],
    ['named', undefined],
    ['user', 'allow'],
    ['host', 'allow'],
  ] as const)('of scope %s gives %s', (scope, permission) => {
    expect(merge(PRE, [skipped(), allowing(scope)]).permission).toBe(permission)
    expect(merge(PRE, [allowing(scope), skipped()]).permission).toBe(permission)
  })

  it('counts beside a logger', () => {
    expect(merge(PRE, [skipped(true), allowing('project')]).permission).toBe('allow')
  })
})

describe('an outcome', () => {
  it('is plain JSON', async () => {
    const outcome = await outcomeOf(
      'PreToolUse',
      CALL,
      modify({ extra: [1] }, { permission: 'allow', userMessage: 'm' }),
      inject('context', { ephemeral: true }),
      respond({ for_llm: 'x' }),
    )
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome)
  })

  it('has only the optional fields that say something', async () => {
    const outcome = await outcomeOf('PreToolUse', CALL, proceed())
    expect(Object.keys(outcome).sort()).toEqual([
      'action',
      'data',
      'diagnostics',
      'hooks',
      'injections',
      'messages',
      'modified',
    ])
  })

  it('traces every candidate: ran, skipped, failed, with why', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => modify({ extra: 1 }), { name: 'changer' })
    registry.register('PreToolUse', () => undefined, { name: 'editor', matcher: 'Edit' })
    registry.register(
      'PreToolUse',
      () => {
        throw new Error('boom')
      },
      { name: 'broken', onFailure: 'continue' },
    )
    registry.register('PreToolUse', () => deny('no'), { name: 'gate' })
    registry.register('PreToolUse', () => undefined, { name: 'late' })
    registry.register('PreToolUse', () => undefined, { name: 'judge', role: 'approve' })
    const { hooks } = await registry.emit('PreToolUse', CALL)
    const trace = new Map(hooks.map((one) => [one.name, one]))
    const common = { kind: 'function', source: 'code', ms: expect.any(Number) }
    expect(trace.get('changer')).toMatchObject({
      ...common,
      status: 'ran',
      answer: { action: 'modify', data: { extra: 1 } },
      changed: ['extra'],
    })
    expect(trace.get('editor')).toMatchObject({
      ...common,
      status: 'skipped',
      why: 'matcher',
      detail: 'matcher "Edit" does not match tool_name "Bash"',
    })
    expect(trace.get('broken')).toMatchObject({
      ...common,
      status: 'failed',
      why: 'HOOK_FAILED',
      detail: expect.stringMatching(/^boom\. /),
    })
    expect(trace.get('gate')).toMatchObject({
      ...common,
      status: 'ran',
      answer: { action: 'deny', reason: 'no' },
    })
    for (const name of ['late', 'judge']) {
      expect(trace.get(name)).toMatchObject({
        ...common,
        status: 'skipped',
        why: 'ended',
        detail: 'an earlier hook denied or aborted, so it was not asked',
      })
    }
    expect(hooks).toHaveLength(6)
  })
})

it('a secret right behind a control sequence is not in the trace', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  const printed = { stderr: `\u001b[31m${token}\u001b[0m`, stdout: `\u001b]0;${token}\u0007` }
  const { trace } = runOf(madeHook('hook'), 'ran', proceed(), printed)
  expect(JSON.stringify(trace)).not.toContain(token)
})
