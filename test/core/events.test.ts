import { createHooks } from 'carabiner'
import {
  CATALOGUE,
  type Data,
  deny,
  type EventKind,
  type EventName,
  type FieldType,
  HookRegistry,
  hook,
  type Json,
  knownEvents,
  modify,
  type Payload,
  resolveEvent,
} from 'carabiner/core'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { COMMON_FIELDS, TWIN_FIELDS } from '../../src/core/events/catalogue.js'
import {
  type Canonical,
  checkRequired,
  checkTypes,
  matcherValue,
  openPayload,
} from '../../src/core/events/events.js'

const CLAUDE_CODE_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'PreModelSwitch',
  'PostModelSwitch',
  'PermissionRequest',
  'PermissionDenied',
  'Setup',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'Elicitation',
  'ElicitationResult',
  'ConfigChange',
  'WorktreeCreate',
  'WorktreeRemove',
  'InstructionsLoaded',
  'CwdChanged',
  'FileChanged',
  'DirectoryAdded',
  'MessageDisplay',
]

const ALIASES: Partial<Record<EventName, readonly string[]>> = {
  PreToolUse: ['tool:pre', 'pre_tool_use', 'before_tool', 'hook.before_tool', 'preToolUse'],
  PermissionRequest: ['tool:ask_user', 'approval:required', 'permission_request', 'permissionRequest'],
  PostToolUse: ['tool:post', 'post_tool_use', 'after_tool', 'hook.after_tool', 'postToolUse'],
  PostToolUseFailure: ['tool:error', 'post_tool_use_failure', 'postToolUseFailure'],
  UserPromptSubmit: ['prompt:submit', 'user_prompt_submit', 'userPromptSubmit'],
  ModelRequest: ['provider:request', 'llm:request', 'before_llm', 'hook.before_llm', 'model_request'],
  ModelResponse: ['provider:response', 'llm:response', 'after_llm', 'hook.after_llm', 'model_response'],
  SessionStart: ['session:start', 'session_start', 'sessionStart'],
  SessionEnd: ['session:end', 'session_end', 'sessionEnd', 'SessionStop', 'session_stop', 'sessionStop'],
  Stop: ['orchestrator:stop', 'prompt:complete', 'stop', 'turn_end'],
  SubagentStart: ['subagent_start', 'subturn_spawn', 'subagentStart'],
  SubagentStop: ['task:post', 'subagent_stop', 'subturn_end', 'subagentStop'],
  PreCompact: ['context:pre_compact', 'pre_compact', 'preCompact'],
  ConfigChange: ['config_change', 'configChange'],
  Notification: ['user:notification', 'notification'],
  TaskCompleted: ['task_completed', 'taskCompleted'],
  TeammateIdle: ['teammate_idle', 'teammateIdle'],
}

/** Every key of BeamAgent's hook context. */
const HOOK_CONTEXT_KEYS = [
  'event',
  'session_id',
  'tool_name',
  'tool_input',
  'tool_use_id',
  'agent_id',
  'agent_type',
  'content',
  'stop_reason',
  'duration_ms',
  'stop_hook_active',
  'prompt',
  'params',
  'permission_prompt_tool_name',
  'permission_suggestions',
  'updated_permissions',
  'interrupt',
  'category',
  'permission_id',
  'metadata',
  'agent_transcript_path',
  'system_info',
  'reason',
  'reload_type',
  'status',
]

const SAMPLES: Record<FieldType, Json> = {
  string: 'text',
  number: 1,
  boolean: true,
  object: { key: 'value' },
  list: ['item'],
  json: { any: 'thing' },
}

function sample(kind: EventKind): Record<string, Json> {
  return Object.fromEntries(Object.entries(kind.required).map(([field, type]) => [field, SAMPLES[type]]))
}

const requiredFields = knownEvents().flatMap((kind) =>
  Object.keys(kind.required).map((field) => [kind.name, field] as const),
)

/** What a hook of this event reads when `data` is emitted. */
async function read(event: string, data: object): Promise<Data> {
  const registry = new HookRegistry()
  let seen: Data | undefined
  registry.register(event, (_event, payload) => {
    seen = payload as Data
  })
  await registry.emit(event, data)
  if (!seen) throw new Error(`nobody heard ${event}`)
  return seen
}

