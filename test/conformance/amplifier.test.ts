// Amplifier core: every behaviour its own tests show. A test that begins with a comment "≠" checks a rule of ours that
// differs from upstream on purpose, and the comment says what upstream does.

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  askUser,
  createHooks,
  deny,
  HookRegistry,
  type HookResult,
  type HooksOptions,
  inject,
  MemoryStore,
  type Message,
  modify,
  proceed,
  type Question,
} from 'carabiner'
import { CATALOGUE, knownEvents, parseResult, resolveEvent } from 'carabiner/core'
import { afterEach, describe, expect, it, vi } from 'vitest'

const CALL = { tool_name: 'Write', tool_input: { file_path: 'notes.txt' } }
const DONE = { ...CALL, tool_response: { ok: true } }

/** A handler that answers what no typed handler may. */
const answering = (value: unknown) => () => value as HookResult
const never = () => new Promise<undefined>(() => {})
const boom = () => {
  throw new Error('boom')
}

async function openSession(options: HooksOptions = {}) {
  const hooks = await createHooks({ globals: false, ...options })
  return { hooks, session: hooks.session({ id: 'session-1' }) }
}

function texts(items: readonly { readonly text: string }[]): readonly string[] {
  return items.map((item) => item.text)
}

function codes(items: readonly { readonly code: string }[]): readonly string[] {
  return items.map((item) => item.code)
}

afterEach(() => {
  vi.useRealTimers()
})

describe('register', () => {
  it('returns an unregister that works', async () => {
    const registry = new HookRegistry()
    const handler = vi.fn(() => proceed())
    const unregister = registry.register('test:event', handler)
    await registry.emit('test:event', {})
    unregister()
    await registry.emit('test:event', {})
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('has the alias on, which does the same', async () => {
    const registry = new HookRegistry()
    const handler = vi.fn(() => modify({ seen: true }))
    const unregister = registry.on('test:event', handler, { name: 'mine', priority: 5 })
    expect(registry.listHandlers()).toEqual({ 'test:event': ['mine'] })
    expect((await registry.emit('test:event', {})).data.seen).toBe(true)
    unregister()
    expect(registry.listHandlers()).toEqual({})
  })

  it('mixes with on: both kinds share one order', async () => {
    const registry = new HookRegistry()
    const order: string[] = []
    registry.on('test:event', () => void order.push('on, 10'), { priority: 10 })
    registry.register('test:event', () => void order.push('register, 5'), { priority: 5 })
    registry.on('test:event', () => void order.push('on, 1'), { priority: 1 })
    await registry.emit('test:event', {})
    expect(order).toEqual(['on, 1', 'register, 5', 'on, 10'])
  })

  it('runs handlers in ascending priority, whatever the order of registration', async () => {
    const registry = new HookRegistry()
    const order: number[] = []
    for (const priority of [50, -5, 20, 0]) {
      registry.register('tool:pre', () => void order.push(priority), { priority })
    }
    await registry.emit('tool:pre', CALL)
    expect(order).toEqual([-5, 0, 20, 50])
  })

  it('keeps the order of registration among equal priorities', async () => {
    const registry = new HookRegistry()
    const order: string[] = []
    for (const name of ['a', 'b', 'c']) registry.register('tool:pre', () => void order.push(name))
    await registry.emit('tool:pre', CALL)
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('calls handlers only for their own event', async () => {
    const registry = new HookRegistry()
    const pre = vi.fn(() => proceed())
    const post = vi.fn(() => proceed())
    registry.register('tool:pre', pre)
    registry.register('tool:post', post)
    await registry.emit('tool:post', DONE)
    expect(pre).not.toHaveBeenCalled()
    expect(post).toHaveBeenCalledTimes(1)
  })
})

describe('modify', () => {
  it('is visible to the next handler', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.register('tool:pre', () => modify({ tool_input: { file_path: 'other.txt' } }))
    registry.register('tool:pre', (_event, data) => void seen.push(data.tool_input))
    await registry.emit('tool:pre', CALL)
    expect(seen).toEqual([{ file_path: 'other.txt' }])
  })

  it('chains over several handlers, and comes back as continue with the final data', async () => {
    const registry = new HookRegistry()
    for (let i = 0; i < 3; i++) {
      registry.register('test:event', (_event, data) => modify({ count: Number(data.count) + 1 }))
    }
    const outcome = await registry.emit('test:event', { count: 1 })
    expect(outcome).toMatchObject({ action: 'continue', modified: true, data: { count: 4 } })
  })

  it('is a patch: keys that are not given stay', async () => {
    // ≠ upstream replaces the whole data.
    const registry = new HookRegistry()
    registry.register('test:event', () => modify({ added: 1 }))
    const outcome = await registry.emit('test:event', { kept: 2 })
    expect(outcome.data).toMatchObject({ kept: 2, added: 1 })
  })

  it('survives an injection and an ask of other handlers', async () => {
    // ≠ upstream loses modified data as soon as a handler injects or asks.
    const registry = new HookRegistry()
    registry.register('tool:pre', () => modify({ tool_input: { file_path: 'safe.txt' } }))
    registry.register('tool:pre', () => inject('note'))
    registry.register('tool:pre', () => askUser('ok?'))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'ask_user', data: { tool_input: { file_path: 'safe.txt' } } })
    expect(texts(outcome.injections)).toEqual(['note'])
  })
})

describe('deny', () => {
  it('stops the chain: later handlers are not called', async () => {
    const registry = new HookRegistry()
    const later = vi.fn(() => proceed())
    registry.register('tool:pre', () => deny('no'), { priority: 1 })
    registry.register('tool:pre', later, { priority: 2 })
    await registry.emit('tool:pre', CALL)
    expect(later).not.toHaveBeenCalled()
  })

  it('is returned with its reason', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', () => deny('writes are frozen'))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'writes are frozen' })
  })

  it('beats an ask_user that comes after it, which never runs', async () => {
    const registry = new HookRegistry()
    const asking = vi.fn(() => askUser('ok?'))
    registry.register('tool:pre', () => deny('no'))
    registry.register('tool:pre', asking)
    expect((await registry.emit('tool:pre', CALL)).action).toBe('deny')
    expect(asking).not.toHaveBeenCalled()
  })

  it('beats an ask_user that came before it', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', () => askUser('ok?'))
    registry.register('tool:pre', () => deny('no'))
    expect(await registry.emit('tool:pre', CALL)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('beats an inject_context that comes after it, which never runs', async () => {
    const registry = new HookRegistry()
    const injecting = vi.fn(() => inject('note'))
    registry.register('tool:pre', () => deny('no'))
    registry.register('tool:pre', injecting)
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'deny', injections: [] })
    expect(injecting).not.toHaveBeenCalled()
  })

  it('beats an inject_context that came before it, whose text survives', async () => {
    // ≠ upstream returns the deny alone and drops the text.
    const registry = new HookRegistry()
    registry.register('tool:pre', () => inject('note'))
    registry.register('tool:pre', () => deny('no'))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome.action).toBe('deny')
    expect(texts(outcome.injections)).toEqual(['note'])
  })

  it('does not stop an event of your own: it is reported, and later handlers run', async () => {
    // ≠ upstream lets any event be denied; here an unknown name is a notification.
    const registry = new HookRegistry()
    const later = vi.fn(() => proceed())
    registry.register('test:event', () => deny('no'))
    registry.register('test:event', later)
    const outcome = await registry.emit('test:event', {})
    expect(outcome.action).toBe('continue')
    expect(codes(outcome.diagnostics)).toEqual(['verdict-ignored'])
    expect(later).toHaveBeenCalledTimes(1)
  })
})

