import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { callDigest, callOf, digest, grantDigest } from '../../src/core/base/digest.js'
import type { Data } from '../../src/core/base/json.js'

const bash = (tool_input: Data, more: Data = {}): Data => ({ tool_name: 'Bash', tool_input, ...more })

describe('digest', () => {
  it('is the SHA-256 of the canonical text', () => {
    const expected = createHash('sha256').update('{"a":2,"b":1}').digest('hex')
    expect(digest({ b: 1, a: 2 })).toBe(expected)
    expect(digest({ a: 2, b: 1 })).toBe(expected)
  })

  it('tells values apart', () => {
    const digests = [null, 0, '', '0', false, [], {}, [null], { a: null }].map((value) =>
      digest(value as Data),
    )
    expect(new Set(digests).size).toBe(digests.length)
  })
})

describe('callOf', () => {
  it('of a tool event is the tool and its input', () => {
    expect(callOf(bash({ command: 'ls' }, { session_id: 's', cwd: '/', tool_use_id: 't' }))).toEqual({
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    })
    expect(callOf({ tool_name: 'Bash' })).toEqual({ tool_name: 'Bash', tool_input: null })
  })

  it('of another event is the data less what changes by itself', () => {
    expect(callOf({ prompt: 'hi', session_id: 's', timestamp: 'now', cwd: '/' })).toEqual({
      prompt: 'hi',
      cwd: '/',
    })
  })
})

describe('callDigest', () => {
  const call = callDigest('PreToolUse', bash({ command: 'ls', description: 'list' }))

  it('is the same for the same call, whatever the circumstances', () => {
    expect(
      callDigest(
        'PreToolUse',
        bash({ description: 'list', command: 'ls' }, { session_id: 'x', timestamp: 'y' }),
      ),
    ).toBe(call)
  })

  it.each<[string, string, Data]>([
    ['command', 'PreToolUse', bash({ command: 'ls ', description: 'list' })],
    ['description', 'PreToolUse', bash({ command: 'ls', description: 'List' })],
    ['tool', 'PreToolUse', { tool_name: 'Shell', tool_input: { command: 'ls', description: 'list' } }],
    ['event', 'PermissionRequest', bash({ command: 'ls', description: 'list' })],
  ])('is another one for another %s', (_what, event, data) => {
    expect(callDigest(event, data)).not.toBe(call)
  })
})

describe('grantDigest', () => {
  it.each(['Bash', 'PowerShell'])('forgives %s its description', (tool_name) => {
    const grant = (tool_input: Data) => grantDigest('PreToolUse', { tool_name, tool_input })
    const plain = grant({ command: 'ls' })
    expect(grant({ command: 'ls', description: 'list' })).toBe(plain)
    expect(grant({ command: 'rm', description: 'list' })).not.toBe(plain)
    expect(grant({ command: 'ls', timeout: 5 })).not.toBe(plain)
  })

  it('forgives no other tool', () => {
    const grant = (tool_input: Data) => grantDigest('PreToolUse', { tool_name: 'Agent', tool_input })
    expect(grant({ prompt: 'x', description: 'a' })).not.toBe(grant({ prompt: 'x', description: 'b' }))
  })

  it('forgives a field of the input, not of what is in it', () => {
    const grant = (description: string) => grantDigest('PreToolUse', bash({ env: { description } }))
    expect(grant('a')).not.toBe(grant('b'))
  })

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'takes a tool named %s for a tool',
    (tool_name) => {
      const grant = (command: string) => grantDigest('PreToolUse', { tool_name, tool_input: { command } })
      expect(grant('a')).toBe(grant('a'))
      expect(grant('a')).not.toBe(grant('b'))
    },
  )
})
