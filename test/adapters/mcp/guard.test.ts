import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import type { StartServer } from '../../../src/adapters/mcp/peer.js'
import type { Data } from '../../../src/core/base/json.js'
import type { Hooks } from '../../../src/hooks.js'
import { connected, inThisProcess, testServer } from './scene.js'

const ADD = { name: 'add', arguments: { a: 1, b: 2 } }

describe('a tool call', () => {
  it('passes without hooks, as it was', async () => {
    await using scene = await connected()
    expect(await scene.client.callTool(ADD)).toEqual({ content: [{ type: 'text', text: '3' }] })
    expect(scene.reached.tools).toEqual([{ a: 1, b: 2 }])
  })

  it('is shown to hooks under its name in Claude Code', async () => {
    const seen: Data[] = []
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('PreToolUse', (_, data) => void seen.push(data as Data))
        hooks.register('PostToolUse', (_, data) => void seen.push(data as Data))
      },
    })
    await scene.client.callTool(ADD)
    const call = {
      tool_name: 'mcp__tests__add',
      tool_input: { a: 1, b: 2 },
      host_tool_name: 'add',
      mcp_server: { name: 'tests', source: 'stdio' },
    }
    expect(seen).toMatchObject([call, { ...call, tool_response: { content: [{ type: 'text', text: '3' }] } }])
  })

  it('is denied with the reason, and does not reach the server', async () => {
    await using scene = await connected({
      hooks: (hooks) => hooks.register('PreToolUse', () => ({ action: 'deny', reason: 'No sums today' })),
    })
    expect(await scene.client.callTool(ADD)).toEqual({
      content: [{ type: 'text', text: 'No sums today' }],
      isError: true,
    })
    expect(scene.reached.tools).toEqual([])
  })

  it('gets other arguments', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('PreToolUse', () => ({ action: 'modify', data: { tool_input: { a: 40, b: 2 } } })),
    })
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('42')
    expect(scene.reached.tools).toEqual([{ a: 40, b: 2 }])
  })

  it.each([
    ['seven', { content: [{ type: 'text', text: 'seven' }] }],
    [{ sum: 7 }, { content: [{ type: 'text', text: '{"sum":7}' }], structuredContent: { sum: 7 } }],
    [{ content: [{ type: 'text', text: '7' }] }, { content: [{ type: 'text', text: '7' }] }],
  ])('is answered by a hook: %j', async (response, result) => {
    await using scene = await connected({
      hooks: (hooks) => hooks.register('PreToolUse', () => ({ action: 'respond', response })),
    })
    expect(await scene.client.callTool(ADD)).toEqual(result)
    expect(scene.reached.tools).toEqual([])
  })

  it('carries what hooks tell the model, before and after it, every time', async () => {
    const text = 'x'.repeat(9000)
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('PreToolUse', () => ({ action: 'inject_context', contextInjection: `before ${text}` }))
        hooks.register('PostToolUse', () => ({ action: 'inject_context', contextInjection: 'after' }))
      },
    })
    // More than a whole turn may inject.
    for (let i = 0; i < 10; i++)
      expect(await scene.text('add', { a: 1, b: i })).toBe(`${1 + i} | before ${text} | after`)
  })

  it('has its result changed', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('PostToolUse', () => ({ action: 'modify', data: { tool_response: 'hidden' } })),
    })
    expect(await scene.client.callTool(ADD)).toEqual({ content: [{ type: 'text', text: 'hidden' }] })
  })

  it('that fails is a PostToolUseFailure', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('PostToolUse', () => void seen.push('PostToolUse'))
        hooks.register('PostToolUseFailure', (_, data) => {
          seen.push((data as Data).error)
          return { action: 'inject_context', contextInjection: 'Try again' }
        })
      },
    })
    expect(await scene.client.callTool({ name: 'fail' })).toEqual({
      content: [
        { type: 'text', text: 'it went wrong' },
        { type: 'text', text: 'Try again' },
      ],
      isError: true,
    })
    expect(seen).toEqual(['it went wrong'])
  })

  it.each(['abort_turn', 'hard_abort'] as const)('is refused by %s', async (action) => {
    await using scene = await connected({
      hooks: (hooks) => hooks.register('PreToolUse', () => ({ action, reason: 'Enough' })),
    })
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('Enough')
    expect(scene.reached.tools).toEqual([])
  })

  it('is refused when a hook fails', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('PreToolUse', () => {
          throw new Error('out of order')
        }),
    })
    expect(await scene.client.callTool(ADD)).toMatchObject({ isError: true })
    expect(scene.reached.tools).toEqual([])
  })

  it('is refused when hooks are closed, and never runs unjudged', async () => {
    await using scene = await connected()
    await scene.hooks.close()
    expect(await scene.text('add', { a: 1, b: 2 })).toContain('could not judge')
    expect(scene.reached.tools).toEqual([])
  })

  it('is refused if hooks would see another number than the server', async () => {
    await using scene = await connected()
    const answered = new Promise<string>((resolve) => {
      scene.transport.input.on('data', (chunk: Buffer) => resolve(chunk.toString()))
    })
    const call =
      '{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"add","arguments":{"a":9007199254740993}}}'
    scene.transport.output.write(`${call}\n`)
    expect(await answered).toContain('cannot be kept exactly')
    expect(scene.reached.tools).toEqual([])
  })

  it.each([
    { a: 1, A: 2, b: 2 },
    { a: 1, b: 2, options: [{ A: 1, deep: { a: 1, A: 2 } }] },
    { a: 1, b: 2, '\u212A': 1, k: 2, A: 1 },
  ])('is refused if the server may read another argument than hooks: %j', async (args) => {
    await using scene = await connected({ hooks: (hooks) => hooks.register('PreToolUse', () => undefined) })
    expect(await scene.text('add', args)).toMatch(/differ only in case: "[Ak]"/)
    expect(scene.reached.tools).toEqual([])
  })

  it('is cancelled in the server', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('PostToolUseFailure', (_, data) => void seen.push((data as Data).is_interrupt)),
    })
    const controller = new AbortController()
    const call = scene.client.callTool({ name: 'slow' }, undefined, { signal: controller.signal })
    while (scene.reached.tools.length === 0) await scene.client.ping()
    controller.abort()
    await expect(call).rejects.toThrow()
    while (scene.reached.tools.length < 2) await scene.client.ping()
    expect(scene.reached.tools).toEqual(['slow', 'cancelled'])
    expect(seen).toEqual([true])
  })

  it('64 at once, each with its own verdict', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('PreToolUse', (_, data) => {
          const { a } = (data as Data).tool_input as { a: number }
          return a % 2 === 0 ? undefined : { action: 'deny', reason: `No ${a}` }
        }),
    })
    const all = await Promise.all(Array.from({ length: 64 }, (_, a) => scene.text('add', { a, b: 100 })))
    expect(all).toEqual(Array.from({ length: 64 }, (_, a) => (a % 2 === 0 ? String(a + 100) : `No ${a}`)))
    expect(scene.reached.tools).toHaveLength(32)
  })
})