describe('ask_user and inject_context', () => {
  it('ask_user beats an inject_context that runs after it; the text is kept', async () => {
    // ≠ upstream drops the text.
    const registry = new HookRegistry()
    registry.register('tool:pre', () => askUser('really?'))
    registry.register('tool:pre', () => inject('note'))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'really?' })
    expect(texts(outcome.injections)).toEqual(['note'])
  })

  it('ask_user beats an inject_context that ran before it; the text is kept', async () => {
    // ≠ upstream drops the text.
    const registry = new HookRegistry()
    registry.register('tool:pre', () => inject('note'))
    registry.register('tool:pre', () => askUser('really?'))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'really?' })
    expect(texts(outcome.injections)).toEqual(['note'])
  })

  it('a single inject_context is returned as it is', async () => {
    const registry = new HookRegistry()
    registry.register(
      'tool:post',
      () =>
        inject('lint failed', {
          contextInjectionRole: 'user',
          ephemeral: true,
          userMessage: 'see lint',
          userMessageLevel: 'warning',
        }),
      { name: 'linter' },
    )
    const outcome = await registry.emit('tool:post', DONE)
    expect(outcome.action).toBe('continue')
    expect(outcome.injections).toEqual([
      { text: 'lint failed', role: 'user', ephemeral: true, source: 'linter' },
    ])
    expect(outcome.messages).toEqual([{ text: 'see lint', level: 'warning', source: 'linter' }])
  })

  it('several inject_context stay a list in handler order; joined with a blank line they read as upstream', async () => {
    // ≠ upstream returns one joined text; here each injection keeps its own source, role and lifetime.
    const registry = new HookRegistry()
    registry.register('tool:post', () => inject('third'), { priority: 30 })
    registry.register('tool:post', () => inject('first'), { priority: 10 })
    registry.register('tool:post', () => inject('second'), { priority: 20 })
    const { injections } = await registry.emit('tool:post', DONE)
    expect(texts(injections).join('\n\n')).toBe('first\n\nsecond\n\nthird')
  })
})

