// What async hooks left for a later event: how much of it waits, who takes it along, and what becomes of the rest.

import {
  createHooks,
  deny,
  HookRegistry,
  type HooksOptions,
  inject,
  MemoryStore,
  type Outcome,
  type Session,
} from 'carabiner'
import type { Diagnostic, Hook } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import type { Injection, Message } from '../../src/core/hooks/outcome.js'
import { addPending, told, undelivered } from '../../src/core/session/off-path.js'
import { hasPending, NOTHING_PENDING, type Pending } from '../../src/core/session/session-store.js'
import { madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const injection = (text: string): Injection => ({ text, role: 'system', ephemeral: false, source: 'hook' })
const message = (text: string, level: Message['level'] = 'info'): Message => ({ text, level, source: 'hook' })
const failure = (text: string): Diagnostic => ({ code: 'late-failed', text })
const pending = (more: Partial<Pending>): Pending => ({ ...NOTHING_PENDING, ...more })
const textsOf = (items: readonly { readonly text: string }[]) => items.map(({ text }) => text)
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** What is left of these, one after another. */
const added = (...all: readonly Partial<Pending>[]) =>
  all.reduce<Pending>((before, one) => addPending(before, pending(one)), NOTHING_PENDING)

describe('what waits', () => {
  test('is nothing at first, and anything of any kind is something', () => {
    expect(hasPending({ pending: NOTHING_PENDING })).toBe(false)
    for (const one of [{ injections: [injection('a')] }, { messages: [message('a')] }]) {
      expect(hasPending({ pending: pending(one) })).toBe(true)
    }
    expect(hasPending({ pending: pending({ diagnostics: [failure('a')] }) })).toBe(true)
  })

  test('is kept in the order it came', () => {
    const left = added(
      { injections: [injection('a')], messages: [message('m')] },
      { injections: [injection('b'), injection('c')], diagnostics: [failure('f')] },
    )
    expect(textsOf(left.injections)).toEqual(['a', 'b', 'c'])
    expect([textsOf(left.messages), textsOf(left.diagnostics)]).toEqual([['m'], ['f']])
  })

  test('is the newest hundred injections; the loss of older ones is told', () => {
    const left = added(...Array.from({ length: 103 }, (_, i) => ({ injections: [injection(`${i}`)] })))
    expect(textsOf(left.injections)).toEqual(Array.from({ length: 100 }, (_, i) => `${i + 3}`))
    expect(left.diagnostics.map(({ code }) => code)).toEqual(Array(3).fill('late-undelivered'))
    expect(left.diagnostics[0]?.text).toMatch(/^1 of the oldest/)
  })

  test('is the newest hundred messages; the loss of older ones is told', () => {
    const left = added({ messages: Array.from({ length: 105 }, (_, i) => message(`${i}`)) })
    expect([left.messages.length, left.messages[0]?.text]).toEqual([100, '5'])
    expect(left.diagnostics).toMatchObject([{ code: 'late-undelivered' }])
    expect(left.diagnostics[0]?.text).toMatch(/^5 of the oldest/)
  })

  test('is the newest hundred diagnostics', () => {
    const left = added(...Array.from({ length: 150 }, (_, i) => ({ diagnostics: [failure(`${i}`)] })))
    expect([left.diagnostics.length, left.diagnostics.at(-1)?.text]).toEqual([100, '149'])
  })

  test('is cut where one text is larger than 64 KiB, at a character, and says so', () => {
    const [one] = added({ injections: [injection('€'.repeat(30_000))] }).injections
    expect(Buffer.byteLength(one?.text ?? '')).toBeLessThanOrEqual(64 * 1024)
    expect(one?.text).toMatch(/^€{20000,}\n\[cut by Carabiner: .*\]$/)
  })

  test('is not cut at 64 KiB exactly', () => {
    const text = 'x'.repeat(64 * 1024)
    expect(textsOf(added({ injections: [injection(text)] }).injections)).toEqual([text])
  })

  test('holds half a megabyte of injections at most: older ones are dropped, and that is reported', () => {
    const large = (i: number) => ({ injections: [injection(`${i}${'x'.repeat(60_000)}`)] })
    const left = added(...Array.from({ length: 12 }, (_, i) => large(i)))
    expect(bytesOf(left.injections)).toBeLessThanOrEqual(513 * 1024)
    expect(textsOf(left.injections).map((text) => text.replace(/x+/, ''))).toEqual([
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
      '11',
    ])
    expect(left.diagnostics).toHaveLength(4)
  })

  // A store that is asked to write more than a megabyte keeps nothing of it, nor of what comes later.
  test.each([
    ['letters', 'x'],
    ['quotes', '"'],
    ['ends of lines', '\n'],
    ['control characters', '\u0001'],
    ['broken characters', '\ud800'],
    ['long characters', '€'],
  ])('fits into what a store writes, also where hooks print nothing but %s', (_what, text) => {
    const much = `a${text.repeat(100_000)}z`
    const one = { injections: [injection(much)], messages: [message(much)], diagnostics: [failure(much)] }
    const left = added(...Array.from({ length: 20 }, () => one))
    expect(bytesOf(left)).toBeLessThan(800 * 1024)
    for (const kind of [left.injections, left.messages, left.diagnostics]) {
      expect(kind.length).toBeGreaterThan(2)
    }
  })
})

describe('what no event took along', () => {
  const left = pending({
    injections: [injection('context')],
    messages: [message('info'), message('Hook failed', 'warning')],
    diagnostics: [failure('hook on Stop: broken')],
  })

  test('is reported once: a warning is left out if its failure is already among the diagnostics', () => {
    expect(undelivered(left)).toEqual([
      failure('hook on Stop: broken'),
      { code: 'late-undelivered', text: 'hook: context' },
      { code: 'late-undelivered', text: 'hook: info' },
    ])
  })

  test('is plain text, whatever the hook said', () => {
    const [one] = undelivered(pending({ injections: [injection('\u001b[31mred\u202e\r')] }))
    expect(one?.text).toBe('hook: red')
  })

  test('goes to the user at the end of the session: messages as they are, context as never delivered', () => {
    const { injections, messages, diagnostics } = told(left)
    expect(injections).toEqual([])
    expect(messages).toEqual([
      message('info'),
      message('Hook failed', 'warning'),
      {
        text: 'the session ended before the model could be told: hook: context',
        level: 'warning',
        source: 'carabiner',
      },
    ])
    expect(diagnostics).toEqual([
      failure('hook on Stop: broken'),
      { code: 'late-undelivered', text: 'hook: context' },
    ])
  })

  test('is nothing where nothing waits', () => {
    expect([undelivered(NOTHING_PENDING), told(NOTHING_PENDING)]).toEqual([[], NOTHING_PENDING])
  })
})

describe('in a session', () => {
  const rest = () => new Promise<void>((resolve) => setImmediate(resolve))
  const texts = ({ injections }: Outcome) => textsOf(injections)

  async function opened(run: Hook['run'], options: HooksOptions = {}) {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add(madeHook('async', { events: new Set(['TaskCreated']), detached: true, run }))
    const hooks = await createHooks({ ...options, globals: registry })
    return { hooks, session: hooks.session() }
  }

  const setOff = async (session: Session) => {
    await session.fire('TaskCreated', { task_id: '1', task_subject: 'x' })
    await rest()
  }

  test.each<[string, object]>([
    ['SessionStart', { source: 'resume' }],
    ['UserPromptSubmit', { prompt: 'hi' }],
    ['PreToolUse', BASH],
    ['PostToolUse', { ...BASH, tool_response: 'ok' }],
    ['PostToolUseFailure', { ...BASH, error: 'no' }],
    ['SubagentStart', { agent_id: 'a1', agent_type: 'x' }],
    ['ModelRequest', { model: 'm', messages: [], tools: [], options: {} }],
  ])('%s takes it along to the model', async (event, data) => {
    const { session } = await opened(() => inject('left', { userMessage: 'said' }))
    await setOff(session)
    const outcome = await session.fire(event, data)
    expect([texts(outcome), textsOf(outcome.messages)]).toEqual([['left'], ['said']])
  })

  test.each<[string, object]>([
    ['Stop', {}],
    ['SubagentStop', {}],
    ['Notification', { message: 'x' }],
    ['PreCompact', { trigger: 'auto' }],
    ['own:event', {}],
  ])('%s leaves it where it is', async (event, data) => {
    const { session } = await opened(() => inject('left', { userMessage: 'said' }))
    await setOff(session)
    const outcome = await session.fire(event, data)
    expect([texts(outcome), outcome.messages]).toEqual([[], []])
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['left'])
  })

  test('of a subagent goes to its session when it has stopped, and not before', async () => {
    const { session } = await opened(() => inject('left'))
    const child = session.child({ agentId: 'a1' })
    await setOff(child)
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual([])
    await child.fire('SubagentStop', {})
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['left'])
  })

  test.each(['deny', 'abort_turn'] as const)(
    'is not lost to a prompt that is not sent: %s',
    async (action) => {
      const { hooks, session } = await opened(() => inject('left'))
      await setOff(session)
      const off = hooks.register('UserPromptSubmit', () => ({
        action,
        reason: 'no',
        contextInjection: 'own',
      }))
      expect(texts(await session.fire('UserPromptSubmit', { prompt: 'x' }))).toEqual([])
      off()
      expect(texts(await session.fire('UserPromptSubmit', { prompt: 'y' }))).toEqual(['left'])
    },
  )

  test('waits on where the store cannot say that it was taken', async () => {
    const store = new MemoryStore()
    const { session } = await opened(() => inject('left'), { store })
    await setOff(session)
    const { update } = store
    store.update = () => {
      throw new Error('full')
    }
    const outcome = await session.fire('PreToolUse', BASH)
    expect([texts(outcome), outcome.messages[0]?.text]).toEqual([[], expect.stringContaining('may be lost')])
    store.update = update
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['left'])
  })

  test('of subagents that never stopped is told at the end of the session', async () => {
    const { session } = await opened(() => inject('left'))
    await setOff(session.child({ agentId: 'a1' }))
    const { diagnostics } = await session.fire('SessionEnd', { reason: 'other' })
    expect(diagnostics).toMatchObject([{ code: 'late-undelivered', text: 'async: left' }])
  })

  test('of a subagent that must go on stays with it', async () => {
    const { hooks, session } = await opened(() => inject('left'))
    hooks.register('SubagentStop', () => deny('go on'))
    const child = session.child({ agentId: 'a1' })
    await setOff(child)
    await child.fire('SubagentStop', {})
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual([])
    expect(texts(await child.fire('PreToolUse', BASH))).toEqual(['left'])
  })

  test('of a hook on the very stop of a subagent goes to its session', async () => {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add(
      madeHook('async', { events: new Set(['SubagentStop']), detached: true, run: () => inject('left') }),
    )
    const session = (await createHooks({ globals: registry })).session()
    await session.child({ agentId: 'a1' }).fire('SubagentStop', {})
    await rest()
    expect(texts(await session.fire('PreToolUse', BASH))).toEqual(['left'])
  })

  test('a failure alone is taken along as well', async () => {
    const { session } = await opened(() => {
      throw new Error('broken')
    })
    await setOff(session)
    const outcome = await session.fire('PreToolUse', BASH)
    expect(outcome.diagnostics).toMatchObject([{ code: 'late-failed' }])
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
  })

  test('of two events at once one takes it along', async () => {
    const { session } = await opened(() => inject('left'))
    await setOff(session)
    const both = await Promise.all([session.fire('PreToolUse', BASH), session.fire('PreToolUse', BASH)])
    expect(both.flatMap(texts)).toEqual(['left'])
  })

  test('SessionEnd injects nothing, and tells the user what the model did not hear', async () => {
    const { hooks, session } = await opened(() => inject('left', { userMessage: 'said' }))
    await setOff(session)
    const outcome = await session.fire('SessionEnd', { reason: 'exit' })
    expect(texts(outcome)).toEqual([])
    expect(textsOf(outcome.messages)).toEqual([
      'said',
      'the session ended before the model could be told: async: left',
    ])
    expect(outcome.diagnostics).toMatchObject([{ code: 'late-undelivered', text: 'async: left' }])
    await session.close()
    expect(hooks.diagnostics).toEqual([])
  })

  test('what comes after SessionEnd is told when the session is closed', async () => {
    const { hooks, session } = await opened(() => inject('left'))
    await session.fire('SessionEnd', { reason: 'exit' })
    await setOff(session)
    await session.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-undelivered', text: 'async: left' }])
  })

  test('a hundred undelivered events do not fill memory, and the loss is reported', async () => {
    let count = 0
    const { session } = await opened(() => inject(`${count++}`), {
      settings: { injection_budget_per_turn: null },
    })
    for (let i = 0; i < 110; i++) await setOff(session)
    const outcome = await session.fire('PreToolUse', BASH)
    expect([outcome.injections.length, texts(outcome)[0]]).toEqual([100, '10'])
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('late-undelivered')
  })
})
