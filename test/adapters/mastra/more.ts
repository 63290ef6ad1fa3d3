// What only this SDK has: tools that suspend themselves, answers in a model's call, agents as tools, networks, prepareStep.
// Prints a line for each case.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { Agent, type ToolsInput } from '@mastra/core/agent'
import { MockMemory } from '@mastra/core/memory'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LocalFilesystem, Workspace } from '@mastra/core/workspace'
import { MockLanguageModelV3 } from 'ai/test'
import { askUser, createHooks, deny, modify, type Session } from 'carabiner'
import { hooksProcessor, questionOf, wrapTools } from 'carabiner/mastra'
import { z } from 'zod'

interface Call {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: object
}
const call = (toolName: string, input: object = { at: 'a' }, toolCallId = 'c1'): Call => ({
  toolName,
  input,
  toolCallId,
})

/** A model that makes these calls or says this text, turn for turn. */
function scripted(...turns: (Call[] | string)[]) {
  const usage = { inputTokens: {}, outputTokens: {} } as never
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const turn = turns.shift() ?? 'Done.'
      const calls = typeof turn === 'string' ? undefined : turn
      const content = calls?.map(({ input, ...rest }) => ({
        type: 'tool-call' as const,
        ...rest,
        input: JSON.stringify(input),
      }))
      const unified = calls ? 'tool-calls' : 'stop'
      const said = content ?? [{ type: 'text' as const, text: String(turn) }]
      return { content: said, finishReason: { unified, raw: undefined }, usage, warnings: [] }
    },
  })
}

interface Case {
  readonly turns: (Call[] | string)[]
  readonly hooks?: (session: Session) => void
  readonly close?: boolean
  /** What a person says to the call with this id. */
  readonly says?: Readonly<Record<string, boolean>>
  /** The calls of a subagent. */
  readonly helper?: Call[][]
  /** No hook sees what the subagent does. */
  readonly isHelperUnseen?: boolean
  /** Which tools are wrapped: all of the agent, single ones (hooks do not see those that Mastra makes then), or both. */
  readonly by?: 'agent' | 'tools' | 'both'
  /** No hook sees anything. */
  readonly unwatched?: boolean
  /** Memory adds processors of its own, and Mastra tells those behind them less. */
  readonly memory?: 'and its agents are named' | 'and nothing is named'
  readonly run?: (agent: Agent, made: Made) => Promise<unknown>
}

interface Made {
  readonly session: Session
  readonly tools: ToolsInput
  readonly model: MockLanguageModelV3
  readonly answers: string[]
}

const judges = (name: string, verdict: typeof askUser | typeof deny) => (session: Session) =>
  session.register('PreToolUse', (_, { tool_name }) => (tool_name === name ? verdict('really?') : undefined))
const denies = (name: string) => judges(name, deny)
const asksAbout = (name: string) => judges(name, askUser)
const asks = (session: Session) => session.register('PreToolUse', () => askUser('really?'))

const NETWORK = [
  JSON.stringify({ primitiveId: 'look', primitiveType: 'tool', prompt: '{"at":"a"}', selectionReason: 'r' }),
  JSON.stringify({ isComplete: true, completionReason: 'done', finalResult: 'done' }),
]

async function network(agent: Agent, { answers }: Made): Promise<void> {
  const options = { maxSteps: 2, memory: { thread: 't', resource: 'r' } }
  const stream = await agent.network('Go.', options)
  for await (const _ of stream);
  answers.push(await stream.status)
}

/** `prepareStep` chooses what the model and the loop get. */
const prepares = (choose: (made: Made) => object) => (agent: Agent, made: Made) =>
  agent.generate('Go.', { maxSteps: 5, prepareStep: () => choose(made) })

/** As providers define tools that the program runs, such as a shell. */
const ofProvider = (tool: unknown) =>
  ({ ...(tool as object), type: 'provider', id: 'acme.look', name: 'look', args: {} }) as ToolsInput[string]

/** A tool without `execute`: Mastra hands its calls to the program. */
const ofClient = (agent: Agent) =>
  agent.generate('Go.', {
    maxSteps: 2,
    clientTools: { show: createTool({ id: 'show', description: 'show', inputSchema: z.object({}) }) },
  })