describe('flags of several injections', () => {
  // ≠ upstream merges the flags with OR; here each injection keeps its own.
  async function flags(field: 'appendToLastToolResult' | 'ephemeral', values: readonly boolean[]) {
    const registry = new HookRegistry()
    for (const value of values) registry.register('tool:post', () => inject('note', { [field]: value }))
    const { injections } = await registry.emit('tool:post', DONE)
    return injections.map((injection) => injection[field] ?? false)
  }

  it('append_to_last_tool_result is true on both if both say so', async () => {
    expect(await flags('appendToLastToolResult', [true, true])).toEqual([true, true])
  })

  it('append_to_last_tool_result is true on the one that says so, first or last', async () => {
    expect(await flags('appendToLastToolResult', [true, false])).toEqual([true, false])
    expect(await flags('appendToLastToolResult', [false, true])).toEqual([false, true])
  })

  it('append_to_last_tool_result is false if none says so', async () => {
    expect(await flags('appendToLastToolResult', [false, false])).toEqual([false, false])
  })

  it('ephemeral is true on both if both say so', async () => {
    expect(await flags('ephemeral', [true, true])).toEqual([true, true])
  })

  it('ephemeral is true on the one that says so, first or last', async () => {
    expect(await flags('ephemeral', [true, false])).toEqual([true, false])
    expect(await flags('ephemeral', [false, true])).toEqual([false, true])
  })

  it('ephemeral is false if none says so', async () => {
    expect(await flags('ephemeral', [false, false])).toEqual([false, false])
  })
})

describe('a handler that throws', () => {
  it('is reported and the next handler still runs, on an event of your own', async () => {
    const registry = new HookRegistry()
    registry.register('test:event', boom, { name: 'broken' })
    registry.register('test:event', () => modify({ reached: true }))
    const outcome = await registry.emit('test:event', {})
    expect(outcome).toMatchObject({ action: 'continue', data: { reached: true } })
    expect(outcome.hooks[0]).toMatchObject({ name: 'broken', status: 'failed', why: 'HOOK_FAILED' })
    expect(outcome.messages).toEqual([
      { level: 'warning', source: 'broken', text: expect.stringMatching(/broken.*boom/s) },
    ])
  })

  it('is reported and the next handler still runs, after a tool ran', async () => {
    const registry = new HookRegistry()
    registry.register('tool:post', boom)
    registry.register('tool:post', () => inject('reached'))
    const outcome = await registry.emit('tool:post', DONE)
    expect(outcome.action).toBe('continue')
    expect(texts(outcome.injections)).toEqual(['reached'])
  })

  it('denies on a gate, and the next handler does not run', async () => {
    // ≠ upstream goes on: a broken gate would look like one that approved.
    const registry = new HookRegistry()
    const later = vi.fn(() => proceed())
    registry.register('tool:pre', boom, { name: 'gate' })
    registry.register('tool:pre', later)
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\).*boom/s)
    expect(later).not.toHaveBeenCalled()
  })

  it('goes on with the next handler on a gate too, if the registry says onFailure: continue', async () => {
    const registry = new HookRegistry({ onFailure: 'continue' })
    const later = vi.fn(() => proceed())
    registry.register('tool:pre', boom)
    registry.register('tool:pre', later)
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome.action).toBe('continue')
    expect(texts(outcome.messages)).toEqual([expect.stringContaining('boom')])
    expect(later).toHaveBeenCalledTimes(1)
  })

  it('does not make emit reject, whatever is thrown', async () => {
    const registry = new HookRegistry()
    const thrown: readonly unknown[] = [new Error('error'), 'text', null, undefined, { code: 1 }]
    for (const value of thrown) {
      registry.register('test:event', () => {
        throw value
      })
      registry.register('test:event', () => Promise.reject(value))
    }
    const outcome = await registry.emit('test:event', {})
    expect(outcome.hooks.map((hook) => hook.status)).toEqual(Array(10).fill('failed'))
  })

  it('does not stop the rest even if it was cancelled', async () => {
    const registry = new HookRegistry()
    registry.register('test:event', () => AbortSignal.abort().throwIfAborted())
    registry.register('test:event', () => modify({ reached: true }))
    expect((await registry.emit('test:event', {})).data.reached).toBe(true)
  })
})

