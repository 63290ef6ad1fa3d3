// The contract of every agent whose hook files run here: its payload, and what its hooks' answers mean.

import { describe, expect, it } from 'vitest'
import type { Data } from '../../../src/core/base/json.js'
import type { HookResult } from '../../../src/core/events/result.js'
import { abilitiesOf } from '../../../src/hosts/answer.js'
import { agentCall } from '../../../src/hosts/hook-files/agent-call.js'
import type { AgentSystem } from '../../../src/hosts/hook-files/agent-system.js'
import { hookFiles } from '../../../src/hosts/hook-files/hook-files.js'
import { type HostName, hostNamed } from '../../../src/hosts/hosts.js'
import { readEnvelope, readHostPayload } from '../../../src/hosts/payload.js'
import { decode } from '../../../src/systems/claude-code/decode.js'

const AGENTS = await hookFiles()
const agentNamed = (name: string) => AGENTS.find((agent) => agent.name === name)

const SESSION = {
  session_id: 's1',
  cwd: '/project',
  transcript_path: '/t.jsonl',
  timestamp: '2026-01-31T12:00:00.000Z',
}
const BASH = { tool_name: 'Bash', tool_input: { command: 'git push --force' }, tool_use_id: 'u1' }
const DATA: Readonly<Record<string, Data>> = {
  PreToolUse: BASH,
  PermissionRequest: BASH,
  PostToolUse: { ...BASH, tool_response: { stdout: 'done' } },
  UserPromptSubmit: { prompt: 'hello' },
  Stop: { stop_hook_active: false, last_assistant_message: 'bye' },
  SessionStart: { source: 'startup' },
}

interface Printed {
  readonly code?: number
  readonly out?: string | object
  readonly err?: string
}

/** The agent's own name of an event that is about the shell, or about everything. */
function ownName(agent: AgentSystem, event: string): string {
  const found = Object.entries(agent.events).filter(([, { to }]) => to === event)
  return (
    (found.find(([, { tools }]) => !tools) ?? found.find(([, { tools }]) => tools?.includes('Bash')))?.[0] ??
    ''
  )
}

function eventOf(name: string, more: Data = {}) {
  return { name, data: { ...SESSION, ...DATA[name], ...more }, session: undefined }
}

async function resultOf(
  agentName: string,
  event: string,
  { code = 0, out = '', err = '' }: Printed,
  as?: string,
  more?: Data,
): Promise<HookResult> {
  const agent = agentNamed(agentName) as AgentSystem
  const sent = eventOf(event, more)
  const call = await agentCall({ agent: agentName, event: as ?? ownName(agent, event) }, sent, '/project')
  const stdout = typeof out === 'string' ? out : JSON.stringify(out)
  const reply = call?.answer({ code, signal: null, stdout, stderr: err, cut: false })
  if (!reply) throw new Error(`no agent ${agentName}`)
  const grants = call?.grants ?? true
  return decode(sent, reply, { name: 'x', onFailure: 'continue', grants }, () => {})
}

const CLAUDE_DENY = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'why',
  },
}

