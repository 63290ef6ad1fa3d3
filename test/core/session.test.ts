// A session: whose hooks run, what it remembers between events, and what it does when it is closed.

import { tmpdir } from 'node:os'
import {
  createHooks,
  type Data,
  deny,
  HookRegistry,
  type HooksOptions,
  hook,
  inject,
  MemoryStore,
  type ModelRequest,
  memoryAudit,
  modify,
  type Outcome,
  proceed,
  type Session,
  type SessionState,
  type SessionStore,
} from 'carabiner'
import { FRESH_STATE, type Grant, type Hook, type Run } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import { madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const texts = ({ injections }: Outcome) => injections.map(({ text }) => text)
const codes = ({ diagnostics }: Outcome) => diagnostics.map(({ code }) => code)
const never = () => new Promise<never>(() => {})

function latch(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open!: () => void
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** Hooks that were made elsewhere, as a runner hands them over. */
function withMade(hooks: readonly Hook[], options: HooksOptions = {}) {
  const registry = new HookRegistry({ scope: 'global' })
  for (const one of hooks) registry.add(one)
  return createHooks({ ...options, globals: registry })
}

/** Everything a session remembers, as text, behind promises: what a file or a database would do. */
class TextStore implements SessionStore {
  readonly states = new Map<string, string>()
  readonly kept: string[] = []
  readonly #grants = new Map<string, string>()
  #last: Promise<unknown> = Promise.resolve()

  async load(session: string): Promise<SessionState> {
    await new Promise((resolve) => setImmediate(resolve))
    const text = this.states.get(session)
    return text === undefined ? structuredClone(FRESH_STATE) : (JSON.parse(text) as SessionState)
  }

  update(session: string, change: (state: SessionState) => SessionState): Promise<void> {
    const done = this.#last.then(async () => {
      const state = await this.load(session)
      this.states.set(session, JSON.stringify(change(state)))
    })
    this.#last = done.catch(() => undefined)
    return done
  }

  async release(session: string): Promise<void> {
    await this.#last
    this.states.delete(session)
  }

  async keep(session: string, text: string): Promise<string> {
    this.kept.push(text)
    return `${session}#${this.kept.length}`
  }

  async grants(): Promise<readonly Grant[]> {
    return [...this.#grants.values()].map((text) => JSON.parse(text) as Grant)
  }

  async addGrant(grant: Grant): Promise<void> {
    this.#grants.set(grant.id, JSON.stringify(grant))
  }

  async revokeGrant(id: string): Promise<boolean> {
    return this.#grants.delete(id)
  }
}

describe('whose hooks run', () => {
  test('hooks of one session alone: given when it is made, and later', async () => {
    const hooks = await createHooks({ globals: false })
    const ran: string[] = []
    const session = hooks.session({ hooks: [hook('PreToolUse', () => void ran.push('given'))] })
    const off = session.register('PreToolUse', () => void ran.push('later'))
    await hooks.session().fire('PreToolUse', BASH)
    expect(ran).toEqual([])
    await session.fire('PreToolUse', BASH)
    expect(ran).toEqual(['given', 'later'])
    off()
    off()
    await session.fire('PreToolUse', BASH)
    expect(ran).toEqual(['given', 'later', 'given'])
  })

  test('globals before those of the host, these before those of the session', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const hooks = await createHooks({ globals })
    const ran: string[] = []
    const session = hooks.session({ hooks: [hook('PreToolUse', () => void ran.push('session'))] })
    hooks.register('PreToolUse', () => void ran.push('host'))
    globals.register('PreToolUse', () => void ran.push('global'))
    await session.fire('PreToolUse', BASH)
    expect(ran).toEqual(['global', 'host', 'session'])
  })

  test('a hook that is registered later counts from the next event on, also in sessions that exist', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    const off = hooks.register('PreToolUse', () => deny('no'))
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    off()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test('once: at most once in a session, and again in the next', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => inject('only once'), { name: 'first time', once: true })
    const session = hooks.session()
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['only once'])
    const second = await session.fire('PreToolUse', BASH)
    expect(texts(second)).toEqual([])
    expect(second.hooks).toMatchObject([{ name: 'first time', status: 'skipped', why: 'once' }])
    expect(texts(await hooks.session().fire('PreToolUse', BASH))).toEqual(['only once'])
  })

  test('once: a hook that did not match has not run', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => inject('only once'), { once: true, matcher: 'Write' })
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    expect(texts(await session.fire('PreToolUse', { ...BASH, tool_name: 'Write' }))).toEqual(['only once'])
  })

  test('once: also where two calls run at the same time', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = 0
    hooks.register('PreToolUse', async () => void ran++, { once: true })
    const session = hooks.session()
    await Promise.all([session.fire('PreToolUse', BASH), session.fire('PreToolUse', BASH)])
    expect(ran).toBe(1)
  })

  test('once: also for observers', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = 0
    hooks.register('PreToolUse', () => void ran++, { once: true, role: 'observe' })
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', BASH)
    await session.close()
    expect(ran).toBe(1)
  })
})