describe('the catalogue', () => {
  it.each(CLAUDE_CODE_EVENTS)('knows %s of Claude Code', (name) => {
    expect(resolveEvent(name)).toMatchObject({ name, custom: false })
  })

  it('knows ModelRequest, ModelResponse, ToolsListed, and nothing beyond the 33 of Claude Code', () => {
    const names = knownEvents().map((kind) => kind.name)
    expect(CLAUDE_CODE_EVENTS).toHaveLength(33)
    expect([...names].sort()).toEqual(
      [...CLAUDE_CODE_EVENTS, 'ModelRequest', 'ModelResponse', 'ToolsListed'].sort(),
    )
    expect(names).toEqual(Object.keys(CATALOGUE))
  })

  it.each<[EventName, string, string]>([
    ['PreToolUse', 'block', 'deny'],
    ['PermissionRequest', 'block', 'deny'],
    ['PostToolUse', 'tell', 'ignore'],
    ['PostToolUseFailure', 'tell', 'ignore'],
    ['UserPromptSubmit', 'block', 'deny'],
    ['ModelRequest', 'block', 'deny'],
    ['ModelResponse', 'block', 'deny'],
    ['SessionStart', 'none', 'ignore'],
    ['SessionEnd', 'none', 'ignore'],
    ['Stop', 'go-on', 'ignore'],
    ['SubagentStart', 'block', 'deny'],
    ['SubagentStop', 'go-on', 'ignore'],
    ['PreCompact', 'block', 'deny'],
    ['ConfigChange', 'block', 'deny'],
    ['Notification', 'none', 'ignore'],
  ])('%s: a deny is %s, a failing function %s', (name, denyEffect, onFailure) => {
    expect(resolveEvent(name)).toMatchObject({ deny: denyEffect, onFailure })
  })

  it.each(['TaskCompleted', 'TeammateIdle'])('%s may be denied by hooks in Claude format only', (name) => {
    expect(resolveEvent(name)).toMatchObject({ denyOnlyClaudeFormat: true, onFailure: 'ignore' })
  })

  it.each([
    ['PreToolUse', 'tool_name'],
    ['PostToolUse', 'tool_name'],
    ['PostToolUseFailure', 'tool_name'],
    ['PermissionRequest', 'tool_name'],
    ['PermissionDenied', 'tool_name'],
    ['SessionStart', 'source'],
    ['Setup', 'trigger'],
    ['SessionEnd', 'reason'],
    ['Notification', 'notification_type'],
    ['SubagentStart', 'agent_type'],
    ['SubagentStop', 'agent_type'],
    ['PreCompact', 'trigger'],
    ['PostCompact', 'trigger'],
    ['ConfigChange', 'source'],
    ['DirectoryAdded', 'source'],
    ['FileChanged', 'file_path'],
    ['StopFailure', 'error'],
    ['InstructionsLoaded', 'load_reason'],
    ['UserPromptExpansion', 'command_name'],
    ['Elicitation', 'mcp_server_name'],
    ['ElicitationResult', 'mcp_server_name'],
    ['UserPromptSubmit', null],
    ['PostToolBatch', null],
    ['Stop', null],
    ['TeammateIdle', null],
    ['TaskCreated', null],
    ['TaskCompleted', null],
    ['WorktreeCreate', null],
    ['WorktreeRemove', null],
    ['MessageDisplay', null],
    ['CwdChanged', null],
  ])('matchers of %s are held against %s', (name, field) => {
    expect(resolveEvent(name).matcher).toBe(field)
  })

  it.each(HOOK_CONTEXT_KEYS)('knows %s of BeamAgent’s hook context', (key) => {
    expect(Object.keys(COMMON_FIELDS)).toContain(key)
  })
})

