import { afterEach, describe, expect, it } from 'vitest'
import { MARKS, MockModel, type Script } from '../../src/verify/model/mock-model.js'

const SCRIPT: Script = {
  main: [{ call: { name: 'Bash', input: { command: 'touch x' } } }],
  subagent: [{ call: { name: 'Bash', input: { command: 'touch y' } } }],
}

let model: MockModel | undefined
let url = ''

afterEach(() => model?.stop())

async function start(script = SCRIPT): Promise<void> {
  model = new MockModel(script)
  url = `http://127.0.0.1:${await model.start()}`
}

async function post(path: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

/** The data of a stream of events. */
function eventsIn(text: string): unknown[] {
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^event: .*\n/, '').replace(/^data: /, ''))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)))
}

const user = (text: string) => ({ role: 'user', content: text })
const main = `${MARKS.main}: go`
const tools = [{ name: 'Bash' }, { name: 'Write' }]

/** A first request of the main talk, and a second with what came of it, in each protocol. */
const PROTOCOLS = [
  {
    name: 'Anthropic Messages',
    path: '/v1/messages',
    first: { model: 'm', tools, messages: [user(main)] },
    second: {
      model: 'm',
      tools,
      messages: [
        user(main),
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'Bash', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'the-reason' }] },
      ],
    },
    call: { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'touch x' } }] },
    end: { content: [{ type: 'text' }], stop_reason: 'end_turn' },
  },
  {
    name: 'OpenAI Responses',
    path: '/v1/responses',
    first: { model: 'm', tools, input: [{ type: 'message', ...user(main) }] },
    second: {
      model: 'm',
      tools,
      input: [
        { type: 'message', ...user(main) },
        { type: 'function_call', name: 'Bash', arguments: '{}', call_id: '1' },
        { type: 'function_call_output', call_id: '1', output: 'the-reason' },
      ],
    },
    call: { output: [{ type: 'function_call', name: 'Bash', arguments: '{"command":"touch x"}' }] },
    end: { output: [{ type: 'message', role: 'assistant' }] },
  },
  {
    name: 'OpenAI Chat Completions',
    path: '/v1/chat/completions',
    first: { model: 'm', tools, messages: [user(main)] },
    second: {
      model: 'm',
      tools,
      messages: [
        user(main),
        { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'Bash', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: '1', content: 'the-reason' },
      ],
    },
    call: {
      choices: [
        { message: { tool_calls: [{ function: { name: 'Bash', arguments: '{"command":"touch x"}' } }] } },
      ],
    },
    end: { choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }] },
  },
  {
    name: 'Gemini generateContent',
    path: '/v1beta/models/m:generateContent',
    first: { tools, contents: [{ role: 'user', parts: [{ text: main }] }] },
    second: {
      tools,
      contents: [
        { role: 'user', parts: [{ text: main }] },
        { role: 'model', parts: [{ functionCall: { name: 'Bash', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'Bash', response: { error: 'the-reason' } } }],
        },
      ],
    },
    call: {
      candidates: [
        { content: { parts: [{ functionCall: { name: 'Bash', args: { command: 'touch x' } } }] } },
      ],
    },
    end: { candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] },
  },
  {
    name: 'Chat Completions with XML calls',
    path: '/v1/chat/completions',
    first: {
      model: 'm',
      messages: [{ role: 'system', content: '<attempt_completion> ends the task' }, user(main)],
    },
    second: {
      model: 'm',
      messages: [
        { role: 'system', content: '<attempt_completion> ends the task' },
        user(main),
        { role: 'assistant', content: '<Bash></Bash>' },
        user('the-reason'),
      ],
    },
    call: { choices: [{ message: { content: '<Bash>\n<command>touch x</command>\n</Bash>' } }] },
    end: {
      choices: [
        {
          message: {
            content: '<attempt_completion>\n<result>All done.</result>\n</attempt_completion>',
          },
        },
      ],
    },
  },
]

describe('the mock model', () => {
  it.each(PROTOCOLS)('$name: makes its call, then ends, and keeps what it was told', async (one) => {
    await start()
    expect(JSON.parse((await post(one.path, one.first)).text)).toMatchObject(one.call)
    expect(model?.isOver).toBe(false)
    expect(JSON.parse((await post(one.path, one.second)).text)).toMatchObject(one.end)
    expect(model?.isOver).toBe(true)
    expect(model?.requests).toMatchObject([
      { protocol: one.name, role: 'main', turn: 0 },
      { protocol: one.name, role: 'main', turn: 1 },
    ])
    expect(model?.requests[1]?.body).toContain('the-reason')
  })

  it.each(PROTOCOLS)('$name: streams the same', async ({ path, first }) => {
    await start()
    const streamed = path.replace(':generate', ':streamGenerate')
    const { text } = await post(streamed, { ...first, stream: true })
    const events = eventsIn(text)
    expect(events.length).toBeGreaterThan(0)
    expect(JSON.stringify(events)).toContain('touch x')
  })

  it('gives a request that is sent again the same answer', async () => {
    await start()
    const [{ path, first, call }] = PROTOCOLS as [(typeof PROTOCOLS)[0]]
    for (let i = 0; i < 3; i++) expect(JSON.parse((await post(path, first)).text)).toMatchObject(call)
  })

  it('tells a subagent, and what only wants a title, from the main talk', async () => {
    await start()
    const path = '/v1/messages'
    const sub = await post(path, { model: 'm', tools, messages: [user(`${MARKS.subagent}: go`)] })
    expect(sub.text).toContain('touch y')
    const title = await post(path, { model: 'm', messages: [user(`a title for: ${main}`)] })
    expect(title.text).not.toContain('touch')
    const other = await post(path, { model: 'm', tools, messages: [user('something else')] })
    expect(other.text).not.toContain('touch')
    expect(model?.requests.map(({ role }) => role)).toEqual(['subagent', 'side', 'side'])
  })

  it('passes texts to tools that take no object, and names where a tool is found', async () => {
    await start({
      main: [
        { call: { name: 'apply_patch', input: '*** Begin Patch' } },
        { call: { name: 'spawn', namespace: 'agents', input: {} } },
      ],
    })
    const [, { path, first, second }] = PROTOCOLS as typeof PROTOCOLS & [unknown, (typeof PROTOCOLS)[0]]
    expect(JSON.parse((await post(path, first)).text)).toMatchObject({
      output: [{ type: 'custom_tool_call', input: '*** Begin Patch' }],
    })
    expect(JSON.parse((await post(path, second)).text)).toMatchObject({
      output: [{ type: 'function_call', namespace: 'agents' }],
    })
  })

  it('lists itself, and says so if it is asked for something else', async () => {
    await start()
    expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'mock-model' }] })
    expect((await post('/v1/telemetry', {})).status).toBe(404)
    const broken = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{' })
    expect(broken.status).toBe(404)
    expect(model?.unknown).toEqual(['POST /v1/telemetry', 'POST /v1/messages'])
    expect(model?.requests).toEqual([])
  })
})
