// A hook asks: grants, PermissionRequest hooks, then the person. Nothing ends in an allow that nobody gave.

import {
  type Approver,
  abortTurn,
  askUser,
  createHooks,
  type Data,
  deny,
  type Grant,
  type Hooks,
  type HooksOptions,
  hardAbort,
  inject,
  MemoryStore,
  memoryAudit,
  modify,
  type Outcome,
  proceed,
  type Question,
  type Reply,
  respond,
} from 'carabiner'
import { describe, expect, test } from 'vitest'

const BASH = { tool_name: 'Bash', tool_input: { command: 'rm x' } }
const commandOf = (data: Data) => (data.tool_input as Data).command
const never = () => new Promise<never>(() => {})

/** An approver that keeps what it was asked. */
function person(...replies: readonly (Reply | ((question: Question) => Reply))[]) {
  const questions: Question[] = []
  const approver: Approver = (question) => {
    questions.push(question)
    const reply = replies[Math.min(questions.length, replies.length) - 1] ?? 'Deny'
    return typeof reply === 'function' ? reply(question) : reply
  }
  return { approver, questions }
}

async function asking(
  options: HooksOptions,
  ...answers: readonly ReturnType<typeof askUser>[]
): Promise<Hooks> {
  const hooks = await createHooks({ globals: false, ...options })
  for (const [i, answer] of answers.entries()) {
    hooks.register('PreToolUse', () => answer, { name: `asker ${i + 1}` })
  }
  return hooks
}

async function ask(
  options: HooksOptions,
  ...answers: readonly ReturnType<typeof askUser>[]
): Promise<Outcome> {
  const hooks = await asking(options, ...answers)
  return hooks.session({ id: 's1', cwd: '/project' }).fire('PreToolUse', BASH)
}

describe('the sequence', () => {
  test('hooks, approvers, PermissionRequest hooks, the person, in this order and on the same call', async () => {
    const seen: unknown[] = []
    const hooks = await createHooks({
      globals: false,
      approver: ({ call }) => {
        seen.push(['person', commandOf(call)])
        return 'Allow'
      },
    })
    const see = (name: string) => (_: string, data: { readonly tool_input: Data }) =>
      void seen.push([name, data.tool_input.command])
    hooks.register('PermissionRequest', see('PermissionRequest'))
    hooks.register('PreToolUse', see('approver'), { role: 'approve' })
    hooks.register('PreToolUse', () => askUser('ok?', { data: { tool_input: { command: 'rm y' } } }))
    hooks.register('PreToolUse', see('later hook'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(seen).toEqual([
      ['later hook', 'rm y'],
      ['approver', 'rm y'],
      ['PermissionRequest', 'rm y'],
      ['person', 'rm y'],
    ])
    expect(outcome.action).toBe('continue')
    expect(commandOf(outcome.data)).toBe('rm y')
  })

  test('nobody is asked about a call that is denied anyway', async () => {
    const { approver, questions } = person('Allow')
    let asked = 0
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PermissionRequest', () => void asked++)
    hooks.register('PreToolUse', () => deny('no'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(outcome.approval).toBeUndefined()
    expect([asked, questions.length]).toEqual([0, 0])
  })

  test.each([
    ['abort_turn', abortTurn('stop it')],
    ['hard_abort', hardAbort('stop it')],
  ])('nobody is asked where another hook says %s', async (action, answer) => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PreToolUse', () => answer)
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({ action, reason: 'stop it' })
    expect(questions).toEqual([])
  })

  test('an approver that refuses spares the question', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PreToolUse', () => deny('not approved'), { role: 'approve' })
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'not approved',
    })
    expect(questions).toEqual([])
  })

  test('an approver may ask as well', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await createHooks({ globals: false, approver })
    hooks.register('PreToolUse', () => askUser('the approver asks'), { role: 'approve' })
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
    expect(questions[0]?.asks).toMatchObject([{ prompt: 'the approver asks' }])
  })

  test('an explicit allow of another hook does not answer the ask', async () => {
    const { approver, questions } = person('Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PreToolUse', () => proceed({ permission: 'allow' }))
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('deny')
    expect(questions).toHaveLength(1)
  })

  test('other events that can be denied ask the person as well, without PermissionRequest', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await createHooks({ globals: false, approver })
    let permission = 0
    hooks.register('PermissionRequest', () => void permission++)
    hooks.register('UserPromptSubmit', () => askUser('send this?'))
    const outcome = await hooks.session().fire('UserPromptSubmit', { prompt: 'my password is x' })
    expect(outcome.action).toBe('continue')
    expect(questions[0]).toMatchObject({ event: 'UserPromptSubmit', call: { prompt: 'my password is x' } })
    expect(permission).toBe(0)
  })

  test('injections and messages of hooks that ask survive either answer', async () => {
    for (const reply of ['Allow', 'Deny']) {
      const more = { contextInjection: 'context', userMessage: 'message' }
      const outcome = await ask({ approver: () => reply }, askUser('ok?', more))
      expect(outcome.injections).toMatchObject([{ text: 'context', source: 'asker 1' }])
      expect(outcome.messages).toMatchObject([{ text: 'message', source: 'asker 1' }])
    }
  })

  test('question and answer are in the outcome and in the audit', async () => {
    const audit = memoryAudit()
    const clock = () => Date.UTC(2030, 0, 1)
    const { approver, questions } = person({ option: 'Allow', reason: 'looks fine', by: 'ada' })
    const outcome = await ask({ approver, audit, clock }, askUser('ok?'))
    expect(outcome).toMatchObject({ action: 'continue', reason: 'looks fine' })
    expect(outcome.approval).toEqual({
      question: questions[0],
      answer: {
        decision: 'allow',
        option: 'Allow',
        reason: 'looks fine',
        by: 'ada',
        at: '2030-01-01T00:00:00.000Z',
      },
    })
    expect(audit.records).toMatchObject([{ action: 'continue', approval: { answer: { by: 'ada' } } }])
  })
})