describe('a question', () => {
  const asks = (hooks: { register: (...args: never[]) => unknown }) =>
    (hooks.register as (event: string, handler: () => object) => unknown)('PreToolUse', () => ({
      action: 'ask_user',
      approvalPrompt: 'May it add?',
    }))

  it.each([
    ['accept', 'Allow', '3'],
    ['accept', 'Deny', 'User denied: May it add?'],
    ['decline', undefined, 'User denied: May it add?'],
  ] as const)('is asked in the dialog of the client: %s %s', async (action, decision, text) => {
    await using scene = await connected({ hooks: asks, capabilities: { elicitation: {} } })
    const asked: unknown[] = []
    scene.client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message)
      return { action, ...(decision && { content: { decision } }) }
    })
    expect(await scene.text('add', { a: 1, b: 2 })).toBe(text)
    expect(asked[0]).toContain('May it add?')
    expect(asked[0]).toContain('mcp__tests__add')
  })
})

describe('a result with a key that some programs take for another one', () => {
  const text = { type: 'text', text: 'harmless' }
  it.each([
    { content: [text], Content: [{ type: 'text', text: 'hidden' }] },
    { Content: [text] },
    { content: [{ ...text, Text: 'hidden' }] },
    { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'harmless', TEXT: 'hidden' } }] },
  ])('is not passed on if a hook judges it: %j', async (result) => {
    const answering: StartServer = async ({ line }) => ({
      send: (text) => {
        const { id, method } = JSON.parse(text) as { id?: number; method: string }
        const hello = {
          protocolVersion: '2025-06-18',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        }
        if (id !== undefined)
          line(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? hello : result }))
      },
      full: () => undefined,
      wait: () => undefined,
      initialized: () => undefined,
      end: async () => undefined,
    })
    await using scene = await connected({
      start: answering,
      hooks: (hooks) => hooks.register('PostToolUse', () => undefined),
    })
    await expect(scene.client.callTool(ADD)).rejects.toThrow('is not passed on')
    expect(scene.transport.lines.join()).not.toContain('hidden')
  })
})

