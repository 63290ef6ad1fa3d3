// Anthropic Messages: POST …/messages.

import type { Data, Json } from '../../core/base/json.js'
import { listOf, type Protocol, type StreamEvent, type Turn, textsIn } from './protocol.js'

const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

export const anthropicMessages: Protocol = {
  name: 'Anthropic Messages',
  answers: (path) => path.endsWith('/messages'),
  read: (body) => ({
    model: String(body.model ?? ''),
    stream: body.stream === true,
    talk: listOf(body.messages).map(({ role, content }) => ({
      by: role === 'assistant' ? 'model' : 'user',
      text: textsIn(content),
    })),
    hasTools: listOf(body.tools).length > 1,
  }),
  reply(turn, { model, stream }, id) {
    const block = blockOf(turn, id)
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason: 'call' in turn ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: USAGE,
    }
    return stream ? { events: eventsOf(message, block) } : { json: message }
  },
}

function blockOf(turn: Turn, id: string): Data {
  if (!('call' in turn)) return { type: 'text', text: turn.text }
  return { type: 'tool_use', id: `toolu_${id}`, name: turn.call.name, input: turn.call.input }
}

function eventsOf(message: Data, block: Data): readonly StreamEvent[] {
  const isText = block.type === 'text'
  const events: readonly (Data & { readonly type: string })[] = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
    },
    { type: 'content_block_delta', index: 0, delta: deltaOf(block, isText) },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: message.stop_reason as Json, stop_sequence: null },
      usage: USAGE,
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ name: data.type, data }))
}

function deltaOf({ text, input }: Data, isText: boolean): Data {
  return isText
    ? { type: 'text_delta', text: text as Json }
    : { type: 'input_json_delta', partial_json: JSON.stringify(input) }
}