describe('the payload', () => {
  test('carries the session’s fields under their payload names', async () => {
    const hooks = await createHooks({ globals: false, clock: () => Date.UTC(2030, 0, 1) })
    let seen: unknown
    hooks.register('PreToolUse', (_, data, { session }) => {
      seen = { data, session }
    })
    const session = hooks.session({
      id: 's1',
      cwd: '/project',
      transcriptPath: '/t.jsonl',
      permissionMode: 'plan',
      agentId: 'a1',
      agentType: 'Explore',
      parentTurnId: 'p1',
      channel: 'c1',
      chatId: 'chat1',
    })
    await session.fire('PreToolUse', BASH)
    expect(seen).toEqual({
      session: { id: 's1', cwd: '/project', turnId: 'turn-1', parentTurnId: 'p1', iteration: 0 },
      data: {
        ...BASH,
        session_id: 's1',
        hook_event_name: 'PreToolUse',
        timestamp: '2030-01-01T00:00:00.000Z',
        cwd: '/project',
        transcript_path: '/t.jsonl',
        permission_mode: 'plan',
        agent_id: 'a1',
        agent_type: 'Explore',
        parent_turn_id: 'p1',
        channel: 'c1',
        chat_id: 'chat1',
      },
    })
  })

  test('what the host sends wins over the session, but not over the engine', async () => {
    const hooks = await createHooks({ globals: false })
    let seen: Data = {}
    hooks.register('PreToolUse', (_, data) => {
      seen = data as Data
    })
    const data = { ...BASH, cwd: '/elsewhere', session_id: 'forged', hook_event_name: 'Stop' }
    await hooks.session({ id: 's1', cwd: '/project' }).fire('PreToolUse', data)
    expect(seen).toMatchObject({ cwd: '/elsewhere', session_id: 's1', hook_event_name: 'PreToolUse' })
  })

  test('an id is made up where none is given, and no two sessions share it', async () => {
    const hooks = await createHooks({ globals: false })
    const ids = [hooks.session().id, hooks.session().id]
    expect(new Set(ids).size).toBe(2)
    expect(ids.every((id) => id.length > 8)).toBe(true)
  })
})

