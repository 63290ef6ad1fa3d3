// Effects of an answer beside its verdict: changes, context, messages, and fields for the host.

import { describe, expect, it } from 'vitest'
import { BASH, eventOf, read, specific } from './reply.js'

describe('changes', () => {
  it('updatedInput replaces tool_input, with or without a verdict', () => {
    const updatedInput = { command: 'ls -la' }
    const data = { tool_input: updatedInput }
    expect(read(BASH, { stdout: specific('PreToolUse', { updatedInput }) }).result).toEqual({
      action: 'modify',
      data,
    })
    const allowed = specific('PreToolUse', { updatedInput, permissionDecision: 'allow' })
    expect(read(BASH, { stdout: allowed }).result).toEqual({ action: 'modify', data, permission: 'allow' })
    const asked = specific('PreToolUse', { updatedInput, permissionDecision: 'ask' })
    expect(read(BASH, { stdout: asked }).result).toMatchObject({ action: 'ask_user', data })
  })

  it('updatedToolOutput replaces the result, whatever it is', () => {
    for (const updatedToolOutput of [{ stdout: 'x' }, 'text', 0, false, []]) {
      const { result } = read('PostToolUse', { stdout: specific('PostToolUse', { updatedToolOutput }) })
      expect(result).toEqual({ action: 'modify', data: { tool_response: updatedToolOutput } })
    }
  })

  it('null replaces nothing: it is a failure', () => {
    const { error } = read('PostToolUse', { stdout: specific('PostToolUse', { updatedToolOutput: null }) })
    expect(error?.code).toBe('ANSWER_INVALID')
  })

  it('updatedMCPToolOutput does so for MCP tools alone', () => {
    const stdout = specific('PostToolUse', { updatedMCPToolOutput: 'REPLACED' })
    const on = (tool_name: string) => read(eventOf('PostToolUse', { tool_name, tool_input: {} }), { stdout })
    expect(on('mcp__srv__do').result?.data).toEqual({ tool_response: 'REPLACED' })
    expect(on('Bash')).toMatchObject({ result: { action: 'continue' }, codes: ['verdict-ignored'] })
  })

  it('newContent is the content of Write and the new_string of Edit', () => {
    const tool = (tool_name: string, tool_input: object) => eventOf('PreToolUse', { tool_name, tool_input })
    const write = tool('Write', { file_path: '/a', content: 'old' })
    expect(read(write, { stdout: { newContent: 'new' } }).result).toEqual({
      action: 'modify',
      data: { tool_input: { file_path: '/a', content: 'new' } },
    })
    const edit = tool('Edit', { file_path: '/a', old_string: 'o', new_string: 'n' })
    expect(read(edit, { stdout: { newContent: 'new' } }).result?.data).toEqual({
      tool_input: { file_path: '/a', old_string: 'o', new_string: 'new' },
    })
  })

  it('newContent is the prompt of UserPromptSubmit and the result of PostToolUse', () => {
    expect(read('UserPromptSubmit', { stdout: { newContent: 'new' } }).result?.data).toEqual({
      prompt: 'new',
    })
    for (const newContent of ['new', { stdout: 'new' }]) {
      expect(read('PostToolUse', { stdout: { newContent } }).result?.data).toEqual({
        tool_response: newContent,
      })
    }
  })

  it('newContent elsewhere changes nothing, which is said', () => {
    for (const event of [BASH, eventOf('Stop'), eventOf('PermissionRequest', { tool_name: 'Write' })]) {
      const { result, codes } = read(event, { stdout: { newContent: 'new' } })
      expect([result, codes]).toEqual([{ action: 'continue' }, ['verdict-ignored']])
    }
  })

  it('newContent is applied over updatedInput', () => {
    const stdout = specific(
      'PreToolUse',
      { updatedInput: { file_path: '/b', content: 'x' } },
      { newContent: 'new' },
    )
    const write = eventOf('PreToolUse', {
      tool_name: 'Write',
      tool_input: { file_path: '/a', content: 'old' },
    })
    expect(read(write, { stdout }).result?.data).toEqual({ tool_input: { file_path: '/b', content: 'new' } })
  })
})

