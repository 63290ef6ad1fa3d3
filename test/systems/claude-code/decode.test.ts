// The meaning of a Claude-format hook's exit code, stdout and stderr: one test a rule.

import { knownEvents } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { BASH, eventOf, read, specific } from './reply.js'

const DENY = specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' })
const ALLOW = specific('PreToolUse', { permissionDecision: 'allow', permissionDecisionReason: 'fine' })
const BLOCK = { decision: 'block', reason: 'no' }

describe('stdout', () => {
  it('empty, or nothing but space, says nothing', () => {
    for (const stdout of ['', ' \n\n\t'])
      expect(read(BASH, { stdout }).result).toEqual({ action: 'continue' })
  })

  it('is trimmed, and loses a byte-order mark', () => {
    const stdout = `\ufeff\n  ${JSON.stringify(DENY, null, 2)}\n\n`
    expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'no' })
  })

  it('from "{" to "}" must be one JSON object, else the hook failed', () => {
    for (const stdout of [
      "{'decision':'block'}",
      '{bad}',
      `${JSON.stringify(ALLOW)}\n${JSON.stringify(ALLOW)}`,
    ]) {
      const { error } = read(BASH, { stdout })
      expect(error?.code).toBe('ANSWER_INVALID')
      expect(error?.message).toMatch(/^stdout looks like a JSON object but is not valid JSON: /)
    }
  })

  it('that is plain text is context only on SessionStart, UserPromptSubmit, UserPromptExpansion and PreCompact', () => {
    const plain = knownEvents()
      .filter(({ name }) => name !== 'WorktreeCreate')
      .filter(({ name }) => read(name, { stdout: 'remember this\n' }).result?.action !== 'continue')
    expect(plain.map(({ name }) => name)).toEqual([
      'UserPromptSubmit',
      'UserPromptExpansion',
      'SessionStart',
      'PreCompact',
    ])
    for (const { name } of plain) {
      const { result } = read(name, { stdout: 'remember this\n' })
      expect(result).toEqual({ action: 'inject_context', contextInjection: 'remember this' })
    }
  })

  it('that is plain text is context on exit code 0 alone', () => {
    expect(read('SessionStart', { code: 1, stdout: 'text' }).error?.code).toBe('HOOK_EXIT')
    expect(read('SessionStart', { code: 2, stdout: 'text' }).result).toEqual({ action: 'continue' })
  })

  it('with a refusal in more braces than can be looked into is a refusal, or a failure, on every event that can block', () => {
    const wrapped = (braces: number, inner: string) =>
      `looking at:\n${'{\n'.repeat(braces)}${inner}\n${'}\n'.repeat(braces)}done`
    const outer = '{"decision":"block","items":[\n{"a":1}\n]}'
    for (const name of ['UserPromptSubmit', 'UserPromptExpansion', 'PreCompact', 'PreToolUse', 'Stop']) {
      const saidBy = (stdout: string) => {
        const { result, error } = read(name, { stdout })
        return [name, result?.action ?? error?.code]
      }
      for (const braces of [3, 20, 40, 400])
        expect(saidBy(wrapped(braces, JSON.stringify(BLOCK)))).toEqual([name, 'deny'])
      expect(saidBy(wrapped(3, outer))).toEqual([name, 'deny'])
      expect(saidBy(wrapped(400, outer))).toEqual([name, 'ANSWER_INVALID'])
    }
    const harmless = wrapped(400, '{"decision":"approve","items":[\n{"a":1}\n]}')
    expect(read('UserPromptSubmit', { stdout: harmless }).result?.contextInjection).toBe(harmless)
    const talk = 'x\n{\n{\nthe hook prints "decision": "block"\n}\n}\n.'
    expect(read('UserPromptSubmit', { stdout: talk }).result?.contextInjection).toBe(talk)
  })

  it('of another kind of JSON is plain text', () => {
    for (const stdout of ['[1,2]', '"deny"', '5', 'null']) {
      expect(read(BASH, { stdout })).toMatchObject({ result: { action: 'continue' }, notes: [] })
      expect(read('UserPromptSubmit', { stdout }).result?.contextInjection).toBe(stdout)
    }
  })

  it('D2: with a closing answer on lines of its own counts, and that is reported', () => {
    for (const deny of [JSON.stringify(DENY), JSON.stringify(DENY, null, 2)]) {
      for (const stdout of [`checking…\n${deny}`, `${deny}\ndone`, `${deny}\n${deny}`, `{}\n${deny} {}`]) {
        const { result, notes } = read(BASH, { stdout })
        expect(result).toEqual({ action: 'deny', reason: 'no' })
        expect(notes).toEqual([
          { code: 'answer-misplaced', text: expect.stringContaining('logs go to stderr') },
        ])
      }
    }
  })

  it('with any other answer among other text is plain text, and that is said', () => {
    const allow = JSON.stringify(ALLOW)
    for (const stdout of [`checking…\n${allow}`, `${allow}\ndone`, '{"decision": "approve", ']) {
      const { result, notes } = read(BASH, { stdout })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).toEqual([
        { code: 'answer-misplaced', text: expect.stringContaining('it counts as plain text') },
      ])
    }
  })

  it('M1: with a refusal inside a line is a failure', () => {
    for (const stdout of [
      `see ${JSON.stringify(DENY)}`,
      `${JSON.stringify(BLOCK)} done`,
      '{"decision": "block", ',
      'INFO {"action":"deny","reason":"no"}',
      'INFO {"permission":"deny"}',
      'INFO {"approved":false}',
      '[gate] {"block":true}',
      '```{"decision":"block"}```',
      '<result>{"decision":"block"}</result>',
      `INFO ${JSON.stringify(JSON.stringify(BLOCK))}`,
    ]) {
      const { error } = read(BASH, { stdout })
      expect(error?.code).toBe('ANSWER_INVALID')
      expect(error?.message).toContain('something like a refusal')
    }
  })

  it('that only says "async" does not hide a failure', () => {
    for (const code of [1, 3, 127, null]) {
      expect(read(BASH, { code, stdout: '{"async":true}' }).error?.code).toBe('HOOK_EXIT')
    }
  })

  it('M1: with a refusal in a list, a string, colours, zero bytes or UTF-16 counts', () => {
    const [esc, nul] = [String.fromCharCode(27), String.fromCharCode(0)]
    const text = JSON.stringify(BLOCK)
    const utf16 = Buffer.from(text, 'utf16le')
    for (const stdout of [
      `${text};`,
      `${text},`,
      `[${text}]`,
      `[\n${text}\n]`,
      `[${JSON.stringify(ALLOW)}, ${text}]`,
      JSON.stringify([{}, BLOCK], null, 2),
      JSON.stringify(text),
      nul + text,
      text + nul,
      `${esc}[32m${text}${esc}[0m`,
      `${esc}[1;39m{${esc}[0m${esc}[34;1m"decision"${esc}[0m:${esc}[0;32m"block"${esc}[0m,"reason":"no"}`,
      utf16.toString('utf8'),
      Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]).toString('utf8'),
      Buffer.from(utf16).swap16().toString('utf8'),
    ]) {
      expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'no' })
    }
  })

  it('M1: with an allow that had to be made readable opens nothing', () => {
    const allow = JSON.stringify(ALLOW)
    const nul = String.fromCharCode(0)
    for (const stdout of [`[${allow}]`, `${allow};`, nul + allow, JSON.stringify(allow)])
      expect(read(BASH, { stdout }).result).toEqual({ action: 'continue' })
  })

  it('that is context may speak about answers', () => {
    const stdout = 'Hooks print {"decision":"block"} to block.'
    expect(read('SessionStart', { stdout })).toMatchObject({
      result: { contextInjection: stdout },
      notes: [],
    })
    expect(read('SessionStart', { stdout: `log\n${JSON.stringify(DENY)}` }).codes).toEqual([
      'answer-misplaced',
    ])
    expect(read(BASH, { stdout }).error?.code).toBe('ANSWER_INVALID')
  })

  it('over the bound is a failure', () => {
    for (const code of [0, 1, null]) {
      expect(read(BASH, { code, stdout: ALLOW, cut: true }).error?.code).toBe('HOOK_OUTPUT')
      expect(read(BASH, { code, stdout: '{"decision":"block"', cut: true }).error?.code).toBe('HOOK_OUTPUT')
    }
  })

  it('D1: over the bound is closed where what closes was read whole', () => {
    for (const code of [0, 1, null]) {
      const { result } = read(BASH, { code, stdout: `${JSON.stringify(DENY)}\nxxxxx`, cut: true })
      expect(result).toEqual({ action: 'deny', reason: 'no' })
    }
  })

  it('over the bound with exit code 2 is still a deny', () => {
    const { result, codes } = read(BASH, { code: 2, stdout: '{"decision":"bl', stderr: 'no', cut: true })
    expect(result).toEqual({ action: 'deny', reason: 'no' })
    expect(codes).toContain('HOOK_OUTPUT')
  })

  it('over the bound is a failure where exit code 2 does not block', () => {
    const { error, codes } = read('SessionStart', { code: 2, cut: true })
    expect([error?.code, ...codes]).toEqual(['HOOK_OUTPUT', 'verdict-ignored'])
  })

  it('D3: of duplicate keys the one that closes counts', () => {
    for (const stdout of [
      '{"decision":"block","decision":"approve","reason":"no"}',
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecision":"allow","permissionDecisionReason":"no"}}',
      '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"},"hookSpecificOutput":{}}',
    ]) {
      const { result, codes } = read(BASH, { stdout })
      expect(result).toMatchObject({ action: 'deny', reason: 'no' })
      expect(codes).toContain('answer-misplaced')
    }
  })

  it('of duplicate keys the last counts otherwise', () => {
    const stdout = '{"decision":"approve","decision":"block","reason":"a","reason":"b"}'
    expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'b' })
  })
})