describe('turns and their budget', () => {
  /** Each PostToolUse injects 40 bytes, which are 10 tokens. */
  async function injecting(budget: number | null, options: HooksOptions = {}) {
    const settings = { injection_budget_per_turn: budget }
    const hooks = await createHooks({ globals: false, settings, ...options })
    hooks.register('PostToolUse', () => inject('x'.repeat(40)), { name: 'noisy' })
    return hooks.session()
  }
  const post = (session: Session) => session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })

  test('what the budget no longer holds is not injected, with a warning', async () => {
    const session = await injecting(25)
    expect((await post(session)).injections).toHaveLength(1)
    expect((await post(session)).injections).toHaveLength(1)
    const third = await post(session)
    expect(third.injections).toEqual([])
    expect(third.messages).toMatchObject([{ level: 'warning', source: 'noisy' }])
    expect(codes(third)).toEqual(['injection-over-budget'])
  })

  test('what is exactly as large as the budget fits', async () => {
    const session = await injecting(20)
    await post(session)
    expect((await post(session)).injections).toHaveLength(1)
    expect((await post(session)).injections).toHaveLength(0)
  })

  test('null is no limit, zero is none at all', async () => {
    const unlimited = await injecting(null)
    for (let i = 0; i < 5; i++) expect((await post(unlimited)).injections).toHaveLength(1)
    expect((await post(await injecting(0))).injections).toEqual([])
  })

  test('a small injection still fits where a large one before it did not', async () => {
    const hooks = await createHooks({ globals: false, settings: { injection_budget_per_turn: 5 } })
    hooks.register('PostToolUse', () => inject('x'.repeat(40)))
    hooks.register('PostToolUse', () => inject('small'))
    expect(texts(await post(hooks.session()))).toEqual(['small'])
  })

  test('a prompt starts a turn: the budget is whole again', async () => {
    const session = await injecting(10)
    await post(session)
    expect((await post(session)).injections).toEqual([])
    await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect((await post(session)).injections).toHaveLength(1)
  })

  test('the host may start the turn itself; its prompt then starts no other', async () => {
    const session = await injecting(10)
    await post(session)
    await session.startTurn()
    expect((await post(session)).injections).toHaveLength(1)
    await session.fire('UserPromptSubmit', { prompt: 'the prompt of this turn' })
    expect((await post(session)).injections).toEqual([])
    await session.fire('UserPromptSubmit', { prompt: 'the next turn' })
    expect((await post(session)).injections).toHaveLength(1)
  })

  test('a turn that ended without a prompt does not swallow the next one', async () => {
    const session = await injecting(10)
    await session.startTurn()
    await session.endTurn()
    await post(session)
    await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect((await post(session)).injections).toHaveLength(1)
  })

  test('tool calls that run at the same time share one budget', async () => {
    const session = await injecting(30)
    const calls = Array.from({ length: 10 }, (_, i) =>
      session.callTool({ name: 'Bash', input: { i } }, async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return i
      }),
    )
    const results = await Promise.all(calls)
    const injected = results.flatMap((result) => (result.status === 'ok' ? result.after.injections : []))
    expect(injected).toHaveLength(3)
    expect(results.map(({ result }) => result)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('a hook that fires events of its own shares the budget as well', async () => {
    const session = await injecting(10)
    const inner: Outcome[] = []
    session.register('PreToolUse', async () => {
      inner.push(await post(session))
    })
    await session.fire('PreToolUse', BASH)
    expect(inner[0]?.injections).toHaveLength(1)
    expect((await post(session)).injections).toEqual([])
  })

  test('two sessions do not share it', async () => {
    const hooks = await createHooks({ globals: false, settings: { injection_budget_per_turn: 10 } })
    hooks.register('PostToolUse', () => inject('x'.repeat(40)))
    expect((await post(hooks.session())).injections).toHaveLength(1)
    expect((await post(hooks.session())).injections).toHaveLength(1)
  })

  describe.each([
    { injection_size_limit: 1 },
    { injection_budget_per_turn: 0 },
    { injection_size_limit: 1, injection_budget_per_turn: 0 },
  ])('%j', (settings) => {
    test.each(['PostToolUse', 'PostToolUseFailure'])('silences no refusal of %s', async (event) => {
      const hooks = await createHooks({ globals: false, settings })
      hooks.register(event, () => deny('take that back'), { name: 'gate' })
      hooks.register(event, () => inject('and more'), { name: 'noisy' })
      const { injections } = await hooks.session().fire(event, { ...BASH, tool_response: 'ok' })
      const [first, ...rest] = injections
      expect(first).toEqual({ text: 'take that back', role: 'system', ephemeral: false, source: 'gate' })
      expect(rest.map(({ text }) => text)).not.toContain('and more')
    })

    test('silences no refusal of an async hook', async () => {
      const events = new Set(['PostToolUse'])
      const gate = madeHook('gate', { events, detached: true, run: () => deny('take that back') })
      const session = (await withMade([gate], { settings })).session()
      await post(session)
      await new Promise(setImmediate)
      expect(texts(await session.fire('UserPromptSubmit', { prompt: 'next' }))).toEqual(['take that back'])
    })
  })

  test('a refusal of any length is cut at a limit of its own', async () => {
    const hooks = await createHooks({ globals: false, settings: { injection_size_limit: 100 } })
    hooks.register('PostToolUse', () => deny('x'.repeat(20_000)), { name: 'gate' })
    const outcome = await post(hooks.session())
    expect(outcome.injections[0]?.text).toHaveLength(10_240)
    expect(outcome.diagnostics[0]?.text).toContain('gate injected 20000 bytes, cut to 10240')
  })

  test('too large: cut at a character boundary, and the full text is kept', async () => {
    const store = new MemoryStore()
    const settings = { injection_size_limit: 101 }
    const hooks = await createHooks({ globals: false, store, settings })
    const text = 'é'.repeat(200)
    hooks.register('PostToolUse', () => inject(text), { name: 'long' })
    const outcome = await post(hooks.session())
    const cut = outcome.injections[0]?.text ?? ''
    expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(101)
    expect(cut).toMatch(/^é+\n\[cut by/)
    expect(codes(outcome)).toContain('injection-cut')
    const where = /at (\S+)$/.exec(outcome.diagnostics.map((one) => one.text).join('\n'))?.[1] ?? ''
    expect(store.kept(where)).toBe(text)
  })

  test('control characters and lone surrogates never reach the model', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PostToolUse', () => inject('a\u0000b\u001b[31m\ud800c\ttab\nline'))
    expect(texts(await post(hooks.session()))).toEqual(['ab[31mc\ttab\nline'])
  })

  test('an injection survives a deny, but not that of a prompt', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('*', () => inject('context'))
    hooks.register('*', () => deny('no'))
    const session = hooks.session()
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['context'])
    const prompt = await session.fire('UserPromptSubmit', { prompt: 'hello' })
    expect([prompt.action, texts(prompt)]).toEqual(['deny', []])
  })

  test('durable injections go to the host with their provenance, ephemeral ones do not', async () => {
    const said: unknown[] = []
    const hooks = await createHooks({
      globals: false,
      clock: () => Date.UTC(2030, 0, 1),
      context: (message) => void said.push(message),
    })
    hooks.register('PostToolUse', () => inject('lasting', { contextInjectionRole: 'user' }), { name: 'lint' })
    hooks.register('PostToolUse', () => inject('passing', { ephemeral: true }))
    const outcome = await post(hooks.session({ id: 's1' }))
    expect(outcome.injections).toMatchObject([
      { text: 'lasting', role: 'user', ephemeral: false, source: 'lint' },
      { text: 'passing', role: 'system', ephemeral: true },
    ])
    expect(said).toEqual([
      {
        role: 'user',
        content: 'lasting',
        metadata: {
          source: 'hook',
          hook: 'lint',
          event: 'PostToolUse',
          session: 's1',
          timestamp: '2030-01-01T00:00:00.000Z',
        },
      },
    ])
  })
})

describe('ephemeral injections', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const sentTo = async (session: Session) => {
    const result = await session.callModel(request, ({ messages }) => ({ messages }))
    return JSON.stringify((result.response as { messages: readonly unknown[] }).messages)
  }

  test('reach the next model call alone', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PostToolUse', () => inject('a passing remark', { ephemeral: true }))
    const session = hooks.session()
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect(await sentTo(session)).toContain('a passing remark')
    expect(await sentTo(session)).not.toContain('a passing remark')
  })

  test('are dropped at the end of the turn', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PostToolUse', () => inject('a passing remark', { ephemeral: true }))
    const session = hooks.session()
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    await session.endTurn()
    expect(await sentTo(session)).not.toContain('a passing remark')
  })

  test('of a subagent reach the subagent', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PostToolUse', () => inject('a passing remark', { ephemeral: true }))
    const session = hooks.session()
    const child = session.child({ agentId: 'a1' })
    await child.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect(await sentTo(session)).not.toContain('a passing remark')
    expect(await sentTo(child)).toContain('a passing remark')
  })

  test('count against the budget', async () => {
    const hooks = await createHooks({ globals: false, settings: { injection_budget_per_turn: 2 } })
    hooks.register('PostToolUse', () => inject('a passing remark', { ephemeral: true }))
    const session = hooks.session()
    const outcome = await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect(codes(outcome)).toEqual(['injection-over-budget'])
    expect(await sentTo(session)).not.toContain('a passing remark')
  })
})