describe('context', () => {
  it('is additionalContext, and contextInjection in seed 001', () => {
    const injected = { action: 'inject_context', contextInjection: 'CX' }
    expect(read(BASH, { stdout: specific('PreToolUse', { additionalContext: 'CX' }) }).result).toEqual(
      injected,
    )
    expect(read('PostToolUse', { stdout: { decision: 'approve', contextInjection: 'CX' } }).result).toEqual(
      injected,
    )
  })

  it('under both names is both texts; the same text is told once', () => {
    const both = (text: string) => ({
      stdout: specific('PreToolUse', { additionalContext: 'A' }, { contextInjection: text }),
    })
    expect(read(BASH, both('B')).result?.contextInjection).toBe('A\nB')
    expect(read(BASH, both('A')).result?.contextInjection).toBe('A')
  })

  it('that is empty is none, and so is null in a key of seed 001', () => {
    const answers = [
      specific('PreToolUse', { additionalContext: '' }),
      { contextInjection: ' \n' },
      { contextInjection: null, newContent: null },
    ]
    for (const stdout of answers) {
      expect(read(BASH, { stdout })).toMatchObject({ result: { action: 'continue' }, notes: [] })
    }
  })

  it('survives a deny', () => {
    const stdout = specific('PreToolUse', { additionalContext: 'CX' }, { decision: 'block', reason: 'no' })
    expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'no', contextInjection: 'CX' })
  })

  it('alone keeps the agent going on Stop and SubagentStop, and is delivered once', () => {
    for (const name of ['Stop', 'SubagentStop']) {
      const goesOn = { action: 'deny', reason: 'CX' }
      expect(read(name, { stdout: specific(name, { additionalContext: 'CX' }) }).result).toEqual(goesOn)
      expect(read(name, { stdout: { contextInjection: 'CX' } }).result).toEqual(goesOn)
      const block = specific(name, { additionalContext: 'CX' }, { decision: 'block', reason: 'BR' })
      expect(read(name, { stdout: block }).result).toEqual({
        action: 'deny',
        reason: 'BR',
        contextInjection: 'CX',
      })
    }
    const stop = specific('Stop', { additionalContext: 'CX' }, { continue: false })
    expect(read('Stop', { stdout: stop }).result?.action).toBe('abort_turn')
    const { result } = read('SubagentStart', {
      stdout: specific('SubagentStart', { additionalContext: 'CX' }),
    })
    expect(result?.action).toBe('inject_context')
  })
})

describe('messages and output', () => {
  it('systemMessage is for the user, suppressOutput hides what the hook printed', () => {
    expect(read('Stop', { stdout: { systemMessage: 'SM', suppressOutput: true } }).result).toEqual({
      action: 'continue',
      userMessage: 'SM',
      suppressOutput: true,
    })
    expect(read('Stop', { stdout: { systemMessage: '', suppressOutput: false } }).result).toEqual({
      action: 'continue',
    })
  })

  it('all effects of one answer count at once', () => {
    const fields = { permissionDecision: 'allow', updatedInput: { command: 'x' }, additionalContext: 'CX' }
    expect(read(BASH, { stdout: specific('PreToolUse', fields, { systemMessage: 'SM' }) }).result).toEqual({
      action: 'modify',
      permission: 'allow',
      data: { tool_input: { command: 'x' } },
      contextInjection: 'CX',
      userMessage: 'SM',
    })
  })
})

describe('for the host', () => {
  it.each([
    ['PermissionDenied', { retry: true }],
    ['PostToolUse', { classifierContext: 'text' }],
    ['UserPromptSubmit', { sessionTitle: 'T', suppressOriginalPrompt: true }],
    ['UserPromptExpansion', { suppressOriginalPrompt: false }],
    ['SessionStart', { initialUserMessage: 'M', sessionTitle: 'T', watchPaths: ['/a'], reloadSkills: true }],
    ['CwdChanged', { watchPaths: ['/a', '/b'] }],
    ['FileChanged', { watchPaths: [] }],
    ['MessageDisplay', { displayContent: 'text' }],
  ])('%s: what only a host can act on', (name, host) => {
    expect(read(name, { stdout: specific(name, host) }).result).toEqual({ action: 'continue', host })
  })

  it('refuses what is not of the right type', () => {
    for (const watchPaths of ['/a', [1], null]) {
      const { error } = read('CwdChanged', { stdout: specific('CwdChanged', { watchPaths }) })
      expect(error?.message).toContain('watchPaths must be a list of strings')
    }
  })

  it('terminalSequence may set a title, notify or ring, and nothing else', () => {
    const on = (terminalSequence: string) => read('Stop', { stdout: { terminalSequence } })
    for (const sequence of ['\u0007', '\u001b]0;title\u0007', '\u001b]777;notify;a;b\u001b\\\u0007']) {
      expect(on(sequence).result?.host).toEqual({ terminalSequence: sequence })
    }
    for (const sequence of [
      '\u001b[2J',
      '\u001b]52;c;x\u0007',
      'text',
      '\u001b]0;a\u001b]52;c;x\u0007',
      '\u001b]0;x',
    ]) {
      expect(on(sequence)).toMatchObject({ result: { action: 'continue' }, codes: ['verdict-ignored'] })
    }
  })
})

