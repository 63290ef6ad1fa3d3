// A server's request for a model call (sampling/createMessage), in the terms of ModelRequest and ModelResponse.

import { type Data, isObject, type Json } from '../../core/base/json.js'

type Params = Readonly<Record<string, Json | undefined>>

interface Request {
  readonly model: string
  readonly messages: readonly unknown[]
  readonly tools?: readonly unknown[]
  readonly options?: object
}

/** The client chooses the model; the server may only hint at one. The system prompt is the first message. */
export function modelRequestOf(server: string, params: Params) {
  const { messages, systemPrompt, tools, modelPreferences, _meta: _, ...options } = params
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
export function samplingParams(params: Params, request: Request, isChanged: boolean): Json | undefined {
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
export function messageResultOf(answer: Json): Json {
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
