// What the contract does not ask: MCP servers, many equal calls, answers one by one, another process, and agents as tools.

import {
  Agent,
  getAllMcpTools,
  type MCPServer,
  type Model,
  RunContext,
  Runner,
  RunState,
  type RunToolApprovalItem,
  shellTool,
  tool,
  toolNamespace,
} from '@openai/agents'
import {
  askUser,
  createHooks,
  type Data,
  deny,
  type Hold,
  type HookResult,
  modify,
  respond,
  type Session,
} from 'carabiner'
import { runApprovals, wrapModel, wrapTools } from 'carabiner/openai-agents'
import { z } from 'zod'

type Output = readonly object[]
const call = (name: string, id: string, input: object = { at: 'a' }) => ({
  type: 'function_call',
  callId: id,
  name,
  status: 'completed',
  arguments: JSON.stringify(input),
})
const says = (text: string) => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
})

/** Says these outputs, one a request, and keeps the requests. */
function scripted(...outputs: readonly Output[]) {
  const requests: unknown[] = []
  const model = {
    async getResponse({ input }: { input: unknown }) {
      requests.push(input)
      const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      return { usage, output: outputs[requests.length - 1] ?? [says('done')] }
    },
  }
  return { model: model as unknown as Model, requests }
}

const runner = new Runner({ tracingDisabled: true })
const results = (items: unknown) =>
  Object.fromEntries(
    (items as { type?: string; callId: string; output: unknown }[])
      .filter(({ type }) => type === 'function_call_result')
      .map(({ callId, output }) => [callId, (output as { text?: string }).text ?? output]),
  )

/** A tool that asks by itself. */
async function paying(needsApproval: (input: { to: string }) => boolean) {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  const ran: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ to: z.string() }),
    needsApproval: async (_, input) => needsApproval(input),
    execute: async ({ to }) => {
      ran.push(to)
      return `paid ${to}`
    },
  })
  return { session, ran, pay: wrapTools(session, [pay])[0] as typeof pay }
}

interface Interrupted {
  readonly interruptions: readonly RunToolApprovalItem[]
  readonly state: { approve(item: RunToolApprovalItem): void; reject(item: RunToolApprovalItem): void }
}

/** As a program does without `runApprovals`. */
const approveAll = async (_session: Session, { state, interruptions }: Interrupted) => {
  for (const item of interruptions) state.approve(item)
}

async function fresh() {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  const ran: string[] = []
  const seen: string[] = []
  for (const event of [
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'SubagentStart',
    'SubagentStop',
  ] as const)
    session.register(event, (name, data) => {
      const { tool_use_id, agent_type } = data as { tool_use_id?: string; agent_type?: string }
      seen.push(`${name} ${tool_use_id ?? agent_type}`)
    })
  const look = tool({
    name: 'look',
    description: 'looks',
    parameters: z.object({ at: z.string() }),
    execute: async ({ at }) => {
      ran.push(at)
      return `saw ${at}`
    },
  })
  const agentFor = (model: Model, guarded: Session = session) =>
    new Agent({ name: 'looker', model: wrapModel(guarded, model), tools: wrapTools(guarded, [look]) })
  return { hooks, session, ran, seen, look, agentFor }
}

/** An MCP server with one tool, and a hook that denies everything. */
async function serving({ isIdle = false } = {}) {
  const session = (await createHooks({ globals: false })).session()
  const seen: string[] = []
  const ran: string[] = []
  if (!isIdle)
    session.register('PreToolUse', (_, { tool_name }) => {
      seen.push(String(tool_name))
      return deny('no')
    })
  const server: MCPServer = {
    name: 'stub',
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => [
      {
        name: 'echo',
        description: 'echoes',
        inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
      },
    ],
    callTool: async (name) => {
      ran.push(name)
      return [{ type: 'text', text: 'echoed' }]
    },
  }
  return { session, server, seen, ran }
}

/** What the agent says, or the error. */
async function run(agent: Agent, stream = false): Promise<string> {
  try {
    if (!stream) return String((await runner.run(agent, 'go')).finalOutput)
    const streamed = await runner.run(agent, 'go', { stream: true })
    for await (const _ of streamed.toTextStream());
    await streamed.completed
    return String(streamed.finalOutput)
  } catch (error) {
    return String(error)
  }
}