describe('a child session', () => {
  test('has the id and the hooks of its parent, and says who it is', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    const parent = hooks.session({ id: 's1', cwd: '/project' })
    parent.register('PreToolUse', (_, { session_id, agent_id, agent_type, cwd }) => {
      seen.push({ session_id, agent_id, agent_type, cwd })
    })
    const child = parent.child({ agentId: 'a1', agentType: 'Explore' })
    await child.fire('PreToolUse', BASH)
    await parent.fire('PreToolUse', BASH)
    expect(child.id).toBe('s1')
    expect(seen).toEqual([
      { session_id: 's1', agent_id: 'a1', agent_type: 'Explore', cwd: '/project' },
      { session_id: 's1', agent_id: undefined, agent_type: undefined, cwd: '/project' },
    ])
  })

  test('gets hooks that its parent registers later, and keeps its own to itself', async () => {
    const hooks = await createHooks({ globals: false })
    const ran: string[] = []
    const parent = hooks.session()
    const child = parent.child({ agentId: 'a1' })
    child.register('PreToolUse', () => void ran.push('of the child'))
    parent.register('PreToolUse', () => void ran.push('of the parent'))
    await child.fire('PreToolUse', BASH)
    expect(ran).toEqual(['of the parent', 'of the child'])
    await parent.fire('PreToolUse', BASH)
    expect(ran).toEqual(['of the parent', 'of the child', 'of the parent'])
  })

  test('runs the hooks its parent was made with once, not twice', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = 0
    const parent = hooks.session({ hooks: [hook('PreToolUse', () => void ran++)] })
    await parent.child({ agentId: 'a1' }).fire('PreToolUse', BASH)
    expect(ran).toBe(1)
  })

  test('has its own turn and budget', async () => {
    const hooks = await createHooks({ globals: false, settings: { injection_budget_per_turn: 10 } })
    hooks.register('PreToolUse', () => inject('x'.repeat(40)))
    const parent = hooks.session()
    const child = parent.child({ agentId: 'a1' })
    expect((await child.fire('PreToolUse', BASH)).injections).toHaveLength(1)
    expect((await parent.fire('PreToolUse', BASH)).injections).toHaveLength(1)
    expect((await child.fire('PreToolUse', BASH)).injections).toHaveLength(0)
    await parent.fire('UserPromptSubmit', { prompt: 'next' })
    expect((await child.fire('PreToolUse', BASH)).injections).toHaveLength(0)
    expect((await parent.child({ agentId: 'a2' }).fire('PreToolUse', BASH)).injections).toHaveLength(1)
  })

  test('a grandchild has the hooks of both', async () => {
    const hooks = await createHooks({ globals: false })
    const ran: string[] = []
    const parent = hooks.session()
    parent.register('PreToolUse', () => void ran.push('parent'))
    const child = parent.child({ agentId: 'a1' })
    child.register('PreToolUse', () => void ran.push('child'))
    await child.child({ agentId: 'a2' }).fire('PreToolUse', BASH)
    expect(ran).toEqual(['parent', 'child'])
  })

  test('may work in another directory', async () => {
    const hooks = await createHooks({ globals: false })
    let cwd: unknown
    hooks.register('PreToolUse', (_, data) => {
      cwd = data.cwd
    })
    await hooks.session({ cwd: '/a' }).child({ agentId: 'a1', cwd: '/b' }).fire('PreToolUse', BASH)
    expect(cwd).toBe('/b')
  })

  test('is closed when its parent is', async () => {
    const hooks = await createHooks({ globals: false })
    const parent = hooks.session()
    const child = parent.child({ agentId: 'a1' })
    await parent.close()
    expect(child.closed).toBe(true)
    await expect(child.fire('PreToolUse', BASH)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  })

  test('can be closed alone', async () => {
    const hooks = await createHooks({ globals: false })
    const parent = hooks.session()
    const child = parent.child({ agentId: 'a1' })
    await child.close()
    expect([parent.closed, child.closed]).toEqual([false, true])
    expect((await parent.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test.each([[{}], [{ agentId: '' }], [{ agentId: 5 }], [undefined]])(
    'needs an agentId, not %j',
    async (agent) => {
      const hooks = await createHooks({ globals: false })
      expect(() => hooks.session().child(agent as never)).toThrow(
        expect.objectContaining({ code: 'OPTIONS_INVALID' }),
      )
    },
  )
})

describe('the end of a session', () => {
  test('it refuses everything afterwards, and closing it again is no error', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session({ id: 's1' })
    expect(session.closed).toBe(false)
    await session.close()
    await session.close()
    expect(session.closed).toBe(true)
    const refused = { code: 'SESSION_CLOSED' }
    await expect(session.fire('PreToolUse', BASH)).rejects.toMatchObject(refused)
    await expect(session.callTool({ name: 'Bash', input: {} }, () => 'ran')).rejects.toMatchObject(refused)
    await expect(session.callModel({ model: 'm', messages: [] }, () => 'ran')).rejects.toMatchObject(refused)
    await expect(session.startTurn()).rejects.toMatchObject(refused)
    await expect(session.endTurn()).rejects.toMatchObject(refused)
    expect(() => session.child({ agentId: 'a' })).toThrow(expect.objectContaining(refused))
  })

  test('await using closes it', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    await session[Symbol.asyncDispose]()
    expect(session.closed).toBe(true)
  })

  test('it waits for what runs aside', async () => {
    const slow = latch()
    let done = false
    const run: Run = async () => {
      await slow.promise
      done = true
    }
    const hooks = await withMade([madeHook('async', { detached: true, run })])
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    const closing = session.close()
    expect(done).toBe(false)
    slow.open()
    await closing
    expect(done).toBe(true)
  })

  test('its state is forgotten, and that of others is not', async () => {
    const store = new MemoryStore()
    const hooks = await createHooks({ globals: false, store })
    hooks.register('PreToolUse', () => inject('text'))
    const [session, other] = [hooks.session({ id: 's1' }), hooks.session({ id: 's2' })]
    await session.fire('PreToolUse', BASH)
    await other.fire('PreToolUse', BASH)
    expect(store.load('s1').turnTokens).toBe(1)
    await session.close()
    expect(store.load('s1')).toEqual(FRESH_STATE)
    expect(store.load('s2').turnTokens).toBe(1)
  })

  test('the state of its children is forgotten with it', async () => {
    const store = new TextStore()
    const hooks = await createHooks({ globals: false, store })
    hooks.register('PreToolUse', () => inject('text'))
    const parent = hooks.session({ id: 's1' })
    await parent.child({ agentId: 'a1' }).fire('PreToolUse', BASH)
    await parent.fire('PreToolUse', BASH)
    expect(store.states.size).toBe(2)
    await parent.close()
    expect([...store.states.keys()]).toEqual([])
  })
})

describe('notify', () => {
  test('tells hooks under a name of the host’s own, and nobody waits', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register('my:thing', (event, data) => void seen.push([event, data.detail]))
    const session = hooks.session()
    expect(session.notify('my:thing', { detail: 42 })).toBeUndefined()
    await session.close()
    expect(seen).toEqual([['my:thing', 42]])
  })

  test('what goes wrong is in the diagnostics, never thrown', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    session.notify('PreToolUse', {})
    session.notify('')
    await session.close()
    session.notify('after:close')
    await hooks.close()
    expect(hooks.diagnostics.map(({ code }) => code)).toEqual(['late-failed', 'late-failed', 'late-failed'])
    expect(hooks.diagnostics.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/PreToolUse.*tool_name/),
    )
  })
})