describe('emit', () => {
  it('without handlers answers continue with the data unchanged and no timestamp', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ session_id: 'session-1' })
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'continue', modified: false })
    expect(outcome.data).toEqual(CALL)
  })

  it('merges default fields under the data', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.setDefaultFields({ session_id: 'session-1', parent_id: 'parent-1' })
    registry.register('test:event', (_event, data) => void seen.push(data))
    await registry.emit('test:event', { own: 1 })
    expect(seen).toEqual([
      expect.objectContaining({ session_id: 'session-1', parent_id: 'parent-1', own: 1 }),
    ])
  })

  it('lets explicit data override default fields', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ session_id: 'default', kept: true })
    registry.register('test:event', () => proceed())
    const outcome = await registry.emit('test:event', { session_id: 'explicit' })
    expect(outcome.data).toMatchObject({ session_id: 'explicit', kept: true })
  })

  it('replaces the default fields that were set before', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ first: 1 })
    registry.setDefaultFields({ second: 2 })
    registry.register('test:event', () => proceed())
    const { data } = await registry.emit('test:event', {})
    expect(data).toMatchObject({ second: 2 })
    expect(data).not.toHaveProperty('first')
  })

  it('stamps a valid ISO-8601 timestamp in UTC', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2, 3, 4, 5, 678) })
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.register('test:event', (_event, data) => void seen.push(data.timestamp))
    await registry.emit('test:event', {})
    expect(seen).toEqual(['2026-01-02T03:04:05.678Z'])
  })

  it('overwrites a timestamp that the caller supplied', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2) })
    const registry = new HookRegistry()
    registry.register('test:event', () => proceed())
    const { data } = await registry.emit('test:event', { timestamp: '1999-01-01T00:00:00.000Z' })
    expect(data.timestamp).toBe('2026-01-02T00:00:00.000Z')
  })

  it('gives successive emits fresh timestamps', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2) })
    const registry = new HookRegistry()
    registry.register('test:event', () => proceed())
    const first = await registry.emit('test:event', {})
    vi.setSystemTime(Date.UTC(2026, 0, 3))
    const second = await registry.emit('test:event', {})
    expect(first.data.timestamp).toBe('2026-01-02T00:00:00.000Z')
    expect(second.data.timestamp).toBe('2026-01-03T00:00:00.000Z')
  })

  it('keeps its own timestamp against a handler that modifies it', async () => {
    // ≠ upstream lets a modify replace or lose it.
    const registry = new HookRegistry()
    registry.register('test:event', () => modify({ timestamp: 'never' }))
    const outcome = await registry.emit('test:event', {})
    expect(outcome.data.timestamp).not.toBe('never')
    expect(codes(outcome.diagnostics)).toEqual(['owned-field'])
  })
})

describe('emitAndCollect', () => {
  it('gathers the data of every handler, also of one that denies', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', () => modify({ choice: 'a' }))
    registry.register('tool:pre', () => deny('no', { data: { choice: 'b' } }))
    registry.register('tool:pre', () => proceed({ data: { choice: 'c' } }))
    registry.register('tool:pre', () => proceed())
    expect(await registry.emitAndCollect('tool:pre', CALL)).toEqual([
      { choice: 'a' },
      { choice: 'b' },
      { choice: 'c' },
    ])
  })

  it('answers an empty list without handlers', async () => {
    expect(await new HookRegistry().emitAndCollect('test:event', {})).toEqual([])
  })

  it('skips a handler that fails, and reports it', async () => {
    const registry = new HookRegistry()
    registry.register('test:event', boom, { name: 'broken' })
    registry.register('test:event', () => modify({ choice: 'a' }))
    expect(await registry.emitAndCollect('test:event', {})).toEqual([{ choice: 'a' }])
    expect(texts(registry.diagnostics)).toEqual([expect.stringMatching(/broken.*boom/s)])
  })

  it('skips a handler that is late, and reports it', async () => {
    const registry = new HookRegistry()
    registry.register('test:event', never, { name: 'slow' })
    registry.register('test:event', () => modify({ choice: 'a' }))
    expect(await registry.emitAndCollect('test:event', {}, { timeout: 0.02 })).toEqual([{ choice: 'a' }])
    expect(texts(registry.diagnostics)).toEqual([expect.stringContaining('slow')])
  })

  it('accepts a time-out for each handler; one second if none is given', async () => {
    vi.useFakeTimers()
    const registry = new HookRegistry()
    const answerAfter = (seconds: number) => () =>
      new Promise<HookResult>((resolve) => setTimeout(() => resolve(modify({ seconds })), seconds * 1000))
    for (const seconds of [0.5, 3, 7]) registry.register('test:event', answerAfter(seconds))
    const byDefault = registry.emitAndCollect('test:event', {})
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await byDefault).toEqual([{ seconds: 0.5 }])
    const longer = registry.emitAndCollect('test:event', {}, { timeout: 5 })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await longer).toEqual([{ seconds: 0.5 }, { seconds: 3 }])
  })

  it('adds no timestamp and no default fields', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.setDefaultFields({ session_id: 'session-1' })
    registry.register('test:event', (_event, data) => void seen.push(data))
    await registry.emitAndCollect('test:event', { own: 1 })
    expect(seen).toEqual([{ own: 1 }])
  })
})

