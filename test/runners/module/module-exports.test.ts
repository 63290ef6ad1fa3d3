// What a module may export, without a process.

import { describe, expect, test } from 'vitest'
import { askUser, deny, hook, inject, modify, proceed } from '../../../src/index.js'
import { joined } from '../../../src/runners/module/module-answer.js'
import { handlersFor, handlersOf } from '../../../src/runners/module/module-exports.js'
import { typeScriptProblem } from '../../../src/runners/module/module-path.js'

const no = () => deny('no')

const eventsOf = (exports: Record<string, unknown>) => handlersOf(exports).map(({ event }) => event)

describe('the handlers of a module', () => {
  test.each([
    ['a default function', { default: no }, [undefined]],
    ['functions named after events', { PreToolUse: no, Stop: no, helper: no }, ['PreToolUse', 'Stop']],
    ['other spellings', { preToolUse: no, post_tool_use: no }, ['PreToolUse', 'PostToolUse']],
    ['helpers called like an alias', { stop: no, setup: no }, []],
    ['an object as the default', { default: { PreToolUse: no } }, ['PreToolUse']],
    ['CommonJS, which exports twice', { default: { Stop: no }, Stop: no, 'module.exports': {} }, ['Stop']],
    ['hook() values', { hooks: [hook('PreToolUse', no, 'Bash'), hook('*', no)] }, ['PreToolUse', '*']],
    ['a list as the default', { default: [{ event: 'Stop', handler: no }] }, ['Stop']],
    ['one hook() value', { default: hook('Stop', no) }, ['Stop']],
    ['nothing', {}, []],
  ])('%s', (_, exports, events) => {
    expect(eventsOf(exports)).toEqual(events)
  })

  test.each([
    [{ default: 'no' }, 'its default export must be a function, got "no"'],
    [{ PreToolUse: deny('no') }, 'its export PreToolUse must be a function'],
    [{ PreToolUes: no }, 'it exports PreToolUes, which is not an event; did you mean PreToolUse?'],
    [{ hooks: no }, 'its export hooks must be a list of hooks'],
    [{ hooks: [no] }, 'item 1 of its export hooks must be { event, handler, matcher? }'],
    [{ hooks: [{ event: 'PreToolUze', handler: no }] }, 'did you mean PreToolUse?'],
    [{ hooks: [{ event: 'PreToolUse', handler: no, matcher: '(' }] }, 'matcher'],
  ])('%j is refused, because a gate might be lost', (exports, text) => {
    expect(() => handlersOf(exports)).toThrow(text)
  })

  test('the default function gets only events that have no other handler', () => {
    const other = () => proceed()
    const handlers = handlersOf({ default: other, PreToolUse: no })
    expect(handlersFor(handlers, 'PreToolUse').map(({ exported }) => exported)).toEqual([no])
    expect(handlersFor(handlers, 'Stop').map(({ exported }) => exported)).toEqual([other])
  })

  test('a matcher decides by the field of its event', () => {
    const [one] = handlersOf({ hooks: [hook('PreToolUse', no, 'Bash|Read')] })
    expect(['Bash', 'Write'].map((tool_name) => one?.matches({ tool_name }))).toEqual([true, false])
  })
})

describe('several answers of one module', () => {
  test('a deny counts whichever comes first', () => {
    const asks = { action: 'ask_user', approvalPrompt: 'Sure?' } as const
    const refused = { action: 'deny', reason: 'no' }
    expect([joined(deny('no'), asks), joined(asks, deny('no'))]).toMatchObject([refused, refused])
  })

  test('the reason and the question are those of the verdict that counts', () => {
    const asks = askUser('Sure?', { reason: 'maybe', approvalDefault: 'allow', ephemeral: true })
    const refuses = { action: 'deny' } as const
    const refused = { action: 'deny', ephemeral: true }
    expect([joined(asks, refuses), joined(refuses, asks)]).toEqual([refused, refused])
  })

  test('an allow counts whoever gives it', () => {
    const allows = proceed({ permission: 'allow' })
    expect([joined(allows, proceed()), joined(proceed(), allows)]).toEqual([allows, allows])
  })

  test('changes, injections and messages add up', () => {
    const first = modify({ a: 1 }, { contextInjection: 'one', userMessage: 'x' })
    expect(joined(first, inject('two', { data: { b: 2 } }))).toEqual({
      action: 'modify',
      data: { a: 1, b: 2 },
      contextInjection: 'one\ntwo',
      userMessage: 'x',
    })
    expect(joined(proceed(), inject('two'))).toEqual({ action: 'inject_context', contextInjection: 'two' })
    expect(joined(proceed(), proceed())).toEqual({ action: 'continue' })
  })
})

test('TypeScript needs a Node.js that removes types', () => {
  const versions = { ...process.versions, node: '20.20.2' }
  const problem = typeScriptProblem('/x/guard.ts', { features: {}, versions })
  expect([problem?.message, problem?.hint]).toEqual([
    'guard.ts is TypeScript, which Node.js 20.20.2 does not run',
    expect.stringContaining('22.18'),
  ])
  expect(typeScriptProblem('/x/guard.mts', { features: { typescript: 'strip' }, versions })).toBeUndefined()
  expect(typeScriptProblem('/x/guard.mjs', { features: {}, versions })).toBeUndefined()
})