describe('exit code 0', () => {
  it('goes on', () => {
    expect(read(BASH, { stderr: 'debug output' })).toMatchObject({
      result: { action: 'continue' },
      notes: [],
    })
  })

  it('does what the JSON says', () => {
    expect(read(BASH, { stdout: DENY, stderr: 'debug' }).result).toEqual({ action: 'deny', reason: 'no' })
    expect(read(BASH, { stdout: {} }).result).toEqual({ action: 'continue' })
  })
})

describe('exit code 2', () => {
  it('denies; stderr, trimmed, is the reason', () => {
    expect(read(BASH, { code: 2, stderr: '\nl1\n\nl2\n\n' }).result).toEqual({
      action: 'deny',
      reason: 'l1\n\nl2',
    })
  })

  it('takes the reason of a JSON that blocks as well', () => {
    for (const stdout of [DENY, BLOCK]) {
      expect(read(BASH, { code: 2, stdout, stderr: 'other' }).result?.reason).toBe('no')
    }
  })

  it('takes stderr where the JSON blocks without a reason (≠C)', () => {
    for (const stdout of [{ decision: 'block' }, specific('PreToolUse', { permissionDecision: 'deny' })]) {
      expect(read(BASH, { code: 2, stdout, stderr: 'because' }).result?.reason).toBe('because')
    }
  })

  it('does not take the reason of a JSON that asks or allows', () => {
    const ask = specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'AR' })
    for (const stdout of [ask, ALLOW]) {
      expect(read(BASH, { code: 2, stdout, stderr: 'ER' }).result).toEqual({ action: 'deny', reason: 'ER' })
      expect(read(BASH, { code: 2, stdout }).result).toEqual({
        action: 'deny',
        reason: 'Blocked by hook guard',
      })
    }
  })

  it('names the hook if there is no reason, and says that text on stdout is not a reason', () => {
    expect(read(BASH, { code: 2 })).toMatchObject({ result: { reason: 'Blocked by hook guard' }, notes: [] })
    const { result, codes } = read(BASH, { code: 2, stdout: 'only stdout' })
    expect(result).toEqual({ action: 'deny', reason: 'Blocked by hook guard' })
    expect(codes).toEqual(['answer-misplaced'])
  })

  it('takes a reason without a decision before it names the hook', () => {
    expect(read(BASH, { code: 2, stdout: { reason: 'R' } }).result?.reason).toBe('R')
    expect(read(BASH, { code: 2, stdout: { reason: 'R' }, stderr: 'E' }).result?.reason).toBe('E')
  })

  it('blocks whatever is wrong with the JSON', () => {
    const wrong = ['{broken}', { decision: 'nonsense' }, { hookSpecificOutput: null }, { continue: 'x' }]
    for (const stdout of wrong) {
      const { result, codes } = read(BASH, { code: 2, stdout, stderr: 'no' })
      expect(result).toEqual({ action: 'deny', reason: 'no' })
      expect(codes).toContain('malformed-field')
    }
  })

  it('blocks with the hookEventName of another event, and keeps stderr (≠C)', () => {
    const stdout = specific('PostToolUse', { additionalContext: 'x' })
    const { result, codes } = read(BASH, { code: 2, stdout, stderr: 'no' })
    expect(result).toEqual({ action: 'deny', reason: 'no' })
    expect(codes).toEqual(['answer-misplaced', 'malformed-field'])
  })

  it('blocks an answer that says async', () => {
    expect(read(BASH, { code: 2, stdout: { async: true }, stderr: 'no' }).result?.action).toBe('deny')
  })

  it('delivers context and messages all the same', () => {
    const stdout = specific('PreToolUse', { additionalContext: 'CX' }, { systemMessage: 'SM' })
    expect(read(BASH, { code: 2, stdout, stderr: 'no' }).result).toEqual({
      action: 'deny',
      reason: 'no',
      contextInjection: 'CX',
      userMessage: 'SM',
    })
  })

  it('blocks exactly where Claude Code does', () => {
    const blocking = knownEvents().filter(
      ({ name }) => read(name, { code: 2, stderr: 'no' }).result?.action === 'deny',
    )
    expect(blocking.map(({ name }) => name)).toEqual([
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'PostToolBatch',
      'UserPromptSubmit',
      'UserPromptExpansion',
      'ModelRequest',
      'ModelResponse',
      'Stop',
      'SubagentStop',
      'PreCompact',
      'PreModelSwitch',
      'TeammateIdle',
      'TaskCreated',
      'TaskCompleted',
      'Elicitation',
      'ElicitationResult',
      'ToolsListed',
      'ConfigChange',
      'WorktreeCreate',
    ])
  })

  it('that does not block is said loudly, with what does', () => {
    for (const { name } of knownEvents()) {
      const { result, notes } = read(name, { code: 2, stderr: 'no\nmore' })
      if (result?.action === 'deny') continue
      expect(result?.action).toBe('continue')
      expect(notes).toHaveLength(1)
      expect(notes[0]?.code).toBe('verdict-ignored')
      expect(notes[0]?.text).toContain(`exit code 2 does not block ${name} (it said: no); `)
    }
    const [note] = read('PermissionRequest', { code: 2 }).notes
    expect(note?.text).toContain('"decision":{"behavior":"deny"')
    expect(read('SubagentStart', { code: 2 }).notes[0]?.text).toContain('deny the Agent tool on PreToolUse')
  })

  it('shows stderr to the user where Claude Code does', () => {
    const shown = knownEvents().filter(
      ({ name }) => read(name, { code: 2, stderr: 'no' }).result?.userMessage === 'no',
    )
    expect(shown.map(({ name }) => name)).toEqual([
      'SessionStart',
      'SessionEnd',
      'Setup',
      'SubagentStart',
      'PostCompact',
      'CwdChanged',
      'FileChanged',
    ])
    const { result } = read('SessionEnd', { code: 2, stdout: { systemMessage: 'bye' }, stderr: 'no\n' })
    expect(result).toEqual({ action: 'continue', userMessage: 'bye\nno', userMessageLevel: 'warning' })
  })

  it('does not block a change of policy_settings', () => {
    const policy = eventOf('ConfigChange', { source: 'policy_settings' })
    for (const reply of [{ code: 2 }, { stdout: BLOCK }]) {
      const { result, notes } = read(policy, reply)
      expect(result).toEqual({ action: 'continue' })
      expect(notes[0]).toMatchObject({
        code: 'verdict-ignored',
        text: expect.stringContaining('policy_settings'),
      })
    }
    expect(read(eventOf('ConfigChange', { source: 'user_settings' }), { code: 2 }).result?.action).toBe(
      'deny',
    )
  })

  it('leaves a deny of PermissionRequest a deny, and takes an allow back', () => {
    const ruling = (decision: object) => specific('PermissionRequest', { decision })
    const denied = read('PermissionRequest', { code: 2, stdout: ruling({ behavior: 'deny', message: 'M' }) })
    expect(denied.result).toEqual({ action: 'deny', reason: 'M' })
    const allow = { behavior: 'allow', updatedInput: { command: 'x' }, updatedPermissions: [{}] }
    expect(read('PermissionRequest', { code: 2, stdout: ruling(allow) }).result).toEqual({
      action: 'continue',
    })
  })

  it('where it does not block, an invalid answer is a failure', () => {
    expect(read('SessionStart', { code: 2, stdout: '{x}' }).error?.code).toBe('ANSWER_INVALID')
    expect(read('SessionStart', { code: 2, stdout: { systemMessage: 1 } }).error?.code).toBe('ANSWER_INVALID')
  })
})

