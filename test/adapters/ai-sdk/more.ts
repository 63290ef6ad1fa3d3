// What the contract does not ask: text before calls, many equal calls, questions of hooks and of tools, other processes, and tools that yield.

import { createRequire } from 'node:module'
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  simulateReadableStream,
  stepCountIs,
  streamText,
  type ToolSet,
  wrapLanguageModel,
} from 'ai'
import {
  askUser,
  createHooks,
  type Data,
  deny,
  type Hold,
  type HookResult,
  modify,
  type Session,
} from 'carabiner'
import { hooksMiddleware, questionOf, toolApproval, wrapTools } from 'carabiner/ai-sdk'
import type { Case } from '../more-cases.js'

const [major] = (createRequire(import.meta.url)('ai/package.json').version as string).split('.')
const isFive = major === '5'

// ---- a model that makes these calls, one list a request, and then is done ------------------------------------------

interface Call {
  readonly id: string
  readonly at?: string
}
type Part = { readonly type: string; readonly [field: string]: unknown }

function scripted(...turns: readonly (readonly Call[])[]): LanguageModel {
  let asked = 0
  const next = (): Part[] => {
    const calls = turns[asked++] ?? []
    const made = calls.map(({ id, at = 'a' }) => ({
      ...{ type: 'tool-call', toolCallId: id, toolName: 'look', input: JSON.stringify({ at }) },
    }))
    return made.length > 0 ? made : [{ type: 'text', text: 'done' }]
  }
  const model = {
    ...{ specificationVersion: isFive ? 'v2' : 'v3', provider: 'mock', modelId: 'mock', supportedUrls: {} },
    async doGenerate() {
      const content = next()
      return { content, warnings: [], ...endOf(content) }
    },
    async doStream() {
      const parts = next().filter(({ type }) => type === 'tool-call')
      const chunks = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', ...endOf(parts) }]
      return { stream: simulateReadableStream({ chunks }) }
    },
  }
  return model as unknown as LanguageModel
}

function endOf(parts: readonly Part[]) {
  const reason = parts[0]?.type === 'tool-call' ? 'tool-calls' : 'stop'
  return isFive
    ? { finishReason: reason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }
    : { finishReason: { unified: reason, raw: reason }, usage: { inputTokens: {}, outputTokens: {} } }
}

// ---- an agent with one tool ----------------------------------------------------------------------------------------

interface Played {
  readonly seen: string[]
  readonly ran: string[]
  readonly answers: string[]
}

interface Look {
  /** The tool asks by itself. */
  readonly asks?: (input: { readonly at: string }) => boolean
  readonly execute?: (input: { readonly at: string }) => unknown
}

/** An agent in a process of its own, as far as hooks are concerned. */
async function fresh({ asks, execute = ({ at }) => `saw ${at}` }: Look = {}) {
  const session = (await createHooks({ globals: false })).session()
  const played: Played = { seen: [], ran: [], answers: [] }
  const look = {
    inputSchema: jsonSchema({ type: 'object', properties: { at: { type: 'string' } } }),
    ...(asks && { needsApproval: asks }),
    execute: (input: { readonly at: string }) => {
      played.ran.push(input.at)
      return execute(input)
    },
  }
  return { session, played, tools: { look } as unknown as ToolSet }
}

const watch = (session: Session, { seen }: Played) => {
  for (const event of ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const)
    session.register(event, (name, { tool_use_id }) => void seen.push(`${name} ${tool_use_id}`))
}

interface Talk {
  readonly model: LanguageModel
  readonly tools: ToolSet
  readonly messages?: readonly ModelMessage[]
  /** What a person says to a call. Without it, the conversation ends with the question. */
  readonly says?: (id: string) => boolean
  readonly abortSignal?: AbortSignal
  readonly toolApproval?: ReturnType<typeof toolApproval>
}

const GO: ModelMessage = { role: 'user', content: 'go' }