describe('listHandlers', () => {
  it('is empty when nothing is registered', () => {
    expect(new HookRegistry().listHandlers()).toEqual({})
  })

  it('gives names by event, in order of execution', () => {
    // ≠ upstream lists under the name given; here under the canonical name, so that aliases are one event.
    const registry = new HookRegistry()
    registry.register('tool:pre', () => proceed(), { name: 'late', priority: 90 })
    registry.register('PreToolUse', () => proceed(), { name: 'early', priority: 10 })
    registry.register('test:event', () => proceed(), { name: 'own' })
    expect(registry.listHandlers()).toEqual({ PreToolUse: ['early', 'late'], 'test:event': ['own'] })
  })

  it('filters by event, and has the key even if there are no handlers', () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', () => proceed(), { name: 'gate' })
    registry.register('tool:post', () => proceed(), { name: 'linter' })
    expect(registry.listHandlers('tool:pre')).toEqual({ PreToolUse: ['gate'] })
    expect(registry.listHandlers('test:event')).toEqual({ 'test:event': [] })
  })
})

describe('what a handler may be and return', () => {
  it('a sync handler that returns a plain object in snake_case works', async () => {
    const registry = new HookRegistry()
    const plain = { action: 'inject_context', context_injection: 'note', context_injection_role: 'user' }
    registry.register('tool:post', answering(plain), { name: 'plain' })
    const outcome = await registry.emit('tool:post', DONE)
    expect(outcome.injections).toEqual([{ text: 'note', role: 'user', ephemeral: false, source: 'plain' }])
    expect(outcome.diagnostics).toEqual([])
  })

  it('an async handler that returns nothing means continue', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', async () => {})
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'continue', modified: false, messages: [] })
    expect(outcome.hooks[0]).toMatchObject({ status: 'ran', answer: { action: 'continue' } })
  })

  it('a handler that returns null has failed: only nothing at all means continue', async () => {
    // ≠ upstream takes None for continue; Python has no other nothing.
    const registry = new HookRegistry()
    registry.register('tool:pre', answering(null))
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks[0]).toMatchObject({ status: 'failed', why: 'ANSWER_INVALID' })
  })

  it('an async handler runs in the asynchronous context of the caller', async () => {
    // The nearest thing to "on the caller's event loop", which JavaScript has only one of.
    const registry = new HookRegistry()
    const request = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    registry.register('test:event', async () => {
      seen.push(request.getStore())
      await Promise.resolve()
      seen.push(request.getStore())
    })
    await Promise.all([
      request.run('first', () => registry.emit('test:event', {})),
      request.run('second', () => registry.emit('test:event', {})),
    ])
    expect(seen.sort()).toEqual(['first', 'first', 'second', 'second'])
  })

  it('a handler that returns text which is no answer denies on a gate', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', answering('not { json'), { name: 'garbled' })
    const outcome = await registry.emit('tool:pre', CALL)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\).*garbled/s)
    expect(outcome.hooks[0]).toMatchObject({ status: 'failed', why: 'ANSWER_INVALID' })
  })

  it('default fields reach the handler', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.setDefaultFields({ session_id: 'session-1' })
    registry.register('tool:pre', (_event, data) => void seen.push(data.session_id))
    await registry.emit('tool:pre', CALL)
    expect(seen).toEqual(['session-1'])
  })
})

