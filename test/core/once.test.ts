// A hook that runs once in a session, also where two processes fire events of that session at the same time.

import { createHooks, HookRegistry, MemoryStore, type SessionState } from 'carabiner'
import type { Hook } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import { madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** Another process in the session: hooks of its own, the same store. */
async function another(store: MemoryStore, hooks: readonly Hook[]) {
  const globals = new HookRegistry({ scope: 'global' })
  for (const hook of hooks) globals.add(hook)
  return (await createHooks({ globals, store })).session({ id: 's1' })
}

function counting(more: Partial<Hook> = {}) {
  const ran: string[] = []
  return { ran, hook: madeHook('once', { once: true, run: () => void ran.push('ran'), ...more }) }
}

describe('two processes at once', () => {
  test('the one that comes second finds it taken, although it read the state before', async () => {
    const store = new MemoryStore()
    const { ran, hook } = counting()
    let open = () => {}
    const begun = new Promise<void>((resolve) => {
      open = resolve
    })
    let goOn = () => {}
    const waits = madeHook('waits', {
      priority: -1,
      run: () => {
        open()
        return new Promise<void>((resolve) => {
          goOn = resolve
        })
      },
    })
    const first = (await another(store, [waits, hook])).fire('PreToolUse', BASH)
    await begun
    await (await another(store, [hook])).fire('PreToolUse', BASH)
    goOn()
    expect((await first).hooks).toMatchObject([{ name: 'waits' }, { status: 'skipped', why: 'once' }])
    expect(ran).toEqual(['ran'])
  })

  test.each([
    ['in any of them', true],
    ['in the same', false],
  ])('one that failed is due again, %s', async (_, isAnother) => {
    const store = new MemoryStore()
    const answers = [() => Promise.reject(new Error('broken')), () => undefined, () => undefined]
    const ran: number[] = []
    const run = () => answers[ran.push(1) - 1]?.()
    const hook = madeHook('once', { once: true, onFailure: 'continue', run })
    const statuses: unknown[] = []
    let session = await another(store, [hook])
    for (let i = 0; i < 3; i++) {
      statuses.push((await session.fire('PreToolUse', BASH)).hooks[0]?.status)
      if (!isAnother) continue
      await session.leave()
      session = await another(store, [hook])
    }
    expect(statuses).toEqual(['failed', 'ran', 'skipped'])
  })

  test('a store that cannot write keeps nobody from running it', async () => {
    class Full extends MemoryStore {
      override update(_session: string, change: (state: SessionState) => SessionState): void {
        change(this.load('s1'))
        throw new Error('no space left')
      }
    }
    const { ran, hook } = counting()
    const outcome = await (await another(new Full(), [hook])).fire('PreToolUse', BASH)
    expect([ran, outcome.diagnostics.map(({ code }) => code)]).toEqual([['ran'], ['host-failed']])
  })

  test('nothing waits for a slow store, which still remembers it', async () => {
    const memory = new MemoryStore()
    const later = Object.create(memory) as MemoryStore
    const updates: Promise<void>[] = []
    later.update = (session, change) => {
      const done = new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
        memory.update(session, change),
      )
      updates.push(done)
      return done as unknown as undefined
    }
    later.load = (session) => memory.load(session)
    const { ran, hook } = counting()
    await (await another(later, [hook])).fire('PreToolUse', BASH)
    await Promise.all(updates)
    const next = await (await another(memory, [hook])).fire('PreToolUse', BASH)
    expect([ran, next.hooks[0]?.why]).toEqual([['ran'], 'once'])
  })

  test('G10: two fires of one session at once, before a slow store knows: it runs for one of them', async () => {
    const memory = new MemoryStore()
    const soon = <T>(answer: () => T) => new Promise<void>((resolve) => setImmediate(resolve)).then(answer)
    const slow = Object.assign(Object.create(memory), {
      load: (session: string) => soon(() => memory.load(session)),
      update: (session: string, change: (state: SessionState) => SessionState) =>
        soon(() => memory.update(session, change)),
    }) as MemoryStore
    const { ran, hook } = counting()
    const session = await another(slow, [hook])
    const outcomes = await Promise.all([
      session.fire('PreToolUse', BASH),
      session.fire('PreToolUse', BASH),
      session.fire('PreToolUse', BASH),
    ])
    expect(ran).toEqual(['ran'])
    expect(outcomes.map(({ hooks }) => hooks[0]?.status).sort()).toEqual(['ran', 'skipped', 'skipped'])
    expect(outcomes.flatMap(({ hooks }) => hooks[0]?.why ?? [])).toEqual(['once', 'once'])
  })
})