describe('another exit code, or a signal', () => {
  it('is a failure that says how it ended, with the first line of stderr', () => {
    const missing = read(BASH, { code: 127, stderr: '\nsh: 1: uv: not found\nmore\n' }).error
    expect(missing).toMatchObject({ code: 'HOOK_EXIT', message: 'exited with 127: sh: 1: uv: not found' })
    const trace =
      'warning: old\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: no key\n'
    expect(read(BASH, { code: 1, stderr: trace }).error?.message).toBe('exited with 1: ValueError: no key')
    expect(missing?.hint).toMatch(/^Install the program/)
    expect(read(BASH, { code: 126 }).error?.hint).toMatch(/chmod \+x/)
    expect(read(BASH, { code: 1 }).error).toMatchObject({
      message: 'exited with 1',
      hint: expect.stringContaining('2 to block'),
    })
    expect(read(BASH, { code: null, signal: 'SIGKILL' }).error?.message).toBe('was killed by SIGKILL')
    expect(read(BASH, { code: null }).error?.message).toBe('ended without an exit code')
  })

  it('shows at most 300 characters of stderr, without terminal sequences', () => {
    const { error } = read(BASH, { code: 1, stderr: `\u001b[31m${'x'.repeat(5000)}\u001b[0m` })
    expect(error?.message).toBe(`exited with 1: ${'x'.repeat(300)}…`)
  })

  it('with a valid answer does what the answer says', () => {
    const ending = [{ code: 1 }, { code: 126 }, { code: null, signal: 'SIGTERM' }]
    for (const how of ending) {
      expect(read(BASH, { ...how, stdout: DENY }).result).toEqual({ action: 'deny', reason: 'no' })
      expect(read(BASH, { ...how, stdout: ALLOW }).result?.permission).toBe('allow')
      expect(read(BASH, { ...how, stdout: {} }).result).toEqual({ action: 'continue' })
    }
  })

  it('with an invalid answer, plain text or an echo is a failure', () => {
    const invalid = ['text', '{broken}', { decision: 'nonsense' }, BASH.data]
    for (const stdout of invalid) {
      expect(read(BASH, { code: 1, stdout, stderr: 'ER' }).error).toMatchObject({
        code: 'HOOK_EXIT',
        message: expect.stringMatching(/^exited with 1: ER(;|$)/),
      })
    }
  })

  it('closes the gate of a hook with onFailure "block", even with an allowing JSON', () => {
    for (const stdout of [ALLOW, {}, specific('PreToolUse', { permissionDecision: 'ask' })]) {
      expect(read(BASH, { code: 1, stdout }, 'block').error).toMatchObject({
        code: 'HOOK_EXIT',
        message: expect.stringContaining('because onFailure is "block"'),
      })
      expect(read(BASH, { code: 0, stdout }, 'block').error).toBeUndefined()
    }
  })

  it('with onFailure "block" leaves a deny its own reason, and a stop a stop', () => {
    expect(read(BASH, { code: 1, stdout: DENY, stderr: 'ER' }, 'block').result?.reason).toBe('no')
    const stop = { continue: false, stopReason: 'SR' }
    expect(read(BASH, { code: 1, stdout: stop }, 'block').result).toEqual({
      action: 'abort_turn',
      reason: 'SR',
    })
  })

  it('with onFailure "byEvent" closes where the event says so', () => {
    expect(read(BASH, { code: 1, stdout: {} }, 'byEvent').error?.code).toBe('HOOK_EXIT')
    expect(read('PostToolUse', { code: 1, stdout: {} }, 'byEvent').result).toEqual({ action: 'continue' })
    expect(read('PostToolUse', { code: 1, stdout: {} }, 'block').error?.code).toBe('HOOK_EXIT')
  })

  it('with onFailure "block" lets the answer count where nothing can be closed', () => {
    for (const name of ['Stop', 'SubagentStop', 'TeammateIdle', 'TaskCompleted', 'SessionStart', 'deploy']) {
      const { result } = read(name, { code: 1, stdout: { systemMessage: 'SM' } }, 'block')
      expect(result).toEqual({ action: 'continue', userMessage: 'SM' })
    }
  })
})