describe('PermissionRequest', () => {
  test('gets the call as it is now, under its own name', async () => {
    const hooks = await asking({}, askUser('ok?', { data: { tool_input: { command: 'rm y' } } }))
    let seen: unknown
    hooks.register('PermissionRequest', (event, data) => {
      seen = { event, ...data }
      return deny('no')
    })
    await hooks.session({ id: 's1', cwd: '/project' }).fire('PreToolUse', { ...BASH, tool_use_id: 't1' })
    expect(seen).toMatchObject({
      event: 'PermissionRequest',
      hook_event_name: 'PermissionRequest',
      session_id: 's1',
      cwd: '/project',
      tool_name: 'Bash',
      tool_input: { command: 'rm y' },
    })
  })

  test('allow answers, and the person is not asked', async () => {
    const { approver, questions } = person('Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PermissionRequest', () => undefined, { name: 'silent' })
    hooks.register('PermissionRequest', () => proceed({ permission: 'allow' }), { name: 'policy' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.approval?.answer).toMatchObject({ decision: 'allow', by: 'policy' })
    expect(questions).toEqual([])
    expect(outcome.hooks.map(({ name }) => name)).toEqual(['asker 1', 'silent', 'policy'])
  })

  test('deny refuses, with its reason, and the person is not asked', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PermissionRequest', () => deny('policy forbids it'), { name: 'policy' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'policy forbids it' })
    expect(outcome.approval?.answer).toMatchObject({ decision: 'deny', by: 'policy' })
    expect(questions).toEqual([])
  })

  test('deny wins over allow, whichever came first, and the hook that denied is named', async () => {
    for (const order of [
      ['yes', 'no'],
      ['no', 'yes'],
    ]) {
      const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
      for (const name of order) {
        const answer = name === 'no' ? deny('forbidden') : proceed({ permission: 'allow' })
        hooks.register('PermissionRequest', () => answer, { name })
      }
      const outcome = await hooks.session().fire('PreToolUse', BASH)
      expect(outcome).toMatchObject({ action: 'deny', reason: 'forbidden' })
      expect(outcome.approval?.answer).toMatchObject({ decision: 'deny', by: 'no' })
    }
  })

  test.each([
    ['says nothing', undefined],
    ['continues', proceed()],
    ['injects', inject('a note')],
    ['asks', askUser('I would ask')],
  ])('a hook that %s leaves the question to the person', async (_, answer) => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?'))
    hooks.register('PermissionRequest', () => answer)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.approval?.answer?.by).toBe('person')
    expect(questions).toHaveLength(1)
  })

  test('a hook that fails refuses', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?'))
    const broken = () => {
      throw new Error('broken policy')
    }
    hooks.register('PermissionRequest', broken, { name: 'policy' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/fail-safe deny.*broken policy/)
    expect(outcome.messages.map(({ text }) => text).join()).toMatch(/broken policy/)
    expect(questions).toEqual([])
  })

  test.each([
    ['abort_turn', abortTurn('enough')],
    ['hard_abort', hardAbort('enough')],
  ])('%s is passed on', async (action, answer) => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    hooks.register('PermissionRequest', () => answer)
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({ action, reason: 'enough' })
  })

  test('an allow that edits the call has it judged again', async () => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    const guard = (_: string, { tool_input }: { readonly tool_input: Data }) =>
      tool_input.command === 'rm /' ? deny('not that') : undefined
    hooks.register('PreToolUse', guard)
    const edit = (command: string) => modify({ tool_input: { command } }, { permission: 'allow' })
    const off = hooks.register('PermissionRequest', () => edit('ls'))
    const allowed = await hooks.session().fire('PreToolUse', BASH)
    expect(allowed).toMatchObject({ action: 'continue', modified: true })
    expect(commandOf(allowed.data)).toBe('ls')
    off()
    hooks.register('PermissionRequest', () => edit('rm /'))
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'not that',
    })
  })

  test('its injections and messages are in the outcome', async () => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    hooks.register('PermissionRequest', () => inject('a note', { userMessage: 'a message' }))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.injections).toMatchObject([{ text: 'a note' }])
    expect(outcome.messages).toMatchObject([{ text: 'a message' }])
  })

  test('is not fired where a grant answers', async () => {
    const { approver } = person('Allow always')
    const hooks = await asking({ approver }, askUser('ok?', { approvalOptions: ['Allow always', 'Deny'] }))
    let fired = 0
    hooks.register('PermissionRequest', () => void fired++)
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', BASH)
    expect(fired).toBe(1)
  })

  test('a hook that runs once in a session runs once here too', async () => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    let ran = 0
    hooks.register('PermissionRequest', () => void ran++, { once: true })
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', BASH)
    expect(ran).toBe(1)
  })

  test('observers of it see it', async () => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    const seen: unknown[] = []
    hooks.register('PermissionRequest', (event, _, { outcome }) => void seen.push([event, outcome?.action]), {
      role: 'observe',
    })
    await hooks.session().fire('PreToolUse', BASH)
    await hooks.close()
    expect(seen).toEqual([['PermissionRequest', 'continue']])
  })
})