describe('a stop that is refused', () => {
  const refusing = async (settings: NonNullable<HooksOptions['settings']> = {}) => {
    const hooks = await createHooks({ globals: false, settings })
    hooks.register('Stop', () => deny('not done yet'))
    return hooks.session()
  }
  const stops = async (session: Session, times: number) => {
    const actions: string[] = []
    for (let i = 0; i < times; i++) actions.push((await session.fire('Stop')).action)
    return actions
  }

  test('the reason is the next instruction', async () => {
    expect(await (await refusing()).fire('Stop')).toMatchObject({ action: 'deny', reason: 'not done yet' })
  })

  test('eight times in a row, then it is allowed, loudly', async () => {
    const session = await refusing()
    expect(await stops(session, 8)).toEqual(Array(8).fill('deny'))
    const ninth = await session.fire('Stop')
    expect(ninth.action).toBe('continue')
    expect(ninth.reason).toBeUndefined()
    expect(codes(ninth)).toEqual(['stop-cap'])
    expect(ninth.messages).toMatchObject([{ level: 'warning' }])
    expect(ninth.messages[0]?.text).toMatch(/8 times/)
  })

  test('a tool call ends the row', async () => {
    const session = await refusing({ stop_block_cap: 2 })
    expect(await stops(session, 3)).toEqual(['deny', 'deny', 'continue'])
    await session.fire('PreToolUse', BASH)
    expect(await stops(session, 3)).toEqual(['deny', 'deny', 'continue'])
  })

  test('but not the count since the last prompt', async () => {
    const session = await refusing({ stop_block_cap: 2, stop_block_total: 3 })
    expect(await stops(session, 2)).toEqual(['deny', 'deny'])
    await session.fire('PreToolUse', BASH)
    expect(await stops(session, 2)).toEqual(['deny', 'continue'])
    await session.fire('PreToolUse', BASH)
    expect(await stops(session, 1)).toEqual(['continue'])
    await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect(await stops(session, 3)).toEqual(['deny', 'deny', 'continue'])
  })

  test.each([
    ['the reason itself', 'not done yet: two tests fail', (reason: string) => reason],
    [
      'with the host’s own words around it',
      'not done yet: two tests fail',
      (reason: string) => `<hook>\n${reason}\n</hook>`,
    ],
    ['on other lines', 'not done yet:\n  two tests fail', (reason: string) => reason.replace(/\s+/g, ' ')],
    ['a long one that the host cut', 'go on '.repeat(400), (reason: string) => `${reason.slice(0, 1500)}…`],
    ['a short one', 'go', (reason: string) => reason],
    ['nothing', 'go', () => ' '],
  ])('a host may send its reason as the next prompt, which nobody typed: %s', async (_what, reason, sent) => {
    const hooks = await createHooks({ globals: false, settings: { stop_block_cap: 3 } })
    hooks.register('Stop', () => deny(reason))
    const session = hooks.session()
    const actions: string[] = []
    for (let i = 0; i < 5; i++) {
      actions.push((await session.fire('Stop')).action)
      await session.fire('UserPromptSubmit', { prompt: sent(reason) })
    }
    expect(actions).toEqual(['deny', 'deny', 'deny', 'continue', 'continue'])
    await session.fire('UserPromptSubmit', { prompt: 'good; now the next thing' })
    expect((await session.fire('Stop')).action).toBe('deny')
  })

  test('a prompt that happens to contain a short reason begins a turn', async () => {
    const hooks = await createHooks({ globals: false, settings: { stop_block_cap: 1 } })
    hooks.register('Stop', () => deny('go'))
    const session = hooks.session()
    expect(await stops(session, 2)).toEqual(['deny', 'continue'])
    await session.fire('UserPromptSubmit', { prompt: 'go on with the rest' })
    expect(await stops(session, 1)).toEqual(['deny'])
  })

  test('fifty times since the last prompt by default', async () => {
    const session = await refusing()
    let refused = 0
    for (let i = 0; i < 60; i++) {
      if ((await session.fire('Stop')).action === 'deny') refused++
      await session.fire('PreToolUse', BASH)
    }
    expect(refused).toBe(50)
  })

  test('a cap of zero lets no stop be refused', async () => {
    expect(await stops(await refusing({ stop_block_cap: 0 }), 1)).toEqual(['continue'])
  })

  test('only once if the store fails and cannot count', async () => {
    const store = new MemoryStore()
    store.update = () => {
      throw new Error('full')
    }
    const hooks = await createHooks({ globals: false, store })
    hooks.register('Stop', () => deny('not done yet'))
    const session = hooks.session()
    expect((await session.fire('Stop', { stop_hook_active: false })).action).toBe('deny')
    const second = await session.fire('Stop', { stop_hook_active: true })
    expect(second.action).toBe('continue')
    expect(codes(second)).toEqual(['stop-cap', 'host-failed'])
  })

  test('a subagent has its own count', async () => {
    const hooks = await createHooks({ globals: false, settings: { stop_block_cap: 1 } })
    hooks.register('SubagentStop', () => deny('go on'))
    const session = hooks.session()
    const [one, two] = [session.child({ agentId: 'a1' }), session.child({ agentId: 'a2' })]
    expect((await one.fire('SubagentStop')).action).toBe('deny')
    expect((await one.fire('SubagentStop')).action).toBe('continue')
    expect((await two.fire('SubagentStop')).action).toBe('deny')
  })

  test('an abort is not capped', async () => {
    const session = await refusing({ stop_block_cap: 0 })
    session.register('Stop', () => ({ action: 'hard_abort', reason: 'enough' }), { priority: -1 })
    expect((await session.fire('Stop')).action).toBe('hard_abort')
  })
})