describe('the list of tools', () => {
  it('is filtered and described by hooks, and a tool that is out cannot be called', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('ToolsListed', (_, data) => {
          const { tools, mcp_server_name } = data as { tools: Data[]; mcp_server_name: string }
          const left = tools.filter(({ name }) => name === 'add')
          return {
            action: 'modify',
            data: { tools: left.map((one) => ({ ...one, description: `Of ${mcp_server_name}` })) },
          }
        }),
    })
    const { tools } = await scene.client.listTools()
    expect(tools.map(({ name, description }) => [name, description])).toEqual([['add', 'Of tests']])
    expect(await scene.text('fail')).toContain('took the tool')
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('3')
    expect(scene.reached.tools).toEqual([{ a: 1, b: 2 }])
  })

  it('lets hooks see calls of a tool that is out', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('ToolsListed', () => ({ action: 'modify', data: { tools: [] } }))
        for (const event of ['PreToolUse', 'PostToolUseFailure'])
          hooks.register(event, (_, data) => void seen.push([event, data.tool_name, data.error]))
      },
    })
    await scene.client.listTools()
    const told = await scene.text('add', { a: 1, b: 2 })
    expect(told).toContain('took the tool')
    expect(seen).toEqual([
      ['PreToolUse', 'mcp__tests__add', undefined],
      ['PostToolUseFailure', 'mcp__tests__add', told],
    ])
    expect(scene.reached.tools).toEqual([])
  })

  it('that hides more tools than can be remembered makes all of them out of reach', async () => {
    const reached = { tools: [] as unknown[], resources: [], prompts: [] }
    const server = testServer(reached)
    for (let at = 0; at < 10_100; at++)
      server.registerTool(`t${at}`, {}, () => {
        reached.tools.push(at)
        return { content: [] }
      })
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('ToolsListed', (_, { tools }) => ({
          action: 'modify',
          data: { tools: (tools as Data[]).filter(({ name }) => name === 'add') },
        })),
      start: inThisProcess(server),
    })
    const { tools } = await scene.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['add'])
    for (const name of ['t0', 't10099', 'add']) expect(await scene.text(name)).toMatch(/^(A hook|Hooks) took/)
    expect(reached.tools).toEqual([])
  })

  it('has no place for context, so the next result carries it', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('ToolsListed', () => ({
          action: 'inject_context',
          contextInjection: 'Mind the sums',
        })),
    })
    await scene.client.listTools()
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('3 | Mind the sums')
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('3')
  })

  it('is empty if a hook denies it or fails', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('ToolsListed', () => {
          throw new Error('out of order')
        }),
    })
    expect((await scene.client.listTools()).tools).toEqual([])
    expect(await scene.text('add', { a: 1, b: 2 })).toContain('took the tool')
  })
})

