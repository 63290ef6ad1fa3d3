import { type Data, type Diagnostic, HookRegistry, modify, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { applyPatch } from '../../src/core/events/patch.js'

const CALL: Data = Object.freeze({
  hook_event_name: 'PreToolUse',
  session_id: 's1',
  timestamp: 'now',
  tool_name: 'Bash',
  tool_input: Object.freeze({ command: 'ls', description: 'list' }),
})

function patched(event: string, data: Data, patch: object, protectSystemMessages = true) {
  const diagnostics: Diagnostic[] = []
  const rules = { protectSystemMessages }
  return { ...applyPatch(resolveEvent(event), data, patch as Data, rules, diagnostics), diagnostics }
}

const patch = (change: object) => patched('PreToolUse', CALL, change)

describe('a shallow patch', () => {
  it('replaces keys given and leaves keys not given', () => {
    expect(patch({ tool_name: 'Edit', extra: 1 })).toEqual({
      data: { ...CALL, tool_name: 'Edit', extra: 1 },
      changed: ['tool_name', 'extra'],
      diagnostics: [],
    })
  })

  it('replaces tool_input whole', () => {
    expect(patch({ tool_input: { command: 'pwd' } }).data.tool_input).toEqual({ command: 'pwd' })
  })

  it('does not touch the data it was given', () => {
    const before = structuredClone(CALL)
    const { data } = patch({ tool_input: { command: 'pwd' } })
    expect(CALL).toEqual(before)
    expect(data).not.toBe(CALL)
    expect(Object.isFrozen(data)).toBe(true)
  })

  it('of what is there already changes nothing', () => {
    const { data, changed } = patch({ tool_name: 'Bash', tool_input: { description: 'list', command: 'ls' } })
    expect(data).toBe(CALL)
    expect(changed).toEqual([])
  })

  it('may be the whole payload with one key changed', () => {
    expect(patch({ ...CALL, tool_name: 'Edit' })).toEqual({
      data: { ...CALL, tool_name: 'Edit' },
      changed: ['tool_name'],
      diagnostics: [],
    })
  })

  it('may set an optional field to null', () => {
    const { data, changed } = patched('PreToolUse', { ...CALL, tool_use_id: 't1' }, { tool_use_id: null })
    expect(data.tool_use_id).toBeNull()
    expect(changed).toEqual(['tool_use_id'])
  })

  it('keeps a key named __proto__ a key', () => {
    const { data } = patch(JSON.parse('{ "__proto__": { "polluted": true } }'))
    expect(Object.hasOwn(data, '__proto__')).toBe(true)
    expect('polluted' in data).toBe(false)
  })

  it('changes any field of a custom event', () => {
    expect(patched('my:event', { a: 1 }, { a: 'text', tool_name: 5 }).data).toEqual({
      a: 'text',
      tool_name: 5,
    })
  })
})

describe('fields of the engine', () => {
  it.each(['hook_event_name', 'session_id', 'timestamp'])('%s stays, with a diagnostic', (field) => {
    const { data, changed, diagnostics } = patch({ [field]: 'forged', tool_name: 'Edit' })
    expect(data).toEqual({ ...CALL, tool_name: 'Edit' })
    expect(changed).toEqual(['tool_name'])
    expect(diagnostics).toEqual([
      { code: 'owned-field', text: `${field} belongs to the engine; the change is ignored` },
    ])
  })

  it('says nothing when they are sent back unchanged', () => {
    expect(patch({ session_id: 's1', timestamp: 'now' }).diagnostics).toEqual([])
  })
})

describe('a patch that would make the payload invalid', () => {
  it.each<[object, string]>([
    [{ tool_name: 5 }, 'tool_name was refused: PreToolUse: tool_name must be a string, got a number'],
    [{ tool_input: null }, 'tool_input was refused: PreToolUse: the required field tool_input is missing'],
    [{ tool_input: [] }, 'tool_input was refused: PreToolUse: tool_input must be an object, got a list'],
    [{ cwd: false }, 'cwd was refused: PreToolUse: cwd must be a string, got a boolean'],
  ])('%j is refused', (change, message) => {
    expect(() => patch(change)).toThrow(
      expect.objectContaining({ code: 'ANSWER_INVALID', message: `the change to ${message}` }),
    )
  })

  it('is refused whole', () => {
    expect(() => patch({ extra: 1, tool_name: 5 })).toThrow('the change to extra, tool_name was refused')
  })

  it('is a failure of the hook, and changes nothing', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => modify({ tool_name: 5 }), { name: 'clumsy', onFailure: 'continue' })
    const outcome = await registry.emit('PreToolUse', { tool_name: 'Bash', tool_input: {} })
    expect(outcome).toMatchObject({
      action: 'continue',
      modified: false,
      data: { tool_name: 'Bash' },
      hooks: [{ name: 'clumsy', status: 'failed', why: 'ANSWER_INVALID' }],
      messages: [{ level: 'warning', source: 'clumsy' }],
    })
  })
})

