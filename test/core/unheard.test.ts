// Tool calls that no hook hears: they pass at once, and leave the same records as any other call.

import { type AuditRecord, createHooks, type HooksOptions, memoryAudit } from 'carabiner'
import { describe, expect, test } from 'vitest'

const CALL = { name: 'Bash', input: { command: 'ls' }, id: 't1', fields: { host_tool_name: 'bash' } }

async function opened(options: HooksOptions = {}) {
  const hooks = await createHooks({ globals: false, ...options })
  return { hooks, session: hooks.session({ id: 's1', agentId: 'a1' }) }
}

/** Records as they are written later, and how many were written at once. */
function lateAudit() {
  const made: (() => AuditRecord)[] = []
  const audit = memoryAudit()
  const auditLater = (make: () => AuditRecord) => void made.push(make)
  return { options: { audit, auditLater }, audit, records: () => made.map((make) => make()) }
}

const withoutTime = ({ time: _, ms: __, ...record }: AuditRecord) => record

describe('a call that no hook hears', () => {
  test.each([
    ['succeeds', { result: 'a.txt' }, 'PostToolUse'],
    ['fails', { error: 'not found' }, 'PostToolUseFailure'],
  ])('leaves the records of any other call if it %s', async (_, how, event) => {
    const plain = memoryAudit()
    const { session: usual } = await opened({ audit: plain })
    const begun = await usual.beginTool(CALL)
    if (begun.status === 'run') await ('error' in how ? begun.fail(how.error) : begun.finish(how.result))

    const late = lateAudit()
    const { session } = await opened(late.options)
    expect(session.beginUnheardTool(CALL, {})?.endUnheard(how)).toBe(true)
    expect(late.audit.records).toEqual([])
    expect(late.records().map((record) => record.event)).toEqual(['PreToolUse', event])
    expect(late.records().map(withoutTime)).toEqual(plain.records.map(withoutTime))
  })

  test('ends as usual if a hook was added meanwhile', async () => {
    const { hooks, session } = await opened()
    const begun = session.beginUnheardTool(CALL, {})
    const seen: unknown[] = []
    hooks.register(
      'PostToolUse',
      (_, { tool_input, tool_response }) => void seen.push(tool_input, tool_response),
    )
    expect(begun?.endUnheard({ result: 'a.txt' })).toBe(false)
    await begun?.finish('a.txt')
    expect(seen).toEqual([{ command: 'ls' }, 'a.txt'])
  })

  test('is interrupted when the session is closed, and ends once', async () => {
    const late = lateAudit()
    const { session } = await opened(late.options)
    const [begun, ended] = [session.beginUnheardTool(CALL, {}), session.beginUnheardTool(CALL, {})]
    ended?.endUnheard({ result: '' })
    expect(ended?.endUnheard({ result: '' })).toBe(false)
    await session.close()
    expect(begun?.endUnheard({ result: '' })).toBe(false)
    expect(late.audit.records.map(({ event }) => event)).toEqual(['PostToolUseFailure'])
    expect(late.records().map(({ event }) => event)).toEqual(['PreToolUse', 'PreToolUse', 'PostToolUse'])
    expect(session.beginUnheardTool(CALL, {})).toBe(undefined)
  })
})

describe('a call does not pass unheard', () => {
  test('if any hook listens, even to all events or for another tool', async () => {
    const { hooks, session } = await opened()
    const off = hooks.register('*', () => undefined, { role: 'observe' })
    expect(session.beginUnheardTool(CALL, {})).toBe(undefined)
    off()
    hooks.register('PreToolUse', () => undefined, { matcher: 'Write' })
    expect(session.beginUnheardTool(CALL, {})).toBe(undefined)
  })

  test('if its record cannot wait', async () => {
    const { session } = await opened({ audit: memoryAudit() })
    expect(session.beginUnheardTool(CALL, {})).toBe(undefined)
    const strict = await opened({ ...lateAudit().options, settings: { audit_on_failure: 'block' } })
    expect(strict.session.beginUnheardTool(CALL, {})).toBe(undefined)
  })
})
