// A server's request for a model call (sampling/createMessage): hooks see ModelRequest, then ModelResponse.

import { type Data, isObject, type Json } from '../../../core/base/json.js'
import type { BegunModel } from '../../../core/session/model-call.js'
import { type Exchange, failure, type RpcReply } from '../judge.js'
import { asJudged, type Judging, type Params, reasonOf } from './judging.js'
import type { Tasks } from './tasks.js'

/** The protocol's code for a request that a person rejected. */
const REJECTED = -1

export async function judgeSampling(
  judging: Judging,
  params: Params,
  exchange: Exchange,
  tasks: Tasks,
): Promise<RpcReply> {
  try {
    await judging.ready(exchange.line)
    const { signal } = exchange
    const request = modelRequestOf(judging.name, params)
    const begun = await judging.session.beginModel(request, { signal, approver: judging.approver })
    if (begun.status === 'responded') return { result: messageResultOf(begun.response) }
    if (begun.status !== 'run') return failure(begun.reason, REJECTED)
    if (begun.request.model !== request.model) {
      const why = `A hook chose the model ${begun.request.model}, but the client chooses the model`
      await begun.fail(why)
      return failure(why, REJECTED)
    }
    const hasMore = begun.request.messages.length !== request.messages.length
    const isChanged = begun.outcome.modified || hasMore
    const reply = await exchange.forward(samplingParams(params, begun.request, isChanged))
    const judge = (answer: RpcReply) => judgeMessage(begun, answer)
    const drop = () => void begun[Symbol.asyncDispose]()
    return tasks.keep(params, reply, { judge, drop }) ?? judge(reply)
  } catch (error) {
    return failure(reasonOf(error), REJECTED)
  }
}

async function judgeMessage(begun: RunningModel, given: RpcReply): Promise<RpcReply> {
  try {
    const reply = asJudged(given)
    if (!('result' in reply)) {
      await begun.fail(reply.error.message)
      return reply
    }
    const ended = await begun.finish(reply.result)
    if (ended.status === 'ok') return ended.after.modified ? { result: ended.response as Json } : reply
    if (ended.status === 'responded') return { result: messageResultOf(ended.response) }
    return failure(ended.reason, REJECTED)
  } catch (error) {
    return failure(reasonOf(error), REJECTED)
  }
}

type RunningModel = Extract<BegunModel, { status: 'run' }>

interface Request {
  readonly model: string
  readonly messages: readonly unknown[]
  readonly tools?: readonly unknown[]
  readonly options?: object
}

/** The client chooses the model; the server may only hint at one. The system prompt is the first message. */
function modelRequestOf(server: string, params: Params) {
  const { messages, systemPrompt, tools, modelPreferences, _meta: _, task: __, ...options } = params
  const system = typeof systemPrompt === 'string' ? [{ role: 'system', content: systemPrompt }] : []
  const preferences = modelPreferences === undefined ? {} : { modelPreferences }
  return {
    model: hintIn(modelPreferences) ?? `mcp:${server}`,
    messages: [...system, ...(Array.isArray(messages) ? (messages as Json[]) : [])],
    tools: Array.isArray(tools) ? (tools as Json[]) : [],
    options: { ...options, ...preferences },
    mcp_server_name: server,
  }
}

/** The params for the client. Undefined if hooks changed nothing. */
function samplingParams(params: Params, request: Request, isChanged: boolean): Json | undefined {
  if (!isChanged) return undefined
  const { systemPrompt: _, messages: __, tools: ___, ...rest } = params
  const isSystem = (one: unknown) => isObject(one) && one.role === 'system'
  const system = request.messages.filter(isSystem).map((one) => textIn((one as Data).content))
  const { messages, tools = [] } = request
  return {
    ...rest,
    ...request.options,
    messages: messages.filter((one) => !isSystem(one)).map((one) => withContent(one as Data)),
    ...(system.length > 0 && { systemPrompt: system.join('\n\n') }),
    ...((tools.length > 0 || params.tools !== undefined) && { tools }),
  } as Json
}

/** What a hook answered in place of the model. */
function messageResultOf(answer: Json): Json {
  if (isObject(answer) && isObject(answer.content) && typeof answer.role === 'string') return answer
  const { content } = isObject(answer) ? answer : { content: answer }
  const text = typeof content === 'string' ? content : JSON.stringify(answer)
  return { role: 'assistant', model: 'carabiner', content: { type: 'text', text }, stopReason: 'endTurn' }
}

/** Injections have a text as content; the protocol wants an object. */
function withContent(message: Data): Data {
  return typeof message.content === 'string'
    ? { ...message, content: { type: 'text', text: message.content } }
    : message
}

function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return isObject(content) && typeof content.text === 'string' ? content.text : JSON.stringify(content ?? '')
}

function hintIn(preferences: Json | undefined): string | undefined {
  const hints = isObject(preferences) ? preferences.hints : undefined
  const [first] = Array.isArray(hints) ? (hints as Json[]) : []
  return isObject(first) && typeof first.name === 'string' ? first.name : undefined
}