describe('names', () => {
  const pairs = Object.entries(ALIASES).flatMap(([name, aliases]) =>
    (aliases ?? []).map((alias) => [alias, name] as const),
  )

  it.each(pairs)('%s is %s', (alias, name) => {
    expect(resolveEvent(alias).name).toBe(name)
  })

  it.each(knownEvents().map((kind) => kind.name))('%s goes by its camelCase and snake_case', (name) => {
    const words = name.match(/[A-Z][a-z]*/g) ?? []
    const camel = name.charAt(0).toLowerCase() + name.slice(1)
    expect(resolveEvent(camel).name).toBe(name)
    expect(resolveEvent(words.join('_').toLowerCase()).name).toBe(name)
  })

  it('gives every name to one event alone', () => {
    const names = knownEvents().flatMap((kind) => [kind.name, ...kind.aliases])
    expect(new Set(names).size).toBe(names.length)
  })

  it('takes an alias wherever an event name is taken', async () => {
    const registry = new HookRegistry()
    registry.register('hook.before_tool', () => deny('by alias'))
    const outcome = await registry.emit('tool:pre', { tool_name: 'Bash', tool_input: {} })
    expect(outcome).toMatchObject({ action: 'deny', reason: 'by alias' })
    expect(outcome.data.hook_event_name).toBe('PreToolUse')
    expect(registry.listHandlers('pre_tool_use')).toHaveProperty('PreToolUse')
  })

  it.each(['my:event', 'pretooluse', 'constructor', '__proto__', 'toString'])(
    '%s is a custom event',
    (name) => {
      expect(resolveEvent(name)).toMatchObject({ name, custom: true, deny: 'none', onFailure: 'ignore' })
    },
  )

  it.each(['', null, undefined, 5, {}])('%j is no event name', (name) => {
    expect(() => resolveEvent(name as string)).toThrow(
      expect.objectContaining({
        code: 'EVENT_INVALID',
        message: `An event name must be a non-empty string, got ${JSON.stringify(name)}`,
      }),
    )
  })
})

describe('G6: a name that is almost a known one', () => {
  it.each([
    ['pretooluse', 'PreToolUse'],
    ['PRE-TOOL-USE', 'PreToolUse'],
    ['Tool:Pre', 'PreToolUse'],
    ['sessionstop', 'SessionEnd'],
    ['PreTolUse', 'PreToolUse'],
    ['PerToolUse', 'PreToolUse'],
    ['PreToolUsee', 'PreToolUse'],
    ['PostToolUze', 'PostToolUse'],
    ['tool:prre', 'PreToolUse'],
    ['hook.befor_tool', 'PreToolUse'],
    ['user_prompt_sumbit', 'UserPromptSubmit'],
  ])('%s: did you mean %s?', (name, meant) => {
    const text = `there is no event ${JSON.stringify(name)}; did you mean ${meant}?`
    const refusal = expect.objectContaining({ code: 'EVENT_INVALID', message: text })
    const registry = new HookRegistry()
    expect(() => registry.register(name, () => undefined)).toThrow(refusal)
    expect(() => registry.registerHooks([hook(name, () => 'ok')])).toThrow(refusal)
    registry.register(name, () => deny('no'), { custom: true })
    expect(registry.diagnostics).toEqual([])
  })

  it.each(['PreToolUse', 'tool:pre', 'hook.before_tool', 'my:event', 'deploy', 'Stopp', 'Setups'])(
    '%s is none',
    (name) => {
      expect(() => new HookRegistry().register(name, () => undefined)).not.toThrow()
    },
  )
})

describe('custom events', () => {
  it('pass the payload through', async () => {
    const payload = { any: ['thing', { deep: null }], tool_name: 5, prompt: false }
    expect(await read('my:event', payload)).toMatchObject(payload)
  })

  it('cannot be denied', async () => {
    const registry = new HookRegistry()
    registry.register('my:event', () => deny('no'), { name: 'refuser' })
    const outcome = await registry.emit('my:event', {})
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ answer: { action: 'deny' } }] })
    expect(outcome.diagnostics).toEqual([
      {
        code: 'verdict-ignored',
        text: 'refuser answered deny, which has no effect on my:event; the operation went on',
      },
    ])
  })
})

