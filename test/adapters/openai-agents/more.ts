// What the contract does not ask: many equal calls, answers one by one, another process, and agents as tools.

import { Agent, type Model, RunContext, Runner, RunState, shellTool, tool } from '@openai/agents'
import { askUser, createHooks, deny, modify, respond, type Session } from 'carabiner'
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

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
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
    return ran
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
    await runner.run(agent, first.state).catch(() => {})
    return { ran, told: requests[2] && results(requests[2]).c1 }
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
      return wrapTools(session, [shell]).length
    } catch (error) {
      return (error as Error).message
    }
  },
}

for (const [name, run] of Object.entries(CASES)) {
  const shown = await run().catch((error) => ({ threw: String(error) }))
  console.log(JSON.stringify([name, shown]))
}