describe('PermissionRequest', () => {
  const ruled = (decision: unknown, beside: object = {}) =>
    read('PermissionRequest', { stdout: specific('PermissionRequest', { decision }, beside) })

  it('allow: an allow, perhaps of another call, perhaps with rules for the host', () => {
    expect(ruled({ behavior: 'allow' }).result).toEqual({ action: 'continue', permission: 'allow' })
    const updatedPermissions = [{ type: 'setMode', mode: 'plan' }]
    expect(ruled({ behavior: 'allow', updatedInput: { command: 'x' }, updatedPermissions }).result).toEqual({
      action: 'modify',
      permission: 'allow',
      data: { tool_input: { command: 'x' } },
      host: { updatedPermissions },
    })
  })

  it('deny: a deny with its message, perhaps with an interrupt for the host', () => {
    expect(ruled({ behavior: 'deny', message: 'M' }).result).toEqual({ action: 'deny', reason: 'M' })
    expect(ruled({ behavior: 'deny' }).result?.reason).toBe('Blocked by hook guard')
    expect(ruled({ behavior: 'deny', interrupt: true }).result?.host).toEqual({ interrupt: true })
  })

  it('deny does not change the call or the rules', () => {
    const decision = { behavior: 'deny', updatedInput: { command: 'x' }, updatedPermissions: [{}] }
    expect(ruled(decision).result).toEqual({ action: 'deny', reason: 'Blocked by hook guard' })
  })

  it('an allow beside continue false grants nothing', () => {
    const decision = { behavior: 'allow', updatedInput: {}, updatedPermissions: [{}] }
    expect(ruled(decision, { continue: false, stopReason: 'SR' }).result).toEqual({
      action: 'abort_turn',
      reason: 'SR',
    })
  })

  it('a malformed decision is a failure, but a deny stands', () => {
    for (const decision of ['allow', {}, { behavior: 'yes' }, { behavior: 'allow', updatedInput: 1 }, null]) {
      expect(ruled(decision).error?.code).toBe('ANSWER_INVALID')
    }
    for (const decision of ['deny', { behavior: 'block' }])
      expect(ruled(decision).result?.action).toBe('deny')
    const { result, codes } = ruled({ behavior: 'deny', message: 5 })
    expect([result?.action, ...codes]).toEqual(['deny', 'malformed-field'])
  })

  it('a decision at the top level closes (≠C), but never opens, and both are reported', () => {
    const right = { text: expect.stringContaining('"behavior":"deny"') }
    const approved = read('PermissionRequest', { stdout: { decision: 'approve' } })
    expect(approved.result).toEqual({ action: 'continue' })
    expect(approved.notes[0]).toMatchObject({ code: 'verdict-ignored', ...right })
    const blocked = read('PermissionRequest', { stdout: { decision: 'block', reason: 'no' } })
    expect(blocked.result).toEqual({ action: 'deny', reason: 'no' })
    expect(blocked.notes).toMatchObject([{ code: 'answer-misplaced', ...right }])
  })
})

describe('Elicitation', () => {
  const on = (name: string, fields: object, code = 0) => read(name, { code, stdout: specific(name, fields) })

  it('accept answers in the person’s place', () => {
    const fields = { action: 'accept', content: { name: 'x' } }
    expect(on('Elicitation', fields).result).toEqual({
      action: 'continue',
      permission: 'allow',
      host: fields,
    })
  })

  it('accept on ElicitationResult changes what is sent', () => {
    const fields = { action: 'accept', content: { name: 'x' } }
    expect(on('ElicitationResult', fields).result).toEqual({ action: 'modify', data: fields })
  })

  it('decline and cancel are a deny, and the host knows which', () => {
    for (const name of ['Elicitation', 'ElicitationResult']) {
      for (const action of ['decline', 'cancel']) {
        expect(on(name, { action }).result).toEqual({
          action: 'deny',
          reason: 'Blocked by hook guard',
          host: { action },
        })
      }
    }
  })

  it('exit code 2 takes an accept back', () => {
    const { result } = on('Elicitation', { action: 'accept', content: { name: 'x' } }, 2)
    expect(result).toEqual({ action: 'deny', reason: 'Blocked by hook guard' })
  })

  it('content without an accept counts nowhere, which is said', () => {
    expect(on('Elicitation', { content: {} })).toMatchObject({
      result: { action: 'continue' },
      codes: ['verdict-ignored'],
    })
  })
})

describe('WorktreeCreate', () => {
  it('the last line that is not empty is the path', () => {
    expect(read('WorktreeCreate', { stdout: 'preparing\n/tmp/wt \n\n' }).result).toEqual({
      action: 'continue',
      host: { worktreePath: '/tmp/wt' },
    })
  })

  it('JSON may name it, too', () => {
    const { result } = read('WorktreeCreate', { stdout: specific('WorktreeCreate', { worktreePath: '/wt' }) })
    expect(result?.host).toEqual({ worktreePath: '/wt' })
  })

  it('no path is no worktree', () => {
    const { result } = read('WorktreeCreate', { stdout: { systemMessage: 'SM' } })
    expect(result).toMatchObject({ action: 'deny', userMessage: 'SM' })
    for (const stdout of ['', {}, specific('WorktreeCreate', { worktreePath: '' })]) {
      expect(read('WorktreeCreate', { stdout }).result).toEqual({
        action: 'deny',
        reason: 'Hook guard succeeded but returned no worktree path',
      })
    }
  })

  it('any other code or a signal fails the creation, whatever onFailure says', () => {
    expect(read('WorktreeCreate', { code: 1, stdout: '/wt', stderr: 'disk full' }).result).toEqual({
      action: 'deny',
      reason: 'disk full',
    })
    expect(read('WorktreeCreate', { code: 3 }).result?.reason).toBe('Hook guard exited with 3')
    expect(read('WorktreeCreate', { code: null, signal: 'SIGKILL' }).result?.action).toBe('deny')
  })
})
