// Answers to every host: a refusal always has the form that the host was seen to obey, and nothing else looks like one.

import { describe, expect, it } from 'vitest'
import { isObject } from '../../src/core/base/json.js'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { resolveEvent } from '../../src/core/events/events.js'
import {
  abortTurn,
  askUser,
  deny,
  type HookResult,
  hardAbort,
  inject,
  modify,
  proceed,
  respond,
} from '../../src/core/events/result.js'
import { answerOf, verdictOfResult } from '../../src/hosts/answer.js'
import type { HostAnswer, HostEvent } from '../../src/hosts/host.js'
import { HOST_NAMES, type HostName, hostNamed, type KnownHost } from '../../src/hosts/hosts.js'
import { readHostPayload } from '../../src/hosts/payload.js'
import { toolNamed } from '../../src/hosts/tool-calls.js'
import { decode } from '../../src/systems/claude-code/decode.js'

const EVENTS = Object.keys(CATALOGUE)
const REASON = 'not on a Friday'
const INPUT = { command: 'rm -rf /', description: 'd' }

const event = (name: string, more: Partial<HostEvent> = {}): HostEvent => {
  return { name, sentAs: name, data: { tool_name: 'Bash', tool_input: INPUT }, ...more }
}
const named = (name: HostName) => hostNamed(name) as KnownHost
const tell = (host: HostName, asked: HostEvent, result: HookResult): HostAnswer =>
  answerOf(named(host), asked, verdictOfResult(result))
const json = ({ stdout }: HostAnswer) => JSON.parse(stdout)
const onPre = (host: HostName, result: HookResult, more?: Partial<HostEvent>) =>
  tell(host, event('PreToolUse', more), result)

/** Hosts that read an exit code and plain text, but no JSON. */
const PLAIN: readonly HostName[] = ['amazon-q', 'goose', 'kimi', 'kiro', 'letta', 'windsurf']
/** Hosts for which no output is a failure. */
const SPOKEN: readonly HostName[] = ['cursor']
/** Hosts with a plugin of ours, which wants to see our mark. */
const MARKED: readonly HostName[] = ['cline-core', 'opencode', 'pi']

describe.each(HOST_NAMES)('%s', (host) => {
  it('hears nothing where a hook has no opinion', () => {
    for (const name of [...EVENTS, 'FutureEvent', 'constructor']) {
      const isGate = host === 'antigravity' && name === 'PreToolUse'
      const spoken = MARKED.includes(host) ? '{"carabiner":1}\n' : SPOKEN.includes(host) ? '{}\n' : ''
      const silence = isGate ? '{"decision":"ask"}\n' : spoken
      expect(tell(host, event(name), proceed()), name).toEqual({ stdout: silence, exit: 0 })
    }
  })

  it('loses no word to the user, whatever the verdict is', () => {
    const told = 'a word to the user'
    const more = { userMessage: told }
    const results = [proceed(more), deny(REASON, more), inject('ctx', more), askUser('ok?', more)]
    const shapes: readonly Partial<HostEvent>[] = [{}, { sentAs: '' }, { sentAs: 'preToolUse' }]
    for (const name of [...EVENTS, 'FutureEvent']) {
      for (const result of [...results, proceed({ ...more, host: { worktreePath: '/w' } })]) {
        for (const shape of shapes) {
          const { stdout, stderr = '' } = tell(host, event(name, shape), result)
          expect(stdout + stderr, `${name} ${result.action} ${shape.sentAs}`).toContain(told)
        }
      }
    }
  })

  const REFUSALS: readonly HookResult[] = [
    deny(REASON),
    abortTurn(REASON),
    hardAbort(REASON),
    respond(REASON),
    deny(REASON, { contextInjection: 'ctx', userMessage: 'msg', permission: 'allow' }),
  ]

  it('hears of every refusal, on every event', () => {
    for (const name of [...EVENTS, 'FutureEvent', 'constructor', '']) {
      for (const result of REFUSALS) {
        const { stdout, stderr = '', exit } = tell(host, event(name), result)
        expect([0, 2], name).toContain(exit)
        expect(exit === 2 ? `${stderr}${stdout}` : stdout, name).toContain(REASON)
        if (exit === 2) expect(stderr, name).toContain(REASON)
      }
    }
  })

  it('is never told to allow what is refused, nor given a changed call', () => {
    for (const result of REFUSALS) {
      const { stdout } = onPre(host, {
        ...result,
        permission: 'allow',
        data: { tool_input: { command: 'ls' } },
      })
      expect(stdout).not.toMatch(/allow|"ls"/)
    }
  })

  it('has a reason also where the hook gave none', () => {
    const { stdout, stderr = '' } = onPre(host, { action: 'deny' })
    expect(`${stdout}${stderr}`).toContain('A hook refused this')
  })

  it('prints one JSON object, or plain text where it reads no other', () => {
    const results = [
      ...REFUSALS,
      inject('ctx'),
      proceed({ userMessage: 'msg' }),
      modify({ tool_input: INPUT }),
    ]
    for (const name of EVENTS.filter((one) => one !== 'PreCompact' || host !== 'claude-code')) {
      for (const result of results) {
        const { stdout } = tell(host, event(name), result)
        if (stdout !== '' && !PLAIN.includes(host)) expect(isObject(JSON.parse(stdout)), name).toBe(true)
        expect(stdout === '' || stdout.endsWith('\n')).toBe(true)
      }
    }
  })

  it('does not run what a hook made safe as it was', () => {
    const { stdout, stderr = '', exit } = onPre(host, modify({ tool_input: { ...INPUT, command: 'ls' } }))
    const changes = /updatedInput|updated_input|modifiedArgs|overrideInput|"(?:tool_)?input"/.test(stdout)
    if (!changes) expect(exit === 2 ? stderr : stdout).toContain('cannot apply the change')
    expect(`${stdout}${stderr}`).toContain('ls')
  })

  it('does not lose a question', () => {
    const { stdout, stderr = '' } = onPre(host, askUser('really?'))
    expect(`${stdout}${stderr}`).toContain('really?')
    if (!/"(?:force_)?ask"/.test(stdout))
      expect(`${stdout}${stderr}`).toContain('A person must approve this first')
  })
})

