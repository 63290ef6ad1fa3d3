// A tool call of LangChain between its hooks, and its place in LangGraph's checkpoints.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import { Command, getConfig, isCommand, isGraphInterrupt, task } from '@langchain/langgraph'
import { ToolMessage } from 'langchain'
import { type Data, HookError, type Session } from '../../core/index.js'
import { beginOnce, forgetBegun, isUnheard, runBegun } from '../begun-calls.js'
import { asText } from '../response.js'
import { type Approver, type CallRequest, interruptApprover, type ToolCall, whyUnasked } from './questions.js'

/** The call that runs, as hooks have judged it. */
const running = new AsyncLocalStorage<{ readonly session: Session; readonly call: ToolCall }>()

/** Whether hooks around this tool have just judged the call. */
export function isJudged(session: Session, { id = '', name, args }: ToolCall): boolean {
  const around = running.getStore()
  if (around?.session !== session || id === '') return false
  const { call } = around
  return call.id === id && call.name === name && isDeepStrictEqual(call.args, args)
}

interface Running<R, T> {
  readonly run: (request: R) => Promise<T>
  readonly approver: Approver | undefined
  readonly isAlone: boolean
}

/** Throws what the tool throws. */
export async function callTool<R extends CallRequest, T>(
  session: Session,
  request: R,
  { run, approver = interruptApprover, isAlone }: Running<R, T>,
): Promise<T | ToolMessage> {
  const { toolCall, runtime } = request
  const { name, args: input, id = '' } = toolCall
  const { signal } = runtime
  const key = keyOf(id)
  if (isUnheard(session, key)) return run(request)
  const say = (content: string, fields: object = {}) =>
    new ToolMessage({ ...fields, content, name, tool_call_id: id })
  let made: T | undefined
  const runJudged = async (args: Data): Promise<unknown> => {
    const judged = { ...request, toolCall: { ...toolCall, args } }
    const { toolCall: call } = judged
    made = await running.run({ session, call }, () =>
      request.tool ? runUnchanged(judged, run) : run(judged),
    )
    return shownResult(made)
  }
  const errorIn = (content: unknown) => (toolMessageIn(made)?.status === 'error' ? content : undefined)

  let isSuspended = false
  try {
    let call = await beginOnce(session, { name, input, id }, signal, key)
    while (call.status === 'needs_approval') {
      const why = whyUnasked(approver)
      if (why) return say(`${call.reason} (${why})`, { status: 'error' })
      call = await call.answer(await approver(call.question, { ...request, session, isAlone }))
    }
    if (call.status === 'responded') return say(asText(call.result))
    if (call.status !== 'run') return say(call.reason, { status: 'error' })
    const ended = await runBegun(call, runJudged, { signal, isSuspended: isGraphInterrupt, errorIn })
    if (ended.status === 'failed') return say(ended.reason, { status: 'error' })
    if (ended.result === shownResult(made)) return made as T
    const { status, artifact, id: messageId } = toolMessageIn(made) ?? {}
    return say(asText(ended.result), { status, artifact, id: messageId })
  } catch (error) {
    isSuspended = isGraphInterrupt(error)
    throw error
  } finally {
    // A call that was suspended comes again, and goes on with its judgement.
    if (!isSuspended) forgetBegun(session, key)
  }
}

const toolMessageIn = (made: unknown) => (ToolMessage.isInstance(made) ? made : undefined)

/** What hooks see of a result. */
const shownResult = (made: unknown): unknown => (ToolMessage.isInstance(made) ? made.content : made)

/** The id of a call within the task that runs it. Empty outside a graph, where no call comes again. */
function keyOf(id: string): string {
  const task: unknown = getConfig()?.configurable?.__pregel_task_id
  return task === undefined || id === '' ? '' : `${task} ${id}`
}

/** Fails if middleware changes the call after hooks judged it. LangChain 1.0 does not use the tool of a request. */
function runUnchanged<R extends CallRequest, T>(request: R, run: (request: R) => Promise<T>): Promise<T> {
  const { tool, toolCall } = request
  const { name, args } = toolCall
  const why = `Middleware changed a call of ${name} after hooks judged it: put hooksMiddleware last`
  let isChanged = false
  const invoke = (call: ToolCall, config: object) => {
    isChanged ||= call.name !== name || !isDeepStrictEqual(call.args, args)
    if (isChanged) throw new Error(why)
    return (tool as AnyTool).invoke(call, config)
  }
  const guarded = Object.assign(Object.create(tool as object), { invoke })
  // Not as an error of the tool, which the model would be told about.
  return run({ ...request, tool: guarded }).finally(() => {
    if (isChanged) throw new HookError('CALL_DENIED', why)
  })
}

interface AnyTool {
  invoke(call: ToolCall, config: object): unknown
}

/**
 * A node that is suspended runs again as a whole, also in another process. LangGraph keeps the results of tasks, so no tool
 * runs twice. Calls must become tasks in the same order each time, so hooks run inside of them.
 */
export async function inOwnTask<T>({ name, id = '' }: ToolCall, run: () => Promise<T>): Promise<T> {
  if (typeof getConfig()?.configurable?.__pregel_call !== 'function') return run()
  let thrown: unknown
  const end = async (): Promise<TaskEnd<T>> => {
    try {
      return { messages: [await run()] }
    } catch (error) {
      if (isGraphInterrupt(error)) throw error
      // Any other error of a task would end the graph, although ToolNode takes care of it.
      thrown = error
      const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
      return { messages: [], error: { name, message } }
    }
  }
  const { messages, error } = await task(`${name} ${id}`.trim(), end)()
  if (error) throw thrown ?? Object.assign(new Error(error.message), error)
  const [made] = messages
  // A checkpoint has the fields of a command, not its class.
  return isCommand(made) ? (new Command(made) as T) : (made as T)
}

/** In the form of a node's update, because stream mode `updates` shows it. */
interface TaskEnd<T> {
  readonly messages: readonly T[]
  readonly error?: { readonly name: string; readonly message: string }
}