describe('who answers', () => {
  test('without an approver the outcome stays ask_user, with the question for the host', async () => {
    const outcome = await ask({}, askUser('delete x?', { reason: 'it deletes' }))
    expect(outcome).toMatchObject({
      action: 'ask_user',
      reason: 'it deletes',
      approval: { question: { asks: [{ hook: 'asker 1', prompt: 'delete x?', reason: 'it deletes' }] } },
    })
    expect(outcome.approval?.answer).toBeUndefined()
  })

  test('approver "deny" refuses whatever is asked, also where the default is to allow', async () => {
    const outcome = await ask({ approver: 'deny' }, askUser('delete x?', { approvalDefault: 'allow' }))
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: 'No approval system available: delete x?',
      approval: { answer: { decision: 'deny', by: 'host' } },
    })
  })

  test.each([
    ['Allow', 'continue'],
    ['allow', 'continue'],
    [' Allow ', 'continue'],
    ['Deny', 'deny'],
    ['deny', 'deny'],
    ['', 'deny'],
    ['Allow always', 'deny'],
    ['Allowed', 'deny'],
    ['yes', 'deny'],
    ['true', 'deny'],
  ])('to the default options the answer %j is %s', async (reply, action) => {
    expect((await ask({ approver: () => reply }, askUser('ok?'))).action).toBe(action)
  })

  test.each([
    ['Allow once', 'continue'],
    ['ALLOW for this project', 'continue'],
    ['Allow-listed only', 'continue'],
    ['Allowance', 'deny'],
    ['Yes', 'deny'],
    ['Do not allow', 'deny'],
    ['Disallow', 'deny'],
  ])('an option %j that was offered and chosen is %s', async (option, action) => {
    const outcome = await ask({ approver: () => option }, askUser('ok?', { approvalOptions: [option, 'No'] }))
    expect(outcome.action).toBe(action)
    expect(outcome.approval?.answer?.option).toBe(option)
  })

  test('an answer that was not offered is a deny, though it reads like an allow', async () => {
    const outcome = await ask(
      { approver: () => 'Allow' },
      askUser('ok?', { approvalOptions: ['Allow once', 'Deny'] }),
    )
    expect(outcome.action).toBe('deny')
    expect(outcome.approval?.answer).toMatchObject({ decision: 'deny', option: 'Allow' })
  })

  test.each([
    ['Yes', 'the approver answered "Yes" to "ok?"'],
    [{ option: 'No', reason: 'use staging' }, 'the approver answered "No" (use staging) to "ok?"'],
  ])('A5: the reason says that %j was not offered, and blames no user', async (reply, said) => {
    const outcome = await ask({ approver: () => reply }, askUser('ok?'))
    const reason = `${said}, which is not an option; the options were Allow, Deny`
    expect(outcome).toMatchObject({ action: 'deny', reason: `Denied: ${reason}` })
    expect(outcome.diagnostics).toMatchObject([{ code: 'host-failed', text: reason }])
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['a number', 1],
    ['a list', ['Allow']],
    ['an object without option', { allow: true }],
    ['an option that is no text', { option: true }],
    ['a decision instead of an option', { decision: 'allow' }],
  ])('an approver that answers %s has not allowed', async (_, reply) => {
    const approver = (() => reply) as unknown as Approver
    const outcome = await ask({ approver }, askUser('ok?', { approvalDefault: 'allow' }))
    expect(outcome.action).toBe('deny')
    expect(outcome.approval?.answer?.decision).toBe('deny')
  })

  test('a refusal tells the model what was asked and why it was refused', async () => {
    const outcome = await ask(
      { approver: () => ({ option: 'Deny', reason: 'use trash instead' }) },
      askUser('delete x?'),
    )
    expect(outcome.reason).toBe('User denied: delete x? (use trash instead)')
  })

  test('a deny is always offered', async () => {
    const { approver, questions } = person('Deny')
    const outcome = await ask({ approver }, askUser('ok?', { approvalOptions: ['Allow', 'Allow once'] }))
    expect(questions[0]?.options).toEqual(['Allow', 'Allow once', 'Deny'])
    expect(outcome.action).toBe('deny')
  })

  test('a deny of the hook is enough', async () => {
    const { approver, questions } = person('Deny it')
    await ask({ approver }, askUser('ok?', { approvalOptions: ['Allow', 'deny it'] }))
    expect(questions[0]?.options).toEqual(['Allow', 'deny it'])
  })

  test.each([
    [undefined, 'deny'],
    ['deny', 'deny'],
    ['allow', 'continue'],
  ] as const)('no answer in time: the default %s is %s', async (approvalDefault, action) => {
    const more = { approvalTimeout: 0.02, ...(approvalDefault && { approvalDefault }) }
    let signal: AbortSignal | undefined
    const approver: Approver = (_, given) => {
      signal = given
      return never()
    }
    const outcome = await ask({ approver }, askUser('ok?', more))
    expect(outcome.action).toBe(action)
    expect(outcome.approval?.answer).toMatchObject({ by: 'default' })
    expect(outcome.approval?.answer?.option).toBeUndefined()
    if (action === 'deny')
      expect(outcome.reason).toMatch(
        /^Approval timeout - denied by default: ok\? \(nobody answered within [\d.]+ s; the hook's approvalTimeout sets how long\)$/,
      )
    expect(signal?.aborted).toBe(true)
  })

  test('the time-out of the fire ends the question too', async () => {
    const hooks = await asking({ approver: never }, askUser('ok?'))
    const outcome = await hooks.session().fire('PreToolUse', BASH, { timeout: 2 })
    expect(outcome).toMatchObject({ action: 'deny', approval: { answer: { by: 'default' } } })
  })

  test('an answer that comes late changes nothing', async () => {
    let answer: (reply: Reply) => void = () => {}
    const approver: Approver = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const always = { approvalOptions: ['Allow always', 'Deny'], approvalTimeout: 0.02 }
    const hooks = await asking({ approver }, askUser('ok?', always))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    answer('Allow always')
    await new Promise((resolve) => setImmediate(resolve))
    expect(outcome.action).toBe('deny')
    expect(await hooks.grants()).toEqual([])
  })

  test.each([
    [undefined, 'deny'],
    ['deny', 'deny'],
    ['allow', 'continue'],
  ] as const)(
    'an approver that fails: the default %s is %s, and it is reported',
    async (approvalDefault, action) => {
      const more = approvalDefault ? { approvalDefault } : {}
      const throws = () => {
        throw new Error('no terminal')
      }
      for (const approver of [throws, async () => throws()]) {
        const outcome = await ask({ approver }, askUser('ok?', more))
        expect(outcome.action).toBe(action)
        expect(outcome.approval?.answer).toMatchObject({ by: 'default' })
        expect(outcome.diagnostics).toMatchObject([{ code: 'host-failed' }])
        expect(outcome.diagnostics[0]?.text).toMatch(/approver.*no terminal/)
        if (action === 'deny') expect(outcome.reason).toMatch(/no terminal/)
      }
    },
  )

  test('an aborted signal ends the question: the fire rejects, the record is written', async () => {
    const controller = new AbortController()
    const audit = memoryAudit()
    let waiting: AbortSignal | undefined
    const approver: Approver = (_, signal) => {
      waiting = signal
      controller.abort(new Error('the user left'))
      return never()
    }
    const hooks = await asking({ approver, audit }, askUser('ok?', { approvalDefault: 'allow' }))
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    await expect(fired).rejects.toMatchObject({ code: 'ABORTED', cause: new Error('the user left') })
    expect(waiting?.aborted).toBe(true)
    expect(audit.records.map(({ action }) => action)).toEqual(['aborted'])
  })
})

