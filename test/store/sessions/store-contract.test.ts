// Every store keeps the same promises.

import { describe, expect, it } from 'vitest'
import { FRESH_STATE, MemoryStore, type SessionState } from '../../../src/core/session/session-store.js'
import type { Grant } from '../../../src/core/verdict/approval.js'
import { nextTurn, turn, workplace } from './workplace.js'

const FULL: SessionState = {
  turn: 3,
  announced: true,
  turnTokens: 120,
  stopsInRow: 1,
  stopsTotal: 2,
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
  skills: [{ name: 's', directory: '/skills/s', hooks: { Stop: [{ hooks: [{ type: 'command' }] }] } }],
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

describe.each([
  ['MemoryStore', () => new MemoryStore()],
  ['FileStore', () => workplace().store],
] as const)('%s', (_, open) => {
  it('knows nothing of a session at first', () => {
    expect(open().load('s')).toBe(FRESH_STATE)
  })

  it('gives back what was put in', () => {
    const store = open()
    store.update('s', () => FULL)
    expect(store.load('s')).toEqual(FULL)
    store.update('s', (now) => ({ ...now, turn: 4 }))
    expect(store.load('s')).toEqual({ ...FULL, turn: 4 })
  })

  it('keeps sessions and their agents apart', () => {
    const store = open()
    const keys = ['s', 't', 's\u0000agent', 's\u0000other', 't\u0000agent']
    for (const [i, key] of keys.entries()) store.update(key, () => turn(i + 1))
    expect(keys.map((key) => store.load(key).turn)).toEqual([1, 2, 3, 4, 5])
  })

  it('forgets what is released, alone', () => {
    const store = open()
    for (const key of ['s', 't', 't\u0000agent', 't\u0000other']) store.update(key, nextTurn)
    store.release('s')
    store.release('t\u0000agent')
    store.release('never was')
    expect(['s', 't', 't\u0000agent', 't\u0000other'].map((key) => store.load(key).turn)).toEqual([
      0, 1, 0, 1,
    ])
    store.update('s', nextTurn)
    expect(store.load('s').turn).toBe(1)
  })

  it('keeps grants until they are revoked, one by id', () => {
    const store = open()
    expect(store.grants()).toEqual([])
    expect(store.revokeGrant('a')).toBe(false)
    store.addGrant(grant('a'))
    store.addGrant(grant('b', { expires: '2030-01-01T00:00:00.000Z' }))
    store.addGrant(grant('b', { hook: 'other' }))
    expect(store.grants()).toEqual([grant('a'), grant('b', { hook: 'other' })])
    expect([store.revokeGrant('a'), store.revokeGrant('a')]).toEqual([true, false])
    expect(store.grants()).toEqual([grant('b', { hook: 'other' })])
  })

  it('says where it keeps a text', () => {
    const store = open()
    const [one, two] = [store.keep('s', 'one'), store.keep('s', 'two')]
    expect(one).not.toBe(two)
  })
})