describe('required fields', () => {
  it.each(requiredFields)('%s without %s is refused, hooks or none', async (name, field) => {
    const { [field]: _, ...data } = sample(resolveEvent(name))
    const refused = {
      code: 'PAYLOAD_INVALID',
      message: `${name}: the required field ${field} is missing`,
    }
    const registry = new HookRegistry()
    await expect(registry.emit(name, data)).rejects.toMatchObject(refused)
    if (resolveEvent(name).required[field] !== 'json') {
      await expect(registry.emit(name, { ...data, [field]: null })).rejects.toMatchObject(refused)
    }
    let ran = false
    registry.register(name, () => {
      ran = true
    })
    await expect(registry.emit(name, data)).rejects.toMatchObject(refused)
    await expect(registry.emitAndCollect(name, data)).rejects.toMatchObject(refused)
    expect(ran).toBe(false)
    const hooks = await createHooks({ globals: false })
    await expect(hooks.session().fire(name, data)).rejects.toMatchObject(refused)
    hooks.register(name, () => undefined)
    await expect(hooks.session().fire(name, data)).rejects.toMatchObject(refused)
  })

  it.each(knownEvents().map((kind) => kind.name))('%s with all of them is taken', async (name) => {
    const data = sample(resolveEvent(name))
    expect(await new HookRegistry().emit(name, data)).toMatchObject({ action: 'continue', data })
    expect(await read(name, data)).toMatchObject(data)
  })

  it.each(requiredFields.filter(([name, field]) => resolveEvent(name).required[field] !== 'json'))(
    '%s with %s of another type is refused, hooks or none',
    async (name, field) => {
      const kind = resolveEvent(name)
      const wrong = kind.required[field] === 'number' ? 'text' : 5
      const data = { ...sample(kind), [field]: wrong }
      await expect(new HookRegistry().emit(name, data)).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        message: expect.stringMatching(new RegExp(`^${name}: ${field} must be an? \\w+, got a number$`)),
      })
    },
  )

  it.each([
    ['tool_name', 5, 'tool_name must be a string, got a number'],
    ['tool_name', ['Bash'], 'tool_name must be a string, got a list'],
    ['tool_name', { name: 'Bash' }, 'tool_name must be a string, got an object'],
    ['tool_input', 'ls', 'tool_input must be an object, got a string'],
    ['tool_input', ['ls'], 'tool_input must be an object, got a list'],
    ['tool_input', true, 'tool_input must be an object, got a boolean'],
  ])('says what is wrong with %s: %j', (field, value, message) => {
    const data = { tool_name: 'Bash', tool_input: {}, [field]: value }
    expect(() => checkRequired(resolveEvent('PreToolUse'), data)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_INVALID', message: `PreToolUse: ${message}` }),
    )
  })

  it.each([
    [null, 'null'],
    [[], 'a list'],
    ['text', 'a string'],
    [5, 'a number'],
  ])('data must be an object, not %j', (data, shown) => {
    expect(() => checkRequired(resolveEvent('Stop'), data)).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: `Stop: the data must be an object, got ${shown}`,
      }),
    )
  })

  it('takes the twin of a required field in its place', async () => {
    expect(await read('UserPromptSubmit', { user_prompt: 'hi' })).toMatchObject({ prompt: 'hi' })
  })
})

