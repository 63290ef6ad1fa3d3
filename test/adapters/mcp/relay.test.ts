import { describe, expect, it } from 'vitest'
import { failure, type Judges } from '../../../src/adapters/mcp/judge.js'
import { Relay } from '../../../src/adapters/mcp/relay.js'
import type { Json } from '../../../src/core/base/json.js'

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string }
}

/** A relay between two lists of lines. */
function relayed(
  { client = {}, server = {} }: { client?: Judges; server?: Judges } = {},
  timeoutMs = 60_000,
) {
  const toClient: string[] = []
  const toServer: string[] = []
  const logged: string[] = []
  const relay = new Relay({
    client: { send: (line) => toClient.push(line) },
    server: { send: (line) => toServer.push(line) },
    judges: { client, server },
    timeoutMs,
    log: (text) => logged.push(text),
  })
  return {
    relay,
    toClient,
    toServer,
    logged,
    client: (message: object | string) => relay.fromClient(textOf(message)),
    server: (message: object | string) => relay.fromServer(textOf(message)),
    answers: () => toClient.map((line) => JSON.parse(line) as Message),
    sent: () => toServer.map((line) => JSON.parse(line) as Message),
    end: () => relay.clientGone('the test is over'),
  }
}

function textOf(message: object | string): string {
  return typeof message === 'string' ? message : JSON.stringify(message)
}

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add' } }
const turns = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

describe('messages that nobody judges', () => {
  it.each([
    '{"jsonrpc": "2.0", "id": 1, "method": "a/method/of/tomorrow", "params": {"big": 12345678901234567890}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.50}}',
    '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
  ])('pass from the client to the server, byte for byte: %s', (line) => {
    const { relay, toServer, end } = relayed()
    relay.fromClient(line)
    expect(toServer).toEqual([line])
    end()
  })

  it('pass from the server to the client, and back', () => {
    const { server, client, toClient, toServer, end } = relayed()
    const asked = '{"jsonrpc":"2.0","id":"r-1","method":"roots/list"}'
    const answer = '{"result":{"roots":[]},"jsonrpc":"2.0","id":"r-1"}'
    server(asked)
    client(answer)
    expect([toClient, toServer]).toEqual([[asked], [answer]])
    end()
  })

  it('gives a reply back as it was written', () => {
    const { client, server, toClient, end } = relayed()
    client({ jsonrpc: '2.0', id: 7, method: 'ping' })
    server('{"result": {}, "jsonrpc":"2.0", "id":7}')
    expect(toClient).toEqual(['{"result": {}, "jsonrpc":"2.0", "id":7}'])
    end()
  })

  it('judges each part of a batch', async () => {
    const judged: unknown[] = []
    const judge = async (params: Json | undefined) => {
      judged.push(params)
      return { result: 'judged' }
    }
    const { client, answers, sent, end } = relayed({ client: { 'tools/call': judge } })
    client([CALL, { jsonrpc: '2.0', id: 2, method: 'ping' }])
    await turns()
    expect(judged).toEqual([{ name: 'add' }])
    expect(sent().map(({ method }) => method)).toEqual(['ping'])
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 1, result: 'judged' }])
    end()
  })
})

