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
import { askUser, createHooks, deny, modify } from 'carabiner'
import { hooksMiddleware, wrapTools } from 'carabiner/langchain'
import { AIMessage, createAgent, HumanMessage, tool } from 'langchain'
import { z } from 'zod'

/** A model that says these messages, one a request. */
class Scripted extends BaseChatModel {
  constructor(readonly said: readonly AIMessage[]) {
    super({})
  }

  _llmType() {
    return 'scripted'
  }

  override bindTools() {
    return this
  }

  async _generate(messages: BaseMessage[]) {
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
        return `saw ${at}`
      },
      { name: 'look', description: 'looks', schema },
    ),
  ]
  /** A loop of one's own: the ToolNode runs all calls of a message in one task. */
  const graph = (checkpointer: BaseCheckpointSaver, ...said: readonly AIMessage[]) =>
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
      .compile({ checkpointer })
  const agent = (checkpointer: BaseCheckpointSaver, ...said: readonly AIMessage[]) =>
    createAgent({ model: new Scripted(said), tools, middleware: [hooksMiddleware(session)], checkpointer })
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
    return { asksAgain: state.__interrupt__?.length, ran }
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
  async 'a checkpoint that another session goes on from'() {
    const checkpointer = new MemorySaver()
    const one = await fresh()
    const twoCalls = calling(call('look', 'c1'), call('look', 'ask', 'b'))
    const asks = ({ session }: typeof one) =>
      session.register('PreToolUse', (_, { tool_use_id }) =>
        tool_use_id === 'ask' ? askUser('really?') : undefined,
      )
    asks(one)
    await one.graph(checkpointer, twoCalls).invoke(START_INPUT, THREAD)
    const two = await fresh()
    asks(two)
    two.session.register('PreToolUse', (_, { tool_use_id }) =>
      tool_use_id === 'c1' ? deny('not here') : undefined,
    )
    const resume = { ask: decide('approve') }
    const state = await two.graph(checkpointer, twoCalls).invoke(new Command({ resume }), THREAD)
    return { ran: [...one.ran, ...two.ran], results: results(state as unknown as State) }
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
    const without = await fresh()
    without.session.register('PreToolUse', () => askUser('really?'))
    const bare = without.agent(false as never, calling(call('look', 'c1')))
    const noSaver = await bare.invoke(START_INPUT).catch((thrown) => (thrown as Error).message)
    return {
      ran: [...ran, ...closed.ran, ...without.ran],
      told: results(state as unknown as State),
      error,
      noSaver,
    }
  },
}

for (const [name, run] of Object.entries(CASES)) {
  const shown = await run().catch((error) => ({ threw: String(error) }))
  console.log(JSON.stringify([name, shown]))
}