describe('a refusal before a tool, as each agent was seen to obey it', () => {
  const specific = {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: REASON,
    },
  }
  it.each<[HostName, number, object | undefined]>([
    ['claude-code', 2, specific],
    ['codex', 0, specific],
    ['qwen', 0, specific],
    ['vscode', 0, specific],
    ['droid', 0, specific],
    ['gemini', 0, { decision: 'deny', reason: REASON }],
    ['copilot', 0, specific],
    ['cursor', 0, { permission: 'deny', user_message: REASON, agent_message: REASON }],
    ['cline', 0, { cancel: true, errorMessage: REASON }],
    ['cline-core', 0, { carabiner: 1, cancel: true, errorMessage: REASON }],
    ['antigravity', 0, { decision: 'deny', reason: REASON }],
    ['opencode', 0, { carabiner: 1, deny: REASON }],
    ['pi', 0, { carabiner: 1, deny: REASON }],
    ['kiro', 2, undefined],
    ['crush', 0, { decision: 'deny', reason: REASON }],
    ['openhands', 2, { decision: 'deny', reason: REASON }],
    ['kimi', 2, undefined],
    ['letta', 2, undefined],
    ['amazon-q', 2, undefined],
    ['windsurf', 2, undefined],
    ['goose', 2, undefined],
  ])('%s', (host, exit, answer) => {
    const told = onPre(host, deny(REASON))
    expect(told.exit).toBe(exit)
    expect(told.stdout === '' ? undefined : json(told)).toEqual(answer)
    if (exit === 2) expect(told.stderr).toBe(`${REASON}\n`)
  })

  it('Cline obeys nothing but a cancel, also where the event is not known', () => {
    expect(json(tell('cline', event('FutureEvent'), deny(REASON)))).toMatchObject({ cancel: true })
    expect(json(tell('cline', event('Stop'), deny(REASON)))).toEqual({ errorMessage: REASON })
  })

  it('Copilot reads flat answers where it uses its own names', () => {
    for (const sentAs of ['preToolUse', '']) {
      expect(json(onPre('copilot', deny(REASON), { sentAs }))).toEqual({
        permissionDecision: 'deny',
        permissionDecisionReason: REASON,
      })
    }
  })

  it('Codex reads no decision where it cannot block, and drops an answer that has one', () => {
    for (const name of ['PreCompact', 'PostCompact']) {
      for (const result of [deny(REASON), abortTurn(REASON)]) {
        const told = tell('codex', event(name), result)
        expect([told.exit, json(told)], name).toEqual([0, { continue: false, stopReason: REASON }])
      }
    }
  })

  it('goose has more names for a call', () => {
    for (const sent of ['BeforeShellExecution', 'BeforeReadFile']) {
      const payload = { event: sent, matcher_context: 'x', tool_name: 'developer__shell', tool_input: INPUT }
      const read = readHostPayload(payload)
      expect([read.host.name, read.event.name]).toEqual(['goose', 'PreToolUse'])
      expect(tell('goose', read.event, deny(REASON))).toEqual({ stdout: '', stderr: `${REASON}\n`, exit: 2 })
    }
  })

  it('Claude Code and Codex disagree about a stop: one needs a deny with it, the other takes none', () => {
    expect(onPre('claude-code', abortTurn(REASON))).toMatchObject({ exit: 0 })
    expect(json(onPre('claude-code', abortTurn(REASON)))).toEqual({
      continue: false,
      stopReason: REASON,
      ...specific,
    })
    expect(json(onPre('codex', abortTurn(REASON)))).toEqual(specific)
  })
})