describe('a deny before a tool', () => {
  it.each<[string, string, Printed]>([
    ['cursor', 'in its own words', { out: { permission: 'deny', agent_message: 'why', user_message: 'x' } }],
    ['cursor', 'by exit code, with the reason on stdout', { code: 2, out: 'why' }],
    ['cursor', 'in words of Claude Code', { out: CLAUDE_DENY }],
    ['windsurf', 'by exit code', { code: 2, err: 'why' }],
    ['copilot', 'in its own words', { out: { permissionDecision: 'deny', permissionDecisionReason: 'why' } }],
    [
      'copilot',
      'after progress',
      {
        out: `{"type":"progress","message":"x"}\n${JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'why' })}`,
      },
    ],
    ['copilot', 'by any exit code', { code: 1, err: 'why' }],
    [
      'copilot',
      'by any exit code, whatever it prints',
      { code: 1, out: { permissionDecision: 'allow' }, err: 'why' },
    ],
    [
      'copilot',
      'behind a line about progress',
      { out: '{"type":"progress","message":"x"}\n{"permissionDecision":"deny","message":"why"}' },
    ],
    ['copilot', 'in capitals', { out: { permissionDecision: 'DENY', reason: 'why' } }],
    [
      'copilot',
      'beside an allow',
      { out: { permissionDecision: 'allow', decision: 'block', reason: 'why' } },
    ],
    [
      'gemini',
      'beside an allow',
      {
        out: {
          decision: 'allow',
          reason: 'why',
          hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'why' },
        },
      },
    ],
    [
      'gemini',
      'after another line on stderr',
      { err: `log\n${JSON.stringify({ decision: 'deny', reason: 'why' })}` },
    ],
    [
      'gemini',
      'in a JSON string',
      { out: JSON.stringify(JSON.stringify({ decision: 'deny', reason: 'why' })) },
    ],
    ['gemini', 'after another line', { out: `log\n${JSON.stringify({ decision: 'deny', reason: 'why' })}` }],
    ['gemini', 'in its own words', { out: { decision: 'deny', reason: 'why' } }],
    ['gemini', 'on stderr', { code: 2, err: JSON.stringify({ decision: 'block', reason: 'why' }) }],
    ['gemini', 'by exit code 3, with the reason on stdout', { code: 3, out: 'why' }],
    ['antigravity', 'in its own words', { out: { decision: 'deny', reason: 'why' } }],
    ['openhands', 'in its own words', { out: { decision: 'deny', reason: 'why' } }],
    ['goose', 'in its own words', { out: { decision: 'block', reason: 'why' } }],
    ['crush', 'in its own words', { out: { decision: 'deny', reason: 'why' } }],
    ['kiro', 'by any exit code', { code: 1, err: 'why' }],
    ...(['codex', 'qwen', 'droid', 'devin', 'grok'] as const).map((name): [string, string, Printed] => [
      name,
      'in words of Claude Code',
      { out: CLAUDE_DENY },
    ]),
    ...AGENTS.map(({ name }): [string, string, Printed] => [name, 'by exit code 2', { code: 2, err: 'why' }]),
  ])('of %s %s', async (name, _, printed) => {
    expect(await resultOf(name, 'PreToolUse', printed)).toMatchObject({ action: 'deny', reason: 'why' })
  })

  it.each(['beforeShellExecution', 'beforeMCPExecution', 'beforeReadFile'])('of Cursor on %s', async (as) => {
    const out = { permission: 'deny', user_message: 'why' }
    expect(await resultOf('cursor', 'PreToolUse', { out }, as)).toMatchObject({
      action: 'deny',
      reason: 'why',
    })
  })

  it('of Crush ends the turn', async () => {
    expect((await resultOf('crush', 'PreToolUse', { code: 49, err: 'why' })).action).toMatch(/abort|deny/)
  })

  it.each([
    ['cursor', { out: 'not JSON' }],
    ['cursor', { out: { permission: 'maybe' } }],
    ['cursor', { out: { permission: null, user_message: 'x' } }],
    ['cursor', { out: { permission: true } }],
    ['antigravity', { out: '' }],
    ['antigravity', { out: { decision: 'perhaps' } }],
    ['copilot', { code: 127, err: 'sh: not found' }],
  ])('of %s is a reply that cannot be read: %j', async (name, printed) => {
    expect((await resultOf(name, 'PreToolUse', printed)).action).toBe('deny')
  })

  it('of Cursor is silence, if the hook is to fail closed', async () => {
    const silent = { code: 0, signal: null, stdout: '\n', stderr: '', cut: false }
    const answers = async (as: string, name: string) => {
      const call = await agentCall(
        { agent: 'cursor', event: as, failsClosed: true },
        eventOf(name),
        '/project',
      )
      return call?.answer(silent)
    }
    expect(await answers('beforeShellExecution', 'PreToolUse')).toMatchObject({ code: 2 })
    expect(await answers('beforeSubmitPrompt', 'UserPromptSubmit')).toMatchObject({ code: 2 })
    expect(await answers('afterShellExecution', 'PostToolUse')).toMatchObject({ code: 0 })
  })

  it('is kept where the agent ignores what a hook prints', async () => {
    for (const name of ['windsurf', 'amazon-q', 'letta', 'kimi'])
      expect((await resultOf(name, 'PreToolUse', { out: { decision: 'deny', reason: 'why' } })).action).toBe(
        'deny',
      )
  })
})