describe('async hooks', () => {
  const detached = (run: Run, more: Partial<Hook> = {}) => madeHook('async', { detached: true, run, ...more })

  test('delay nothing; the next event that can carry their injections and messages delivers them', async () => {
    const slow = latch()
    const run: Run = async () => {
      await slow.promise
      return inject('found later', { userMessage: 'done' })
    }
    const hooks = await withMade([detached(run, { events: new Set(['PostToolUse']) })])
    const session = hooks.session()
    const first = await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect(first.hooks).toMatchObject([{ name: 'async', status: 'detached' }])
    expect(texts(first)).toEqual([])
    slow.open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(texts(await session.fire('Notification', { message: 'carries nothing' }))).toEqual([])
    const next = await session.fire('PreToolUse', BASH)
    expect(next.injections).toMatchObject([{ text: 'found later', source: 'async' }])
    expect(next.messages).toMatchObject([{ text: 'done', source: 'async' }])
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual([])
  })

  test('their effects stay in their session', async () => {
    const hooks = await withMade([detached(() => inject('mine'), { events: new Set(['PostToolUse']) })])
    const [session, other] = [hooks.session(), hooks.session()]
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(texts(await other.fire('PreToolUse', BASH))).toEqual([])
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['mine'])
  })

  test.each([
    ['deny', deny('too late')],
    ['modify', modify({ tool_input: { command: 'too late' } })],
    ['hard_abort', { action: 'hard_abort', reason: 'too late' }],
  ])('a %s of theirs is ignored, and that is reported', async (action, answer) => {
    const hooks = await withMade([detached(() => answer)])
    const session = hooks.session()
    const first = await session.fire('PreToolUse', BASH)
    expect(first).toMatchObject({ action: 'continue', modified: false })
    await new Promise((resolve) => setImmediate(resolve))
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect(next.action).toBe('continue')
    expect(next.diagnostics).toMatchObject([{ code: 'async-verdict-ignored' }])
    expect(next.diagnostics[0]?.text).toMatch(new RegExp(`async.*${action}`))
  })

  test('a prompt that is denied carries nothing: what they injected waits on', async () => {
    const hooks = await withMade([detached(() => inject('mine'), { events: new Set(['PostToolUse']) })])
    hooks.register('UserPromptSubmit', () => deny('no'))
    const session = hooks.session()
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(texts(await session.fire('UserPromptSubmit', { prompt: 'hello' }))).toEqual([])
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['mine'])
  })

  test('one that fails closes no gate, and says so with the next event', async () => {
    const broken = () => {
      throw new Error('broken')
    }
    const hooks = await withMade([detached(broken, { onFailure: 'block' })])
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await new Promise((resolve) => setImmediate(resolve))
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect(next.action).toBe('continue')
    expect(codes(next)).toEqual(['late-failed'])
    expect(next.messages).toMatchObject([{ level: 'warning', source: 'async' }])
    expect(next.messages[0]?.text).toMatch(/broken/)
    expect(next.messages[0]?.text).not.toMatch(/gate stays closed/)
  })

  test('one that never answers is overdue like any other', async () => {
    const hooks = await withMade([detached(never, { timeoutMs: 20 })])
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await hooks.close()
    expect(session.closed).toBe(true)
  })

  test('a record of its own is written when they are done', async () => {
    const audit = memoryAudit()
    const hooks = await withMade([detached(() => inject('later'))], { audit })
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.close()
    expect(audit.records.map(({ kind, event }) => [kind, event])).toEqual([
      ['fire', 'PreToolUse'],
      ['late', 'PreToolUse'],
    ])
    expect(audit.records[1]?.injections).toMatchObject([{ source: 'async', bytes: 5 }])
  })

  test('are charged like all others', async () => {
    const settings = { injection_budget_per_turn: 1 }
    const events = new Set(['PostToolUse'])
    const hooks = await withMade([detached(() => inject('much too long'), { events })], { settings })
    const session = hooks.session()
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    await new Promise((resolve) => setImmediate(resolve))
    const next = await session.fire('PreToolUse', BASH)
    expect(texts(next)).toEqual([])
    expect(codes(next)).toEqual(['injection-over-budget'])
  })
})

