import { describe, expect, test } from 'vitest'
import type { SessionInfo } from '../../src/core/hooks/hook.js'
import { createHooks } from '../../src/runtime.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const REQUEST = { model: 'm', messages: [] }

/** A session whose hooks and observers write down what they see of it. */
async function watched() {
  const hooks = await createHooks({ globals: false })
  const sessions: SessionInfo[] = []
  const told: [string, object][] = []
  for (const event of ['PreToolUse', 'ModelRequest', 'UserPromptSubmit', 'Stop'] as const) {
    hooks.register(event, (_, __, { session }) => void (session && sessions.push(session)))
  }
  for (const kind of ['turn_start', 'error', 'steering_injected']) {
    hooks.register(kind, (name, data) => void told.push([name, data]), { role: 'observe' })
  }
  return { hooks, session: hooks.session({ id: 's' }), sessions, told }
}

describe('the turn of an event', () => {
  test('is the first until a prompt begins the next, and tells the model calls in it', async () => {
    const { session, sessions } = await watched()
    expect(session.turnId).toBeUndefined()
    await session.fire('PreToolUse', BASH)
    await session.fire('UserPromptSubmit', { prompt: 'one' })
    expect(session.turnId).toBe('turn-1')
    await session.callModel(REQUEST, () => 'a')
    await session.callModel(REQUEST, () => 'b')
    await session.fire('PreToolUse', BASH)
    await session.fire('UserPromptSubmit', { prompt: 'two' })
    await session.callModel(REQUEST, () => 'c')
    expect(sessions.map(({ turnId, iteration }) => [turnId, iteration])).toEqual([
      ['turn-1', 0],
      ['turn-1', 0],
      ['turn-1', 0],
      ['turn-1', 1],
      ['turn-1', 1],
      ['turn-2', 0],
      ['turn-2', 0],
    ])
  })

  test('a model call counts also where no hook hears of it', async () => {
    const hooks = await createHooks({ globals: false })
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, __, { session }) => void seen.push(session?.iteration))
    const session = hooks.session()
    await session.callModel(REQUEST, () => 'a')
    await session.callModel(REQUEST, () => 'b')
    await session.fire('PreToolUse', BASH)
    expect(seen).toEqual([1])
  })

  test('a subagent knows the turn it was started from', async () => {
    const { session, sessions } = await watched()
    await session.startTurn()
    await session.startTurn()
    await session.child({ agentId: 'a' }).fire('PreToolUse', BASH)
    expect(sessions).toMatchObject([{ turnId: 'turn-1', parentTurnId: 'turn-2' }])
  })

  test('hooks can tell whether the host announces its turns', async () => {
    const { session, sessions } = await watched()
    await session.fire('Stop')
    await session.startTurn()
    await session.fire('Stop')
    expect(sessions.map(({ announcesTurns }) => announcesTurns)).toEqual([undefined, true])
  })
})

describe('observers are told', () => {
  test('when the host begins a turn, and hooks that would decide are not', async () => {
    const { hooks, session, told } = await watched()
    let asked = 0
    hooks.register('turn_start', () => void asked++, { custom: true })
    await session.startTurn()
    await session.close()
    expect(told).toMatchObject([['turn_start', { session_id: 's', hook_event_name: 'turn_start' }]])
    expect(asked).toBe(0)
  })

  test('when a model fails', async () => {
    const { session, told } = await watched()
    await expect(session.callModel(REQUEST, () => Promise.reject(new Error('overloaded')))).rejects.toThrow()
    await session.close()
    expect(told).toMatchObject([['error', { stage: 'llm', message: 'overloaded' }]])
  })

  test('a notification of the host keeps its own name: turn_end is then not a Stop', async () => {
    const { hooks, session, told, sessions } = await watched()
    const ends: string[] = []
    hooks.register('*', (name) => void ends.push(name), { role: 'observe' })
    session.notify('steering_injected', { count: 1 })
    session.notify('turn_end', {})
    await session.close()
    expect(told).toMatchObject([['steering_injected', { count: 1 }]])
    expect(ends).toEqual(['steering_injected', 'turn_end'])
    expect(sessions).toEqual([])
  })
})