describe('no opinion', () => {
  it.each([
    ...AGENTS.filter(({ name }) => name !== 'antigravity').map(({ name }): [string, Printed] => [name, {}]),
    ['cursor', { out: {} }],
    ['cursor', { out: { permission: 'allow' } }],
    ['antigravity', { out: { decision: 'allow' } }],
    ['gemini', { out: 'a remark' }],
    ['windsurf', { out: 'a remark' }],
  ] as [string, Printed][])('of %s: %j', async (name, printed) => {
    expect((await resultOf(name, 'PreToolUse', printed)).action).toBe('continue')
  })

  it('an allow of an agent that ignores output opens nothing', async () => {
    expect(await resultOf('windsurf', 'PreToolUse', { out: { permissionDecision: 'allow' } })).toEqual({
      action: 'continue',
    })
  })
})

describe('more than a verdict', () => {
  it.each<[string, string, Printed, object]>([
    ['cursor', 'PreToolUse', { out: { permission: 'ask', user_message: 'sure?' } }, { action: 'ask_user' }],
    [
      'cursor',
      'PreToolUse',
      { out: { permission: 'allow', updated_input: { command: 'ls' } } },
      { data: { tool_input: { command: 'ls' } } },
    ],
    ['cursor', 'PostToolUse', { out: { additional_context: 'note' } }, { contextInjection: 'note' }],
    [
      'cursor',
      'UserPromptSubmit',
      { out: { continue: false, user_message: 'no' } },
      { action: 'deny', reason: 'no' },
    ],
    ['cursor', 'Stop', { out: { followup_message: 'go on' } }, { action: 'deny', reason: 'go on' }],
    ['cursor', 'SessionStart', { out: { additional_context: 'note' } }, { contextInjection: 'note' }],
    [
      'copilot',
      'PreToolUse',
      { out: { permissionDecision: 'ask', permissionDecisionReason: 'sure?' } },
      { action: 'ask_user' },
    ],
    [
      'copilot',
      'PreToolUse',
      { out: { permissionDecision: 'allow', modifiedArgs: { command: 'ls' } } },
      { data: { tool_input: { command: 'ls' } } },
    ],
    ['copilot', 'PostToolUse', { out: { additionalContext: 'note' } }, { contextInjection: 'note' }],
    ['copilot', 'Stop', { out: { decision: 'block', reason: 'go on' } }, { action: 'deny', reason: 'go on' }],
    [
      'copilot',
      'PermissionRequest',
      { out: { behavior: 'deny', message: 'why' } },
      { action: 'deny', reason: 'why' },
    ],
    ['copilot', 'PermissionRequest', { code: 2, err: 'why' }, { action: 'deny', reason: 'why' }],
    ['codex', 'PermissionRequest', { code: 2, err: 'why' }, { action: 'deny', reason: 'why' }],
    [
      'gemini',
      'PreToolUse',
      { out: { hookSpecificOutput: { tool_input: { timeout: 5 } } } },
      { data: { tool_input: { command: 'git push --force', timeout: 5 } } },
    ],
    ['gemini', 'Stop', { out: { decision: 'deny', reason: 'go on' } }, { action: 'deny', reason: 'go on' }],
    [
      'gemini',
      'UserPromptSubmit',
      { out: { hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: 'note' } } },
      { contextInjection: 'note' },
    ],
    [
      'antigravity',
      'PreToolUse',
      { out: { decision: 'force_ask', reason: 'sure?' } },
      { action: 'ask_user' },
    ],
    ['openhands', 'UserPromptSubmit', { out: { additionalContext: 'note' } }, { contextInjection: 'note' }],
    [
      'crush',
      'PreToolUse',
      { out: { decision: 'allow', updated_input: { timeout: 5 } } },
      { data: { tool_input: { command: 'git push --force', timeout: 5 } } },
    ],
    ['kiro', 'UserPromptSubmit', { out: 'note' }, { contextInjection: 'note' }],
    ['amazon-q', 'SessionStart', { out: 'note' }, { contextInjection: 'note' }],
    [
      'droid',
      'PreToolUse',
      {
        out: {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'allow',
            updatedInput: { timeout: 5 },
          },
        },
      },
      { data: { tool_input: { command: 'git push --force', timeout: 5 } } },
    ],
  ])('%s on %s: %j', async (name, event, printed, result) => {
    expect(await resultOf(name, event, printed)).toMatchObject(result)
  })
})