describe('observers', () => {
  test('see every event with its outcome, denied ones too', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register(
      '*',
      (event, _, { outcome }) => void seen.push([event, outcome?.action, outcome?.reason]),
      {
        role: 'observe',
      },
    )
    hooks.register('PreToolUse', () => deny('no'))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('Stop')
    await session.close()
    expect(seen).toEqual([
      ['PreToolUse', 'deny', 'no'],
      ['Stop', 'continue', undefined],
    ])
  })

  test('see the data as hooks left it, and only events that they match', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, { tool_input }) => void seen.push(tool_input.command), {
      role: 'observe',
      matcher: 'Bash',
    })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'changed' } }))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', { ...BASH, tool_name: 'Write' })
    await session.close()
    expect(seen).toEqual(['changed'])
  })

  test('hold nobody up and decide nothing', async () => {
    const slow = latch()
    const hooks = await createHooks({ globals: false })
    const observer = async () => {
      await slow.promise
      return deny('too late', { data: { tool_input: {} }, contextInjection: 'ignored' })
    }
    hooks.register('PreToolUse', observer, { role: 'observe' })
    const session = hooks.session()
    const outcome = await session.fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'continue', injections: [], modified: false })
    slow.open()
    await session.close()
    expect(outcome).toMatchObject({ action: 'continue', injections: [] })
  })

  test('one that fails is in the diagnostics, and the others still see', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    const broken = () => {
      throw new Error('broken')
    }
    hooks.register('PreToolUse', broken, { role: 'observe', name: 'broken observer' })
    hooks.register('PreToolUse', (event) => void seen.push(event), { role: 'observe' })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await session.close()
    expect(seen).toEqual(['PreToolUse'])
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed' }])
    expect(hooks.diagnostics[0]?.text).toMatch(/broken observer.*PreToolUse.*broken/)
  })

  test('one whose condition throws takes nobody with it', async () => {
    const condition = () => {
      throw new Error('bad rule')
    }
    const hooks = await withMade([madeHook('observer', { role: 'observe', condition })])
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    await hooks.close()
    expect(hooks.diagnostics.map(({ text }) => text).join()).toMatch(/bad rule/)
  })

  test('see what became of an ask', async () => {
    const hooks = await createHooks({ globals: false, approver: 'deny' })
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, __, { outcome }) => void seen.push(outcome?.approval?.answer?.by), {
      role: 'observe',
    })
    hooks.register('PreToolUse', () => ({ action: 'ask_user', approvalPrompt: 'ok?' }))
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.close()
    expect(seen).toEqual(['host'])
  })
})