describe('what could be read in two ways', () => {
  it.each(['Result', 'ERROR', 'Id'])('fails: a reply that also has the key %s', (key) => {
    const { client, server, answers, end } = relayed()
    client({ ...CALL, method: 'a/method' })
    server({ jsonrpc: '2.0', id: 1, result: {}, [key]: { content: 'hidden' } })
    expect(answers()).toMatchObject([
      { id: 1, error: { message: expect.stringContaining('some programs take') } },
    ])
    end()
  })

  /** What a reader of JSON, or of lines, passes over. */
  const BEFORE = ['', ' ', '\t', '\r', '\uFEFF', ' \uFEFF \t']

  it.each(['9007199254740993', '-9007199254740993', '1e400', '12345678901234567890.5'])(
    'is refused with its own id: a request with the id %s',
    (id) => {
      const { relay, toClient, toServer, end } = relayed()
      relay.fromClient(`{"jsonrpc":"2.0","method":"ping","params":{"id":1},"id" : ${id}}`)
      expect(toClient).toEqual([expect.stringContaining(`{"jsonrpc":"2.0","id":${id},"error":`)])
      expect(toServer).toEqual([])
      end()
    },
  )

  it('is refused: a key that occurs twice', () => {
    const { client, answers, toServer, end } = relayed()
    client('{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}')
    expect(answers()[0]).toMatchObject({ id: 1, error: { code: -32600 } })
    expect(toServer).toEqual([])
    end()
  })

  it.each([
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}',
    '{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"add"}}',
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"},"id":null}',
    '[{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}]',
    '{"jsonrpc":"2.0","method":"a/method/of/tomorrow"}',
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}',
  ])('is refused: a request without an id, and a notification with a key twice: %s', (line) => {
    for (const before of BEFORE) {
      const { client, toServer, answers, end } = relayed()
      client(`${before}${line}`)
      expect(toServer).toEqual([])
      expect(answers()).toMatchObject([{ id: null, error: { code: -32600 } }])
      end()
    }
  })

  it('is refused: a request of the server that would be judged, without an id; its own news pass', () => {
    const { server, toClient, end } = relayed({
      server: { 'sampling/createMessage': (_, { forward }) => forward() },
    })
    server('{"jsonrpc":"2.0","method":"sampling/createMessage","params":{}}')
    expect(toClient).toEqual([])
    const news = '{"jsonrpc":"2.0","method":"codex/event","params":{"Message":"x"}}'
    server(news)
    expect(toClient).toEqual([news])
    end()
  })

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"add"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","Arguments":{}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","NAME":"sub"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","argument\u017f":{}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","\\u004eame":"sub"}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Result":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
  ])('is refused: a key that only differs in case, or makes it a reply: %s', (line) => {
    for (const before of BEFORE) {
      const { client, toServer, answers, end } = relayed()
      client(`${before}${line}`)
      expect(toServer).toEqual([])
      expect(answers()).toMatchObject([{ id: 1, error: { code: -32600 } }])
      end()
    }
  })

  it.each([
    '{"jsonrpc":"2.0","method":"notifications/message","params":{},"Method":"","ID":1,"Result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/message","Method":"sampling/createMessage","ID":7}',
    '{"jsonrpc":"2.0","id":1,"result":{},"Result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":7,"method":"ping","Error":{}}',
    '{"jsonrpc":"2.0","method":"sampling/createMessage","params":{}}',
  ])('of the server does not reach the client if it may be read in two ways: %s', (line) => {
    for (const before of BEFORE) {
      const { client, server, toClient, end } = relayed({
        server: { 'sampling/createMessage': (_, { forward }) => forward() },
      })
      client({ jsonrpc: '2.0', id: 1, method: 'ping' })
      server(`${before}${line}`)
      expect(toClient.filter((text) => /result"/i.test(text) || text.includes('method'))).toEqual([])
      end()
    }
  })

  it.each([
    ['{"jsonrpc":"2.0","id":9,"result":{"a":1},"id":1}', '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'],
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}', '{"jsonrpc":"2.0","id":1,"result":{"a":2}}'],
  ])('of the server is written again, as it was read, if a key occurs twice: %s', (line, read) => {
    const { client, server, toClient, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    server(line)
    expect(toClient).toEqual([read])
    end()
  })

  it('is not: any key of the arguments', () => {
    const { client, toServer, end } = relayed()
    const call = {
      ...CALL,
      params: { name: 'add', arguments: { Method: 'GET', URL: 'x', umlaut: 'Ü\u0000' } },
    }
    client(call)
    expect(toServer).toEqual([JSON.stringify(call)])
    end()
  })

  const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  it('is refused: what is nested deeply', () => {
    const { client, server, toServer, answers, end } = relayed()
    client(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${DEEP}}}`)
    client(`[{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":${DEEP}}}]`)
    expect(toServer).toEqual([])
    client({ jsonrpc: '2.0', id: 3, method: 'ping' })
    server(`{"jsonrpc":"2.0","id":3,"error":${DEEP}}`)
    expect(answers().map(({ id, error }) => [id, error !== undefined])).toEqual([
      [1, true],
      [null, true],
      [3, true],
    ])
    end()
  })

  it('is one line for every program: carriage returns do not pass', () => {
    const { client, toServer, end } = relayed()
    client('{"jsonrpc":"2.0","id":1,"method":"ping","params":\r{"a":1}\r}\r')
    expect(toServer).toEqual(['{"jsonrpc":"2.0","id":1,"method":"ping","params": {"a":1} }'])
    end()
  })

  it('is refused: an id that is in use', () => {
    const { client, answers, toServer, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    client(CALL)
    expect(answers()[0]?.error?.message).toContain('still in progress')
    expect(toServer).toHaveLength(1)
    end()
  })

  it.each(['nonsense', '{"jsonrpc":"2.0","id":1', '[]', '{"jsonrpc":"2.0","id":{},"method":"ping"}'])(
    'is never passed on: %s',
    (line) => {
      const { client, server, toServer, toClient, answers, logged, end } = relayed()
      client(line)
      expect([-32700, -32600]).toContain(answers()[0]?.error?.code)
      toClient.length = 0
      server(line)
      expect([toServer, toClient]).toEqual([[], []])
      expect(logged).not.toEqual([])
      end()
    },
  )
})

describe('a server that lies about ids', () => {
  it('reaches nobody with an id that nobody waits for', () => {
    const { client, server, toClient, logged, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    for (const id of ['1', 2, null, '', [1], { id: 1 }, true]) server({ jsonrpc: '2.0', id, result: {} })
    expect(toClient).toEqual([])
    expect(logged.join()).toContain('no request waits for it')
    end()
  })

  it('answers once', () => {
    const { client, server, answers, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    server({ jsonrpc: '2.0', id: 1, result: 'first' })
    server({ jsonrpc: '2.0', id: 1, result: 'second' })
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 1, result: 'first' }])
    end()
  })

  it('cannot answer a call that is still being judged', async () => {
    let decide = (_: unknown) => {}
    const decided = new Promise((resolve) => {
      decide = resolve
    })
    const judge = async () => {
      await decided
      return { result: 'refused' }
    }
    const { client, server, answers, end } = relayed({ client: { 'tools/call': judge } })
    client(CALL)
    server({ jsonrpc: '2.0', id: 1, result: 'forged' })
    expect(answers()).toEqual([])
    decide(undefined)
    await turns()
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 1, result: 'refused' }])
    end()
  })

  it('fails the request whose reply cannot be read', () => {
    const { client, server, answers, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    server({ jsonrpc: '2.0', id: 1 })
    expect(answers()[0]?.error?.message).toContain('cannot be read')
    end()
  })
})

