// The processor of Mastra that puts hooks around all tools of an agent. A run whose tools it cannot see is refused.

import type { Agent, ToolsInput } from '@mastra/core/agent'
import type { ProcessInputArgs, ProcessInputStepArgs, ProcessLLMRequestArgs } from '@mastra/core/processors'
import { HookError, type Session } from '../../core/index.js'
import { isJudgedBy, wrapAll } from './tool.js'

/**
 * The last one in `inputProcessors` of an Agent: each call of its tools is judged, also of those that Mastra makes for
 * subagents, workflows, memory and workspaces. While there are hooks, it refuses what it cannot judge: `agent.network()`,
 * models and tools that `prepareStep` returns, unless `wrapTools` made these tools, tools without `execute`, and subagents
 * without this processor.
 * Give it the `agents` of the agent if other processors come first, as those of its memory do: Mastra hides the agent then.
 */
export function hooksProcessor(session: Session, { agents }: { readonly agents?: Agents } = {}) {
  const subagents = new Map<string, boolean>()
  const check = (name: string) => {
    if (!name.startsWith('agent-') || subagents.get(name)) return
    const instead = subagents.has(name)
      ? 'Add hooksProcessor(session.child()) to its inputProcessors.'
      : 'Call hooksProcessor(session, { agents }) with the agents that the agent has.'
    throw unseen(`${name} was not called`, 'the tool calls of this agent', instead)
  }
  return {
    id: PROCESSOR,
    async processInput(given: ProcessInputArgs): Promise<ProcessInputArgs['messageList']> {
      const { agent, messageList, requestContext } = given
      if (isNetwork(messageList) && !session.isIdle)
        throw unseen('agent.network() was refused', 'its calls', 'Use agent.stream() or agent.generate().')
      const known = agents ?? (await agent?.listAgents(requestContext && { requestContext }))
      for (const [key, subagent] of Object.entries(known ?? {})) {
        const name = `agent-${key}`
        // Another request may have another agent of this name.
        subagents.set(name, subagents.get(name) !== false && (await hasProcessor(subagent, requestContext)))
      }
      return messageList
    },
    /** Mastra asks for these before each run, and before it resumes one. */
    getLoadedToolsForRequestContext: ({ tools = {} }: { readonly tools?: ToolsInput }) =>
      wrapAll(session, tools, check),
    /** Other processors may have added tools. */
    processInputStep({
      tools = {},
      model,
    }: ProcessInputStepArgs): Pick<ProcessInputStepArgs, 'tools' | 'model'> {
      return { tools: wrapAll(session, tools as ToolsInput, check), model: offering(session, model) }
    },
    /** `prepareStep` runs after all processors. What it returns is seen only here, and by the model. */
    processLLMRequest({ model }: ProcessLLMRequestArgs): undefined {
      if (session.isIdle || offered.get(model) === session) return
      throw unseen('The model was not called', 'the tools that prepareStep may have added to it', INSTEAD)
    },
  }
}

const PROCESSOR = 'carabiner-hooks'

const INSTEAD =
  'Give the tool an execute if it has none. If prepareStep returns it, move prepareStep into an input processor, as its processInputStep, and put that before hooksProcessor, or wrap the tool by wrapTools.'

type Agents = Awaited<ReturnType<Agent['listAgents']>>

/** The loop of `agent.network()` runs tools itself, and asks processors only about the routing. */
function isNetwork(messageList: object): boolean {
  return (messageList as { readonly _agentNetworkAppend?: boolean })._agentNetworkAppend === true
}

/** Whether hooks see the calls of this agent. */
async function hasProcessor(
  agent: object,
  requestContext: ProcessInputArgs['requestContext'],
): Promise<boolean> {
  if (!('listConfiguredInputProcessors' in agent)) return false
  const processors = await (agent as Agent).listConfiguredInputProcessors(requestContext)
  return processors.some(({ id }) => id === PROCESSOR)
}

type Model = ProcessInputStepArgs['model']

const offered = new WeakMap<object, Session>()

/** The model, which is called only if hooks judge each tool that it is offered. */
function offering(session: Session, model: Model): Model {
  const guarded = new Proxy(model, {
    get(target, key) {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (key !== 'doGenerate' && key !== 'doStream') return value.bind(target)
      return (options: Offer) => {
        if (session.isIdle) return value.call(target, options)
        const { tools = [] } = options
        const judged = tools.filter((tool) => isJudgedBy(session, tool.providerOptions ?? tool.args))
        const unjudged = tools.find((tool) => tool.type === 'function' && !judged.includes(tool))
        if (unjudged) throw unseen('The model was not called', `calls of ${unjudged.name}`, INSTEAD)
        const answered = value.call(target, options)
        if (tools.length > 0 && judged.length === tools.length) return answered
        const names = new Set(judged.map(({ name }) => name))
        return answered.then((answer: Answered) => withCallsOf(names, answer))
      }
    },
  })
  offered.set(guarded, session)
  return guarded
}

/**
 * The answer, which must call no other tools. With `toolChoice: 'none'`, Mastra offers the model nothing, but runs what it calls
 * all the same, also tools that prepareStep returned. And only the answer says whether the provider runs its own tools itself.
 */
function withCallsOf(names: ReadonlySet<string>, answered: Answered): Answered {
  const check = ({ type, toolName = '', providerExecuted }: Part) => {
    if (type === 'tool-call' && !providerExecuted && !names.has(toolName))
      throw unseen(`${toolName} was not called`, 'this call', INSTEAD)
  }
  answered.content?.forEach(check)
  if (!answered.stream) return answered
  const checked = new TransformStream<Part, Part>({
    transform(part, controller) {
      check(part)
      controller.enqueue(part)
    },
  })
  return { ...answered, stream: answered.stream.pipeThrough(checked) }
}

interface Part {
  readonly type: string
  readonly toolName?: string
  readonly providerExecuted?: boolean
}
interface Answered {
  readonly content?: readonly Part[]
  readonly stream?: ReadableStream<Part>
}

interface Offer {
  readonly tools?: readonly {
    readonly type: string
    readonly name: string
    readonly providerOptions?: object
    /** Of a provider's tool, which has no `providerOptions`. */
    readonly args?: object
  }[]
}

function unseen(what: string, calls: string, instead: string): HookError {
  return new HookError('CALL_DENIED', `${what}, because hooks would not see ${calls}. ${instead}`)
}