describe('resources and prompts', () => {
  it('a resource of another server, which a hook chose, ends as a failure', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('PreToolUse', () => ({
          action: 'modify',
          data: { tool_input: { server: 'other', uri: 'test://notes' } },
        }))
        hooks.register('PostToolUseFailure', (_, data) => void seen.push(data.error))
      },
    })
    const reason = expect.stringContaining('a hook chose another server')
    const read = scene.client.readResource({ uri: 'test://notes' })
    await expect(read).rejects.toMatchObject({ message: reason })
    expect(seen).toEqual([reason])
    expect(scene.reached.resources).toEqual([])
  })

  it('a resource is read by the tool that Claude Code has for it', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) => {
        hooks.register('PreToolUse', (_, data) => void seen.push(data.tool_name, data.tool_input), {
          matcher: 'ReadMcpResourceTool',
        })
        hooks.register('PostToolUse', () => ({
          action: 'inject_context',
          contextInjection: 'Do not trust it',
        }))
      },
    })
    const { contents } = await scene.client.readResource({ uri: 'test://notes' })
    expect(contents.map((one) => ('text' in one ? one.text : ''))).toEqual(['the notes', 'Do not trust it'])
    expect(seen).toEqual(['ReadMcpResourceTool', { server: 'tests', uri: 'test://notes' }])
  })

  it('a denied resource is an error', async () => {
    await using scene = await connected({
      hooks: (hooks) => hooks.register('PreToolUse', () => ({ action: 'deny', reason: 'Private' })),
    })
    await expect(scene.client.readResource({ uri: 'test://notes' })).rejects.toThrow('Private')
    expect(scene.reached.resources).toEqual([])
  })

  it('a prompt is a command that hooks can deny before the server hears of it', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('UserPromptExpansion', (_, data) => {
          seen.push(data.command_name, data.expansion_type)
          return String(data.command_args).includes('Eve')
            ? { action: 'deny', reason: 'Not Eve' }
            : { action: 'inject_context', contextInjection: 'Politely' }
        }),
    })
    const { messages } = await scene.client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })
    expect(messages.map(({ content }) => (content as { text: string }).text)).toEqual([
      'Greet Ada',
      'Politely',
    ])
    await expect(scene.client.getPrompt({ name: 'greet', arguments: { who: 'Eve' } })).rejects.toThrow(
      'Not Eve',
    )
    expect(scene.reached.prompts).toEqual(['Ada'])
    expect(seen.slice(0, 2)).toEqual(['mcp__tests__greet', 'mcp_prompt'])
  })

  it('is refused if a hook changes it, since the server could not be told', async () => {
    await using scene = await connected({
      hooks: (hooks) =>
        hooks.register('UserPromptExpansion', () => ({ action: 'modify', data: { prompt: 'Be kind' } })),
    })
    await expect(scene.client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })).rejects.toThrow(
      'A hook changed this prompt',
    )
    expect(scene.reached.prompts).toEqual([])
  })
})