/** Talks until nobody is asked any more. Returns the conversation. */
async function talk({ messages: given = [GO], says, ...settings }: Talk): Promise<ModelMessage[]> {
  const messages = [...given]
  for (;;) {
    const result = await generateText({ ...settings, messages, stopWhen: stepCountIs(5), maxRetries: 0 })
    // 7 has the messages of all steps here.
    const { responseMessages = result.response.messages } = result as { responseMessages?: ModelMessage[] }
    messages.push(...responseMessages)
    const content = (result.content as readonly Part[])
      .filter(({ type }) => type === 'tool-approval-request')
      .map(({ approvalId, toolCall }) => {
        const approved = says?.((toolCall as { toolCallId: string }).toolCallId)
        return { type: 'tool-approval-response', approvalId, approved }
      })
    if (content.length === 0 || !says) return messages
    messages.push({ role: 'tool', content } as unknown as ModelMessage)
  }
}

const partsOf = (messages: readonly ModelMessage[]) =>
  messages.flatMap(({ content }) => (Array.isArray(content) ? (content as unknown as Part[]) : []))

/** What the model was told about each call. */
const told = (messages: readonly ModelMessage[]) =>
  partsOf(messages)
    .filter(({ type }) => type === 'tool-result')
    .map(({ toolCallId, output }) => {
      const { value, type } = output as { readonly type: string; readonly value?: unknown }
      return `${toolCallId}: ${value ?? type}`
    })

/** The person says yes in what was stored. */
const approved = (messages: readonly ModelMessage[]): ModelMessage[] => {
  const content = partsOf(messages)
    .filter(({ type }) => type === 'tool-approval-request')
    .map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true }))
  return [...messages, { role: 'tool', content } as unknown as ModelMessage]
}

// ---- the cases -----------------------------------------------------------------------------------------------------

/** What an agent is told about a call of a tool without `execute`, and what of it the SDK hands out. */
async function handedOut(
  { isStreamed, isModelJudged }: { readonly isStreamed: boolean; readonly isModelJudged: boolean },
  listen: (session: Session) => unknown,
  fields: object = {},
): Promise<Case> {
  const { session, played, tools } = await fresh()
  listen(session)
  watch(session, played)
  const { execute: _, ...look } = tools.look as { execute?: unknown }
  const plain = scripted([{ id: 'c1' }])
  const settings = {
    model: isModelJudged
      ? wrapLanguageModel({ model: plain as never, middleware: hooksMiddleware(session) })
      : plain,
    tools: wrapTools(session, { look: { ...look, ...fields } } as unknown as ToolSet),
    messages: [GO],
    maxRetries: 0,
  }
  const { ran, answers } = played
  const note = (part: object) => {
    const { type, input, error } = part as Part
    if (type === 'tool-call') ran.push((input as { at: string }).at)
    if (type === 'error') answers.push((error as Error).message)
  }
  try {
    if (isStreamed)
      for await (const part of streamText({ ...settings, onError: () => {} }).fullStream) note(part)
    else for (const part of (await generateText(settings)).content) note(part)
  } catch (error) {
    note({ type: 'error', error })
  }
  return played
}

function handedOutCases(): Record<string, () => Promise<Case>> {
  const hooks: Record<string, (session: Session) => unknown> = {
    denied: (session) => session.register('PreToolUse', () => deny('no')),
    asked: (session) => session.register('PreToolUse', () => askUser('really?')),
    changed: (session) => session.register('PreToolUse', () => modify({ tool_input: { at: 'b' } })),
    allowed: () => {},
  }
  return Object.fromEntries(
    Object.entries(hooks).flatMap(([name, listen]) =>
      [false, true].flatMap((isStreamed) =>
        [false, true].map((isModelJudged) => [
          `handed out, ${name}${isStreamed ? ', streamed' : ''}${isModelJudged ? ', judged model' : ''}`,
          () => handedOut({ isStreamed, isModelJudged }, listen),
        ]),
      ),
    ),
  )
}

