// Anthropic Messages: POST …/messages.

import type { Data, Json } from '../../core/base/json.js'
import {
  callsOf,
  deltasOf,
  listOf,
  type Protocol,
  type StreamEvent,
  type Turn,
  textOf,
  textsIn,
} from './protocol.js'

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
    const blocks = blocksOf(turn, id)
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      content: blocks,
      stop_reason: callsOf(turn).length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: USAGE,
    }
    return stream ? { events: eventsOf(message, blocks, deltasOf(turn)) } : { json: message }
  },
}

function blocksOf(turn: Turn, id: string): readonly Data[] {
  const calls = callsOf(turn)
  if (calls.length === 0) return [{ type: 'text', text: textOf(turn) }]
  return calls.map(({ name, input }, index) => ({
    type: 'tool_use',
    id: `toolu_${id}_${index}`,
    name,
    input,
  }))
}

type TypedData = Data & { readonly type: string }

function eventsOf(message: Data, blocks: readonly Data[], texts: readonly string[]): readonly StreamEvent[] {
  const events: readonly TypedData[] = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap((block, index) => blockEvents(block, index, texts)),
    {
      type: 'message_delta',
      delta: { stop_reason: message.stop_reason as Json, stop_sequence: null },
      usage: USAGE,
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ name: data.type, data }))
}

function blockEvents(block: Data, index: number, texts: readonly string[]): readonly TypedData[] {
  const isText = block.type === 'text'
  const deltas: readonly Data[] = isText
    ? texts.map((text) => ({ type: 'text_delta', text }))
    : [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  return [
    {
      type: 'content_block_start',
      index,
      content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
    },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}