describe('a question before a tool', () => {
  it.each<[HostName, boolean]>([
    ['claude-code', true],
    ['qwen', true],
    ['copilot', true],
    ['vscode', true],
    ['droid', true],
    ['codex', false],
    ['gemini', false],
    ['cursor', false],
    ['cline', false],
    ['kimi', false],
    ['letta', false],
    ['crush', false],
  ])('%s can ask: %s', (host, can) => {
    expect(onPre(host, askUser('ok?')).stdout.includes('"ask"')).toBe(can)
  })
})

describe('a changed call', () => {
  const changed = { command: 'ls', description: 'd' }
  const change = modify({ tool_input: changed })

  it.each<[HostName, object]>([
    ['claude-code', { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: changed } }],
    [
      'codex',
      {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'allow',
          updatedInput: changed,
        },
      },
    ],
    ['gemini', { hookSpecificOutput: { hookEventName: 'PreToolUse', tool_input: changed } }],
    ['cursor', { updated_input: changed }],
    ['crush', { updated_input: changed }],
  ])('%s', (host, answer) => {
    expect(json(onPre(host, change))).toEqual(answer)
  })

  it.each<HostName>(['gemini', 'droid', 'crush'])('%s would keep a key that is to go', (host) => {
    const { stdout } = onPre(host, modify({ tool_input: { command: 'ls' } }))
    expect(stdout).toContain('deny')
    expect(stdout).toContain('cannot apply the change')
  })

  it('that leaves a key out: the message names the key, and the reason has the changed input', () => {
    const kept = { command: 'ls', description: 'list' }
    const asked = { data: { tool_name: 'run_shell_command', tool_input: { ...kept, dir: '/' } } }
    expect(json(onPre('gemini', modify({ tool_input: kept }), asked))).toEqual({
      decision: 'deny',
      reason: expect.stringContaining(JSON.stringify(kept)),
      systemMessage: 'Gemini CLI cannot remove fields of tool_input (dir): a hook must return them too',
    })
    const { systemMessage } = json(onPre('gemini', deny(REASON, { data: { tool_input: {} } }), asked))
    expect(systemMessage).toBe(undefined)
  })

  it.each<HostName>(['qwen', 'kimi', 'letta', 'openhands', 'cline'])('%s cannot make one', (host) => {
    const { stdout, stderr = '' } = onPre(host, change)
    expect(`${stdout}${stderr}`).toContain('cannot apply the change')
  })

  it('another tool is more than any agent can be told', () => {
    expect(json(onPre('claude-code', modify({ tool_name: 'Read' }))).hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
    })
  })

  it('of a prompt is refused where it cannot be made, of a result is told', () => {
    const prompt = tell('claude-code', event('UserPromptSubmit'), modify({ prompt: 'x' }))
    expect(json(prompt)).toMatchObject({ decision: 'block' })
    const result = tell('codex', event('PostToolUse'), modify({ tool_response: 'x' }))
    expect(json(result)).toEqual({ systemMessage: 'Codex cannot change tool_response here' })
  })
})