// process_hook_result of upstream's coordinator is what a session does with the answers of its hooks.
describe('a session that carries answers out', () => {
  it('cuts an injection over the size limit, keeps the full text and says so', async () => {
    // ≠ upstream throws and injects nothing.
    const store = new MemoryStore()
    const keep = vi.spyOn(store, 'keep')
    const { hooks, session } = await openSession({ store, settings: { injection_size_limit: 100 } })
    const long = 'ü'.repeat(200)
    hooks.register('tool:post', () => inject(long))
    const { injections, diagnostics } = await session.fire('tool:post', DONE)
    const [injection] = injections
    expect(Buffer.byteLength(injection?.text ?? '')).toBeLessThanOrEqual(100)
    expect(injection?.text).toMatch(/^ü+\n\[/)
    expect(new Set(codes(diagnostics))).toEqual(new Set(['injection-cut']))
    expect(keep).toHaveBeenCalledWith('session-1', long)
  })

  it('has limits of 10,240 bytes and 10,000 tokens; null is unlimited', async () => {
    // ≠ upstream has none unless they are set.
    const large = 'a'.repeat(41_000)
    const sizes = async (options?: HooksOptions) => {
      const { hooks, session } = await openSession(options)
      for (let i = 0; i < 4; i++) hooks.register('tool:post', () => inject(large))
      return (await session.fire('tool:post', DONE)).injections.map((one) => Buffer.byteLength(one.text))
    }
    expect(await sizes()).toEqual([10_240, 10_240, 10_240])
    const unlimited = { injection_size_limit: null, injection_budget_per_turn: null }
    expect(await sizes({ settings: unlimited })).toEqual([41_000, 41_000, 41_000, 41_000])
  })

  it('does not inject over the budget of the turn, and warns', async () => {
    // ≠ upstream only warns, and injects all the same.
    const shown: Message[] = []
    const { hooks, session } = await openSession({
      settings: { injection_budget_per_turn: 10 },
      display: (message) => void shown.push(message),
    })
    hooks.register('tool:post', () => inject('a'.repeat(40)), { name: 'first' })
    hooks.register('tool:post', () => inject('b'), { name: 'second' })
    const outcome = await session.fire('tool:post', DONE)
    expect(texts(outcome.injections)).toEqual(['a'.repeat(40)])
    expect(codes(outcome.diagnostics)).toEqual(['injection-over-budget'])
    expect(shown).toEqual([{ level: 'warning', source: 'second', text: expect.stringContaining('budget') }])
  })

  it('adds a durable injection to the conversation, with where it came from', async () => {
    const context = vi.fn()
    const { hooks, session } = await openSession({ context })
    hooks.register('tool:post', () => inject('keep this'), { name: 'linter' })
    await session.fire('tool:post', DONE)
    expect(context.mock.calls).toEqual([
      [
        {
          role: 'system',
          content: 'keep this',
          metadata: expect.objectContaining({ source: 'hook', hook: 'linter', event: 'PostToolUse' }),
        },
      ],
    ])
  })

  it('leaves an ephemeral injection out of the conversation but charges its tokens', async () => {
    const context = vi.fn()
    const { hooks, session } = await openSession({ context, settings: { injection_budget_per_turn: 10 } })
    hooks.register('tool:pre', () => inject('a'.repeat(40), { ephemeral: true }))
    hooks.register('tool:post', () => inject('b'))
    expect((await session.fire('tool:pre', CALL)).injections).toMatchObject([{ ephemeral: true }])
    const after = await session.fire('tool:post', DONE)
    expect(after.injections).toEqual([])
    expect(codes(after.diagnostics)).toEqual(['injection-over-budget'])
    expect(context).not.toHaveBeenCalled()
  })

  it('continues when the person approves', async () => {
    const questions: Question[] = []
    const { hooks, session } = await openSession({
      approver: (question) => {
        questions.push(question)
        return 'Allow'
      },
    })
    hooks.register('tool:pre', () => askUser('Write notes.txt?'), { name: 'gate' })
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'continue', approval: { answer: { decision: 'allow' } } })
    expect(questions).toMatchObject([
      {
        asks: [{ hook: 'gate', prompt: 'Write notes.txt?' }],
        options: ['Allow', 'Deny'],
        timeout: 300,
        default: 'deny',
      },
    ])
  })

  it('denies with "User denied" when the person refuses', async () => {
    const { hooks, session } = await openSession({ approver: () => 'Deny' })
    hooks.register('tool:pre', () => askUser('Write notes.txt?'))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringContaining('User denied') })
    expect(outcome.reason).toContain('Write notes.txt?')
  })

  it('denies when there is no approval system, if the host says so', async () => {
    const { hooks, session } = await openSession({ approver: 'deny' })
    hooks.register('tool:pre', () => askUser('Write notes.txt?'))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('No approval system available'),
    })
  })

  it('leaves the question to the host when no approver was given', async () => {
    // ≠ upstream denies.
    const { hooks, session } = await openSession()
    hooks.register('tool:pre', () => askUser('Write notes.txt?'))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'Write notes.txt?' })
    expect(outcome.approval?.answer).toBeUndefined()
  })

  it('denies and speaks of a time-out when nobody answers in time, by default', async () => {
    const { hooks, session } = await openSession({ approver: () => new Promise<string>(() => {}) })
    hooks.register('tool:pre', () => askUser('Write notes.txt?', { approvalTimeout: 0.02 }))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringMatching(/timeout/i) })
    expect(outcome.approval?.answer).toMatchObject({ decision: 'deny', by: 'default' })
  })

  it('continues when nobody answers in time and the default is allow', async () => {
    const { hooks, session } = await openSession({ approver: () => new Promise<string>(() => {}) })
    const more = { approvalTimeout: 0.02, approvalDefault: 'allow' } as const
    hooks.register('tool:pre', () => askUser('Write notes.txt?', more))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({
      action: 'continue',
      approval: { answer: { decision: 'allow', by: 'default' } },
    })
  })

  it('takes the default when the approver throws', async () => {
    // ≠ upstream rethrows.
    const { hooks, session } = await openSession({ approver: boom })
    hooks.register('tool:pre', () => askUser('Write notes.txt?'))
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome.action).toBe('deny')
    expect(outcome.diagnostics).toMatchObject([
      { code: 'host-failed', text: expect.stringContaining('boom') },
    ])
  })

  it('routes a message to the display with its level and source', async () => {
    const display = vi.fn()
    const { hooks, session } = await openSession({ display })
    const said = { userMessage: 'careful', userMessageLevel: 'warning' } as const
    hooks.register('tool:pre', () => proceed(said), { name: 'gate' })
    hooks.register('tool:pre', () => proceed({ ...said, userMessageSource: 'policy' }), { name: 'other' })
    await session.fire('tool:pre', CALL)
    expect(display.mock.calls).toEqual([
      [{ text: 'careful', level: 'warning', source: 'gate' }],
      [{ text: 'careful', level: 'warning', source: 'policy' }],
    ])
  })

  it('without a display keeps the message in the outcome', async () => {
    // ≠ upstream writes it to a log.
    const { hooks, session } = await openSession()
    hooks.register('tool:pre', () => proceed({ userMessage: 'careful' }), { name: 'gate' })
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome.messages).toEqual([{ text: 'careful', level: 'info', source: 'gate' }])
  })

  it('does nothing for a plain continue', async () => {
    const host = { approver: vi.fn(() => 'Allow'), display: vi.fn(), context: vi.fn() }
    const { hooks, session } = await openSession(host)
    hooks.register('tool:pre', () => proceed())
    const outcome = await session.fire('tool:pre', CALL)
    expect(outcome).toMatchObject({ action: 'continue', modified: false, data: CALL })
    expect(outcome).toMatchObject({ injections: [], messages: [], diagnostics: [] })
    for (const told of Object.values(host)) expect(told).not.toHaveBeenCalled()
  })

  it('refuses a plain object that is no answer', () => {
    // Upstream: a dict in place of a HookResult is an error. Here plain objects are answers if they read as one.
    expect(() => parseResult({ message: 'hello' }, [])).toThrow(
      expect.objectContaining({ code: 'ANSWER_INVALID' }),
    )
    expect(() => parseResult({ action: 'permit' }, [])).toThrow(
      expect.objectContaining({ code: 'ANSWER_INVALID' }),
    )
    expect(parseResult({ action: 'deny', reason: 'no' }, [])).toEqual({ action: 'deny', reason: 'no' })
  })

  it('shows the message of a hook that asks', async () => {
    // ≠ upstream returns from an ask before it comes to the message.
    const display = vi.fn()
    const { hooks, session } = await openSession({ display, approver: () => 'Allow' })
    hooks.register('tool:pre', () => askUser('ok?', { userMessage: 'a write to look at' }), { name: 'gate' })
    await session.fire('tool:pre', CALL)
    expect(display.mock.calls).toEqual([[{ text: 'a write to look at', level: 'info', source: 'gate' }]])
  })
})

