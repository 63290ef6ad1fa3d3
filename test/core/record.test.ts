// What goes into the record of an event, and what becomes of the event where it cannot be written.

import {
  type AuditRecord,
  askUser,
  createHooks,
  deny,
  type HooksOptions,
  inject,
  memoryAudit,
  modify,
  respond,
} from 'carabiner'
import { describe, expect, test } from 'vitest'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const BROKEN: NonNullable<HooksOptions['audit']> = () => {
  throw new Error('no space left')
}

describe('a record', () => {
  test('names tool, turn, agent, and when each hook began', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    hooks.register('PreToolUse', () => inject('careful'), { name: 'first' })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'ls -l' } }), { name: 'second' })
    const session = hooks.session({ id: 's', agentId: 'a1' })
    await session.startTurn()
    await session.fire('PreToolUse', CALL)
    const [record] = audit.records as [AuditRecord]
    expect(record).toMatchObject({ kind: 'fire', session: 's', agent: 'a1', turn: 'turn-1', tool: 'Bash' })
    const [first, second] = record.hooks
    expect(first?.at).toBeGreaterThanOrEqual(0)
    expect(second?.at).toBeGreaterThanOrEqual(first?.at ?? Number.NaN)
    expect((second?.at ?? 0) + (second?.ms ?? 0)).toBeLessThanOrEqual(record.ms)
  })

  test('an event without a tool has none', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    await hooks.session({ id: 's' }).fire('Stop', {})
    expect(audit.records[0]).not.toHaveProperty('tool')
  })

  test('one that a sink refuses is said to the user, and the verdict stands', async () => {
    const hooks = await createHooks({ globals: false, audit: BROKEN })
    const outcome = await hooks.session().fire('PreToolUse', CALL)
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toEqual([
      {
        level: 'error',
        source: 'carabiner',
        text: 'the audit could not be written: no space left; this event was not recorded',
      },
    ])
  })
})

describe('audit_on_failure: "block"', () => {
  const settings = { audit_on_failure: 'block' } as const

  test.each([
    ['throws', BROKEN],
    ['rejects', () => Promise.reject(new Error('no space left'))],
  ])('a sink that %s closes the gate', async (_, audit) => {
    const hooks = await createHooks({ globals: false, audit, settings })
    hooks.register('PreToolUse', () => respond({ for_llm: 'done' }), { name: 'answers' })
    const outcome = await hooks.session().fire('PreToolUse', CALL)
    expect(outcome).toMatchObject({ action: 'deny' })
    expect(outcome.reason).toContain('could not be recorded')
    expect(outcome.reason).toContain('no space left')
    expect(outcome).not.toHaveProperty('response')
  })

  test('so does having no sink', async () => {
    const hooks = await createHooks({ globals: false, settings })
    hooks.register('PreToolUse', () => inject('x'))
    const outcome = await hooks.session().fire('PreToolUse', CALL)
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringContaining('no audit sink') })
  })

  test('also where no hook listens', async () => {
    const hooks = await createHooks({ globals: false, settings })
    expect(await hooks.session().fire('PreToolUse', CALL)).toMatchObject({ action: 'deny' })
  })

  test('an ask that nobody answered is refused, too', async () => {
    const hooks = await createHooks({ globals: false, audit: BROKEN, settings })
    hooks.register('PreToolUse', () => askUser('ok?'))
    expect(await hooks.session().fire('PreToolUse', CALL)).toMatchObject({ action: 'deny' })
  })

  test('a deny keeps its own reason', async () => {
    const hooks = await createHooks({ globals: false, audit: BROKEN, settings })
    hooks.register('PreToolUse', () => deny('not here'))
    expect(await hooks.session().fire('PreToolUse', CALL)).toMatchObject({
      action: 'deny',
      reason: 'not here',
    })
  })

  test('what cannot be refused goes on', async () => {
    const hooks = await createHooks({ globals: false, audit: BROKEN, settings })
    for (const event of ['Stop', 'SessionEnd', 'PostToolUse'] as const) {
      const data = event === 'PostToolUse' ? { ...CALL, tool_result: 'ok' } : {}
      expect(await hooks.session().fire(event, data)).toMatchObject({ action: 'continue' })
    }
  })

  test('a sink that takes the record lets the call pass', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit, settings })
    expect(await hooks.session().fire('PreToolUse', CALL)).toMatchObject({ action: 'continue' })
    expect(audit.records).toHaveLength(1)
  })
})