describe('one question for all who ask', () => {
  test('every prompt and reason, the exact call and its digest', async () => {
    const { approver, questions } = person('Allow')
    const outcome = await ask(
      { approver, clock: () => Date.UTC(2030, 0, 1) },
      askUser('first?', { reason: 'because one' }),
      askUser('second?'),
    )
    expect(outcome.action).toBe('continue')
    expect(questions).toHaveLength(1)
    expect(questions[0]).toMatchObject({
      event: 'PreToolUse',
      session: 's1',
      call: { tool_name: 'Bash', tool_input: { command: 'rm x' } },
      asks: [
        { hook: 'asker 1', prompt: 'first?', reason: 'because one' },
        { hook: 'asker 2', prompt: 'second?' },
      ],
      options: ['Allow', 'Deny'],
      timeout: 300,
      default: 'deny',
      expires: '2030-01-01T00:05:00.000Z',
    })
    expect(questions[0]?.digest).toMatch(/^[0-9a-f]{64}$/)
  })

  test('the digest is that of the call: another call has another, the same call the same', async () => {
    const { approver, questions } = person('Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    const session = hooks.session()
    await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'a', timeout: 1 } })
    await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { timeout: 1, command: 'a' } })
    await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'a ', timeout: 1 } })
    const [first, second, third] = questions.map(({ digest }) => digest)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(new Set(questions.map(({ id }) => id)).size).toBe(3)
  })

  test('shortest time-out', async () => {
    const { approver, questions } = person('Allow')
    await ask(
      { approver },
      askUser('a?', { approvalTimeout: 60 }),
      askUser('b?', { approvalTimeout: 5 }),
      askUser('c?'),
    )
    expect(questions[0]?.timeout).toBe(5)
  })

  test('default deny if any says deny, or says nothing', async () => {
    const allow = { approvalDefault: 'allow' } as const
    for (const [second, expected] of [
      [allow, 'allow'],
      [{ approvalDefault: 'deny' }, 'deny'],
      [{}, 'deny'],
    ] as const) {
      const { approver, questions } = person('Allow')
      await ask({ approver }, askUser('a?', allow), askUser('b?', second))
      expect(questions[0]?.default).toBe(expected)
    }
  })

  test('options of all, each once', async () => {
    const { approver, questions } = person('Allow')
    await ask(
      { approver },
      askUser('a?', { approvalOptions: ['Allow', 'Deny'] }),
      askUser('b?', { approvalOptions: ['Allow', 'Allow once', 'Never'] }),
    )
    expect(questions[0]?.options).toEqual(['Allow', 'Deny', 'Allow once', 'Never'])
  })

  test('"Allow always" is offered only if all who ask offer it', async () => {
    const always = { approvalOptions: ['Allow', 'Allow always', 'Deny'] }
    const { approver, questions } = person('Allow always')
    const hooks = await asking({ approver }, askUser('a?', always), askUser('b?'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(questions[0]?.options).toEqual(['Allow', 'Deny'])
    expect(outcome.action).toBe('deny')
    expect(await hooks.grants()).toEqual([])
  })

  test('a prompt cannot write to the terminal', async () => {
    const { approver, questions } = person('Deny')
    await ask({ approver }, askUser('\u001b[2Jok?\u202e', { reason: '\u001b]0;title\u0007fine' }))
    expect(questions[0]?.asks).toEqual([{ hook: 'asker 1', prompt: 'ok?', reason: 'fine' }])
  })

  test('nor can an option, and it cannot look like another', async () => {
    const { approver, questions } = person('Deny')
    const approvalOptions = ['Allow\u001b[1K\rDeny it', 'Deny']
    await ask({ approver }, askUser('ok?', { approvalOptions }))
    const text = questions[0]?.options.join() ?? ''
    expect(text).toMatch(/^Allow/)
    for (const control of ['\u001b', '\r']) expect(text).not.toContain(control)
  })
})

