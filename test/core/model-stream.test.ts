// streamModel: which deltas come out before, after and without a judgement, and what ends the stream.

import { askUser, createHooks, type Data, deny, modify, respond, type Session } from 'carabiner'
import { describe, expect, test, vi } from 'vitest'
import { mayCallTool, textOfDeltas } from '../../src/core/session/delta.js'

const REQUEST = { model: 'small', messages: [{ role: 'user', content: 'Hello' }] }

type Part = { readonly type: string; readonly text?: string; readonly name?: string }
const TEXT = [
  { type: 'text', text: 'the pass' },
  { type: 'text', text: 'word is x' },
]
const CALL = { type: 'tool-call', name: 'look' }
const END = { type: 'finish' }

/** A model's stream that notes what was asked of it. */
function stream(parts: readonly Part[], log: unknown[] = []) {
  return async function* () {
    try {
      for (const part of parts) {
        log.push(['made', part])
        yield part
      }
    } finally {
      log.push('closed')
    }
  }
}

async function newSession(): Promise<Session> {
  return (await createHooks({ globals: false })).session()
}

async function read<T>(deltas: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = []
  for await (const delta of deltas) seen.push(delta)
  return seen
}

const noSecrets = (_: unknown, { response }: { readonly response: unknown }) =>
  JSON.stringify((response as Data).content).includes('password') ? deny('a secret') : undefined

describe('what is held back', () => {
  test('without a hook each delta comes when the model sends it', async () => {
    const log: unknown[] = []
    const streamed = (await newSession()).streamModel(REQUEST, stream(TEXT, log))
    for await (const delta of streamed) log.push(['read', delta])
    expect(log).toEqual([
      ...TEXT.flatMap((part) => [
        ['made', part],
        ['read', part],
      ]),
      'closed',
    ])
    await expect(streamed.result).resolves.toMatchObject({
      status: 'ok',
      response: { role: 'assistant', content: 'the password is x', deltas: TEXT },
    })
  })

  test('all: every delta waits for the judgement', async () => {
    const session = await newSession()
    const judged = vi.fn()
    session.register('ModelResponse', async (_, { response }) => void judged(response))
    for await (const _ of session.streamModel(REQUEST, stream([...TEXT, CALL])))
      expect(judged).toHaveBeenCalledOnce()
    expect(judged).toHaveBeenCalledWith(expect.objectContaining({ content: 'the password is x' }))
  })

  test.each([
    ['all', []],
    ['tool-calls', TEXT],
    ['none', [...TEXT, CALL, END]],
  ] as const)(
    '%s: a word that two deltas share is seen, and what is left is refused',
    async (hold, shown) => {
      const session = await newSession()
      session.register('ModelResponse', noSecrets)
      const streamed = session.streamModel(REQUEST, stream([...TEXT, CALL, END]), { hold })
      expect(await read<unknown>(streamed)).toEqual(shown)
      await expect(streamed.result).resolves.toMatchObject({ status: 'denied', reason: 'a secret' })
    },
  )

  test('a response that needs approval is held too', async () => {
    const session = await newSession()
    session.register('ModelResponse', () => askUser('show it?'))
    const streamed = session.streamModel(REQUEST, stream(TEXT))
    expect(await read(streamed)).toEqual([])
    expect((await streamed.result).status).toBe('needs_approval')
  })
})

describe('a hook answers', () => {
  const deltasOf = (response: unknown) => [{ type: 'text', text: String((response as Data).content) }]

  test('instead of the model: deltas are made of its response', async () => {
    const session = await newSession()
    session.register('ModelRequest', () => respond({ role: 'assistant', content: 'cached' }))
    const run = vi.fn(stream(TEXT))
    const streamed = session.streamModel(REQUEST, run, { deltasOf })
    expect(await read(streamed)).toEqual([{ type: 'text', text: 'cached' }])
    expect((await streamed.result).status).toBe('responded')
    expect(run).not.toHaveBeenCalled()
  })

  test('and changes the response: deltas are made of the new one, unless some were shown', async () => {
    const session = await newSession()
    session.register('ModelResponse', (_, { response }) =>
      modify({ response: { ...(response as Data), content: 'redacted' } }),
    )
    expect(await read(session.streamModel(REQUEST, stream(TEXT), { deltasOf }))).toEqual([
      { type: 'text', text: 'redacted' },
    ])
    const late = session.streamModel(REQUEST, stream(TEXT), { deltasOf, hold: 'none' })
    expect(await read(late)).toEqual(TEXT)
    expect((await late.result).response).toMatchObject({ content: 'redacted' })
  })

  test('and changes it after a part was shown: restOf makes what follows', async () => {
    const session = await newSession()
    session.register('ModelResponse', (_, { response }) =>
      modify({ response: { ...(response as Data), tool_calls: [] } }),
    )
    const restOf = vi.fn(() => [END])
    const run = stream([...TEXT, CALL, END])
    const late = session.streamModel(REQUEST, run, { deltasOf, restOf, hold: 'tool-calls' })
    expect(await read<unknown>(late)).toEqual([...TEXT, END])
    expect(restOf).toHaveBeenCalledWith(expect.objectContaining({ tool_calls: [] }), TEXT)
    const held = session.streamModel(REQUEST, run, { deltasOf, restOf })
    expect(await read(held)).toEqual([{ type: 'text', text: 'the password is x' }])
    expect(restOf).toHaveBeenCalledOnce()
  })

  test('no: the model is not called', async () => {
    const session = await newSession()
    session.register('ModelRequest', () => deny('over budget'))
    const run = vi.fn(stream(TEXT))
    const streamed = session.streamModel(REQUEST, run)
    expect(await read(streamed)).toEqual([])
    await expect(streamed.result).resolves.toMatchObject({ status: 'denied', reason: 'over budget' })
    expect(run).not.toHaveBeenCalled()
  })
})