describe('an answer that fails validation', () => {
  it.each([
    ['an unknown word', { decision: 'nonsense' }],
    ['a word as another type', { decision: true }],
    ['null for an optional key', { decision: null }],
    ['null for hookSpecificOutput', { hookSpecificOutput: null }],
    ['a list for hookSpecificOutput', { hookSpecificOutput: [] }],
    ['no hookEventName', { hookSpecificOutput: { permissionDecision: 'allow' } }],
    ['another hookEventName', specific('UserPromptSubmit', { additionalContext: 'x' })],
    ['a hookEventName in lower case', specific('pretooluse', { permissionDecision: 'allow' })],
    ['a continue that is no flag', { continue: 'maybe' }],
    ['a message that is no text', { systemMessage: { text: 'x' } }],
    ['an input that is no object', specific('PreToolUse', { updatedInput: 'ls' })],
    ['context that is no text', specific('PreToolUse', { additionalContext: ['x'] })],
    ['a newContent that is no text', { newContent: { a: 1 } }],
  ])('is a failure: %s', (_, stdout) => {
    const { error } = read(BASH, { stdout })
    expect(error?.code).toBe('ANSWER_INVALID')
    expect(error?.hint).toContain('"permissionDecision":"deny"')
  })

  it('says which field is wrong, and how', () => {
    const { error } = read(BASH, { stdout: { continue: 1, reason: null } })
    expect(error?.message).toBe('continue must be true or false, got 1; reason must be a string, got null')
  })

  it('is a failure where the event has no hookSpecificOutput', () => {
    const { error } = read('ConfigChange', {
      stdout: specific('ConfigChange', { permissionDecision: 'allow' }),
    })
    expect(error?.message).toBe('ConfigChange has no hookSpecificOutput')
  })

  it('still denies where a deny stands in its right place (≠C)', () => {
    const denies = [
      specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 5 }),
      specific('PreToolUse', { permissionDecision: 'deny', updatedInput: null }, { systemMessage: 7 }),
      { ...BLOCK, suppressOutput: 'yes' },
      { ...BLOCK, hookSpecificOutput: { hookEventName: 'Stop' } },
    ]
    for (const stdout of denies) {
      const { result, codes } = read(BASH, { stdout })
      expect(result?.action).toBe('deny')
      expect(codes).toContain('malformed-field')
    }
  })

  it('still stops the turn where continue is false', () => {
    const { result, notes } = read(BASH, { stdout: { continue: false, stopReason: 5 } })
    expect(result).toEqual({ action: 'abort_turn', reason: 'Stopped by hook guard' })
    expect(notes).toEqual([
      { code: 'malformed-field', text: 'stopReason must be a string, got 5; the verdict stands' },
    ])
  })

  it('denies where the deny is in the wrong place as well (≠C)', () => {
    const misplaced = [
      specific('PostToolUse', { permissionDecision: 'deny' }),
      { hookSpecificOutput: { permissionDecision: 'deny' } },
      specific('PreToolUse', { permissionDecision: 'Deny' }),
    ]
    for (const stdout of misplaced) expect(read(BASH, { stdout }).result?.action).toBe('deny')
  })
})