/** A model that says something, makes a call, and only then ends its text, as some providers do. */
function talking(): LanguageModel {
  let asked = 0
  const text = [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'I ' },
    { type: 'text-delta', id: 't', delta: 'look.' },
  ]
  const call = [
    { type: 'tool-input-start', id: 'c1', toolName: 'look' },
    { type: 'tool-input-end', id: 'c1' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"at":"a"}' },
  ]
  const textEnd = { type: 'text-end', id: 't' }
  const model = {
    ...{ specificationVersion: isFive ? 'v2' : 'v3', provider: 'mock', modelId: 'mock', supportedUrls: {} },
    async doStream() {
      asked++
      const calls = asked === 1 ? call : []
      const parts = [...text, ...calls, textEnd, { type: 'finish', ...endOf(calls.slice(-1)) }]
      return {
        stream: simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...parts] }),
      }
    },
  }
  return model as unknown as LanguageModel
}

/** `seen` is what was shown, `answers` why the run failed. */
async function held(hold: Hold, listen: (session: Session) => unknown): Promise<Case> {
  const { session, played, tools } = await fresh()
  listen(session)
  const { fullStream } = streamText({
    model: wrapLanguageModel({ model: talking() as never, middleware: hooksMiddleware(session, { hold }) }),
    tools: wrapTools(session, tools),
    messages: [GO],
    stopWhen: stepCountIs(2),
    maxRetries: 0,
    onError: () => {},
  })
  try {
    for await (const part of fullStream) {
      if (part.type === 'text-delta') played.seen.push(part.text)
      if (part.type === 'error') played.answers.push((part.error as Error).message)
    }
  } catch (error) {
    played.answers.push((error as Error).message)
  }
  return played
}

function heldCases(): Record<string, () => Promise<Case>> {
  const onCall = (verdict: (response: Data) => HookResult) => (session: Session) =>
    session.register('ModelResponse', (_, { response }) =>
      (response as Data).tool_calls ? verdict(response as Data) : undefined,
    )
  const input = { at: 'b' }
  const hooks: Record<string, (session: Session) => unknown> = {
    allowed: onCall(() => ({ action: 'continue' })),
    'denied call': (session) => session.register('PreToolUse', () => deny('no')),
    'denied response': onCall(() => deny('no')),
    'changed call': onCall((response) =>
      modify({ response: { ...response, tool_calls: [{ id: 'c1', name: 'look', input }] } }),
    ),
    'removed call': onCall(({ tool_calls: _, ...response }) => modify({ response })),
    'changed text': onCall((response) => modify({ response: { ...response, content: 'I wait.' } })),
  }
  return Object.fromEntries(
    Object.entries(hooks).flatMap(([name, listen]) =>
      (['all', 'tool-calls', 'none'] as const).map((hold) => [
        `hold: ${hold}, ${name}`,
        () => held(hold, listen),
      ]),
    ),
  )
}

const refusesB = (session: Session) =>
  session.register('PreToolUse', (_, { tool_input }) => (tool_input.at === 'b' ? deny('not b') : undefined))
const MAKES_B = {
  inputSchema: jsonSchema({ type: 'object' }, { validate: () => ({ success: true, value: { at: 'b' } }) }),
}

