// What the contract does not ask: many equal calls, a ToolNode in a graph of one's own, several questions at once, and another process.

import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { BaseMessage } from '@langchain/core/messages'
import {
  type BaseCheckpointSaver,
  Command,
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { abortTurn, askUser, createHooks, type Data, deny, modify } from 'carabiner'
import { hooksMiddleware, wrapTools } from 'carabiner/langchain'
import { AIMessage, createAgent, createMiddleware, HumanMessage, ToolMessage, tool } from 'langchain'
import { z } from 'zod'

/** A model that says these messages, one a request, and keeps what it is sent. */
class Scripted extends BaseChatModel {
  readonly sent: unknown[] = []
  #bound: unknown

  constructor(
    readonly said: readonly AIMessage[],
    readonly model = 'scripted',
  ) {
    super({})
  }

  _llmType() {
    return 'scripted'
  }

  override bindTools(tools: readonly { readonly name?: string }[], options?: { tool_choice?: unknown }) {
    this.#bound = { tools: tools.map(({ name }) => name), choice: options?.tool_choice }
    return this
  }

  async _generate(messages: BaseMessage[]) {
    this.sent.push({
      messages: messages.map(({ type, text }) => `${type}: ${text}`),
      ...(this.#bound as object),
    })
    const turn = messages.filter(({ type }) => type === 'ai').length
    const message = this.said[turn] ?? new AIMessage('done')
    return { generations: [{ text: message.text, message }] }
  }
}

const schema = z.object({ at: z.string() })
const call = (name: string, id: string, at = 'a') => ({ type: 'tool_call' as const, id, name, args: { at } })

interface Said {
  readonly type: string
  readonly text: string
  readonly tool_call_id?: string
}
interface State {
  readonly messages: readonly Said[]
  readonly __interrupt__?: readonly {
    readonly id?: string
    readonly value: { readonly toolCallId: string }
  }[]
}

const commanded = new ToolMessage({ content: 'saw a command', tool_call_id: 'command' })

const results = ({ messages }: State) =>
  Object.fromEntries(
    messages.flatMap(({ type, tool_call_id, text }) => (type === 'tool' ? [[tool_call_id, text]] : [])),
  )

async function fresh() {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  const ran: string[] = []
  const seen: string[] = []
  for (const event of ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const)
    session.register(event, (name, data) => {
      seen.push(`${name} ${(data as { tool_use_id?: string }).tool_use_id}`)
    })
  const tools = [
    tool(
      (input) => {
        const { at } = schema.parse(input)
        ran.push(at)
        if (at === 'nowhere') throw new Error('no such place')
        if (at === 'command') return new Command({ update: { messages: [commanded] } })
        return `saw ${at}`
      },
      { name: 'look', description: 'looks', schema },
    ),
  ]
  /** A loop of one's own: the ToolNode runs all calls of a message in one task. */
  const graph = (checkpointer: BaseCheckpointSaver | undefined, ...said: readonly AIMessage[]) =>
    new StateGraph(MessagesAnnotation)
      .addNode('model', ({ messages }) => {
        const turn = messages.filter(({ type }) => type === 'ai').length
        return { messages: [said[turn] ?? new AIMessage('done')] }
      })
      .addNode('tools', new ToolNode(wrapTools(session, tools)))
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) =>
        (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END,
      )
      .addEdge('tools', 'model')
      .compile(checkpointer && { checkpointer })
  const agent = (checkpointer: BaseCheckpointSaver | undefined, ...said: readonly AIMessage[]) =>
    createAgent({
      ...{ model: new Scripted(said), tools, middleware: [hooksMiddleware(session)] },
      ...(checkpointer && { checkpointer }),
    })
  return { hooks, session, ran, seen, tools, graph, agent }
}

const calling = (...tool_calls: readonly ReturnType<typeof call>[]) =>
  new AIMessage({ content: '', tool_calls: [...tool_calls] })
const START_INPUT = { messages: [new HumanMessage('go')] }
const THREAD = { configurable: { thread_id: '1' } }
const decide = (type: string) => ({ decisions: [{ type }] })

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
  async '64 equal calls'() {
    const { session, ran, seen, agent } = await fresh()
    session.register('PreToolUse', (_, { tool_use_id }) =>
      Number(String(tool_use_id).slice(1)) % 2 ? deny(`no to ${tool_use_id}`) : undefined,
    )
    const calls = Array.from({ length: 64 }, (_, at) => call('look', `c${at}`))
    const state = await agent(new MemorySaver(), calling(...calls)).invoke(START_INPUT, THREAD)
    const judged = seen.filter((one) => one.startsWith('PreToolUse'))
    const ids = new Set(judged).size
    return { ran: ran.length, judged: judged.length, ids, results: results(state as unknown as State) }
  },
  async 'two equal calls with one id'() {
    const { session, ran, seen, agent } = await fresh()
    let count = 0
    session.register('PreToolUse', () => {
      count++
      return count > 1 ? deny('only one') : undefined
    })
    const said = calling(call('look', 'c1'), call('look', 'c1'))
    await agent(new MemorySaver(), said).invoke(START_INPUT, THREAD)
    return { ran: ran.length, seen: seen.sort() }
  },
  async 'a question without a checkpointer'() {
    const { session, ran, agent, graph } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    const said = calling(call('look', 'c1'))
    const inAgent = await agent(undefined, said).invoke(START_INPUT)
    const inGraph = await graph(undefined, said).invoke(START_INPUT)
    return { ran, told: [inAgent, inGraph].map((state) => results(state as unknown as State).c1) }
  },
  async 'questions at once in an agent'() {
    const { session, ran, seen, agent } = await fresh()
    session.register('PreToolUse', (_, { tool_use_id }) =>
      tool_use_id === 'free' ? undefined : askUser('really?'),
    )
    const made = agent(
      new MemorySaver(),
      calling(call('look', 'yes'), call('look', 'no'), call('look', 'free')),
    )
    const first = (await made.invoke(START_INPUT, THREAD)) as unknown as State
    const asked = first.__interrupt__ ?? []
    const resume = Object.fromEntries(
      asked.map(({ id, value }) => [id ?? '', decide(value.toolCallId === 'yes' ? 'approve' : 'reject')]),
    )
    const last = (await made.invoke(new Command({ resume }), THREAD)) as unknown as State
    return { asked: asked.length, ran, seen: seen.sort(), results: results(last) }
  },
  async 'questions at once in a graph'() {
    const { session, ran, seen, graph } = await fresh()
    // The first call is the last that was judged, so its question comes last.
    session.register('PreToolUse', async (_, { tool_use_id }) => {
      if (tool_use_id === 'free') return undefined
      if (tool_use_id === 'no')
        for (let wait = 0; wait < 50; wait++) await new Promise((go) => setImmediate(go))
      return askUser('really?')
    })
    const made = graph(
      new MemorySaver(),
      calling(call('look', 'no'), call('look', 'yes', 'b'), call('look', 'free', 'c')),
    )
    let state = (await made.invoke(START_INPUT, THREAD)) as unknown as State
    const asked: string[] = []
    while (state.__interrupt__) {
      const id = state.__interrupt__[0]?.value.toolCallId ?? ''
      asked.push(id)
      const resume = { [id]: decide(id === 'yes' ? 'approve' : 'reject') }
      state = (await made.invoke(new Command({ resume }), THREAD)) as unknown as State
      if (asked.length > 5) break
    }
    return { asked, ran: ran.sort(), seen: seen.sort(), results: results(state) }
  },
  async 'an answer without a name in a graph'() {
    const { session, ran, graph } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    const made = graph(new MemorySaver(), calling(call('look', 'one'), call('look', 'two', 'b')))
    await made.invoke(START_INPUT, THREAD)
    const state = (await made.invoke(new Command({ resume: decide('approve') }), THREAD)) as unknown as State
    const single = await fresh()
    single.session.register('PreToolUse', () => askUser('really?'))
    const alone = single.graph(new MemorySaver(), calling(call('look', 'one')))
    await alone.invoke(START_INPUT, THREAD)
    await alone.invoke(new Command({ resume: decide('approve') }), THREAD)
    return { asksAgain: state.__interrupt__?.length, ran, single: single.ran }
  },
  async 'calls with one id outside a graph'() {
    const { session, ran, seen, tools } = await fresh()
    session.register('PreToolUse', (_, { tool_input }) =>
      (tool_input as { at?: string }).at === 'b' ? deny('not to b') : undefined,
    )
    const [look] = wrapTools(session, tools)
    const other = await fresh()
    const [looks] = wrapTools(other.session, other.tools)
    const told = [
      await look?.invoke(call('look', 'c1')),
      await look?.invoke(call('look', 'c1', 'b')),
      await look?.invoke(call('look', 'c1')),
      await looks?.invoke(call('look', 'c1', 'c')),
    ]
    const pre = [...seen, ...other.seen].filter((one) => one.startsWith('PreToolUse')).length
    return { told: told.map((one) => (one as Said).text), ran: [...ran, ...other.ran], pre }
  },
  async 'a ToolNode that another process goes on with'() {
    const checkpointer = new MemorySaver()
    const said = calling(
      call('look', 'c1'),
      call('look', 'bad', 'nowhere'),
      call('look', 'command', 'command'),
      call('look', 'ask', 'b'),
    )
    const process = async () => {
      const made = await fresh()
      made.session.register('PreToolUse', (_, { tool_use_id }) =>
        tool_use_id === 'ask' ? askUser('really?') : undefined,
      )
      return made
    }
    const one = await process()
    await one.graph(checkpointer, said).invoke(START_INPUT, THREAD)
    const two = await process()
    const resume = { ask: decide('approve') }
    const state = await two.graph(checkpointer, said).invoke(new Command({ resume }), THREAD)
    return { ran: [one.ran, two.ran], seen: two.seen, results: results(state as unknown as State) }
  },
  async 'two equal calls with one id in a graph'() {
    const { session, ran, graph } = await fresh()
    let count = 0
    session.register('PreToolUse', () => {
      count++
      return count > 1 ? deny('only one') : undefined
    })
    const said = calling(call('look', 'c1'), call('look', 'c1'))
    await graph(new MemorySaver(), said).invoke(START_INPUT, THREAD)
    return { ran: ran.length, count }
  },
  async 'a tool that is called with its input alone'() {
    const { session, ran, seen, tools } = await fresh()
    session.register('PreToolUse', (_, { tool_input }) => {
      const { at } = tool_input as { at?: string }
      if (at === 'b') return deny('not to b')
      return at === 'c' ? modify({ tool_input: { at: 'C' } }) : undefined
    })
    session.register('PostToolUse', (_, { tool_response }) =>
      tool_response === 'saw d' ? modify({ tool_response: 'saw nothing' }) : undefined,
    )
    const [look] = wrapTools(session, tools)
    const told: unknown[] = []
    for (const at of ['a', 'b', 'c', 'd', 'nowhere'])
      told.push(await look?.invoke({ at }).catch((error) => `threw ${(error as Error).message}`))
    const older = look as unknown as { call(input: object): Promise<unknown> }
    told.push(await older.call({ at: 'b' }).catch((error) => `threw ${(error as Error).message}`))
    return { told, ran, failures: seen.filter((one) => one.startsWith('PostToolUseFailure')).length }
  },
  async 'questions about calls without an id'() {
    const { session, ran, tools } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    const [look] = wrapTools(session, tools)
    const made = new StateGraph(MessagesAnnotation)
      .addNode('both', async () => {
        const saw = await Promise.all([look?.invoke({ at: 'a' }), look?.invoke({ at: 'b' })])
        return { messages: [new AIMessage(saw.join())] }
      })
      .addEdge(START, 'both')
      .compile({ checkpointer: new MemorySaver() })
    let state = (await made.invoke(START_INPUT, THREAD)) as unknown as State
    state = (await made.invoke(new Command({ resume: decide('approve') }), THREAD)) as unknown as State
    const unnamed = [...ran]
    for (let turn = 0; state.__interrupt__ && turn < 3; turn++) {
      const resume = { [state.__interrupt__[0]?.value.toolCallId ?? '']: decide('approve') }
      state = (await made.invoke(new Command({ resume }), THREAD)) as unknown as State
    }
    return { unnamed, ran: ran.sort(), text: state.messages.at(-1)?.text }
  },
  async 'a response with reasoning that hooks change'() {
    const { session, ran, agent } = await fresh()
    session.register('ModelResponse', (_, { response }) => {
      const { tool_calls = [] } = response as { tool_calls?: { id: string; input: { at: string } }[] }
      const left = tool_calls.filter(({ id }) => id !== 'c2')
      const calls = left.map((one) => ({ ...one, input: { at: `${one.input.at}!` } }))
      return tool_calls.length > 0
        ? modify({ response: { role: 'assistant', content: 'I look', tool_calls: calls } })
        : undefined
    })
    const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: { at: 'a' } })
    const said = new AIMessage({
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sealed' },
        { type: 'text', text: 'I peek' },
        use('c1'),
        use('c2'),
      ],
      tool_calls: [call('look', 'c1'), call('look', 'c2')],
      additional_kwargs: { tool_calls: [{ id: 'c2' }] as never, signatures: { c1: 's1' } },
      response_metadata: { output: ['I peek'], model_name: 'm' },
    })
    const state = await agent(new MemorySaver(), said).invoke(START_INPUT, THREAD)
    const { content, tool_calls, additional_kwargs, response_metadata } = state.messages[1] as AIMessage
    return { ran, content, tool_calls, additional_kwargs, response_metadata }
  },
  async 'a request that hooks change'() {
    const shown: unknown[] = []
    const sent: unknown[] = []
    for (const [options, change] of [
      [{}, { messages: [{ role: 'user', content: 'come' }], tools: [] }],
      [{}, { options: { toolChoice: 'auto' } }],
      [{}, { model: 'other' }],
      [{ modelNamed: (name: string) => new Scripted([], name) }, { model: 'other' }],
    ] as const) {
      const hooks = await createHooks({ globals: false, settings: { protect_system_messages: false } })
      const session = hooks.session()
      session.register('ModelRequest', (_, data) => {
        shown.push(data.options)
        return modify(change as Data)
      })
      const { tools } = await fresh()
      const model = new Scripted([])
      let used = model
      const choosing = createMiddleware({
        name: 'Choosing',
        wrapModelCall: (request, handler) => handler({ ...request, toolChoice: 'none' }),
      })
      const modelNamed =
        'modelNamed' in options ? (name: string) => (used = options.modelNamed(name)) : undefined
      const agent = createAgent({
        ...{ model, tools, systemPrompt: 'be brief' },
        middleware: [choosing, hooksMiddleware(session, modelNamed && { modelNamed })],
      })
      const error = await agent.invoke(START_INPUT).then(
        () => undefined,
        (thrown) => (thrown as Error).message,
      )
      sent.push(error ?? { model: used.model, ...(used.sent[0] as object) })
      await hooks.close()
    }
    return { shown: shown[0], sent }
  },
  async 'middleware after hooks that changes a call'() {
    const { session, ran, seen, tools } = await fresh()
    const after = createMiddleware({
      name: 'After',
      wrapToolCall: (request, handler) =>
        handler({ ...request, toolCall: { ...request.toolCall, args: { at: 'elsewhere' } } }),
    })
    const agent = createAgent({
      ...{ model: new Scripted([calling(call('look', 'c1'))]), tools },
      middleware: [hooksMiddleware(session), after],
    })
    const error = await agent.invoke(START_INPUT).then(
      () => undefined,
      (thrown) => (thrown as Error).message,
    )
    return { ran, seen, error }
  },
  async 'middleware that runs a tool itself'() {
    const ended: Record<string, object> = {}
    const runs = createMiddleware({
      name: 'Runs',
      wrapToolCall: async ({ tool, toolCall }) =>
        (await (tool as unknown as { invoke(call: object): unknown }).invoke(toolCall)) as ToolMessage,
    })
    for (const place of ['hooks last', 'hooks first', 'wrapTools', 'wrapTools, other middleware'] as const) {
      const { hooks, ran, seen, session, tools } = await fresh()
      const judges = hooksMiddleware(session)
      const agent = createAgent({
        model: new Scripted([calling(call('look', 'c1'))]),
        tools: place.startsWith('wrapTools') ? wrapTools(session, tools) : tools,
        middleware:
          place === 'hooks first'
            ? [judges, runs]
            : [...(place === 'wrapTools, other middleware' ? [] : [runs]), judges],
      })
      await agent.invoke(START_INPUT)
      ended[place] = { ran, seen }
      await hooks.close()
    }
    return ended
  },
  async 'middleware that provides a tool'() {
    const ended: Record<string, object> = {}
    for (const place of ['before', 'after', 'before, another name', 'without hooks'] as const) {
      const { hooks, ran, seen, session, tools } = await fresh()
      const name = place === 'before, another name' ? 'look' : 'found'
      const found = Object.assign(Object.create(tools[0] as object), { name })
      const used = place === 'without hooks' ? (await createHooks({ globals: false })).session() : session
      const provides = createMiddleware({
        name: 'Provides',
        wrapToolCall: (request, handler) => handler({ ...request, tool: found }),
      })
      const judges = hooksMiddleware(used)
      const agent = createAgent({
        model: new Scripted([calling(call('found', 'c1'))]),
        ...{ tools, middleware: place.startsWith('before') ? [provides, judges] : [judges, provides] },
      })
      const told = await agent.invoke(START_INPUT).then(
        (state) => results(state as unknown as State).c1,
        (thrown) => (thrown as Error).message,
      )
      ended[place] = { ran, seen, told }
      await hooks.close()
    }
    return ended
  },
  async 'middleware before hooks that retries'() {
    const { session, ran, seen, tools } = await fresh()
    const retry = createMiddleware({
      name: 'Retry',
      wrapToolCall: async (request, handler) => {
        try {
          return await handler(request)
        } catch {
          return handler({ ...request, toolCall: { ...request.toolCall, args: { at: 'b' } } })
        }
      },
    })
    const agent = createAgent({
      ...{ model: new Scripted([calling(call('look', 'c1', 'nowhere'))]), tools },
      middleware: [retry, hooksMiddleware(session, { throwToolErrors: true })],
    })
    const state = await agent.invoke(START_INPUT)
    return { ran, seen, results: results(state as unknown as State) }
  },
  async 'a hook that ends the turn after a tool'() {
    const { session, ran, agent } = await fresh()
    session.register('PostToolUse', () => abortTurn('enough'))
    const error = await agent(new MemorySaver(), calling(call('look', 'c1')))
      .invoke(START_INPUT, THREAD)
      .then(
        () => undefined,
        (thrown) => (thrown as Error).message,
      )
    return { ran, error }
  },
  async 'an edit'() {
    const { session, ran, agent } = await fresh()
    session.register('PreToolUse', (_, { tool_input }) =>
      (tool_input as { at?: string }).at === 'a' ? askUser('really?') : undefined,
    )
    const made = agent(new MemorySaver(), calling(call('look', 'c1')))
    await made.invoke(START_INPUT, THREAD)
    const edit = { type: 'edit', editedAction: { name: 'look', args: { at: 'b' } } }
    await made.invoke(new Command({ resume: { decisions: [edit] } }), THREAD)
    return { ran }
  },
  async 'another process'() {
    const checkpointer = new MemorySaver()
    const one = await fresh()
    one.session.register('PreToolUse', () => askUser('really?'))
    await one.agent(checkpointer, calling(call('look', 'c1'))).invoke(START_INPUT, THREAD)
    const two = await fresh()
    two.session.register('PreToolUse', () => askUser('really?'))
    const made = two.agent(checkpointer)
    const state = await made.invoke(new Command({ resume: decide('approve') }), THREAD)
    return { ran: [...one.ran, ...two.ran], seen: two.seen, results: results(state as unknown as State) }
  },
  async 'an error of a tool in a graph'() {
    const { seen, graph } = await fresh()
    const made = graph(new MemorySaver(), calling(call('look', 'c1', 'nowhere')))
    const state = await made.invoke(START_INPUT, THREAD)
    return { seen, results: results(state as unknown as State) }
  },
  async 'hooks that fail'() {
    const { session, ran, agent } = await fresh()
    const broken = () => {
      throw new Error('broken')
    }
    session.register('PreToolUse', broken, { onFailure: 'block' })
    const state = await agent(new MemorySaver(), calling(call('look', 'c1'))).invoke(START_INPUT, THREAD)
    const closed = await fresh()
    const made = closed.agent(new MemorySaver(), calling(call('look', 'c1')))
    await closed.session.close()
    const error = await made.invoke(START_INPUT, THREAD).catch((thrown) => (thrown as Error).message)
    return { ran: [...ran, ...closed.ran], told: results(state as unknown as State), error }
  },
}

for (const [name, run] of Object.entries(CASES)) {
  const shown = await run().catch((error) => ({ threw: String(error) }))
  console.log(JSON.stringify({ name, ...(shown as object) }))
}