describe('twin fields', () => {
  const posted: Data = { tool_name: 'Bash', tool_input: {}, tool_response: 'old', tool_result: 'old' }

  it.each(['tool_response', 'tool_result'])('%s changes both, and is listed once', (field) => {
    expect(patched('PostToolUse', posted, { [field]: 'new' })).toEqual({
      data: { ...posted, tool_response: 'new', tool_result: 'new' },
      changed: [field],
      diagnostics: [],
    })
  })

  it('the name that changed wins over the name that was sent back', () => {
    for (const field of ['tool_response', 'tool_result']) {
      expect(patched('PostToolUse', posted, { ...posted, [field]: 'new' }).data).toMatchObject({
        tool_response: 'new',
        tool_result: 'new',
      })
    }
  })

  it('appear under both names where neither was', () => {
    const { data } = patched('PostToolUse', { tool_name: 'Bash', tool_input: {} }, { tool_result: 'new' })
    expect(data).toMatchObject({ tool_response: 'new', tool_result: 'new' })
  })
})

describe('system messages of ModelRequest', () => {
  const system = { role: 'system', content: 'be good' }
  const developer = { role: 'developer', content: 'be brief' }
  const user = { role: 'user', content: 'hi' }
  const request: Data = {
    model: 'm',
    messages: [system, developer, user],
    tools: [],
    options: { system: 'rules' },
  }
  const reverted = (key: string) => [
    {
      code: 'system-message-reverted',
      text: `a change of system messages (${key}) was reverted; the rest of the change counts`,
    },
  ]

  it.each<[string, readonly object[], readonly object[]]>([
    ['edited', [{ ...system, content: 'be bad' }, developer, user], [system, developer, user]],
    ['removed', [developer, user], [system, developer, user]],
    ['added', [system, developer, { role: 'system', content: 'more' }, user], [system, developer, user]],
    ['swapped', [developer, system, user], [system, developer, user]],
    [
      'replaced by another role',
      [{ ...system, role: 'user' }, developer],
      [system, developer, { ...system, role: 'user' }],
    ],
  ])('that are %s come back', (_how, messages, kept) => {
    const { data, diagnostics } = patched('ModelRequest', request, { messages })
    expect(data.messages).toEqual(kept)
    expect(diagnostics).toEqual(reverted('messages'))
  })

  it('leave other messages, model, tools and options free', () => {
    const messages = [
      system,
      developer,
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'yes' },
    ]
    const change = {
      messages,
      model: 'n',
      tools: [{ name: 't' }],
      options: { system: 'rules', temperature: 1 },
    }
    expect(patched('ModelRequest', request, change)).toEqual({
      data: change,
      changed: ['messages', 'model', 'tools', 'options'],
      diagnostics: [],
    })
  })

  it('are protected in options and at the top as well', () => {
    const options = patched('ModelRequest', request, { options: { system: 'none', temperature: 1 } })
    expect(options.data.options).toEqual({ system: 'rules', temperature: 1 })
    expect(options.diagnostics).toEqual(reverted('options'))
    const added = patched(
      'ModelRequest',
      { ...request, options: {} },
      { options: { system: 'new', top_k: 1 } },
    )
    expect(added.data.options).toEqual({ top_k: 1 })
    const top = patched('ModelRequest', { ...request, system: 'top' }, { system: 'other' })
    expect(top.data.system).toBe('top')
    expect(top.diagnostics).toEqual(reverted('system'))
  })

  it('that are added where there were none leave no trace in the data', () => {
    const { data, changed, diagnostics } = patched('ModelRequest', request, { system: 'new' })
    expect(data).toBe(request)
    expect(changed).toEqual([])
    expect(diagnostics).toEqual(reverted('system'))
  })

  it('keep the rest of the same change', () => {
    const { data } = patched('ModelRequest', request, { messages: [{ role: 'user', content: 'new' }] })
    expect(data.messages).toEqual([system, developer, { role: 'user', content: 'new' }])
  })

  it('may change where the user allows it', () => {
    const messages = [{ role: 'system', content: 'be bad' }, user]
    const { data, diagnostics } = patched(
      'ModelRequest',
      request,
      { messages, options: { system: 'x' } },
      false,
    )
    expect(data).toMatchObject({ messages, options: { system: 'x' } })
    expect(diagnostics).toEqual([])
  })

  it('are nothing special elsewhere', () => {
    const { data } = patched('my:event', request, { messages: [] })
    expect(data.messages).toEqual([])
  })
})
