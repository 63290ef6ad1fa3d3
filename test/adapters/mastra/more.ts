// What only this SDK has: tools that suspend themselves, answers in a model's call, agents as tools. Prints a line for each case.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
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

/** A model that makes these calls, turn for turn. */
function scripted(...turns: Call[][]) {
  const usage = { inputTokens: {}, outputTokens: {} } as never
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const calls = turns.shift()
      const content = calls?.map(({ input, ...rest }) => ({
        type: 'tool-call' as const,
        ...rest,
        input: JSON.stringify(input),
      }))
      const unified = calls ? 'tool-calls' : 'stop'
      const said = content ?? [{ type: 'text' as const, text: 'Done.' }]
      return { content: said, finishReason: { unified, raw: undefined }, usage, warnings: [] }
    },
  })
}

interface Case {
  readonly turns: Call[][]
  readonly hooks?: (session: Session) => void
  readonly close?: boolean
  /** What a person says to the call with this id. */
  readonly says?: Readonly<Record<string, boolean>>
  /** The calls of a subagent. */
  readonly helper?: Call[][]
  /** No hook sees what the subagent does. */
  readonly isHelperUnseen?: boolean
  /** Only single tools are wrapped, so hooks do not see those that Mastra makes. */
  readonly byTools?: boolean
}

const judges = (name: string, verdict: typeof askUser | typeof deny) => (session: Session) =>
  session.register('PreToolUse', (_, { tool_name }) => (tool_name === name ? verdict('really?') : undefined))
const denies = (name: string) => judges(name, deny)
const asksAbout = (name: string) => judges(name, askUser)
const asks = (session: Session) => session.register('PreToolUse', () => askUser('really?'))

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
    ...{ byTools: true, hooks: denies('look') },
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

async function play({ turns, hooks: add, close, says, helper, isHelperUnseen, byTools }: Case) {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  add?.(session)
  const seen: string[] = []
  const answers: string[] = []
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
  const made = (id: string, model: MockLanguageModelV3, own: Session | undefined, more = {}) =>
    new Agent({
      ...{ id, name: id, description: id, instructions: 'Go.', maxRetries: 0, model, ...more },
      ...(byTools && own
        ? { tools: wrapTools(own, tools) }
        : { tools, inputProcessors: own ? [hooksProcessor(own)] : [] }),
    })
  const child = session.child({ agentId: 'helper-1', agentType: 'helper' })
  const agents = helper && {
    helper: made('helper', scripted(...helper), isHelperUnseen ? undefined : child),
  }
  const agent = made('root', scripted(...turns), session, {
    ...(agents && { agents }),
    ...{ workflows: { walk }, workspace },
  })
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  if (close) await session.close()
  let result = await agent.generate('Go.', { maxSteps: 5 })
  for (let n = 0; result.finishReason === 'suspended' && n < 4; n++) {
    const toolCallId = String(result.suspendPayload?.toolCallId)
    answers.push(
      (questionOf(session, toolCallId) ?? questionOf(child, 'c2'))?.asks[0]?.prompt ??
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

for (const [name, given] of Object.entries(CASES)) {
  const played = await play(given).catch((error: unknown) => ({
    seen: [],
    ran: [],
    answers: [String(error)],
  }))
  console.log(JSON.stringify({ name, ...played }))
}
