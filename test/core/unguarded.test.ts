// Whether a record says that a call went on without a gate that should have judged it, and why.

import {
  type AuditRecord,
  askUser,
  createHooks,
  deny,
  type HooksOptions,
  memoryAudit,
  modify,
  proceed,
} from 'carabiner'
import { describe, expect, test } from 'vitest'
import { isSlip } from '../../src/core/session/unguarded.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

async function recordOf(
  register: (hooks: Awaited<ReturnType<typeof createHooks>>) => void,
  options: HooksOptions = {},
  event = 'PreToolUse',
): Promise<AuditRecord> {
  const audit = memoryAudit()
  const hooks = await createHooks({ globals: false, audit, ...options })
  register(hooks)
  await hooks.session({ id: 's' }).fire(event, event === 'PreToolUse' ? CALL : {})
  return audit.records[0] as AuditRecord
}

const skipping =
  (why: 'disabled' | 'untrusted' | 'modified' | 'once' | 'duplicate'): HooksOptions['admit'] =>
  () => ({ why, detail: `it is ${why}` })

describe('U1: a gate that did not run', () => {
  test.for(['disabled', 'untrusted', 'modified'] as const)('%s', async (why) => {
    const record = await recordOf(
      (hooks) => hooks.register('PreToolUse', () => deny('no'), { name: 'gate' }),
      {
        admit: skipping(why),
      },
    )
    expect(record).toMatchObject({ action: 'continue' })
    expect(record.unguarded).toEqual([
      { hook: 'gate', source: expect.any(String), why, detail: `it is ${why}` },
    ])
  })

  test('a matcher with a slip', async () => {
    const record = await recordOf((hooks) =>
      hooks.register('PreToolUse', () => deny('no'), { name: 'gate', matcher: 'bash|write' }),
    )
    expect(record.unguarded).toMatchObject([{ hook: 'gate', why: 'matcher' }])
  })

  test('failed, and its failure lets the call go on', async () => {
    const fails = () => {
      throw new Error('broken')
    }
    const record = await recordOf((hooks) =>
      hooks.register('PreToolUse', fails, { name: 'gate', onFailure: 'continue' }),
    )
    expect(record.unguarded).toMatchObject([{ hook: 'gate', detail: expect.stringContaining('broken') }])
  })

  test('timed out, and its failure lets the call go on', async () => {
    const record = await recordOf((hooks) =>
      hooks.register('PreToolUse', () => new Promise(() => {}), {
        name: 'gate',
        onFailure: 'continue',
        timeout: 0.01,
      }),
    )
    expect(record.unguarded).toMatchObject([{ hook: 'gate', why: 'HOOK_TIMEOUT' }])
  })
})

test('U1: a gate that was not shown the final call', async () => {
  const record = await recordOf(
    (hooks) => {
      hooks.register('PreToolUse', () => proceed(), { name: 'gate' })
      hooks.register('PreToolUse', () => modify({ tool_input: { command: 'ls -l' } }), {
        name: 'late',
        priority: 9,
      })
    },
    { settings: { recheck: 'skipped' } },
  )
  expect(record.unguarded).toMatchObject([{ hook: 'gate', why: 'stale' }])
})

describe('a call is guarded', () => {
  const gate = (hooks: Awaited<ReturnType<typeof createHooks>>) =>
    hooks.register('PreToolUse', () => proceed(), { name: 'gate' })

  test('where the gate ran', async () => {
    expect(await recordOf(gate)).not.toHaveProperty('unguarded')
  })

  test.for(['once', 'duplicate'] as const)('where it did not run, as its author wanted: %s', async (why) => {
    expect(await recordOf(gate, { admit: skipping(why) })).not.toHaveProperty('unguarded')
  })

  test('where it is for another tool', async () => {
    const record = await recordOf((hooks) =>
      hooks.register('PreToolUse', () => deny('no'), { matcher: 'Write' }),
    )
    expect(record).not.toHaveProperty('unguarded')
  })

  test('where its failure closed', async () => {
    const fails = () => {
      throw new Error('broken')
    }
    const record = await recordOf((hooks) => hooks.register('PreToolUse', fails))
    expect(record).toMatchObject({ action: 'deny' })
    expect(record).not.toHaveProperty('unguarded')
  })

  test('where another gate refused it', async () => {
    const record = await recordOf(
      (hooks) => {
        hooks.register('PreToolUse', () => deny('no'), { name: 'strict' })
        hooks.register('PreToolUse', () => proceed(), { name: 'off' })
      },
      { admit: (hook) => hook.name !== 'off' || { why: 'disabled', detail: 'off' } },
    )
    expect(record).toMatchObject({ action: 'deny' })
    expect(record).not.toHaveProperty('unguarded')
  })

  test('where nothing can be refused', async () => {
    const record = await recordOf(
      (hooks) => hooks.register('SessionStart', () => proceed()),
      { admit: skipping('disabled') },
      'SessionStart',
    )
    expect(record).not.toHaveProperty('unguarded')
  })
})