describe('a judge', () => {
  it('sends the request on with other params, and changes the reply', async () => {
    const { client, server, sent, answers, end } = relayed({
      client: {
        'tools/call': async (_, { forward }) => {
          const reply = await forward({ name: 'subtract' })
          return 'result' in reply ? { result: [reply.result] } : reply
        },
      },
    })
    client(CALL)
    expect(sent()).toEqual([{ ...CALL, params: { name: 'subtract' } }])
    server({ jsonrpc: '2.0', id: 1, result: 5 })
    await turns()
    expect(answers()).toEqual([{ jsonrpc: '2.0', id: 1, result: [5] }])
    end()
  })

  it('that fails lets nothing pass', async () => {
    const { client, toServer, answers, end } = relayed({
      client: {
        'tools/call': async () => {
          throw new Error('out of order')
        },
      },
    })
    client(CALL)
    await turns()
    expect(toServer).toEqual([])
    expect(answers()[0]?.error?.message).toContain('out of order')
    end()
  })

  it('learns of a cancelled request, and the server does not hear of one that it never had', async () => {
    const seen: unknown[] = []
    const { client, toServer, toClient, end } = relayed({
      client: {
        'tools/call': async (_, { signal, forward }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          seen.push(await forward())
          return failure('late')
        },
      },
    })
    client(CALL)
    client({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await turns()
    expect(seen).toEqual([failure('The request was cancelled')])
    expect([toServer, toClient]).toEqual([[], []])
    end()
  })
})

describe('cancelling', () => {
  it('reaches the server, and a late reply reaches nobody', () => {
    const { client, server, toClient, sent, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    client({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    server({ jsonrpc: '2.0', id: 1, result: {} })
    expect(sent().map(({ method }) => method)).toEqual(['ping', 'notifications/cancelled'])
    expect(toClient).toEqual([])
    end()
  })

  it('of a request of the server reaches the client', () => {
    const { server, toClient, end } = relayed()
    server({ jsonrpc: '2.0', id: 1, method: 'roots/list' })
    server({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    expect(toClient).toHaveLength(2)
    end()
  })
})

describe('an end', () => {
  it('of the server fails what waits for it, and what comes later', async () => {
    const judges = {
      'tools/call': async (_: unknown, { forward }: { forward(): Promise<never> }) => forward(),
    }
    const { client, relay, answers, end } = relayed({ client: judges as unknown as Judges })
    client(CALL)
    client({ jsonrpc: '2.0', id: 2, method: 'ping' })
    relay.serverGone('The server exited with code 1')
    client({ jsonrpc: '2.0', id: 3, method: 'ping' })
    await relay.answered()
    expect(answers().map(({ id, error }) => [id, error?.message])).toEqual(
      expect.arrayContaining([1, 2, 3].map((id) => [id, 'The server exited with code 1'])),
    )
    end()
  })

  it('of the client ends judges', async () => {
    let aborted = false
    const { client, relay, toClient } = relayed({
      client: {
        'tools/call': async (_, { signal, forward }) => {
          const reply = await forward()
          aborted = signal.aborted
          return reply
        },
      },
    })
    client(CALL)
    relay.clientGone('gone')
    await turns()
    expect(aborted).toBe(true)
    expect(toClient).toEqual([])
  })

  it('of a line that was too long fails everything that it may have answered', () => {
    const { client, relay, answers, end } = relayed()
    client({ jsonrpc: '2.0', id: 1, method: 'ping' })
    relay.lostReply('The server sent too much')
    expect(answers()[0]?.error?.message).toBe('The server sent too much')
    end()
  })
})

describe('requests of our own', () => {
  it('are answered by the client alone', async () => {
    const { relay, server, client, toServer, answers, end } = relayed()
    const asked = relay.askClient('elicitation/create', { message: 'May it?' }, new AbortController().signal)
    const { id } = answers()[0] ?? {}
    server({ jsonrpc: '2.0', id, result: { action: 'accept' } })
    client({ jsonrpc: '2.0', id, result: { action: 'decline' } })
    expect(await asked).toMatchObject({ result: { action: 'decline' } })
    expect(toServer).toEqual([])
    end()
  })

  it('are taken back', async () => {
    const { relay, answers, end } = relayed()
    const controller = new AbortController()
    const asked = relay.askClient('elicitation/create', {}, controller.signal)
    controller.abort()
    expect(await asked).toEqual(failure('the question was cancelled'))
    expect(answers().map(({ method }) => method)).toEqual(['elicitation/create', 'notifications/cancelled'])
    end()
  })
})

describe('limits', () => {
  it('a server cannot make the client answer thousands of requests at a time', () => {
    const { server, toClient, sent, end } = relayed()
    for (let id = 0; id < 300; id++) server({ jsonrpc: '2.0', id, method: 'roots/list' })
    expect(toClient).toHaveLength(256)
    expect(sent().at(-1)?.error?.message).toContain('Too many')
    end()
  })
})