describe('event names', () => {
  const NAMES: readonly string[] = [
    ...['start', 'end', 'fork', 'resume'].map((action) => `session:${action}`),
    ...['submit', 'complete'].map((action) => `prompt:${action}`),
    ...['start', 'end'].map((action) => `plan:${action}`),
    ...['request', 'response', 'retry', 'error', 'throttle', 'tool_sequence_repaired', 'resolve'].map(
      (action) => `provider:${action}`,
    ),
    ...['request', 'response'].map((action) => `llm:${action}`),
    ...['start', 'delta', 'end'].map((action) => `content_block:${action}`),
    ...['delta', 'final'].map((action) => `thinking:${action}`),
    ...['pre', 'post', 'error'].map((action) => `tool:${action}`),
    ...['pre_compact', 'post_compact', 'compaction', 'include'].map((action) => `context:${action}`),
    'orchestrator:complete',
    ...['start', 'end'].map((action) => `execution:${action}`),
    'user:notification',
    ...['write', 'read'].map((action) => `artifact:${action}`),
    'policy:violation',
    ...['required', 'granted', 'denied'].map((action) => `approval:${action}`),
    ...['requested', 'completed'].map((action) => `cancel:${action}`),
    'module:on_session_ready_failed',
  ]

  it('no name or alias stands for two events, and none is there twice', () => {
    const names = Object.entries(CATALOGUE).flatMap(([name, row]) => [name, ...row.aliases])
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    for (const kind of knownEvents()) {
      expect([kind.name, ...kind.aliases].map((name) => resolveEvent(name).name)).toEqual(
        Array(kind.aliases.length + 1).fill(kind.name),
      )
    }
  })

  it.each([
    ['session:start', 'SessionStart'],
    ['session:end', 'SessionEnd'],
    ['prompt:submit', 'UserPromptSubmit'],
    ['prompt:complete', 'Stop'],
    ['tool:pre', 'PreToolUse'],
    ['tool:post', 'PostToolUse'],
    ['tool:error', 'PostToolUseFailure'],
    ['approval:required', 'PermissionRequest'],
    ['provider:request', 'ModelRequest'],
    ['llm:request', 'ModelRequest'],
    ['provider:response', 'ModelResponse'],
    ['llm:response', 'ModelResponse'],
    ['context:pre_compact', 'PreCompact'],
    ['user:notification', 'Notification'],
  ])('%s is the event %s', (alias, canonical) => {
    expect(resolveEvent(alias)).toMatchObject({ name: canonical, custom: false })
  })

  it('every name of upstream is accepted and reaches its handlers, known here or not', async () => {
    const data = { ...CALL, prompt: 'hello', model: 'm', messages: [], response: 'hello' }
    const reached: string[] = []
    for (const name of NAMES) {
      const registry = new HookRegistry()
      registry.register(name, () => void reached.push(name))
      await registry.emit(name, data)
    }
    expect(NAMES).toHaveLength(42)
    expect(reached).toEqual(NAMES)
  })

  it('a name of upstream without a row here, such as orchestrator:complete, is a notification', () => {
    const custom = NAMES.map(resolveEvent).filter((kind) => kind.custom)
    expect(custom.map((kind) => kind.name)).toContain('orchestrator:complete')
    for (const kind of custom) expect(kind).toMatchObject({ deny: 'none', onFailure: 'ignore', required: {} })
  })

  it('every Amplifier name in the catalogue reads namespace:action', () => {
    const names = knownEvents().flatMap((kind) => kind.aliases.filter((alias) => alias.includes(':')))
    expect(names).toContain('tool:pre')
    for (const name of names) expect(name).toMatch(/^[a-z][a-z_]*:[a-z][a-z_]*$/)
  })
})

