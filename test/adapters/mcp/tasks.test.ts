import { describe, expect, it } from 'vitest'
import type { Hooks } from '../../../src/hooks.js'
import { RawScene } from './raw-scene.js'

const CALL = {
  method: 'tools/call',
  params: { name: 'report', arguments: { of: 'May' }, task: { ttl: 60_000 } },
}
const SAMPLE = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 9, task: {} },
}
const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'Your number?', requestedSchema: { type: 'object', properties: {} }, task: {} },
}
const made = (taskId: string, more: object = {}) => ({
  result: { task: { taskId, status: 'working', ttl: 60_000 }, ...more },
})
const fetch = (taskId: string) => ({ method: 'tasks/result', params: { taskId } })
const text = (words: string) => ({ result: { content: [{ type: 'text', text: words }] } })
const IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response'

/** A hook that looks at results of tools, and hides secrets in them. */
const hides =
  (seen: unknown[] = []) =>
  (hooks: Hooks) => {
    hooks.register('PostToolUse', (_, data) => {
      seen.push(data.tool_response)
      return JSON.stringify(data.tool_response).includes('SECRET')
        ? { action: 'modify', data: { tool_response: 'hidden' } }
        : undefined
    })
  }

describe('a tool call as a task', () => {
  it('has its result judged when that is fetched, and only then', async () => {
    const seen: unknown[] = []
    await using scene = await RawScene.open(hides(seen))
    expect(await scene.asks(CALL, made('t1'))).toMatchObject(made('t1'))
    expect(seen).toEqual([])
    expect(await scene.asks(fetch('t1'), text('SECRET'))).toMatchObject(text('hidden'))
    expect(seen).toEqual([text('SECRET').result])
  })

  it('gives the judged result again, whatever the server says then', async () => {
    await using scene = await RawScene.open(hides())
    await scene.asks(CALL, made('t1'))
    expect(await scene.asks(fetch('t1'), text('fine'))).toMatchObject(text('fine'))
    expect(await scene.asks(fetch('t1'), text('SECRET'))).toMatchObject(text('fine'))
  })

  it('can be fetched once if its result is long', async () => {
    await using scene = await RawScene.open(hides())
    await scene.asks(CALL, made('t1'))
    const long = text('x'.repeat(100_000))
    expect(await scene.asks(fetch('t1'), long)).toMatchObject(long)
    expect(await scene.asks(fetch('t1'), long)).toMatchObject({
      error: { message: expect.stringContaining('already fetched') },
    })
  })

  it('carries what hooks told the model before, with its result', async () => {
    await using scene = await RawScene.open((hooks) => {
      hooks.register('PreToolUse', () => ({ action: 'inject_context', contextInjection: 'Mind the gap' }))
    })
    await scene.asks(CALL, made('t1'))
    expect(await scene.asks(fetch('t1'), text('fine'))).toMatchObject({
      result: { content: [{ text: 'fine' }, { text: 'Mind the gap' }] },
    })
  })

  it('that fails is a PostToolUseFailure, and so is one that is cancelled', async () => {
    const seen: unknown[] = []
    await using scene = await RawScene.open((hooks) => {
      hooks.register('PostToolUseFailure', (_, data) => void seen.push(data.error))
    })
    await scene.asks(CALL, made('t1'))
    const error = { code: -32603, message: 'out of paper' }
    expect(await scene.asks(fetch('t1'), { error })).toMatchObject({ error })
    await scene.asks(CALL, made('t2'))
    await scene.asks({ method: 'tasks/cancel', params: { taskId: 't2' } }, made('t2'))
    // A failure that the proxy has to write again is still one of the server.
    await scene.asks(CALL, made('t3'))
    await scene.asks(fetch('t3'), { error: { code: '1', message: 'out of ink' } })
    expect(seen).toEqual(['out of paper', expect.stringContaining('dropped'), 'out of ink'])
  })

  it('is refused if hooks did not see its request, and one looks at results', async () => {
    const message = expect.stringContaining('did not see the request')
    await using scene = await RawScene.open(hides())
    expect(await scene.asks(fetch('t9'), text('SECRET'))).toMatchObject({ error: { message } })
    await using free = await RawScene.open(() => undefined)
    expect(await free.asks(fetch('t9'), text('SECRET'))).toMatchObject(text('SECRET'))
  })

  it('must not answer with a result beside the task', async () => {
    await using scene = await RawScene.open(hides())
    expect(await scene.asks(CALL, made('t1', text('SECRET').result))).toMatchObject(text('hidden'))
  })

  it('has no text for the model that hooks have not seen', async () => {
    const _meta = { [IMMEDIATE]: 'SECRET', other: 1 }
    await using scene = await RawScene.open(hides())
    const { result } = await scene.asks(CALL, made('t1', { _meta }))
    expect(result).toEqual({ ...made('t1').result, _meta: { other: 1 } })
    await using free = await RawScene.open(() => undefined)
    expect(await free.asks(CALL, made('t1', { _meta }))).toMatchObject({ result: { _meta } })
  })

  it('is not fetched with its state, as in a later protocol', async () => {
    const get = { method: 'tasks/get', params: { taskId: 't1' } }
    const state = { taskId: 't1', status: 'completed' }
    await using scene = await RawScene.open(hides())
    await scene.asks(CALL, made('t1'))
    expect(await scene.asks(get, { result: state })).toMatchObject({ result: state })
    const { error } = await scene.asks(get, { result: { ...state, ...text('SECRET') } })
    expect(error?.message).toContain('not passed on')
  })
})

describe('a request of the server as a task', () => {
  it('elicitation/create: the answer of the person is judged', async () => {
    const seen: unknown[] = []
    await using scene = await RawScene.open((hooks) => {
      hooks.register('ElicitationResult', (_, data) => {
        seen.push(data.content)
        return { action: 'deny', reason: 'Private' }
      })
    })
    expect(await scene.isAsked(ELICIT, made('e1'))).toMatchObject(made('e1'))
    const answer = { result: { action: 'accept', content: { number: 'SECRET' } } }
    expect(await scene.isAsked(fetch('e1'), answer)).toMatchObject({ result: { action: 'decline' } })
    expect(seen).toEqual([{ number: 'SECRET' }])
  })

  it('sampling/createMessage: the answer of the model is judged', async () => {
    const seen: unknown[] = []
    await using scene = await RawScene.open((hooks) => {
      hooks.register('ModelResponse', (_, data) => {
        seen.push(data.response)
        return { action: 'deny', reason: 'Private' }
      })
    })
    expect(await scene.isAsked(SAMPLE, made('s1'))).toMatchObject(made('s1'))
    const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'SECRET' } }
    expect(await scene.isAsked(fetch('s1'), { result: answer })).toMatchObject({
      error: { message: 'Private' },
    })
    expect(seen).toEqual([answer])
    expect(await scene.isAsked(fetch('s2'), { result: answer })).toMatchObject({
      error: { message: expect.stringContaining('did not see the request') },
    })
  })
})