describe('verdicts', () => {
  const verdict = (permissionDecision: string, beside: object = {}) =>
    read(BASH, {
      stdout: specific('PreToolUse', { permissionDecision, permissionDecisionReason: 'R' }, beside),
    }).result

  it('allow: an explicit allow with its reason', () => {
    expect(verdict('allow')).toEqual({ action: 'continue', permission: 'allow', reason: 'R' })
  })

  it('deny: gives the reason, or else names the hook; a systemMessage stays for the user', () => {
    expect(verdict('deny')).toEqual({ action: 'deny', reason: 'R' })
    const stdout = specific('PreToolUse', { permissionDecision: 'deny' }, { systemMessage: 'SM' })
    expect(read(BASH, { stdout }).result).toEqual({
      action: 'deny',
      reason: 'Blocked by hook guard',
      userMessage: 'SM',
    })
  })

  it('ask and defer: a person decides', () => {
    const asked = { action: 'ask_user', approvalPrompt: 'R', reason: 'R' }
    expect(verdict('ask')).toEqual(asked)
    expect(verdict('defer')).toEqual(asked)
    expect(read(BASH, { stdout: specific('PreToolUse', { permissionDecision: 'ask' }) }).result).toEqual({
      action: 'ask_user',
      approvalPrompt: 'Hook guard wants a person to decide',
    })
  })

  it('decision approve is an allow on PreToolUse, and no opinion elsewhere', () => {
    const stdout = { decision: 'approve', reason: 'safe' }
    expect(read(BASH, { stdout }).result).toEqual({ action: 'continue', permission: 'allow', reason: 'safe' })
    expect(read('Stop', { stdout }).result).toEqual({ action: 'continue' })
    expect(read('PostToolUse', { stdout }).result).toEqual({ action: 'continue' })
  })

  it('decision block blocks where Claude Code honours it, and is reported as ignored where nothing can be blocked', () => {
    const honouring = knownEvents().filter(({ name }) => {
      const { result, codes } = read(name, { stdout: BLOCK })
      const blocks = result?.action === 'deny' && result.reason === 'no'
      if (!blocks) expect(codes).toEqual(['verdict-ignored'])
      return blocks && codes.length === 0
    })
    expect(honouring.map(({ name }) => name)).toEqual([
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'PostToolBatch',
      'UserPromptSubmit',
      'UserPromptExpansion',
      'ModelRequest',
      'ModelResponse',
      'Stop',
      'SubagentStop',
      'PreCompact',
      'PreModelSwitch',
      'TaskCreated',
      'TaskCompleted',
      'Elicitation',
      'ElicitationResult',
      'ToolsListed',
      'ConfigChange',
    ])
    // Another word belongs there, but whoever says this means it (≠C).
    for (const name of ['PermissionRequest', 'TeammateIdle', 'WorktreeCreate']) {
      expect(read(name, { stdout: BLOCK })).toMatchObject({
        result: { action: 'deny', reason: 'no' },
        codes: ['answer-misplaced'],
      })
    }
    expect(read('TeammateIdle', { stdout: BLOCK }).notes[0]?.text).toContain('exit with 2')
    expect(read('TaskCompleted', { code: 2, stdout: BLOCK, stderr: 'E' }).result).toEqual({
      action: 'deny',
      reason: 'no',
    })
  })

  it('decision block beside permissionDecision allow or ask is a deny, and so is deny beside approve', () => {
    expect(verdict('allow', BLOCK)).toEqual({ action: 'deny', reason: 'no' })
    expect(verdict('ask', BLOCK)).toEqual({ action: 'deny', reason: 'no' })
    expect(verdict('deny', { decision: 'approve', reason: 'x' })).toEqual({ action: 'deny', reason: 'R' })
  })

  it('continue false ends the turn with its stopReason, above every other verdict', () => {
    const stop = { continue: false, stopReason: 'SR' }
    expect(read(BASH, { stdout: stop }).result).toEqual({ action: 'abort_turn', reason: 'SR' })
    for (const word of ['allow', 'ask', 'deny']) {
      expect(verdict(word, stop)).toEqual({ action: 'abort_turn', reason: 'SR' })
    }
    expect(read(BASH, { code: 2, stdout: stop, stderr: 'E' }).result?.action).toBe('abort_turn')
  })

  it('S8: continue false without a stopReason takes the reason', () => {
    const stdout = { continue: false, reason: 'x' }
    expect(read(BASH, { stdout }).result).toEqual({ action: 'abort_turn', reason: 'x' })
    const both = { continue: false, stopReason: 'SR', reason: 'x' }
    expect(read(BASH, { stdout: both }).result?.reason).toBe('SR')
  })

  it('continue false without a stopReason keeps the reason of the deny beside it', () => {
    expect(verdict('deny', { continue: false })).toEqual({ action: 'abort_turn', reason: 'R' })
    expect(read(BASH, { code: 2, stdout: { continue: false }, stderr: 'E' }).result?.reason).toBe('E')
    expect(read(BASH, { stdout: { continue: false } }).result?.reason).toBe('Stopped by hook guard')
  })

  it('continue false ends the turn, except on events where Claude Code ignores it, which is reported', () => {
    const ignored = knownEvents()
      .map(({ name }) => ({ name, ...read(name, { stdout: { continue: false } }) }))
      .filter(({ result }) => result?.action !== 'abort_turn')
    expect(ignored.map(({ name }) => name).sort()).toEqual([
      'MessageDisplay',
      'PostCompact',
      'PostToolUseFailure',
      'PreCompact',
      'SessionStart',
      'SubagentStart',
      'SubagentStop',
    ])
    for (const { notes } of ignored) expect(notes).toMatchObject([{ code: 'verdict-ignored' }])
  })

  it('continue true and a stopReason alone say nothing', () => {
    expect(read(BASH, { stdout: { continue: true, stopReason: 'SR' } }).result).toEqual({
      action: 'continue',
    })
  })

  it('an alias of the event’s name names it, too', () => {
    for (const name of ['pre_tool_use', 'preToolUse', 'tool:pre']) {
      expect(read(BASH, { stdout: specific(name, { permissionDecision: 'deny' }) }).result?.action).toBe(
        'deny',
      )
    }
  })

  it('async true: only closing words in the answer count, which is reported', () => {
    expect(read('PostToolUse', { stdout: { async: true, asyncTimeout: 5 } })).toMatchObject({
      result: { action: 'continue' },
      notes: [],
    })
    const { result, codes } = read('PostToolUse', { stdout: { async: true, systemMessage: 'hi' } })
    expect([result, codes]).toEqual([{ action: 'continue' }, ['async-verdict-ignored']])
    for (const stdout of ['{\n  "async": true\n}', '\n{"async": true}', { async: true, systemMessage: 'hi' }])
      expect(read(BASH, { stdout }).error).toMatchObject({
        code: 'ANSWER_INVALID',
        message: expect.stringContaining('ended without a verdict'),
      })
    expect(read(BASH, { stdout: { async: 'true', ...BLOCK } }).result?.action).toBe('deny')
  })

  it('M2: an unknown action is a failure, unless the answer closes', () => {
    for (const action of ['quarantine', 'denied by policy', 'allow', '', 5, {}]) {
      const { error } = read(BASH, { stdout: { action, reason: 'no' } })
      expect(error).toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringContaining('is unknown') })
      expect(read(BASH, { stdout: { action, ...BLOCK } }).result?.action).toBe('deny')
    }
    expect(read(BASH, { stdout: { action: null } }).error).toBeUndefined()
  })

  it('H1: async true does not revoke a closing word', () => {
    const said = [BLOCK, DENY, { approved: false }, { continue: false }, { action: 'ask_user' }]
    for (const stdout of said.map((one) => JSON.stringify({ ...one, async: true, z: '' }))) {
      for (const text of [stdout, `log\n${stdout}`, `${stdout}\n{"x":""}`]) {
        expect(read(BASH, { stdout: text }).result?.action).toMatch(/deny|abort_turn|ask_user/)
      }
    }
  })

  it('PreModelSwitch knows allow, deny and ask', () => {
    const on = (permissionDecision: string) =>
      read('PreModelSwitch', {
        stdout: specific('PreModelSwitch', { permissionDecision, permissionDecisionReason: 'R' }),
      })
    expect(on('deny').result).toEqual({ action: 'deny', reason: 'R' })
    expect(on('ask').result?.action).toBe('ask_user')
    expect(on('allow').result?.permission).toBe('allow')
    expect(on('defer')).toMatchObject({ result: { action: 'ask_user' }, codes: ['answer-misplaced'] })
  })
})
