// The contract of Sessions: memory, files and anything else that keeps sessions runs through it.

import { describe, expect, it } from 'vitest'
import { FRESH_STATE, type SessionState } from '../../../src/core/session/session-store.js'
import type { Grant } from '../../../src/core/verdict/approval.js'
import type { Sessions } from '../../../src/store/sessions.js'

const FULL: SessionState = {
  turn: 3,
  announced: true,
  turnTokens: 120,
  stopsInRow: 1,
  stopsTotal: 2,
  stopReason: 'go on',
  stopsCut: ['c'],
  onceRan: ['a', '\u0000 "odd" \ud800 id'],
  pending: {
    injections: [{ text: 'i', role: 'user', ephemeral: false, source: 'h' }],
    messages: [{ text: 'm', level: 'warning', source: 'h' }],
    diagnostics: [
      { code: 'late-failed', text: 'd', file: '/f.json', line: 3 },
      { code: 'HOOK_TIMEOUT', text: 'e' },
    ],
  },
  ephemeral: [{ text: 'e', role: 'system', ephemeral: true, source: 'h', appendToLastToolResult: true }],
  agents: ['s1\u0000a1'],
  counts: { list: [{ key: 'k', at: 3, n: 7 }], calls: ['k c'], lost: { minute: 1, turn: 2, why: 'gone' } },
  skills: [{ name: 's', directory: '/skills/s', hooks: { Stop: [{ hooks: [{ type: 'command' }] }] } }],
  lost: 'a file was damaged',
}

const grant = (id: string, more: Partial<Grant> = {}): Grant => ({
  id,
  hook: 'h',
  event: 'PreToolUse',
  tool: 'Bash',
  cwd: '/project',
  digest: 'd',
  created: '2026-01-01T00:00:00.000Z',
  ...more,
})

const nextTurn = (state: SessionState): SessionState => ({ ...state, turn: state.turn + 1 })

/** `make` answers two views of the same fresh store, as two processes see it. */
export function contract(name: string, make: () => readonly [Sessions, Sessions]): void {
  const turns = async (store: Sessions, keys: readonly string[]) => {
    const states: SessionState[] = []
    for (const key of keys) states.push(await store.load(key))
    return states.map(({ turn }) => turn)
  }

  describe(name, () => {
    it('knows nothing of a session at first', async () => {
      const [store] = make()
      expect(await store.load('s')).toBe(FRESH_STATE)
    })

    it('gives back what was put in, to everybody', async () => {
      const [store, other] = make()
      await store.update('s', () => FULL)
      expect(await store.load('s')).toEqual(FULL)
      await other.update('s', (now) => ({ ...now, turn: 4 }))
      expect(await store.load('s')).toEqual({ ...FULL, turn: 4 })
    })

    it('loses no update', async () => {
      const [store, other] = make()
      await Promise.all(
        Array.from({ length: 40 }, async (_, i) => (i % 2 ? store : other).update('s', nextTurn)),
      )
      expect(await turns(store, ['s'])).toEqual([40])
    })

    it('leaves the state as it was when a change throws', async () => {
      const [store] = make()
      await store.update('s', nextTurn)
      const failing = async () =>
        store.update('s', () => {
          throw new Error('changed its mind')
        })
      await expect(failing()).rejects.toThrow('changed its mind')
      expect(await turns(store, ['s'])).toEqual([1])
    })

    it('keeps sessions and their agents apart', async () => {
      const [store] = make()
      const keys = ['s', 't', 's\u0000agent', 's\u0000other', 't\u0000agent']
      for (const [i, key] of keys.entries()) await store.update(key, () => ({ ...FRESH_STATE, turn: i + 1 }))
      expect(await turns(store, keys)).toEqual([1, 2, 3, 4, 5])
    })

    it('forgets what is released, alone', async () => {
      const [store] = make()
      const keys = ['s', 't', 't\u0000agent', 't\u0000other']
      for (const key of keys) await store.update(key, nextTurn)
      await store.release('s')
      await store.release('t\u0000agent')
      await store.release('never was')
      expect(await turns(store, keys)).toEqual([0, 1, 0, 1])
      await store.update('s', nextTurn)
      expect(await turns(store, ['s'])).toEqual([1])
    })

    it('keeps grants until they are revoked, one by id', async () => {
      const [store, other] = make()
      expect(await store.grants()).toEqual([])
      expect(await store.revokeGrant('a')).toBe(false)
      await store.addGrant(grant('a'))
      await store.addGrant(grant('b', { expires: '2030-01-01T00:00:00.000Z' }))
      await other.addGrant(grant('b', { hook: 'other' }))
      expect(await store.grants()).toEqual([grant('a'), grant('b', { hook: 'other' })])
      expect([await store.revokeGrant('a'), await store.revokeGrant('a')]).toEqual([true, false])
      expect(await other.grants()).toEqual([grant('b', { hook: 'other' })])
    })

    it('says where it keeps a text', async () => {
      const [store] = make()
      expect(await store.keep('s', 'one')).not.toBe(await store.keep('s', 'two'))
    })
  })
}
