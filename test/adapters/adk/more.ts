// What only this SDK has: handoffs, agents as tools, confirmations that tools want themselves. Prints a line for each case.

import {
  AgentTool,
  BaseLlm,
  type BaseTool,
  FunctionTool,
  getFunctionCalls,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  Runner,
  setLogger,
} from '@google/adk'
import { abortTurn, askUser, createHooks, deny, inject, modify, respond, type Session } from 'carabiner'
import { HooksPlugin } from 'carabiner/adk'
import { z } from 'zod'

type Parts = NonNullable<NonNullable<LlmResponse['content']>['parts']>

/** The texts that came last in each request. */
let read: string[] = []

class Scripted extends BaseLlm {
  readonly #turns: Parts[]
  constructor(...turns: Parts[]) {
    super({ model: 'scripted' })
    this.#turns = turns
  }
  async *generateContentAsync({ contents }: LlmRequest) {
    for (const { parts = [] } of contents.slice(-1)) read.push(...parts.map(({ text = '' }) => text))
    const parts = this.#turns.shift() ?? [{ text: 'Done.' }]
    // As Gemini streams them: a text, then calls.
    const isSplit = parts.length > 1 && parts[0]?.text !== undefined
    for (const some of isSplit ? [parts.slice(0, 1), parts.slice(1)] : [parts])
      yield { content: { role: 'model', parts: some } }
  }
  async connect(): Promise<never> {
    throw new Error('there is no live model')
  }
}

const call = (name: string, args: Record<string, unknown> = { at: 'a' }, id = 'c1') => ({
  functionCall: { id, name, args },
})

interface Case {
  readonly agent: (look: BaseTool) => LlmAgent
  readonly hooks?: (session: Session) => void
  readonly close?: boolean
  /** What a person says to each question. */
  readonly says?: readonly boolean[]
  readonly confirm?: boolean
  /** No hook sees what happens. */
  readonly unwatched?: boolean
}

/** Aborts the case that is played. */
let controller = new AbortController()

const asks = (session: Session) => session.register('PreToolUse', () => askUser('really?'))
const one = (...parts: Parts) => ({
  agent: (look: BaseTool) => new LlmAgent({ name: 'root', model: new Scripted(parts), tools: [look] }),
})

