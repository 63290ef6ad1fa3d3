// The methods of the protocol, and the handshake.

import { HookError, type Json, knownEvents } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import {
  checkHello,
  EVENT_METHOD,
  HELLO_METHOD,
  helloParams,
  INTERCEPTS,
  type Intercept,
  modesOf,
} from '../../../src/systems/picoclaw/protocol.js'

const ALL = Object.keys(INTERCEPTS) as Intercept[]

describe('methods', () => {
  it('are called by the names of the protocol', () => {
    expect(Object.values(INTERCEPTS).map(({ method }) => method)).toEqual([
      'hook.before_llm',
      'hook.after_llm',
      'hook.before_tool',
      'hook.after_tool',
      'hook.approve_tool',
    ])
    expect([HELLO_METHOD, EVENT_METHOD]).toEqual(['hook.hello', 'hook.event'])
  })

  it('belong to events that exist', () => {
    const known = knownEvents().map(({ name }) => name)
    for (const { events } of Object.values(INTERCEPTS))
      expect(known).toEqual(expect.arrayContaining([...events]))
  })

  it('are announced by mode, in the order of the protocol, each once', () => {
    expect(modesOf(['approve_tool', 'after_tool', 'before_tool'], true)).toEqual([
      'observe',
      'tool',
      'approve',
    ])
    expect(modesOf(ALL, false)).toEqual(['llm', 'tool', 'approve'])
    expect(modesOf(['before_llm'], false)).toEqual(['llm'])
    expect(modesOf([], true)).toEqual(['observe'])
    expect(modesOf([], false)).toEqual([])
  })
})

describe('hello', () => {
  it('is sent as in the seed', () => {
    expect(helloParams('py_review_gate', ['observe', 'tool', 'approve'])).toEqual({
      name: 'py_review_gate',
      version: 1,
      modes: ['observe', 'tool', 'approve'],
    })
  })

  it('is agreed to with ok, and also without it', () => {
    const agreed: Json[] = [{ ok: true, name: 'python-review-gate' }, {}, { name: 'x', version: 1 }]
    for (const result of agreed) {
      expect(() => checkHello(result)).not.toThrow()
    }
  })

  it('is refused with anything else', () => {
    for (const result of [{ ok: false }, { ok: 'false' }, { ok: 0 }, { ok: null }, null, 'ok', 1, true, []]) {
      expect(() => checkHello(result)).toThrow(
        expect.objectContaining({ code: 'HOOK_NOT_STARTED', hint: expect.stringContaining('"ok":true') }),
      )
    }
  })

  it('says why it was refused, without what would disturb a terminal', () => {
    const refuse = () => checkHello({ ok: false, reason: 'no \u202elicence' })
    expect(refuse).toThrow(HookError)
    expect(refuse).toThrow(/got false \("no licence"\)$/)
  })
})