describe('a payload', () => {
  const known = AGENTS.filter(({ name }) => hostNamed(name))

  it.each(known.map(({ name }) => [name]))('of %s is one that its host sends', async (name) => {
    const agent = agentNamed(name) as AgentSystem
    for (const event of ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SessionStart']) {
      const as = ownName(agent, event)
      if (as === '') continue
      const call = await agentCall({ agent: name, event: as }, eventOf(event), '/project')
      const { event: read } = readHostPayload(JSON.parse(call?.payload ?? '') as Data, {
        host: name as HostName,
        event: as,
      })
      expect(read.name).toBe(event)
      if (!event.endsWith('ToolUse')) continue
      expect(read.calls?.map((one) => one.names) ?? [[read.data.tool_name]]).toContainEqual(
        expect.arrayContaining(['Bash']),
      )
      expect(read.calls?.[0]?.data ?? read.data).toMatchObject({
        tool_input: { command: 'git push --force' },
      })
    }
  })
})

describe('names of events', () => {
  it('do not contradict the table of hosts, which lacks some that only files name', () => {
    const differing = AGENTS.flatMap((agent) => {
      const host = hostNamed(agent.name)
      if (!host) return []
      return Object.entries(agent.events).flatMap(([own, { to }]) => {
        if (to === null) return []
        const { name } = readEnvelope({}, { host: agent.name as HostName, event: own })
        return name === to || name === own ? [] : [`${agent.name} ${own}: ${to} here, ${name} there`]
      })
    })
    expect(differing).toEqual([])
  })
})

describe('an allow', () => {
  const event = { PreToolUse: 'PreToolUse', PermissionRequest: 'PermissionRequest' } as const
  /** Every word for it, in every place where an agent might look. */
  const words: readonly object[] = [
    ...['allow', 'approve'].flatMap((word) => [
      { permission: word },
      { decision: word },
      { permissionDecision: word },
      { behavior: word },
      { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: word } },
      { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: word } } },
    ]),
    { action: 'continue', permission: 'allow' },
  ]
  const cases = AGENTS.flatMap((agent) =>
    Object.values(event).flatMap((name) => (ownName(agent, name) ? [[agent.name, name] as const] : [])),
  )

  it.each(cases)('of %s on %s grants no more here than there', async (name, on) => {
    const host = hostNamed(name)
    const can = host ? abilitiesOf(host, { name: on, sentAs: '', data: {} }) : []
    const granted: object[] = []
    for (const out of words) {
      // A failure grants nothing.
      const result = await resultOf(name, on, { out }).catch(() => undefined)
      if (result?.permission === 'allow') granted.push(out)
    }
    if (!can?.includes('allow')) expect(granted).toEqual([])
    expect(granted.length > 0).toBe(agentNamed(name)?.grants?.includes(on) === true)
  })

  it('takes the rest of a ruling with it', async () => {
    const decision = { behavior: 'allow', updatedInput: {}, updatedPermissions: [] }
    const out = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }
    expect(await resultOf('devin', 'PermissionRequest', { out })).toEqual({ action: 'continue' })
  })

  it('keeps a changed input', async () => {
    const out = { permission: 'allow', updated_input: { command: 'ls' } }
    expect(await resultOf('cursor', 'PreToolUse', { out })).toMatchObject({
      data: { tool_input: { command: 'ls' } },
    })
  })
})