test.for([
  ['bash', 'Bash', true],
  ['Write|web_fetch', 'WebFetch', true],
  ['mcp__git', 'mcp__git__push', true],
  ['Bash(git *)', 'Bash', true],
  ['Write', 'Bash', false],
  ['Task', 'TaskCreate', false],
  ['mcp__git__pull', 'mcp__git__push', false],
  ['', 'Bash', false],
  ['|', '', false],
] as const)('matcher %s and %s', ([pattern, value, slip]) => {
  expect(isSlip(pattern, value)).toBe(slip)
})

describe('a gate whose matcher has another name for the tool', () => {
  async function calls(tools: readonly string[], matcher = 'Bash', options: HooksOptions = {}) {
    const shown: string[] = []
    const hooks = await createHooks({ globals: false, display: ({ text }) => shown.push(text), ...options })
    hooks.register('PreToolUse', () => deny('no'), { name: 'gate', matcher })
    hooks.register('PreToolUse', () => proceed(), { name: 'sees all' })
    const session = hooks.session({ id: 's' })
    const outcomes = []
    for (const tool_name of tools)
      outcomes.push(await session.fire('PreToolUse', { tool_name, tool_input: { command: 'ls' } }))
    return { shown, outcomes, last: outcomes.at(-1) }
  }

  test.for([
    ['Bash', 'bash', 'name it "Bash", or change the matcher.'],
    ['Bash', 'run_shell_command', 'name it "Bash", or change the matcher.'],
    ['Bash|Write', 'shell', 'name it "Bash", or change the matcher.'],
    ['Ba.*', 'execute_bash', 'name it "Bash", or change the matcher.'],
    ['Write|Edit', 'write_file', 'name it "Write", or change the matcher.'],
    ['read', 'Read', 'replace "read" with "Read" in the matcher.'],
    ['web_fetch', 'WebFetch', 'replace "web_fetch" with "WebFetch" in the matcher.'],
  ] as const)('%s misses %s, and says so', async ([matcher, tool, todo]) => {
    const { last, shown } = await calls([tool], matcher)
    expect(last).toMatchObject({ action: 'continue', diagnostics: [{ code: 'matcher-missed' }] })
    expect(shown).toEqual([
      `gate did not see this call: the matcher "${matcher}" does not match the tool "${tool}". If it is the same tool, ${todo}`,
    ])
    expect(last?.messages).toMatchObject([{ level: 'warning', text: shown[0] }])
  })

  test('warns once per session and tool, and leaves a diagnostic each time', async () => {
    const { outcomes, shown } = await calls(['bash', 'bash', 'shell', 'bash'])
    expect(shown).toHaveLength(2)
    expect(outcomes.map(({ messages }) => messages.length)).toEqual([1, 0, 1, 0])
    expect(outcomes.map(({ diagnostics }) => diagnostics.length)).toEqual([1, 1, 1, 1])
  })

  test.for([
    ['Bash', 'Bash'],
    ['Bash', 'Write'],
    ['Edit', 'MultiEdit'],
    ['Bash', 'deploy'],
    ['*', 'bash'],
  ] as const)('%s and %s: nothing to say', async ([matcher, tool]) => {
    const { last, shown } = await calls([tool], matcher)
    expect([last?.diagnostics, shown]).toEqual([[], []])
  })

  test('is not told of where it is switched off', async () => {
    const { shown } = await calls(['bash'], 'Bash', { admit: skipping('disabled') })
    expect(shown).toEqual([])
  })

  test('of a PermissionRequest is told with the question', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => askUser('Sure?'))
    hooks.register('PermissionRequest', () => deny('no'), { name: 'gate', matcher: 'Bash' })
    const outcome = await hooks.session({ id: 's' }).fire('PreToolUse', { ...CALL, tool_name: 'bash' })
    expect(outcome.diagnostics).toMatchObject([{ code: 'matcher-missed' }])
    expect(outcome.messages).toMatchObject([{ level: 'warning', text: outcome.diagnostics[0]?.text }])
  })
})

describe('the call behind a record', () => {
  async function kept(settings: HooksOptions['settings'] = {}, admit?: HooksOptions['admit']) {
    const calls: string[] = []
    const record = await recordOf((hooks) => hooks.register('PreToolUse', () => proceed()), {
      settings,
      ...(admit && { admit }),
      auditCalls: (call) => {
        calls.push(call.id)
      },
    })
    return { calls, record }
  }

  test('is handed on with the id that the record names', async () => {
    const { calls, record } = await kept()
    expect(calls).toEqual([record.call])
  })

  test('is handed on where a gate should have judged it', async () => {
    expect((await kept({}, skipping('disabled'))).calls).toHaveLength(1)
  })

  test('stays where it is with audit_calls: false', async () => {
    const { calls, record } = await kept({ audit_calls: false })
    expect([calls, 'call' in record]).toEqual([[], false])
  })

  test('that nobody can keep is a diagnostic, and changes no decision', async () => {
    const audit = memoryAudit()
    const auditCalls = () => {
      throw new Error('no space left')
    }
    const hooks = await createHooks({ globals: false, audit, auditCalls })
    hooks.register('PreToolUse', () => proceed())
    expect((await hooks.session().fire('PreToolUse', CALL)).action).toBe('continue')
    expect(hooks.diagnostics).toMatchObject([{ text: expect.stringContaining('no space left') }])
    expect(audit.records[0]).not.toHaveProperty('call')
  })
})