const CASES: Readonly<Record<string, Case>> = {
  handoff: {
    agent: (look) => {
      const helper = new LlmAgent({ name: 'helper', model: new Scripted([call('look')]), tools: [look] })
      const model = new Scripted([call('transfer_to_agent', { agentName: 'helper' })])
      return new LlmAgent({ name: 'root', model, subAgents: [helper] })
    },
    hooks: (session) =>
      session.register('PreToolUse', (_, { agent_id }) =>
        agent_id === 'helper' ? modify({ tool_input: { at: 'river' } }) : undefined,
      ),
  },
  'an agent as a tool': {
    agent: (look) => {
      const helper = new LlmAgent({ name: 'helper', model: new Scripted([call('look')]), tools: [look] })
      const tools = [new AgentTool({ agent: helper })]
      return new LlmAgent({ name: 'root', model: new Scripted([call('helper', { request: 'go' })]), tools })
    },
  },
  'an agent as a tool, without hooks': {
    agent: (look) => CASES['an agent as a tool']?.agent(look) as LlmAgent,
    unwatched: true,
  },
  'calls of one response': {
    ...one(...['a', 'b', 'c', 'd'].map((at) => call('look', { at }, at))),
    hooks: (session) =>
      session.register('PreToolUse', (_, { tool_use_id }) => {
        if (tool_use_id === 'b') return deny('not to b')
        if (tool_use_id === 'c') return modify({ tool_input: { at: 'C' } })
        return tool_use_id === 'd' ? respond('d is known') : undefined
      }),
  },
  'context from the second response of a stream': {
    ...one({ text: 'Hm.' }, call('look')),
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        'tool_calls' in (response as object) ? inject('it rains') : undefined,
      ),
  },
  'a second response that a hook refuses': {
    ...one({ text: 'Hm.' }, call('look')),
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        'tool_calls' in (response as object) ? deny('no calls') : undefined,
      ),
  },
  'a second response that a hook asks about': {
    ...one({ text: 'Hm.' }, call('look')),
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        'tool_calls' in (response as object) ? askUser('such calls?') : undefined,
      ),
  },
  'a second response that ends the turn': {
    ...one({ text: 'Hm.' }, call('look')),
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        'tool_calls' in (response as object) ? abortTurn('enough') : undefined,
      ),
  },
  'an abort while a hook judges the second response': {
    ...one({ text: 'Hm.' }, call('look')),
    hooks: (session) =>
      session.register('ModelResponse', async (_, { response }, { signal }) => {
        if (!('tool_calls' in (response as object))) return
        const isAborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
        controller.abort()
        await isAborted
      }),
  },
  'a confirmation of the tool': {
    ...one(call('look')),
    hooks: (session) => session.register('PreToolUse', () => modify({ tool_input: { at: 'b' } })),
    ...{ confirm: true, says: [true] },
  },
  'a question of both': { ...one(call('look')), hooks: asks, ...{ confirm: true, says: [true] } },
  'two questions': {
    ...one(call('look', { at: 'a' }, 'c1'), call('look', { at: 'a' }, 'c2')),
    ...{ hooks: asks, says: [false, true] },
  },
  'an id that comes again': {
    agent: (look) => {
      const model = new Scripted([call('look')], [{ text: 'Hm.' }], [call('look')])
      return new LlmAgent({ name: 'root', model, tools: [look] })
    },
    ...{ hooks: asks, says: [] },
  },
  'many calls': {
    ...one(...Array.from({ length: 64 }, (_, at) => call('look', { at: 'a' }, `c${at}`))),
    hooks: (session) =>
      session.register('PreToolUse', (_, { tool_use_id = '' }) =>
        modify({ tool_input: { at: tool_use_id } }),
      ),
  },
  'a closed session': { ...one(call('look')), close: true },
  'a hook that fails': {
    ...one(call('look')),
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

async function play({ agent, hooks: add, close, says, confirm = false, unwatched }: Case) {
  controller = new AbortController()
  read = []
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  const seen: string[] = []
  add?.(session)
  // The last hook, so that it is not shown a call again that another one changed.
  if (!unwatched)
    session.register('PreToolUse', (_, { tool_name, agent_id = '' }) => {
      seen.push(`${tool_name} ${agent_id}`.trim())
    })
  const ran: string[] = []
  const look = new FunctionTool({
    ...{ name: 'look', description: 'look', parameters: z.object({ at: z.string() }) },
    requireConfirmation: confirm,
    execute: async ({ at }, context) => {
      ran.push(`${context?.functionCallId} ${at}`)
      return { saw: at }
    },
  })
  const sessionService = new InMemorySessionService()
  const plugins = [new HooksPlugin(session)]
  const runner = new Runner({ appName: 'test', agent: agent(look), sessionService, plugins })
  const { id: sessionId } = await sessionService.createSession({ appName: 'test', userId: 'me' })
  if (close) await session.close()
  const answers: string[] = []
  let parts: object[] | undefined = [{ text: 'Go.' }]
  const left = [...(says ?? [])]
  for (let turn = 0; parts && turn < 4; turn++) {
    const asked: object[] = []
    for await (const event of runner.runAsync({
      userId: 'me',
      sessionId,
      newMessage: { role: 'user', parts },
      abortSignal: controller.signal,
    })) {
      if (event.errorMessage) answers.push(event.errorMessage)
      for (const part of event.content?.parts ?? [])
        if (part.functionResponse) answers.push(JSON.stringify(part.functionResponse.response))
      for (const { id, name } of getFunctionCalls(event))
        if (name === REQUEST_CONFIRMATION_FUNCTION_CALL_NAME && left.length > 0)
          asked.push({ functionResponse: { id, name, response: { confirmed: left.shift() } } })
    }
    // Without an answer, the person says something else, once.
    parts =
      asked.length > 0 ? asked : says?.length === 0 && turn === 0 ? [{ text: 'Never mind.' }] : undefined
    if (says?.length === 0 && turn === 1) parts = [{ text: 'Go on.' }]
  }
  await hooks.close()
  return { seen, ran, answers, read }
}

setLogger(null)
for (const [name, given] of Object.entries(CASES)) {
  const played = await play(given).catch((error: unknown) => ({
    seen: [],
    ran: [],
    answers: [String(error)],
    read,
  }))
  console.log(JSON.stringify({ name, ...played }))
}