/** A model that says something and makes a call, in a stream. */
function talking(): Model {
  let asked = 0
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const model = {
    async *getStreamedResponse() {
      asked++
      const output = [says('I look.'), ...(asked === 1 ? [call('look', 'c1')] : [])]
      yield { type: 'response_started' }
      yield { type: 'output_text_delta', delta: 'I ' }
      yield { type: 'output_text_delta', delta: 'look.' }
      yield { type: 'response_done', response: { id: `r${asked}`, usage, output } }
    },
  }
  return model as unknown as Model
}

const onCall = (verdict: (response: Data) => HookResult) => (session: Session) =>
  session.register('ModelResponse', (_, { response }) =>
    (response as Data).tool_calls ? verdict(response as Data) : undefined,
  )
const HELD: Readonly<Record<string, (session: Session) => unknown>> = {
  allowed: onCall(() => ({ action: 'continue' })),
  'denied response': onCall(() => deny('no')),
  'changed call': onCall((response) =>
    modify({ response: { ...response, tool_calls: [{ id: 'c1', name: 'look', input: { at: 'b' } }] } }),
  ),
  'changed text': onCall((response) => modify({ response: { ...response, content: 'I wait.' } })),
}

/** What was shown and run with each verdict. */
async function held(hold: Hold): Promise<object> {
  const played: Record<string, object> = {}
  for (const [name, listen] of Object.entries(HELD)) {
    const { session, ran, look } = await fresh()
    listen(session)
    const model = wrapModel(session, talking(), { hold })
    const agent = new Agent({ name: 'looker', model, tools: wrapTools(session, [look]) })
    let shown = ''
    try {
      const streamed = await runner.run(agent, 'go', { stream: true })
      for await (const text of streamed.toTextStream()) shown += text
      await streamed.completed
      played[name] = { shown, ran }
    } catch (error) {
      played[name] = { shown, ran, error: (error as Error).message }
    }
  }
  return played
}