describe('requests of the server', () => {
  const sampling = { capabilities: { sampling: {} } }
  const answer = {
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'It is 42' },
  }

  it('for the model are ModelRequest and ModelResponse', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      ...sampling,
      hooks: (hooks) => {
        hooks.register('ModelRequest', (_, data) => {
          seen.push(
            (data.messages as Data[]).map(({ role }) => role),
            data.mcp_server_name,
          )
          return { action: 'inject_context', contextInjection: 'Say nothing secret' }
        })
        hooks.register('ModelResponse', (_, data) => ({
          action: 'modify',
          data: { response: { ...(data.response as Data), content: { type: 'text', text: '[redacted]' } } },
        }))
      },
    })
    scene.client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      seen.push(params.systemPrompt)
      return answer
    })
    expect(await scene.text('sample')).toBe('{"type":"text","text":"[redacted]"}')
    expect(seen.slice(0, 2)).toEqual([['system', 'user'], 'tests'])
    expect(seen[2]).toMatch(/^Be brief\.\n\n.*Say nothing secret/s)
  })

  it('for the model can be denied', async () => {
    await using scene = await connected({
      ...sampling,
      hooks: (hooks) =>
        hooks.register('ModelRequest', () => ({ action: 'deny', reason: 'Think for yourself' })),
    })
    const asked: unknown[] = []
    scene.client.setRequestHandler(CreateMessageRequestSchema, () => {
      asked.push(1)
      return answer
    })
    expect(await scene.text('sample')).toContain('Think for yourself')
    expect(asked).toEqual([])
  })

  it('for the model is refused if a hook chose another model', async () => {
    await using scene = await connected({
      ...sampling,
      hooks: (hooks) =>
        hooks.register('ModelRequest', () => ({ action: 'modify', data: { model: 'other' } })),
    })
    const asked: unknown[] = []
    scene.client.setRequestHandler(CreateMessageRequestSchema, () => {
      asked.push(1)
      return answer
    })
    expect(await scene.text('sample')).toContain(
      'A hook chose the model other, but the client chooses the model',
    )
    expect(asked).toEqual([])
  })

  it('to the person are Elicitation and ElicitationResult', async () => {
    const seen: unknown[] = []
    await using scene = await connected({
      capabilities: { elicitation: {} },
      hooks: (hooks) => {
        hooks.register('Elicitation', (_, data) => void seen.push(data.message, data.mcp_server_name))
        hooks.register('ElicitationResult', (_, data) =>
          (data.content as Data).name === 'Eve' ? { action: 'deny', reason: 'Not Eve' } : undefined,
        )
      },
    })
    const names = ['Ada', 'Eve']
    scene.client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { name: names.shift() ?? '' },
    }))
    expect(await scene.text('elicit')).toBe('{"action":"accept","content":{"name":"Ada"}}')
    expect(await scene.text('elicit')).toBe('{"action":"decline"}')
    expect(seen.slice(0, 2)).toEqual(['Your name?', 'tests'])
  })

  it('to the person get the words of a hook', async () => {
    const asked: string[] = []
    await using scene = await connected({
      capabilities: { elicitation: {} },
      hooks: (hooks) =>
        hooks.register('Elicitation', () => ({ action: 'modify', data: { message: 'Your first name?' } })),
    })
    scene.client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message)
      return { action: 'decline' }
    })
    await scene.text('elicit')
    expect(asked).toEqual(['Your first name?'])
  })

  it('to the person have no place for context, so the next result carries it', async () => {
    await using scene = await connected({
      capabilities: { elicitation: {} },
      hooks: (hooks) =>
        hooks.register('Elicitation', () => ({ action: 'inject_context', contextInjection: 'They are shy' })),
    })
    scene.client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }))
    const results = [await scene.text('elicit'), await scene.text('add', { a: 1, b: 2 })]
    expect(results.join(' | ')).toContain('They are shy')
  })

  it('to the person can be declined without asking', async () => {
    await using scene = await connected({
      capabilities: { elicitation: {} },
      hooks: (hooks) => hooks.register('Elicitation', () => ({ action: 'deny' })),
    })
    expect(await scene.text('elicit')).toBe('{"action":"decline"}')
  })
})

describe('everything else', () => {
  it('passes: progress, logs, results of 10 MB', async () => {
    const server = testServer({ tools: [], resources: [], prompts: [] })
    const large = 'ä'.repeat(5_000_000)
    server.registerTool('large', {}, async ({ sendNotification, _meta }) => {
      const progressToken = _meta?.progressToken ?? ''
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      await server.server.sendLoggingMessage({ level: 'info', data: 'working' })
      return { content: [{ type: 'text', text: large }] }
    })
    await using scene = await connected({ start: inThisProcess(server) })
    const seen: unknown[] = []
    scene.client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void seen.push(params.data),
    )
    const { content } = await scene.client.callTool({ name: 'large' }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    })
    expect((content as { text: string }[])[0]?.text === large).toBe(true)
    expect(seen).toEqual([1, 'working'])
  })

  it('passes: a result with more values than hooks can be shown, but not if a hook looks at results', async () => {
    const server = testServer({ tools: [], resources: [], prompts: [] })
    server.registerTool('many', {}, () => ({
      content: [{ type: 'text', text: 'a secret' }],
      _meta: { padding: Array<number>(1_000_001).fill(0) },
    }))
    const call = async (look: (hooks: Hooks) => unknown) => {
      await using scene = await connected({ start: inThisProcess(server), hooks: look })
      return scene.text('many')
    }
    expect(await call(() => {})).toBe('a secret')
    expect(await call((hooks) => hooks.register('PostToolUse', () => {}))).toContain(
      'could not see the whole',
    )
  })
})