// Upstream's module validator mounts a module and looks at what it leaves behind. A module here is a function that
// registers hooks and returns what takes them away.
describe('a module of hooks', () => {
  function mount(registry: HookRegistry, handler = vi.fn(() => proceed())) {
    const unregister = registry.register('test:event', handler, { name: 'mounted' })
    return { handler, cleanup: unregister }
  }

  it('may return its cleanup', async () => {
    const registry = new HookRegistry()
    const { handler, cleanup } = mount(registry)
    cleanup()
    await registry.emit('test:event', {})
    expect(handler).not.toHaveBeenCalled()
    expect(registry.listHandlers()).toEqual({})
  })

  it('may return nothing and stay mounted', async () => {
    const registry = new HookRegistry()
    const { handler } = mount(registry)
    await registry.emit('test:event', {})
    expect(handler).toHaveBeenCalledTimes(1)
  })

  it('has a cleanup that may be called any number of times, does not throw, and removes nobody else', () => {
    const registry = new HookRegistry()
    const { cleanup } = mount(registry)
    cleanup()
    mount(registry)
    expect(() => {
      cleanup()
      cleanup()
    }).not.toThrow()
    expect(registry.listHandlers()).toEqual({ 'test:event': ['mounted'] })
  })

  it('has handlers that survive empty data', async () => {
    const registry = new HookRegistry()
    registry.register('test:event', (_event, data) => modify({ tool: data.tool_name ?? 'none' }))
    const outcome = await registry.emit('test:event', {})
    expect(outcome.data.tool).toBe('none')
    expect(outcome.hooks[0]?.status).toBe('ran')
  })

  it('has handlers that never see missing data: it is refused before any of them runs', async () => {
    // ≠ upstream hands None on.
    const registry = new HookRegistry()
    const { handler } = mount(registry)
    await expect(registry.emit('test:event', null as unknown as object)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    await expect(registry.emit('tool:pre', {})).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect(handler).not.toHaveBeenCalled()
  })

  it('has a sync cleanup that is not mistaken for a handler', async () => {
    const registry = new HookRegistry()
    const { handler, cleanup } = mount(registry)
    await registry.emit('test:event', {})
    await registry.emit('test:event', {})
    expect(handler).toHaveBeenCalledTimes(2)
    expect(registry.listHandlers()).toEqual({ 'test:event': ['mounted'] })
    const nothing = cleanup() as unknown as () => undefined
    expect(() => registry.register('test:event', nothing)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    )
  })
})

// Nothing is left out but the constants of upstream's class (TOOL_PRE and so on): event names are plain strings here, and
// their type knows every alias.