describe('respond under ask', () => {
  const answering = async (options: HooksOptions) => {
    const hooks = await asking(options, askUser('ok?'))
    hooks.register('PreToolUse', () => respond({ for_llm: 'an answer' }))
    return hooks.session().fire('PreToolUse', BASH)
  }

  test('the response is kept while nobody has answered', async () => {
    expect(await answering({})).toMatchObject({ action: 'ask_user', response: { for_llm: 'an answer' } })
  })

  test('an allow leaves the respond', async () => {
    const outcome = await answering({ approver: () => 'Allow' })
    expect(outcome).toMatchObject({ action: 'respond', response: { for_llm: 'an answer' } })
  })

  test('a response of null stays a response', async () => {
    const hooks = await asking({ approver: () => 'Allow' }, askUser('ok?'))
    hooks.register('PreToolUse', () => respond(null))
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({
      action: 'respond',
      response: null,
    })
  })

  test('a refusal takes the response away', async () => {
    const outcome = await answering({ approver: () => 'Deny' })
    expect(outcome.action).toBe('deny')
    expect(outcome.response).toBeUndefined()
  })
})

describe('"Allow always"', () => {
  const ALWAYS = { approvalOptions: ['Allow', 'Allow always', 'Deny'] }
  const bash = (command: string, more: object = {}) => ({
    tool_name: 'Bash',
    tool_input: { command, ...more },
  })

  test('makes a grant that answers the same call from then on, in every session', async () => {
    const { approver, questions } = person('Allow always', 'Deny')
    const clock = () => Date.UTC(2030, 0, 1)
    const hooks = await asking({ approver, clock }, askUser('ok?', ALWAYS))
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.approval?.answer).toMatchObject({ decision: 'allow', by: 'grant' })
    expect(questions).toHaveLength(1)
    expect(await hooks.grants()).toMatchObject([
      { event: 'PreToolUse', tool: 'Bash', created: '2030-01-01T00:00:00.000Z' },
    ])
  })

  test('is on record with who gave it and when, also beside hooks that are still asked', async () => {
    const { approver } = person({ option: 'Allow always', by: 'ann' }, { option: 'Allow', by: 'ben' })
    const hooks = await asking({ approver, clock: () => Date.UTC(2030, 0, 1) }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).approval?.answer?.grants).toBeUndefined()
    const [grant] = await hooks.grants()
    const grants = [{ id: grant?.id, by: 'ann', since: '2030-01-01T00:00:00.000Z' }]
    expect((await session.fire('PreToolUse', BASH)).approval?.answer).toMatchObject({ by: 'grant', grants })
    hooks.register('PreToolUse', () => askUser('second?'), { name: 'asker 2' })
    expect((await session.fire('PreToolUse', BASH)).approval?.answer).toMatchObject({ by: 'ben', grants })
  })

  test.each([
    ['none', undefined],
    ['others', ['Allow', 'Deny']],
    ['a word that only looks like it', ['Allow once, not always', 'Deny']],
  ])('does not answer a hook that offers %s now', async (_, approvalOptions) => {
    const { approver, questions } = person('Allow always', 'Deny')
    const hooks = await createHooks({ globals: false, approver })
    let offer: object = ALWAYS
    hooks.register('PreToolUse', () => askUser('ok?', offer), { name: 'asks' })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    offer = approvalOptions === undefined ? {} : { approvalOptions }
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    expect(questions).toHaveLength(2)
  })

  test('"Allow" alone makes none', async () => {
    const { approver, questions } = person('Allow')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', BASH)
    expect(questions).toHaveLength(2)
    expect(await hooks.grants()).toEqual([])
  })

  test.each([
    ['another input', bash('rm y')],
    ['one more field', bash('rm x', { timeout: 5 })],
    ['another tool', { ...BASH, tool_name: 'Shell' }],
    ['a letter of another case', bash('rm X')],
  ])('does not hold for %s', async (_, call) => {
    const { approver, questions } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    expect((await session.fire('PreToolUse', call)).action).toBe('deny')
    expect(questions).toHaveLength(2)
  })

  test('does not hold in another directory', async () => {
    const { approver } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    expect((await hooks.session({ cwd: '/a' }).fire('PreToolUse', BASH)).action).toBe('continue')
    expect((await hooks.session({ cwd: '/b' }).fire('PreToolUse', BASH)).action).toBe('deny')
    expect((await hooks.session({ cwd: '/a' }).fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test('does not hold for another event', async () => {
    const { approver } = person('Allow always', 'Deny')
    const hooks = await createHooks({ globals: false, approver })
    const asks = () => askUser('ok?', ALWAYS)
    hooks.register('*', asks, { name: 'asks' })
    const session = hooks.session()
    expect((await session.fire('PreCompact', { trigger: 'auto' })).action).toBe('continue')
    expect((await session.fire('ConfigChange', { trigger: 'auto' })).action).toBe('deny')
  })

  test('the order of keys is not part of the call; nor is what is inert for the tool', async () => {
    const { approver, questions } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', bash('ls', { timeout: 5, description: 'lists' }))
    const input = { timeout: 5, description: 'shows what is there', command: 'ls' }
    const again = await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: input })
    expect(again).toMatchObject({ action: 'continue', approval: { answer: { by: 'grant' } } })
    expect(questions).toHaveLength(1)
  })

  test('a description is inert for Bash alone', async () => {
    const { approver } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    const call = (description: string) => ({ tool_name: 'Ticket', tool_input: { description } })
    expect((await session.fire('PreToolUse', call('one'))).action).toBe('continue')
    expect((await session.fire('PreToolUse', call('two'))).action).toBe('deny')
  })

  test('each asking hook needs its own', async () => {
    const { approver, questions } = person('Allow always')
    const hooks = await asking({ approver }, askUser('first?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    hooks.register('PreToolUse', () => askUser('second?', ALWAYS), { name: 'asker 2' })
    await session.fire('PreToolUse', BASH)
    expect(questions[1]?.asks).toMatchObject([{ hook: 'asker 2', prompt: 'second?' }])
    const outcome = await session.fire('PreToolUse', BASH)
    expect(outcome.approval?.answer?.by).toBe('grant')
    expect(questions).toHaveLength(2)
    expect(await hooks.grants()).toHaveLength(2)
  })

  test('one answer to several askers grants each of them', async () => {
    const { approver } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('a?', ALWAYS), askUser('b?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    const grants = await hooks.grants()
    expect(new Set(grants.map(({ hook }) => hook)).size).toBe(2)
    await hooks.revoke((grants[0] as Grant).id)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })

  test('a revoked grant is gone; revoking it again finds nothing', async () => {
    const { approver, questions } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    const [grant] = await hooks.grants()
    expect(await hooks.revoke(grant?.id ?? '')).toBe(true)
    expect(await hooks.revoke(grant?.id ?? '')).toBe(false)
    expect(await hooks.grants()).toEqual([])
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    expect(questions).toHaveLength(2)
  })

  test('a grant may expire', async () => {
    let now = Date.UTC(2030, 0, 1)
    class Expiring extends MemoryStore {
      override addGrant(grant: Grant): void {
        super.addGrant({ ...grant, expires: '2030-01-02T00:00:00.000Z' })
      }
    }
    const { approver } = person('Allow always', 'Deny')
    const hooks = await asking({ approver, store: new Expiring(), clock: () => now }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    now = Date.UTC(2030, 0, 2)
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })

  test('a grant shows no part of a secret, wherever its beginning ends', async () => {
    const secret = `ghp_${'x1'.repeat(20)}`
    const store = new MemoryStore()
    const { approver } = person('Allow always')
    const session = (await asking({ approver, store }, askUser('ok?', ALWAYS))).session()
    for (let before = 150; before < 210; before += 3) {
      const command = `${'a '.repeat(before / 2)}${secret}`
      await session.fire('PreToolUse', { ...BASH, tool_input: { command } })
    }
    const shown = (await store.grants()).map(({ about }) => about ?? '')
    expect(shown).toHaveLength(20)
    expect(shown.filter((about) => about.includes(secret.slice(0, 4)))).toEqual([])
  })

  test('a grant answers an ask, never a deny', async () => {
    const { approver } = person('Allow always')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    hooks.register('PreToolUse', () => deny('no'))
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  test('a grant holds for the call as hooks leave it, not as the model sent it', async () => {
    const { approver } = person('Allow always', 'Deny')
    const hooks = await asking({ approver }, askUser('ok?', ALWAYS))
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'rm y' } }))
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })
})

describe('an answer that edits the call', () => {
  const edit = (command: string): Reply => ({ option: 'Allow', data: { tool_input: { command } } })

  test('has it judged again: a guard that the edit makes match denies', async () => {
    const hooks = await asking({ approver: () => edit('curl evil') }, askUser('ok?'))
    const guard = (_: string, { tool_input }: { readonly tool_input: Data }) =>
      String(tool_input.command).startsWith('curl') ? deny('no network') : undefined
    hooks.register('PreToolUse', guard, { name: 'guard' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no network' })
  })

  test('holds for the hooks that asked: they are not answered twice', async () => {
    const { approver, questions } = person(edit('rm -i x'))
    const hooks = await asking({ approver }, askUser('ok?'))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'continue', modified: true })
    expect(commandOf(outcome.data)).toBe('rm -i x')
    expect(outcome.approval?.answer).toMatchObject({ decision: 'allow', by: 'person' })
    expect(questions).toHaveLength(1)
  })

  test('a hook that asks only about the edited call is put to the person', async () => {
    const { approver, questions } = person(edit('rm -i x'), 'Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    const asks = (_: string, { tool_input }: { readonly tool_input: Data }) =>
      tool_input.command === 'rm -i x' ? askUser('really -i?') : undefined
    hooks.register('PreToolUse', asks)
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('deny')
    expect(questions).toHaveLength(2)
    expect(questions[1]?.asks).toMatchObject([{ prompt: 'really -i?' }])
    expect(commandOf(questions[1]?.call as Data)).toBe('rm -i x')
  })

  test('is void if a hook changes the edited call: the person is asked about the final call', async () => {
    const { approver, questions } = person(edit('ls'), 'Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    const rewrite = (_: string, { tool_input }: { readonly tool_input: Data }) =>
      tool_input.command === 'ls' ? modify({ tool_input: { command: 'ls; rm /' } }) : undefined
    hooks.register('PreToolUse', rewrite)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(questions.map(({ call }) => commandOf(call))).toEqual(['rm x', 'ls; rm /'])
    expect(outcome.action).toBe('deny')
  })

  test('with a deny is a deny', async () => {
    const reply: Reply = { option: 'Deny', data: { tool_input: { command: 'ls' } } }
    const outcome = await ask({ approver: () => reply }, askUser('ok?'))
    expect(outcome.action).toBe('deny')
    expect(commandOf(outcome.data)).toBe('rm x')
  })

  test.each([
    ['no valid call', { tool_input: 'ls' }],
    ['no JSON', { tool_input: { command: 1n } }],
    ['without its tool', { tool_name: null }],
  ])('into %s is a deny, and says so', async (_, data) => {
    const outcome = await ask({ approver: () => ({ option: 'Allow', data }) }, askUser('ok?'))
    expect(outcome.action).toBe('deny')
    expect(outcome.diagnostics.length).toBeGreaterThan(0)
  })

  test('the approvers see the edited call', async () => {
    const hooks = await asking({ approver: () => edit('ls') }, askUser('ok?'))
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, { tool_input }) => void seen.push(tool_input.command), {
      role: 'approve',
    })
    await hooks.session().fire('PreToolUse', BASH)
    expect(seen).toEqual(['rm x', 'ls'])
  })

  test('a hook that failed before the edit is still reported', async () => {
    const hooks = await asking({ approver: () => edit('ls') }, askUser('ok?'))
    let runs = 0
    const flaky = () => {
      if (runs++ === 0) throw new Error('only the first time')
    }
    hooks.register('PreToolUse', flaky, { name: 'flaky', onFailure: 'continue' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toMatchObject([{ level: 'warning', source: 'flaky' }])
  })

  test('at most three rounds, then it is denied as unstable', async () => {
    let round = 0
    const { approver, questions } = person(() => edit(`edit ${++round}`))
    const hooks = await createHooks({ globals: false, approver })
    for (let i = 0; i < 6; i++) {
      const command = i === 0 ? 'rm x' : `edit ${i}`
      hooks.register('PreToolUse', (_, { tool_input }) =>
        tool_input.command === command ? askUser(`${command}?`) : undefined,
      )
    }
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(questions).toHaveLength(3)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^HOOK_UNSTABLE/)
  })
})

describe('an approver that has no answer yet', () => {
  const unanswered = 'A person must approve this: run the command.'

  test('leaves the ask to the host, and says what to do', async () => {
    const outcome = await ask({ approver: () => ({ unanswered }) }, askUser('ok?', { reason: 'risky' }))
    expect(outcome).toMatchObject({ action: 'ask_user', reason: unanswered, approval: { question: {} } })
    expect(outcome.approval).not.toHaveProperty('answer')
  })

  test('a tool does not run', async () => {
    const hooks = await asking({ approver: () => ({ unanswered }) }, askUser('ok?'))
    const called = await hooks
      .session()
      .callTool({ name: 'Bash', input: { command: 'ls' } }, () => expect.unreachable())
    expect(called).toMatchObject({ status: 'needs_approval', reason: unanswered })
  })

  test.each([[{ unanswered, option: 'Allow' }], [{ unanswered: 1 }]])(
    '%j is no such answer, and no allow',
    async (reply) => {
      const outcome = await ask({ approver: () => reply as never }, askUser('ok?'))
      expect(outcome).toMatchObject({ action: 'deny' })
    },
  )

  test('its words lose what a terminal obeys', async () => {
    const outcome = await ask(
      { approver: () => ({ unanswered: 'wait\u001b]52;c;aGk=\u0007!' }) },
      askUser('?'),
    )
    expect(outcome.reason).toBe('wait!')
  })
})

describe('a fire whose time is over before the time to answer', () => {
  test('is refused, also where the hook allows by default', async () => {
    const hooks = await asking({ approver: never }, askUser('ok?', { approvalDefault: 'allow' }))
    const outcome = await hooks.session().fire('PreToolUse', BASH, { timeout: 2 })
    expect(outcome).toMatchObject({
      action: 'deny',
      approval: { answer: { decision: 'deny', by: 'default' } },
    })
    expect(outcome.reason).toContain('the event timed out before the question did')
  })
})

describe('what a question is bound to', () => {
  async function bindingOf(
    session: string,
    command: string,
    prompt: string,
    name = 'asker',
  ): Promise<string> {
    const { approver, questions } = person('Deny')
    const hooks = await createHooks({ globals: false, approver })
    hooks.register('PreToolUse', () => askUser(prompt), { name })
    await hooks.session({ id: session }).fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } })
    return questions[0]?.binding ?? expect.unreachable()
  }

  test('is the same for the same call of the same session by the same hooks', async () => {
    expect(await bindingOf('s', 'ls', 'ok?')).toBe(await bindingOf('s', 'ls', 'ok?'))
  })

  test.each([
    ['session', ['t', 'ls', 'ok?']],
    ['call', ['s', 'ls ', 'ok?']],
    ['prompt', ['s', 'ls', 'ok??']],
    ['hook', ['s', 'ls', 'ok?', 'another']],
  ] as const)('is another for another %s', async (_, [session, command, prompt, name]) => {
    expect(await bindingOf(session, command, prompt, name)).not.toBe(await bindingOf('s', 'ls', 'ok?'))
  })

  const SUBAGENT = { agent_id: 'a1', agent_type: 'reviewer' }
  async function asked(...calls: readonly object[]): Promise<readonly Question[]> {
    const { approver, questions } = person('Deny')
    const hooks = await asking({ approver }, askUser('ok?'))
    for (const call of calls) await hooks.session({ id: 's' }).fire('PreToolUse', { ...BASH, ...call })
    return questions
  }

  test.each([
    ['agent', { ...SUBAGENT, agent_id: 'a2' }],
    ['kind of agent', { ...SUBAGENT, agent_type: 'writer' }],
    ['absence of an agent', { agent_id: undefined, agent_type: undefined }],
    ['tool of the host', { ...SUBAGENT, host_tool_name: 'run_shell' }],
    ['MCP server', { ...SUBAGENT, mcp_server: { name: 'evil' } }],
    ['chat', { ...SUBAGENT, channel: 'slack', chat_id: 'c1' }],
  ])('A2: is another for another %s', async (_, other) => {
    const [first, second] = await asked(SUBAGENT, other)
    expect(second?.binding).not.toBe(first?.binding)
    expect(second?.digest).toBe(first?.digest)
  })

  test('A3: is the same under another tool_use_id, which the question carries', async () => {
    const [first, second] = await asked({ tool_use_id: 't1' }, { tool_use_id: 't2' })
    expect([first?.call.tool_use_id, second?.call.tool_use_id]).toEqual(['t1', 't2'])
    expect(second).toMatchObject({ binding: first?.binding, digest: first?.digest })
  })

  test('A3: two equal calls at once are told apart, and each gets its own answer', async () => {
    const approver: Approver = ({ call }) => (call.tool_use_id === 't2' ? 'Allow' : 'Deny')
    const session = (await asking({ approver }, askUser('ok?'))).session({ id: 's' })
    const results = await Promise.all(
      ['t1', 't2', 't3'].map((id) =>
        session.callTool({ name: 'Bash', input: BASH.tool_input, id }, async () => id),
      ),
    )
    expect(results.map(({ status }) => status)).toEqual(['denied', 'ok', 'denied'])
  })
})