const CASES: Readonly<Record<string, () => Promise<object>>> = {
  'hold: all': () => held('all'),
  'hold: tool-calls': () => held('tool-calls'),
  'hold: none': () => held('none'),
  async 'tools of an MCP server'() {
    const played: Record<string, unknown> = {}
    const model = () => scripted([call('echo', 'c1', {})]).model
    const inServers = (server: MCPServer) => ({ mcpServers: [server] })
    for (const stream of [false, true]) {
      const { session, server, ran } = await serving()
      const agent = new Agent({ name: 'main', model: wrapModel(session, model()), ...inServers(server) })
      played[stream ? 'streamed' : 'refused'] = await run(agent, stream)
      played[stream ? 'ran streamed' : 'ran'] = [...ran]
    }
    const wrapped = await serving()
    const tools = wrapTools(wrapped.session, await getAllMcpTools([wrapped.server]))
    await run(new Agent({ name: 'main', model: wrapModel(wrapped.session, model()), tools }))
    played.wrapped = { ran: wrapped.ran, seen: wrapped.seen }
    const any = await serving()
    const unjudged = wrapModel(any.session, model(), { anyTools: true })
    await run(new Agent({ name: 'main', model: unjudged, ...inServers(any.server) }))
    played.anyTools = any.ran
    const idle = await serving({ isIdle: true })
    await run(new Agent({ name: 'main', model: wrapModel(idle.session, model()), ...inServers(idle.server) }))
    played.idle = idle.ran
    return played
  },
  async 'other tools that wrapTools did not make'() {
    const { session, look, ran } = await fresh()
    const shell = shellTool({ shell: { run: async () => ({ output: [] }) } })
    const namespace = toolNamespace({ name: 'eyes', description: 'eyes', tools: wrapTools(session, [look]) })
    const answers: Record<string, string> = {}
    for (const [name, tools] of Object.entries({ look: [look], shell: [shell], namespace })) {
      const model = wrapModel(session, scripted().model)
      answers[name] = await run(new Agent({ name: 'main', model, tools }))
    }
    return { answers, ran }
  },
  async '64 equal calls'() {
    const { session, ran, seen, agentFor } = await fresh()
    session.register('PreToolUse', (_, { tool_use_id }) =>
      Number(String(tool_use_id).slice(1)) % 2 ? deny(`no to ${tool_use_id}`) : undefined,
    )
    const { model, requests } = scripted(Array.from({ length: 64 }, (_, at) => call('look', `c${at}`)))
    await runner.run(agentFor(model), 'go')
    const judged = seen.filter((one) => one.startsWith('PreToolUse'))
    return {
      ran: ran.length,
      judged: judged.length,
      ids: new Set(judged).size,
      results: results(requests[1]),
    }
  },
  async 'two equal calls with one id'() {
    const { session, ran, seen, agentFor } = await fresh()
    let count = 0
    session.register('PreToolUse', () => {
      count++
      return count > 1 ? deny('only one') : undefined
    })
    const { model } = scripted([call('look', 'c1'), call('look', 'c1')])
    await runner.run(agentFor(model), 'go')
    return { ran: ran.length, seen: seen.sort() }
  },
  async "a yes to the tool's own question"() {
    const { session, ran, pay } = await paying(({ to }) => to === 'bob')
    session.register('PreToolUse', (_, { tool_input }) =>
      (tool_input as { to?: string }).to === 'eve' ? askUser('pay eve?') : undefined,
    )
    const { model } = scripted([call('pay', 'c1', { to: 'bob' })], [call('pay', 'c1', { to: 'eve' })])
    const agent = new Agent({ name: 'main', model, tools: [pay] })
    let result = await runner.run(agent, 'go')
    while (result.interruptions.length > 0) {
      await runApprovals(session, result, ({ rawItem }) => JSON.stringify(rawItem).includes('bob'))
      result = await runner.run(agent, result.state)
    }
    return { ran }
  },
  async 'a no, and the same call in the next run'() {
    const { session, ran, pay } = await paying(() => true)
    const seen: string[] = []
    for (const event of ['PreToolUse', 'PostToolUseFailure'] as const)
      session.register(event, (name) => {
        seen.push(name)
      })
    for (const isFrozen of [false, true]) {
      if (isFrozen) session.register('PreToolUse', () => deny('payments are frozen'))
      const { model } = scripted([call('pay', 'c1', { to: 'bob' })])
      const agent = new Agent({ name: 'main', model, tools: [pay] })
      const result = await runner.run(agent, 'go')
      await runApprovals(session, result, () => isFrozen)
      await runner.run(agent, result.state)
    }
    return { ran, seen }
  },
  async 'an equal call of the next run'() {
    const ended: Record<string, unknown> = {}
    const ends = {
      abandoned: () => {},
      rejected: ({ state, interruptions }) => {
        for (const item of interruptions) state.reject(item)
      },
    } satisfies Record<string, (result: Interrupted) => void>
    for (const [name, end] of Object.entries(ends)) {
      const { session, ran, pay } = await paying(() => true)
      const agent = () =>
        new Agent({ name: 'main', model: scripted([call('pay', 'c1', { to: 'bob' })]).model, tools: [pay] })
      const events: string[] = []
      session.register('PreToolUse', (event) => void events.push(event))
      const first = await runner.run(agent(), 'go')
      end(first as unknown as Interrupted)
      session.register('PreToolUse', () => deny('payments are frozen'))
      const second = await runner.run(agent(), 'go')
      await runApprovals(session, second, () => true)
      if (second.interruptions.length > 0) await runner.run(agent(), second.state)
      ended[name] = { ran, events }
    }
    return ended
  },
  async 'an equal call after an abort'() {
    const { session, ran, pay } = await paying(() => false)
    const events: string[] = []
    const controller = new AbortController()
    session.register('PreToolUse', (event) => {
      events.push(event)
      if (events.length > 1) return deny('payments are frozen')
      controller.abort()
      return undefined
    })
    const agent = () =>
      new Agent({ name: 'main', model: scripted([call('pay', 'c1', { to: 'bob' })]).model, tools: [pay] })
    const error = await runner.run(agent(), 'go', { signal: controller.signal }).catch(({ name }) => name)
    await runner.run(agent(), 'go')
    return { ran, events, error }
  },
  async 'a yes in each of two runs'() {
    const { session, ran, agentFor } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    for (const approve of [runApprovals, approveAll]) {
      const agent = agentFor(scripted([call('look', 'c1')]).model)
      const first = await runner.run(agent, 'go')
      await approve(session, first, () => true)
      await runner.run(agent, first.state)
    }
    return { ran }
  },
  async 'an edit after the state was stored'() {
    const { session, ran, agentFor } = await fresh()
    session.register('PreToolUse', (_, { tool_input }) =>
      (tool_input as { at?: string }).at === 'a' ? askUser('really?') : undefined,
    )
    const agent = agentFor(scripted([call('look', 'c1')]).model)
    const first = await runner.run(agent, 'go')
    const state = await RunState.fromString(agent, first.state.toString())
    await runApprovals(session, { state, interruptions: state.getInterruptions() }, (_, question) => ({
      option: question?.options[0] ?? '',
      data: { tool_input: { at: 'b' } },
    }))
    await runner.run(agent, state)
    return { ran }
  },
  async "a yes to the tool's own question in another process"() {
    const one = await paying(() => true)
    const first = await runner.run(
      new Agent({
        name: 'main',
        model: scripted([call('pay', 'c1', { to: 'bob' })]).model,
        tools: [one.pay],
      }),
      'go',
    )
    const two = await paying(() => true)
    two.session.register('PreToolUse', () => askUser('really?'))
    const { model, requests } = scripted()
    const agent = new Agent({ name: 'main', model, tools: [two.pay] })
    const state = await RunState.fromString(agent, first.state.toString())
    for (const item of state.getInterruptions()) state.approve(item)
    await runner.run(agent, state)
    return { ran: two.ran, told: results(requests[0]).c1 }
  },
  async 'an abort inside a hook'() {
    const { session, ran, look } = await fresh()
    const controller = new AbortController()
    let isEnded = false
    session.register('PreToolUse', async (_event, _data, { signal }) => {
      controller.abort()
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isEnded = true
    })
    const { signal } = controller
    const tools = wrapTools(session, [look], { signal })
    const agent = new Agent({ name: 'main', model: scripted([call('look', 'c1')]).model, tools })
    const error = await runner.run(agent, 'go', { signal }).catch(({ name }) => name)
    return { ran, isEnded, error }
  },
  async 'a hook answers for the model'() {
    const { session, agentFor } = await fresh()
    session.register('ModelRequest', () => respond('from a hook'))
    const { model, requests } = scripted()
    const { finalOutput } = await runner.run(agentFor(model), 'go')
    return { finalOutput, requests: requests.length }
  },
  async 'answers one by one'() {
    const { session, ran, seen, agentFor } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    const { model, requests } = scripted([call('look', 'yes'), call('look', 'no'), call('look', 'edit')])
    const agent = agentFor(model)
    const first = await runner.run(agent, 'go')
    const asked = first.interruptions.length
    await runApprovals(session, first, (item, question) => {
      const { callId } = item.rawItem as { callId: string }
      if (callId !== 'edit') return callId === 'yes'
      return { option: question?.options[0] ?? '', data: { tool_input: { at: 'b' } } }
    })
    let result = await runner.run(agent, first.state)
    while (result.interruptions.length > 0) {
      await runApprovals(session, result, () => true)
      result = await runner.run(agent, result.state)
    }
    return { asked, ran: ran.sort(), seen: seen.sort(), results: results(requests[1]) }
  },
  async 'another process'() {
    const one = await fresh()
    one.session.register('PreToolUse', () => askUser('really?'))
    const first = await runner.run(one.agentFor(scripted([call('look', 'c1')]).model), 'go')
    const text = first.state.toString()
    const two = await fresh()
    two.session.register('PreToolUse', () => askUser('really?'))
    const agent = two.agentFor(scripted().model)
    const state = await RunState.fromString(agent, text)
    for (const item of state.getInterruptions()) state.approve(item)
    const { finalOutput } = await runner.run(agent, state)
    return { ran: two.ran, seen: two.seen, finalOutput }
  },
  async 'an id that comes again'() {
    const { session, ran, agentFor } = await fresh()
    session.register('PreToolUse', () => askUser('really?'))
    const { model, requests } = scripted([call('look', 'c1')], [call('look', 'c1', { at: 'b' })])
    const agent = agentFor(model)
    const first = await runner.run(agent, 'go')
    await runApprovals(session, first, () => true)
    // Newer versions refuse it themselves.
    const again = await runner.run(agent, first.state).catch(() => undefined)
    return { ran, asked: again?.interruptions.length, requests: requests.length }
  },
  async 'an id that comes again after the state was stored'() {
    const ended: Record<string, object> = {}
    for (const says of ['approve', 'reject'] as const) {
      const { session, ran, agentFor } = await fresh()
      session.register('PreToolUse', () => askUser('really?'))
      const outputs = ['a', 'b', 'c'].map((at) => [call('look', at === 'b' ? 'c2' : 'c1', { at })])
      const agent = agentFor(scripted(...outputs).model)
      const first = await runner.run(agent, 'go')
      await runApprovals(session, first, () => true)
      const second = await runner.run(agent, first.state)
      const state = await RunState.fromString(agent, second.state.toString())
      for (const item of state.getInterruptions()) state[says](item)
      // Newer versions refuse it themselves.
      const third = await runner.run(agent, state).catch(() => undefined)
      ended[says] = { ran, asked: third?.interruptions.length }
    }
    return ended
  },
  async 'a yes for always'() {
    const ended: Record<string, object> = {}
    for (const isStored of [false, true]) {
      const { session, ran, pay } = await paying(({ to }) => to === 'bob')
      session.register('PreToolUse', (_, { tool_input }) =>
        (tool_input as { to?: string }).to === 'eve' ? askUser('pay eve?') : undefined,
      )
      const calls = ['bob', 'eve', 'ann'].map((to) => [call('pay', to, { to })])
      const { model, requests } = scripted(...calls)
      const agent = new Agent({ name: 'main', model, tools: [pay] })
      const first = await runner.run(agent, 'go')
      const state = isStored ? await RunState.fromString(agent, first.state.toString()) : first.state
      for (const item of state.getInterruptions()) state.approve(item, { alwaysApprove: true })
      await runner.run(agent, state)
      ended[isStored ? 'stored' : 'here'] = { ran, told: results(requests[2]).eve }
    }
    return ended
  },
  async 'an agent as a tool'() {
    const { session, ran, seen, look } = await fresh()
    const child = session.child({ agentId: 'helper-1', agentType: 'helper' })
    child.register('PreToolUse', (_, { tool_name }) =>
      tool_name === 'look' ? askUser('really?') : undefined,
    )
    const inner = scripted([call('look', 'inner')], [says('helped')])
    const helper = new Agent({
      name: 'helper',
      model: wrapModel(child, inner.model),
      tools: wrapTools(child, [look]),
    })
    const outer = scripted([call('helper', 'outer', { input: 'look' })])
    const agent = new Agent({
      name: 'main',
      model: wrapModel(session, outer.model),
      tools: wrapTools(session, [helper.asTool({ toolName: 'helper', toolDescription: 'helps' })]),
    })
    const first = await runner.run(agent, 'go')
    const asked = first.interruptions.length
    await runApprovals(child, first, () => true)
    await runner.run(agent, first.state)
    return { asked, ran, seen, results: results(outer.requests[1]) }
  },
  async 'an agent as a tool with parameters of its own'() {
    const { session, ran, seen, look } = await fresh()
    const child = session.child({ agentId: 'helper-1', agentType: 'helper' })
    child.register('PreToolUse', (_, { tool_name }) =>
      tool_name === 'look' ? askUser('really?') : undefined,
    )
    const inner = scripted([call('look', 'inner')], [says('helped')])
    const helper = new Agent({ name: 'helper', model: inner.model, tools: wrapTools(child, [look]) })
    const asTool = helper.asTool({
      toolName: 'helper',
      toolDescription: 'helps',
      // The SDK copies the context of the run for such an agent.
      parameters: z.object({ task: z.string() }),
    })
    const { model } = scripted([call('helper', 'outer', { task: 'look' })])
    const agent = new Agent({ name: 'main', model, tools: wrapTools(session, [asTool]) })
    const first = await runner.run(agent, 'go')
    const questions: unknown[] = []
    await runApprovals(child, first, (_, question) => {
      questions.push(question?.asks[0]?.prompt)
      return true
    })
    await runner.run(agent, first.state)
    return { ran, judged: seen.filter((one) => one.startsWith('PreToolUse')), questions }
  },
  async 'inputs that hooks change'() {
    const { session } = await fresh()
    session.register('PreToolUse', (_, { tool_input }) => {
      const { input } = tool_input as { input?: unknown }
      return modify({ tool_input: { input: `${input}, gently` } })
    })
    const text = tool({
      name: 'text',
      description: 'takes a text',
      parameters: z.object({ input: z.string() }),
      execute: async ({ input }) => `got ${input}`,
    })
    const helping = scripted([says('helped')])
    const helper = new Agent({ name: 'helper', model: helping.model })
    const asTool = helper.asTool({ toolName: 'helper', toolDescription: 'helps' })
    const { model, requests } = scripted([
      call('text', 'c1', { input: 'go' }),
      call('helper', 'c2', { input: 'help' }),
    ])
    const tools = wrapTools(session, [text, asTool])
    await runner.run(new Agent({ name: 'main', model: wrapModel(session, model), tools }), 'go')
    const [bare] = wrapTools(session, [
      { ...text, invoke: async (_: unknown, input: string) => `got ${input}` },
    ])
    const wrapped = await bare?.invoke(new RunContext(), '"look"')
    return { results: results(requests[1]), wrapped, helper: JSON.stringify(helping.requests[0]) }
  },
  async 'a response with reasoning that hooks change'() {
    const { session, ran, agentFor } = await fresh()
    session.register('ModelResponse', (_, { response }) => {
      const { tool_calls = [] } = response as { tool_calls?: { id: string; input: { at: string } }[] }
      const left = tool_calls.filter(({ id }) => id !== 'c2')
      const calls = left.map((one) => ({ ...one, input: { at: `${one.input.at}!` } }))
      return tool_calls.length > 0
        ? modify({ response: { role: 'assistant', content: 'I look', tool_calls: calls } })
        : undefined
    })
    const { model, requests } = scripted([
      { type: 'reasoning', id: 'r1', content: [], providerData: { encrypted_content: 'sealed' } },
      { ...says('I peek'), id: 'm1' },
      { ...call('look', 'c1'), providerData: { signature: 's1' } },
      call('look', 'c2'),
    ])
    await runner.run(agentFor(model), 'go')
    return { ran, history: (requests[1] as object[]).slice(1, 4) }
  },
  async 'an agent that must not start'() {
    const { session, ran, look } = await fresh()
    session.register('SubagentStart', () => deny('no helpers'))
    const helper = new Agent({ name: 'helper', model: scripted().model, tools: wrapTools(session, [look]) })
    const { model, requests } = scripted([call('helper', 'outer', { input: 'look' })])
    const tools = wrapTools(session, [helper.asTool({ toolName: 'helper', toolDescription: 'helps' })])
    await runner.run(new Agent({ name: 'main', model: wrapModel(session, model), tools }), 'go')
    return { ran, results: results(requests[1]) }
  },
  async 'an agent that fails'() {
    const { session, seen } = await fresh()
    const helper = new Agent({ name: 'helper' }).asTool({ toolName: 'helper', toolDescription: 'helps' })
    const invoke = () => Promise.reject(new Error('no model'))
    const { model } = scripted([call('helper', 'outer', { input: 'look' })])
    const tools = wrapTools(session, [{ ...helper, invoke }])
    const error = await runner.run(new Agent({ name: 'main', model, tools }), 'go').then(
      () => undefined,
      (thrown) => String(thrown),
    )
    return { seen, error }
  },
  async 'hooks that fail'() {
    const { hooks, session, ran, agentFor } = await fresh()
    const broken = () => {
      throw new Error('broken')
    }
    session.register('PreToolUse', broken, { onFailure: 'block' })
    const { model, requests } = scripted([call('look', 'c1')])
    await runner.run(agentFor(model), 'go').catch(() => {})
    const told = results(requests[1] ?? [])
    const closed = await fresh()
    const agent = closed.agentFor(scripted([call('look', 'c1')]).model)
    await closed.session.close()
    const error = await runner.run(agent, 'go').catch(({ message }) => message)
    await hooks.close()
    return { ran: [...ran, ...closed.ran], told, error }
  },
  async 'tools that hooks cannot judge'() {
    const { session } = await fresh()
    const shell = shellTool({ shell: { run: async () => ({ output: [] }) } })
    try {
      return { wrapped: wrapTools(session, [shell]).length }
    } catch (error) {
      return { refused: (error as Error).message }
    }
  },
}

for (const [name, run] of Object.entries(CASES)) {
  const shown = await run().catch((error) => ({ threw: String(error) }))
  console.log(JSON.stringify({ name, ...shown }))
}