describe('what else an agent is told', () => {
  it.each<[HostName, string, object]>([
    [
      'claude-code',
      'SessionStart',
      { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'c' } },
    ],
    [
      'gemini',
      'UserPromptSubmit',
      { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'c' } },
    ],
    ['cursor', 'SessionStart', { additional_context: 'c' }],
    ['cline', 'UserPromptSubmit', { contextModification: 'c' }],
    ['crush', 'PreToolUse', { context: 'c' }],
  ])('%s takes context on %s', (host, name, answer) => {
    expect(json(tell(host, event(name), inject('c')))).toEqual(answer)
  })

  it('plain text is context where nothing else is read', () => {
    expect(tell('amazon-q', event('UserPromptSubmit'), inject('c'))).toEqual({ stdout: 'c\n', exit: 0 })
    expect(tell('claude-code', event('PreCompact'), inject('c'))).toEqual({ stdout: 'c\n', exit: 0 })
  })

  it('an allow, where it spares a question', () => {
    const allow = proceed({ permission: 'allow' })
    expect(json(onPre('claude-code', allow)).hookSpecificOutput.permissionDecision).toBe('allow')
    expect(json(tell('claude-code', event('PermissionRequest'), allow)).hookSpecificOutput.decision).toEqual({
      behavior: 'allow',
    })
    // Codex would take the whole answer for a failure.
    expect(onPre('codex', allow).stdout).toBe('')
    expect(json(tell('copilot', event('PermissionRequest', { sentAs: 'permissionRequest' }), allow))).toEqual(
      {
        behavior: 'allow',
      },
    )
  })

  it('where an agent goes on, and why', () => {
    expect(json(tell('cursor', event('Stop'), deny(REASON)))).toEqual({ followup_message: REASON })
    expect(json(tell('gemini', event('Stop'), deny(REASON)))).toEqual({ decision: 'deny', reason: REASON })
    expect(json(tell('codex', event('Stop'), deny(REASON)))).toEqual({ decision: 'block', reason: REASON })
  })

  it('fields of its own, and none that decides', () => {
    const host = { sessionTitle: 't', permissionDecision: 'allow', nonsense: 1 }
    expect(json(tell('claude-code', event('SessionStart'), proceed({ host })))).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', sessionTitle: 't' },
    })
    expect(onPre('claude-code', proceed({ host })).stdout).toBe('')
  })

  it('a worktree’s path as it stands', () => {
    const made = proceed({ host: { worktreePath: '/w' } })
    expect(tell('claude-code', event('WorktreeCreate'), made)).toEqual({ stdout: '/w\n', exit: 0 })
  })
})

describe('Claude Code’s format, read again', () => {
  const HOSTS: readonly HostName[] = ['claude-code', 'codex', 'qwen', 'vscode', 'droid', 'copilot']

  function reread(asked: HostEvent, { stdout, stderr = '', exit }: HostAnswer): HookResult {
    const reply = { code: exit, signal: null, stdout, stderr, cut: false }
    const happened = { name: asked.name, data: asked.data, session: undefined }
    return decode(happened, reply, { name: 'h', onFailure: 'continue' }, () => undefined)
  }

  /** Events that no output of a hook blocks. */
  const never = (name: string) => ['none'].includes(resolveEvent(name).deny) || name === 'SubagentStart'

  /** Codex can only stop here, which Claude Code cannot. */
  const differs = (host: HostName, name: string) => host === 'codex' && name === 'PreCompact'

  it.each(HOSTS)('%s: a deny is one', (host) => {
    for (const name of EVENTS.filter((one) => !never(one) && !differs(host, one))) {
      const read = reread(event(name), tell(host, event(name), deny(REASON)))
      const told = read.action === 'inject_context' ? read.contextInjection : read.reason
      expect([name, told]).toEqual([name, REASON])
      if (resolveEvent(name).deny !== 'tell') expect(['deny', 'abort_turn']).toContain(read.action)
    }
  })

  it('everything else comes back as it was', () => {
    const all: HookResult = {
      action: 'modify',
      data: { tool_input: { command: 'ls' } },
      permission: 'allow',
      contextInjection: 'ctx',
      userMessage: 'msg',
      reason: 'fine',
    }
    expect(reread(event('PreToolUse'), onPre('claude-code', all))).toEqual(all)
    const stop = reread(event('PreToolUse'), onPre('claude-code', abortTurn(REASON)))
    expect(stop).toMatchObject({ action: 'abort_turn', reason: REASON })
  })
})

describe('a payload of Copilot that could not be read', () => {
  it('is refused in the form that both of its spellings honour', () => {
    const unread = onPre('copilot', deny(REASON), { sentAs: '', data: {} })
    expect(unread).toMatchObject({ exit: 2, stderr: `${REASON}\n` })
    expect(json(unread).permissionDecision).toBe('deny')
    // A readable payload is in its own spelling, where the exit code would hide the reason.
    expect(onPre('copilot', deny(REASON), { sentAs: '' })).toMatchObject({ exit: 0 })
  })
})

describe('what Claude Code calls the tools of others', () => {
  it.each([
    ['cline', 'execute_command', ['Bash']],
    ['cline', 'run_commands', ['Bash']],
    ['cline', 'write_to_file', ['Write']],
    ['letta', 'exec_command', ['Bash']],
    ['letta', 'RunShellCommand', ['Bash']],
    ['letta', 'Bash', ['Bash']],
    ['openhands', 'terminal', ['Bash']],
    ['openhands', 'file_editor', ['Write', 'Edit']],
    ['kimi', 'Bash', ['Bash']],
    ['openhands', 'constructor', []],
  ] as const)('%s: %s', (host, tool, names) => {
    expect(toolNamed(named(host), tool)?.names ?? []).toEqual(names)
  })
})