describe('the end', () => {
  test('a model that fails: the error is thrown, and is in the result', async () => {
    const session = await newSession()
    const error = new Error('connection lost')
    async function* broken() {
      yield 'No'
      throw error
    }
    const streamed = session.streamModel(REQUEST, broken)
    await expect(read(streamed)).rejects.toBe(error)
    await expect(streamed.result).rejects.toBe(error)
  })

  test('a reader that gives up closes the source', async () => {
    const session = await newSession()
    const log: unknown[] = []
    const streamed = session.streamModel(REQUEST, stream(TEXT, log))
    for await (const _ of streamed) break
    expect(log).toEqual([['made', TEXT[0]], 'closed'])
    await expect(streamed.result).rejects.toMatchObject({ name: 'AbortError' })
    await session.close()
  })

  test('an abort is an AbortError', async () => {
    const session = await newSession()
    const controller = new AbortController()
    const streamed = session.streamModel(REQUEST, stream(TEXT), { signal: controller.signal })
    const reading = async () => {
      for await (const _ of streamed) controller.abort()
    }
    await expect(reading()).rejects.toMatchObject({ name: 'AbortError', code: 'ABORTED' })
  })

  test('a session that is closed meanwhile hands out nothing that was held', async () => {
    const session = await newSession()
    session.register('ModelResponse', () => undefined)
    let closing: Promise<void> | undefined
    async function* parts() {
      yield 'No'
      closing = session.close()
      yield 'on.'
    }
    await expect(read(session.streamModel(REQUEST, parts))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await closing
  })
})

describe('deltas of SDKs', () => {
  const forms: readonly (readonly [string, readonly unknown[]])[] = [
    [
      'AI SDK',
      [
        { type: 'text-delta', id: '1', delta: 'No' },
        { type: 'text-delta', id: '1', delta: 'on.' },
      ],
    ],
    [
      'Anthropic',
      [
        { type: 'content_block_start', content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Noon.' } },
      ],
    ],
    [
      'OpenAI Chat',
      [
        { choices: [{ delta: { role: 'assistant', content: 'No' } }] },
        { choices: [{ delta: { content: 'on.' } }] },
      ],
    ],
    ['OpenAI Responses', [{ type: 'response.output_text.delta', delta: 'Noon.' }]],
    ['Gemini', [{ candidates: [{ content: { parts: [{ text: 'No' }, { text: 'on.' }] } }] }]],
    ['LangChain', [{ content: [{ type: 'text', text: 'No' }] }, { content: 'on.' }]],
  ]
  test.each(forms)('%s: texts are found, and no tool call', (_, deltas) => {
    expect(textOfDeltas(deltas)).toBe('Noon.')
    expect(deltas.some((delta) => mayCallTool(delta))).toBe(false)
  })

  test.each([
    ['AI SDK', { type: 'tool-input-start', id: '1', toolName: 'look' }],
    ['Anthropic', { type: 'content_block_start', content_block: { type: 'tool_use', name: 'look' } }],
    ['OpenAI Chat', { choices: [{ delta: { tool_calls: [{ index: 0 }] } }] }],
    ['OpenAI Responses', { type: 'response.function_call_arguments.delta', delta: '{}' }],
    ['Gemini', { candidates: [{ content: { parts: [{ functionCall: { name: 'look' } }] } }] }],
    ['LangChain', { content: '', tool_call_chunks: [{ name: 'look' }] }],
  ])('%s: a tool call is seen, and is no text', (_, delta) => {
    expect(mayCallTool(delta)).toBe(true)
    expect(textOfDeltas([delta])).toBe('')
  })
})