const CASES: Readonly<Record<string, () => Promise<Case>>> = {
  ...handedOutCases(),
  ...heldCases(),
  'handed out, transformed': () => handedOut({ isStreamed: false, isModelJudged: true }, refusesB, MAKES_B),
  'handed out, transformed, streamed': () =>
    handedOut({ isStreamed: true, isModelJudged: true }, refusesB, MAKES_B),
  async '64 equal calls'() {
    const { session, played, tools } = await fresh()
    watch(session, played)
    session.register('PreToolUse', (_, { tool_use_id }) =>
      Number(String(tool_use_id).slice(1)) % 2 ? deny(`no to ${tool_use_id}`) : undefined,
    )
    const calls = Array.from({ length: 64 }, (_, at) => ({ id: `c${at}` }))
    const messages = await talk({ model: scripted(calls), tools: wrapTools(session, tools) })
    return { ...played, answers: told(messages) }
  },
  async 'two questions at once'() {
    const { session, played, tools } = await fresh()
    watch(session, played)
    session.register('PreToolUse', () => askUser('really?'))
    const messages = await talk({
      model: scripted([{ id: 'yes' }, { id: 'no' }]),
      tools: wrapTools(session, tools),
      says: (id) => id === 'yes',
    })
    return { ...played, answers: told(messages) }
  },
  async 'a yes that comes back with another input'() {
    const { session, played, tools } = await fresh()
    const guarded = wrapTools(session, tools)
    watch(session, played)
    session.register('PreToolUse', () => askUser('really?'))
    const asked = approved(await talk({ model: scripted([{ id: 'c1' }]), tools: guarded }))
    const changed = JSON.parse(JSON.stringify(asked).replaceAll('"at":"a"', '"at":"b"')) as ModelMessage[]
    const answers: string[] = []
    for (const messages of [changed, changed, asked])
      answers.push(...told(await talk({ model: scripted(), tools: guarded, messages })))
    return { ...played, answers }
  },
  async 'another process'() {
    const one = await fresh()
    one.session.register('PreToolUse', () => askUser('really?'))
    const asked = await talk({ model: scripted([{ id: 'c1' }]), tools: wrapTools(one.session, one.tools) })
    const { session, played, tools } = await fresh()
    watch(session, played)
    session.register('PreToolUse', () => askUser('really?'))
    const messages = await talk({
      model: scripted(),
      tools: wrapTools(session, tools),
      messages: approved(asked),
    })
    return { ...played, answers: told(messages) }
  },
  async "another process, the tool's own question"() {
    const one = await fresh({ asks: () => true })
    const asked = await talk({ model: scripted([{ id: 'c1' }]), tools: wrapTools(one.session, one.tools) })
    const { session, played, tools } = await fresh({ asks: () => true })
    session.register('PreToolUse', () => askUser('really?'))
    const messages = await talk({
      model: scripted(),
      tools: wrapTools(session, tools),
      messages: approved(asked),
    })
    return { ...played, answers: told(messages) }
  },
  async 'another process, where hooks deny'() {
    const one = await fresh()
    one.session.register('PreToolUse', () => askUser('really?'))
    const asked = await talk({ model: scripted([{ id: 'c1' }]), tools: wrapTools(one.session, one.tools) })
    const { session, played, tools } = await fresh()
    session.register('PreToolUse', () => deny('not any more'))
    const messages = await talk({
      model: scripted(),
      tools: wrapTools(session, tools),
      messages: approved(asked),
    })
    return { ...played, answers: told(messages) }
  },
  async 'an id that comes again'() {
    const { session, played, tools } = await fresh()
    watch(session, played)
    session.register('PreToolUse', () => askUser('really?'))
    let count = 0
    const messages = await talk({
      model: scripted([{ id: 'c1' }], [{ id: 'c1' }], [{ id: 'c1', at: 'b' }]),
      tools: wrapTools(session, tools),
      says: () => {
        count++
        return count === 1
      },
    })
    return { ...played, answers: told(messages) }
  },
  async 'an approved id that comes again while hooks come'() {
    // The tool itself asks about `a`. The hook is added between the question about `b` and the run of it.
    const { session, played, tools } = await fresh({
      asks: ({ at }) => {
        if (at === 'b') session.register('PreToolUse', () => askUser('really?'))
        return at === 'a'
      },
    })
    const messages = await talk({
      model: scripted([{ id: 'c1' }], [{ id: 'c1', at: 'b' }]),
      tools: wrapTools(session, tools),
      says: () => true,
    })
    return { ...played, answers: told(messages) }
  },
  async 'an equal call of the next run'() {
    const all: Played = { seen: [], ran: [], answers: [] }
    const ends: readonly Partial<Talk>[] = [{}, { says: () => false }]
    for (const end of ends) {
      const { session, played, tools } = await fresh({ asks: () => true })
      const guarded = wrapTools(session, tools)
      watch(session, played)
      await talk({ model: scripted([{ id: 'c1' }]), tools: guarded, ...end })
      session.register('PreToolUse', () => deny('frozen'))
      const messages = await talk({ model: scripted([{ id: 'c1' }]), tools: guarded, says: () => true })
      all.seen.push(...played.seen)
      all.ran.push(...played.ran)
      all.answers.push(...told(messages))
    }
    return all
  },
  async 'an equal call after an abort'() {
    const { session, played, tools } = await fresh()
    const controller = new AbortController()
    const guarded = wrapTools(session, tools)
    session.register('PreToolUse', (name) => {
      played.seen.push(name)
      if (played.seen.length > 1) return deny('frozen')
      controller.abort()
      return undefined
    })
    const { signal: abortSignal } = controller
    await talk({ model: scripted([{ id: 'c1' }]), tools: guarded, abortSignal }).catch(() => {})
    const messages = await talk({ model: scripted([{ id: 'c1' }]), tools: guarded })
    return { ...played, answers: told(messages) }
  },
  async 'hooks that fail'() {
    const { session, played, tools } = await fresh()
    const broken = () => {
      throw new Error('broken')
    }
    session.register('PreToolUse', broken, { onFailure: 'block' })
    const messages = await talk({ model: scripted([{ id: 'c1' }]), tools: wrapTools(session, tools) })
    return { ...played, answers: told(messages) }
  },
  async 'a closed session'() {
    const { session, played, tools } = await fresh()
    watch(session, played)
    await session.close()
    const talking = talk({ model: scripted([{ id: 'c1' }]), tools: wrapTools(session, tools) })
    const answers = await talking.then(told, ({ message }) => [message])
    return { ...played, answers }
  },
  async 'a hook and the tool both ask'() {
    const { session, played, tools } = await fresh({ asks: () => true })
    watch(session, played)
    session.register('PreToolUse', (_, { tool_use_id }) =>
      tool_use_id === 'denied' ? deny('not this') : askUser('really?'),
    )
    const messages = await talk({
      model: scripted([{ id: 'yes' }, { id: 'no' }, { id: 'denied' }]),
      tools: wrapTools(session, tools),
      says: (id) => {
        played.answers.push(`asked about ${id}`)
        return id === 'yes'
      },
    })
    return { ...played, answers: [...played.answers, ...told(messages)] }
  },
  async 'a reason for the question'() {
    const { session, played, tools } = await fresh({ asks: ({ at }) => at === 'a' })
    session.register('PreToolUse', (_, { tool_use_id }) =>
      tool_use_id === 'hook' ? askUser('really?') : undefined,
    )
    const result = await generateText({
      model: scripted([{ id: 'hook', at: 'b' }, { id: 'tool' }, { id: 'neither', at: 'b' }]),
      tools: wrapTools(session, tools),
      messages: [GO],
      toolApproval: toolApproval(session),
    } as Parameters<typeof generateText>[0])
    const asked = (result.content as readonly Part[]).filter(({ type }) => type === 'tool-approval-request')
    const answers = asked.map(({ toolCall, reason }) => {
      return `${(toolCall as { toolCallId: string }).toolCallId}: ${reason}`
    })
    const question = await questionOf(session, 'hook')
    return { ...played, answers: [...answers, `question: ${question?.asks[0]?.prompt}`] }
  },
  async 'a tool that yields'() {
    const answers: string[] = []
    const { session, played, tools } = await fresh({
      async *execute({ at }) {
        yield `looking at ${at}`
        yield `saw ${at}`
      },
    })
    for (const isWatched of [false, true]) {
      if (isWatched) watch(session, played)
      const { fullStream } = streamText({
        model: scripted([{ id: 'c1' }]),
        tools: wrapTools(session, tools),
        messages: [GO],
      })
      for await (const part of fullStream) if (part.type === 'tool-result') answers.push(String(part.output))
    }
    return { ...played, answers }
  },
  async 'an abort inside a hook'() {
    const { session, played, tools } = await fresh()
    const controller = new AbortController()
    const { signal } = controller
    session.register('PreToolUse', async (_event, _data, { signal: ending }) => {
      controller.abort()
      if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve))
      played.seen.push('the hook has ended')
    })
    const guarded = wrapTools(session, tools, { signal })
    const talking = talk({ model: scripted([{ id: 'c1' }]), tools: guarded, abortSignal: signal })
    const answers = await talking.then(told, () => ['threw'])
    return { ...played, answers }
  },
}

for (const [name, run] of Object.entries(CASES)) {
  const played = await run().catch((error) => ({ seen: [], ran: [], answers: [`threw ${error}`] }))
  console.log(JSON.stringify({ name, ...played }))
}