describe('optional fields', () => {
  it('refuses a known field of the wrong type', async () => {
    await expect(
      read('PostToolUse', { tool_name: 'Bash', tool_input: {}, duration_ms: 'long' }),
    ).rejects.toThrow('PostToolUse: duration_ms must be a number, got a string')
    await expect(read('Stop', { stop_hook_active: 'yes' })).rejects.toThrow(
      'Stop: stop_hook_active must be a boolean, got a string',
    )
    await expect(read('Stop', { permission_suggestions: {} })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })

  it('takes null for absent', async () => {
    expect(await read('Stop', { stop_hook_active: null })).toMatchObject({ stop_hook_active: null })
  })

  it('passes unknown fields through', async () => {
    expect(await read('Stop', { of_my_own: { a: [1] } })).toMatchObject({ of_my_own: { a: [1] } })
  })

  it('checks no type that the object prototype would lend', () => {
    expect(() => checkTypes(resolveEvent('Stop'), { constructor: 5, toString: 'x' })).not.toThrow()
  })
})

describe('the opened payload', () => {
  const kind = resolveEvent('PreToolUse')

  it('is base under data under what the engine owns', () => {
    const base = { cwd: '/base', permission_mode: 'default' }
    const data = {
      tool_name: 'Bash',
      tool_input: {},
      cwd: '/data',
      session_id: 'forged',
      timestamp: 'forged',
    }
    const owned = { hook_event_name: 'PreToolUse', session_id: 's1', timestamp: 'now' }
    expect(openPayload(kind, base, data, owned)).toEqual({
      permission_mode: 'default',
      cwd: '/data',
      tool_name: 'Bash',
      tool_input: {},
      hook_event_name: 'PreToolUse',
      session_id: 's1',
      timestamp: 'now',
    })
  })

  it('is a frozen private copy', () => {
    const input = { command: 'ls', list: [{ a: 1 }] }
    const payload = openPayload(kind, {}, { tool_name: 'Bash', tool_input: input })
    input.command = 'rm'
    const copy = payload.tool_input as { command: string; list: readonly Data[] }
    expect(copy.command).toBe('ls')
    for (const part of [payload, copy, copy.list, copy.list[0]]) expect(Object.isFrozen(part)).toBe(true)
  })

  it('fills in defaults where the host sent nothing', async () => {
    expect(await read('SessionStart', {})).toMatchObject({ source: 'startup', trigger: 'startup' })
    expect(await read('SessionStart', { source: 'resume' })).toMatchObject({ source: 'resume' })
    expect(await read('ModelRequest', { model: 'm', messages: [] })).toMatchObject({ tools: [], options: {} })
    expect(await read('ModelRequest', { model: 'm', messages: [], tools: null })).toMatchObject({ tools: [] })
  })

  it('says when the event happened', async () => {
    const { timestamp } = await read('Stop', { timestamp: 'forged' })
    expect(new Date(String(timestamp)).toISOString()).toBe(timestamp)
  })
})

describe('twin fields', () => {
  const twins = [
    ['PostToolUse', { tool_name: 'Bash', tool_input: {} }, 'tool_response', 'tool_result'],
    ['SessionStart', {}, 'source', 'trigger'],
    ['PreCompact', {}, 'trigger', 'source'],
    ['UserPromptSubmit', {}, 'prompt', 'user_prompt'],
    ['UserPromptExpansion', { command_name: 'review' }, 'prompt', 'user_prompt'],
  ] as const

  it.each(twins)('%s: sent under either name, read under both', async (event, data, one, other) => {
    expect(await read(event, { ...data, [one]: 'value' })).toMatchObject({ [one]: 'value', [other]: 'value' })
    expect(await read(event, { ...data, [other]: 'value' })).toMatchObject({
      [one]: 'value',
      [other]: 'value',
    })
  })

  it.each(twins)('%s: patching either changes both', async (event, data, one, other) => {
    for (const key of [one, other]) {
      const registry = new HookRegistry()
      registry.register(event, () => modify({ [key]: 'new' }))
      let later: Data | undefined
      registry.register(event, (_event, payload) => {
        later = payload as Data
      })
      const { data: after } = await registry.emit(event, { ...data, [one]: 'old' })
      expect(after).toMatchObject({ [one]: 'new', [other]: 'new' })
      expect(later).toMatchObject({ [one]: 'new', [other]: 'new' })
    }
  })

  it.each(twins)('%s: null under one name hides nothing under the other', async (event, data, one, other) => {
    const both = { [one]: 'value', [other]: 'value' }
    expect(await read(event, { ...data, [one]: null, [other]: 'value' })).toMatchObject(both)
    expect(await read(event, { ...data, [one]: 'value', [other]: null })).toMatchObject(both)
  })

  it.each(twins)('%s: two names never show two values', async (event, data, one, other) => {
    const seen = await read(event, { ...data, [one]: 'this', [other]: 'that' })
    expect(seen[one]).toBe(seen[other])
  })

  it('are checked under both names', async () => {
    await expect(read('UserPromptSubmit', { user_prompt: 5 })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    await expect(read('SessionStart', { trigger: 5 })).rejects.toThrow(
      'SessionStart: trigger must be a string, got a number',
    )
  })

  it('stay away from events that have neither', async () => {
    for (const [a, b] of TWIN_FIELDS) {
      expect(await read('CwdChanged', { old_cwd: '/a', new_cwd: '/b', [a]: 'x' })).not.toHaveProperty(b)
    }
  })
})

describe('the matcher field', () => {
  it.each<[string, object, string]>([
    ['PreToolUse', { tool_name: 'Bash' }, 'Bash'],
    ['FileChanged', { file_path: '/project/src/.env' }, '.env'],
    ['FileChanged', { file_path: '.env' }, '.env'],
    ['SessionEnd', {}, ''],
    ['SessionEnd', { reason: { code: 1 } }, ''],
    ['Stop', { tool_name: 'Bash' }, ''],
    ['my:event', { tool_name: 'Bash' }, ''],
  ])('of %s with %j is %j', (event, data, value) => {
    expect(matcherValue(resolveEvent(event), data as Data)).toBe(value)
  })
})

describe('types', () => {
  it('gives a handler the payload of its event, whatever the name', async () => {
    const registry = new HookRegistry()
    const seen: string[] = []
    registry.register('PreToolUse', (event, data) => {
      expectTypeOf(event).toEqualTypeOf<string>()
      expectTypeOf(data.tool_name).toEqualTypeOf<string>()
      expectTypeOf(data.tool_input).toEqualTypeOf<Data>()
      expectTypeOf(data.tool_use_id).toEqualTypeOf<string | null | undefined>()
      expectTypeOf(data.of_my_own).toEqualTypeOf<unknown>()
      seen.push(data.tool_name)
    })
    registry.register('tool:pre', (_event, data) => {
      expectTypeOf(data.tool_name).toEqualTypeOf<string>()
      expectTypeOf(data.tool_input).toEqualTypeOf<Data>()
      seen.push(data.tool_name)
    })
    await registry.emit('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(seen).toEqual(['Bash', 'Bash'])
  })

  it('gives a handler of a custom event Data', async () => {
    const registry = new HookRegistry()
    let seen: Json | undefined
    registry.register('my:event', (_event, data) => {
      expectTypeOf(data).toEqualTypeOf<Data>()
      seen = data.any
    })
    await registry.emit('my:event', { any: 1 })
    expect(seen).toBe(1)
  })

  it('promises a field that has a default', async () => {
    const registry = new HookRegistry()
    let seen = ''
    registry.register('SessionStart', (_event, data) => {
      expectTypeOf(data.source).toEqualTypeOf<string>()
      expectTypeOf(data.model).toEqualTypeOf<string | null | undefined>()
      seen = data.source
    })
    await registry.emit('SessionStart', {})
    expect(seen).toBe('startup')
  })

  it('knows the event behind a name', () => {
    expectTypeOf<Canonical<'hook.before_tool'>>().toEqualTypeOf<'PreToolUse'>()
    expectTypeOf<Canonical<'pre_tool_use'>>().toEqualTypeOf<'PreToolUse'>()
    expectTypeOf<Canonical<'preToolUse'>>().toEqualTypeOf<'PreToolUse'>()
    expectTypeOf<Canonical<'SessionStop'>>().toEqualTypeOf<'SessionEnd'>()
    expectTypeOf<Canonical<'post_tool_use_failure'>>().toEqualTypeOf<'PostToolUseFailure'>()
    expectTypeOf<Canonical<'my:event'>>().toEqualTypeOf<string>()
    expectTypeOf<Payload<'tool:pre'>>().toEqualTypeOf<Payload<'PreToolUse'>>()
    expectTypeOf<Payload<'my:event'>>().toEqualTypeOf<Data>()
    expectTypeOf<Payload<string>>().toEqualTypeOf<Data>()
    const names: Canonical<'hook.before_tool' | 'SessionStop'>[] = ['PreToolUse', 'SessionEnd']
    expect(['hook.before_tool', 'SessionStop'].map((name) => resolveEvent(name).name)).toEqual(names)
  })

  it('lets no handler take a field for what it is not', () => {
    const registry = new HookRegistry()
    const wantsNumber = (_event: string, data: { readonly tool_name: number }): undefined => void data
    // @ts-expect-error tool_name is a string
    const off = registry.register('PreToolUse', wantsNumber)
    expect(off).toBeTypeOf('function')
  })
})