describe('a store of the host', () => {
  test('keeps turns, budget and stops, where every load is a fresh copy', async () => {
    const store = new TextStore()
    const settings = { injection_budget_per_turn: 10, stop_block_cap: 1 }
    const hooks = await createHooks({ globals: false, store, settings })
    hooks.register('PostToolUse', () => inject('x'.repeat(40)))
    hooks.register('Stop', () => deny('go on'))
    const session = hooks.session({ id: 's1' })
    const post = () => session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect((await post()).injections).toHaveLength(1)
    expect((await post()).injections).toHaveLength(0)
    expect((await session.fire('Stop')).action).toBe('deny')
    expect((await session.fire('Stop')).action).toBe('continue')
    expect(JSON.parse(store.states.get('s1') ?? '')).toMatchObject({ turnTokens: 10, stopsInRow: 1 })
    await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect(JSON.parse(store.states.get('s1') ?? '')).toMatchObject({ turnTokens: 0, stopsInRow: 0, turn: 1 })
  })

  test('carries a session from one process to the next', async () => {
    const store = new TextStore()
    const fireOnce = async (event: string, data: object) => {
      const hooks = await withMade(
        [
          madeHook('once', { once: true, run: () => inject('first time') }),
          madeHook('async', {
            detached: true,
            events: new Set(['PostToolUse']),
            run: () => inject('found later'),
          }),
        ],
        { store },
      )
      const outcome = await hooks.session({ id: 's1' }).fire(event, data)
      await hooks.close()
      return texts(outcome)
    }
    expect(await fireOnce('PreToolUse', BASH)).toEqual(['first time'])
    expect(await fireOnce('PostToolUse', { ...BASH, tool_response: 'ok' })).toEqual([])
    expect(await fireOnce('PreToolUse', BASH)).toEqual(['found later'])
    expect(await fireOnce('PreToolUse', BASH)).toEqual([])
  })

  test('keeps ephemeral injections for the next model call', async () => {
    const hooks = await createHooks({ globals: false, store: new TextStore() })
    hooks.register('PostToolUse', () => inject('remark', { ephemeral: true }))
    const session = hooks.session()
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    const sent: number[] = []
    const model = { model: 'm', messages: [] }
    const run = ({ messages }: ModelRequest) => {
      sent.push(messages.length)
      return 'ok'
    }
    await session.callModel(model, run)
    await session.callModel(model, run)
    expect(sent).toEqual([1, 0])
  })

  test('keeps grants', async () => {
    const store = new TextStore()
    let asked = 0
    const ask = async () => {
      const approver = () => {
        asked++
        return 'Allow always'
      }
      const hooks = await createHooks({ globals: false, store, approver })
      const answer = { action: 'ask_user', approvalOptions: ['Allow always', 'Deny'] } as const
      hooks.register('PreToolUse', () => answer, { name: 'asker' })
      return (await hooks.session().fire('PreToolUse', BASH)).action
    }
    expect([await ask(), await ask(), asked]).toEqual(['continue', 'continue', 1])
  })

  test('parallel calls lose nothing', async () => {
    const store = new TextStore()
    const hooks = await createHooks({ globals: false, store })
    hooks.register('PreToolUse', () => inject('x'.repeat(40)))
    const session = hooks.session({ id: 's1' })
    await Promise.all(Array.from({ length: 8 }, () => session.fire('PreToolUse', BASH)))
    expect(JSON.parse(store.states.get('s1') ?? '')).toMatchObject({ turnTokens: 80 })
  })

  test('what is cut is kept there', async () => {
    const store = new TextStore()
    const hooks = await createHooks({ globals: false, store, settings: { injection_size_limit: 100 } })
    hooks.register('PreToolUse', () => inject('x'.repeat(200)))
    const outcome = await hooks.session({ id: 's1' }).fire('PreToolUse', BASH)
    expect(store.kept).toEqual(['x'.repeat(200)])
    expect(outcome.diagnostics.map(({ text }) => text).join()).toContain('s1#1')
  })

  test('an event that nobody listens to costs it no write', async () => {
    const store = new TextStore()
    const session = (await createHooks({ globals: false, store })).session({ id: 's1' })
    await session.fire('Notification', { message: 'hello' })
    expect(store.states.size).toBe(0)
  })
})

describe('the host is told', () => {
  test('messages are displayed, and one record is written for each event', async () => {
    const shown: unknown[] = []
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, display: (message) => void shown.push(message), audit })
    hooks.register('PreToolUse', () => proceed({ userMessage: 'careful', userMessageLevel: 'warning' }), {
      name: 'careful',
    })
    const session = hooks.session({ id: 's1' })
    await session.fire('PreToolUse', BASH)
    await session.fire('Notification', { message: 'nobody listens' })
    expect(shown).toEqual([{ text: 'careful', level: 'warning', source: 'careful' }])
    expect(audit.records.map(({ kind, session, event, action }) => [kind, session, event, action])).toEqual([
      ['fire', 's1', 'PreToolUse', 'continue'],
      ['fire', 's1', 'Notification', 'continue'],
    ])
  })

  test('the record of an injection holds its digest, not its text', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    hooks.register('PreToolUse', () => proceed({ contextInjection: 'a secret' }), { name: 'secretive' })
    await hooks.session().fire('PreToolUse', BASH)
    expect(audit.records[0]?.injections).toMatchObject([{ source: 'secretive', bytes: 8 }])
    expect(audit.records[0]?.injections[0]?.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(audit.records[0])).not.toContain('a secret')
  })
})

describe('what makes a session', () => {
  test.each([
    ['an unknown option', { sessionId: 'x' }],
    ['an empty id', { id: '' }],
    ['an id that is no text', { id: 5 }],
    ['a cwd that is no text', { cwd: null }],
    ['hooks that are no list', { hooks: {} }],
  ])('%s is refused', async (_, options) => {
    const hooks = await createHooks({ globals: false })
    expect(() => hooks.session(options as never)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    )
  })
})

describe('isIdle: nothing could notice a call', () => {
  test('without hooks, until one is registered here or everywhere', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    expect(session.isIdle).toBe(true)
    const off = hooks.register('PostToolUse', () => undefined)
    expect(session.isIdle).toBe(false)
    off()
    expect(session.isIdle).toBe(true)
    session.register('Stop', () => undefined)
    expect([session.isIdle, session.child({ agentId: 'a' }).isIdle]).toEqual([false, false])
  })

  test.each<[string, HooksOptions]>([
    ['an audit', { audit: memoryAudit() }],
    ['a store that may know hooks of skills', { store: new MemoryStore() }],
    ['a project, whose files of hooks may change', { projectDir: tmpdir() }],
  ])('not with %s', async (_, options) => {
    const hooks = await createHooks({ globals: false, ...options })
    expect(hooks.session().isIdle).toBe(false)
    await hooks.close()
  })

  test.each([{ ephemeral: true }, { ephemeral: false }])('not while an injection waits: %o', async (more) => {
    const session = (await createHooks({ globals: false })).session()
    const off = session.register('PostToolUse', () => inject('a remark', more))
    await session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    off()
    expect(session.isIdle).toBe(false)
    await session.callModel({ model: 'small', messages: [] }, () => 'Noon.')
    expect(session.isIdle).toBe(true)
  })

  test('not when it is closed: the call must be refused', async () => {
    const session = (await createHooks({ globals: false })).session()
    await session.close()
    expect(session.isIdle).toBe(false)
  })
})