const CASES: Readonly<Record<string, Case>> = {
  'two questions': {
    turns: [[call('look', { at: 'a' }, 'c1'), call('look', { at: 'a' }, 'c2')]],
    ...{ hooks: asks, says: { c1: false, c2: true } },
  },
  'an answer in the call': {
    turns: [[call('look', { at: 'a', resumeData: { approved: true } })]],
    ...{ hooks: asks, says: { c1: false } },
  },
  'an id that comes again': { turns: [[call('look')], [call('look')]], hooks: asks, says: { c1: false } },
  'a tool that suspends itself': { turns: [[call('pause')]], says: { c1: true } },
  'many calls': {
    turns: [Array.from({ length: 64 }, (_, at) => call('look', { at: 'a' }, `c${at}`))],
    hooks: (session) =>
      session.register('PreToolUse', (_, { tool_use_id = '' }) =>
        modify({ tool_input: { at: tool_use_id } }),
      ),
  },
  'an agent as a tool': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    helper: [[call('look', { at: 'a' }, 'c2')]],
    hooks: (session) =>
      session.register('PreToolUse', (_, { agent_id }) =>
        agent_id === 'helper-1' ? modify({ tool_input: { at: 'river' } }) : undefined,
      ),
  },
  'a denied agent': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    helper: [[call('look', { at: 'a' }, 'c2')]],
    hooks: denies('agent-helper'),
  },
  'an agent that is asked about': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], hooks: asksAbout('agent-helper'), says: { c1: true } },
  },
  'an agent that a person refuses': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], hooks: asksAbout('agent-helper'), says: { c1: false } },
  },
  'a question in an agent': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], hooks: asksAbout('look'), says: { c1: true } },
  },
  'a no in an agent': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], hooks: asksAbout('look'), says: { c1: false } },
  },
  'an agent that nobody judges': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], isHelperUnseen: true },
  },
  'a denied workflow': {
    turns: [[call('workflow-walk', { inputData: { at: 'a' } })]],
    hooks: denies('workflow-walk'),
  },
  'a workflow': { turns: [[call('workflow-walk', { inputData: { at: 'a' } })]] },
  'a denied tool of a workspace': {
    turns: [[call('mastra_workspace_write_file', { path: 'a.txt', content: 'x' })]],
    hooks: denies('mastra_workspace_write_file'),
  },
  'an agent with wrapped tools': {
    turns: [[call('look')]],
    ...{ by: 'tools', hooks: denies('look') },
  },
  'an agent with both': { turns: [[call('look')]], by: 'both' },
  'an agent with memory': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], memory: 'and its agents are named' },
  },
  'an agent with memory that names no agents': {
    turns: [[call('agent-helper', { prompt: 'go' })]],
    ...{ helper: [[call('look', { at: 'a' }, 'c2')]], memory: 'and nothing is named' },
  },
  'a network': { turns: NETWORK, memory: 'and nothing is named', run: network },
  'a network without hooks': {
    ...{ turns: NETWORK, memory: 'and nothing is named', run: network, unwatched: true },
  },
  'a tool of the client': { turns: [[call('show', {})]], run: ofClient },
  'a tool of the client, without hooks': { turns: [[call('show', {})]], run: ofClient, unwatched: true },
  'a step with tools of its own': {
    turns: [[call('look')]],
    run: prepares(({ tools }) => ({ tools })),
  },
  'a step with tools of its own, without hooks': {
    turns: [[call('look')]],
    ...{ run: prepares(({ tools }) => ({ tools })), unwatched: true },
  },
  'a step with tools of its own, and no choice': {
    turns: [[call('look')]],
    run: prepares(({ tools }) => ({ tools, toolChoice: 'none' })),
  },
  'a step with a tool of a provider': {
    turns: [[call('look')]],
    run: prepares(({ tools }) => ({ tools: { look: ofProvider(tools.look) } })),
  },
  'a step with a wrapped tool of a provider': {
    turns: [[call('look')]],
    run: prepares(({ session, tools }) => ({ tools: wrapTools(session, { look: ofProvider(tools.look) }) })),
  },
  'a step with wrapped tools': {
    turns: [[call('look')]],
    run: prepares(({ session, tools }) => ({ tools: wrapTools(session, tools) })),
  },
  'a step with a model of its own': {
    turns: [[call('look')]],
    run: prepares(({ model }) => ({ model })),
  },
  'a closed session': { turns: [[call('look')]], close: true },
  'a hook that fails': {
    turns: [[call('look')]],
    hooks: (session) =>
      session.register(
        'PreToolUse',
        () => {
          throw new Error('broken')
        },
        { onFailure: 'block' },
      ),
  },
}

