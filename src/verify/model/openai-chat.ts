// OpenAI Chat Completions: POST …/chat/completions. An agent that describes tools in its prompt gets calls as XML.

import type { Data } from '../../core/base/json.js'
import { describesTools, xmlOf } from './cline-xml.js'
import {
  callsOf,
  deltasOf,
  inputText,
  listOf,
  type Protocol,
  type Reply,
  type Turn,
  textOf,
  textsIn,
} from './protocol.js'

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

export const openaiChat: Protocol = {
  name: 'OpenAI Chat Completions',
  answers: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    model: String(body.model ?? ''),
    stream: body.stream === true,
    talk: talkOf(body).map(({ role, content }) => ({
      by: role === 'assistant' ? 'model' : 'user',
      text: textsIn(content),
    })),
    hasTools: listOf(body.tools).length > 0 || describesTools(body),
  }),
  reply: (turn, { model, stream }, id) => completion(turn, { model, stream }, id),
}

/** The same, with calls in the text. */
export const clineXml: Protocol = {
  ...openaiChat,
  name: 'Chat Completions with XML calls',
  reply: (turn, { model, stream }, id) => completion({ text: xmlOf(turn) }, { model, stream }, id),
}

/** Without what the agent tells every model. */
function talkOf(body: Data): readonly Data[] {
  return listOf(body.messages).filter(({ role }) => role !== 'system' && role !== 'developer')
}

function completion(
  turn: Turn,
  { model, stream }: { readonly model: string; readonly stream: boolean },
  id: string,
): Reply {
  const calls = toolCallsOf(turn, id)
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const common = { id: `chatcmpl_${id}`, created: 1, model }
  if (!stream) {
    const message: Data = calls.length > 0 ? { content: null, tool_calls: calls } : { content: textOf(turn) }
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason }
    return { json: { ...common, object: 'chat.completion', choices: [choice], usage: USAGE } }
  }
  const chunk = (delta: Data, finish: string | null) => ({
    data: {
      ...common,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  })
  const said: readonly Data[] =
    calls.length > 0 ? [{ tool_calls: calls }] : deltasOf(turn).map((content) => ({ content }))
  return {
    events: [
      ...said.map((delta) => chunk({ role: 'assistant', ...delta }, null)),
      chunk({}, finish_reason),
      { data: { ...common, object: 'chat.completion.chunk', choices: [], usage: USAGE } },
      { data: '[DONE]' },
    ],
  }
}

function toolCallsOf(turn: Turn, id: string): readonly Data[] {
  return callsOf(turn).map((call, index) => {
    const made = { name: call.name, arguments: inputText(call) }
    return { index, id: `call_${id}_${index}`, type: 'function', function: made }
  })
}