async function play({ turns, hooks: add, close, says, helper, isHelperUnseen, memory, ...given }: Case) {
  const { by = 'agent', run = (agent) => agent.generate('Go.', { maxSteps: 5 }) } = given
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  add?.(session)
  const seen: string[] = []
  const answers: string[] = []
  if (!given.unwatched)
    session.register('PreToolUse', (_, { tool_name, agent_id = '' }) => {
      seen.push(`${tool_name} ${agent_id}`.trim())
    })
  const ran: string[] = []
  const inputSchema = z.object({ at: z.string() })
  const tools = {
    look: createTool({
      ...{ id: 'look', description: 'look', inputSchema },
      execute: async ({ at }, { agent }) => {
        ran.push(`${agent?.toolCallId} ${at}`)
        return { saw: at }
      },
    }),
    pause: createTool({
      ...{ id: 'pause', description: 'pause', inputSchema },
      ...{ suspendSchema: z.object({ why: z.string() }), resumeSchema: z.object({ approved: z.boolean() }) },
      execute: async ({ at }, { agent }) => {
        ran.push(`${agent?.resumeData ? 'goes on' : 'starts'} ${at}`)
        if (!agent?.resumeData) return agent?.suspend({ why: 'tired' })
        return { rested: true }
      },
    }),
  }
  const walk = createWorkflow({ id: 'walk', description: 'walk', inputSchema, outputSchema: z.any() })
    .then(
      createStep({
        ...{ id: 'step', inputSchema, outputSchema: z.any() },
        execute: async ({ inputData: { at } }) => {
          ran.push(`walks ${at}`)
          return { at }
        },
      }),
    )
    .commit()
  const folder = mkdtempSync(join(tmpdir(), 'workspace-'))
  const workspace = new Workspace({ filesystem: new LocalFilesystem({ basePath: folder }) })
  const made = (id: string, model: MockLanguageModelV3, own: Session | undefined, more = {}, named = {}) =>
    new Agent({
      ...{ id, name: id, description: id, instructions: 'Go.', maxRetries: 0, model, ...more },
      tools: own && by !== 'agent' ? wrapTools(own, tools) : tools,
      inputProcessors: own && by !== 'tools' ? [hooksProcessor(own, named)] : [],
    })
  const child = session.child({ agentId: 'helper-1', agentType: 'helper' })
  const agents = helper && {
    helper: made('helper', scripted(...helper), isHelperUnseen ? undefined : child),
  }
  const model = scripted(...turns)
  const own = {
    ...(agents && { agents }),
    ...{ workflows: { walk }, workspace, ...(memory && { memory: new MockMemory() }) },
  }
  const named = agents && memory === 'and its agents are named' ? { agents } : {}
  const agent = made('root', model, session, own, named)
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  if (close) await session.close()
  let result = ((await run(agent, { session, tools, model, answers })) ?? { steps: [] }) as Whole
  for (let n = 0; result.finishReason === 'suspended' && n < 4; n++) {
    const toolCallId = String(result.suspendPayload?.toolCallId)
    answers.push(
      ((await questionOf(session, toolCallId)) ?? (await questionOf(child, 'c2')))?.asks[0]?.prompt ??
        'no question of a hook',
    )
    const given = { runId: String(result.runId), toolCallId }
    result = says?.[toolCallId]
      ? await agent.approveToolCallGenerate(given)
      : await agent.declineToolCallGenerate(given)
  }
  const said = result.steps.flatMap(({ content }) => content) as {
    type: string
    output?: unknown
    error?: unknown
  }[]
  for (const { type, output, error } of said) {
    if (type === 'tool-error') answers.push(error instanceof Error ? error.message : JSON.stringify(error))
    if (type === 'tool-result') answers.push(JSON.stringify(output))
  }
  if (result.error) answers.push(String(result.error))
  ran.push(...readdirSync(folder))
  rmSync(folder, { recursive: true })
  await hooks.close()
  return { seen, ran, answers }
}

type Whole = Awaited<ReturnType<Agent['generate']>>

for (const [name, given] of Object.entries(CASES)) {
  const played = await play(given).catch((error: unknown) => ({
    seen: [],
    ran: [],
    answers: [String(error)],
  }))
  console.log(JSON.stringify({ name, ...played }))
}
