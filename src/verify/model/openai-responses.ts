// OpenAI Responses: POST …/responses.

import type { Data, Json } from '../../core/base/json.js'
import type { ProofCall } from '../../hosts/host-proof.js'
import {
  callsOf,
  inputText,
  listOf,
  type Protocol,
  type Said,
  type Turn,
  textOf,
  textsIn,
} from './protocol.js'

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
}

/** What the model said itself. */
const OWN = ['function_call', 'custom_tool_call', 'local_shell_call']

export const openaiResponses: Protocol = {
  name: 'OpenAI Responses',
  answers: (path) => path.endsWith('/responses'),
  read: (body) => ({
    model: String(body.model ?? ''),
    stream: body.stream === true,
    talk: typeof body.input === 'string' ? [{ by: 'user', text: body.input }] : listOf(body.input).map(said),
    hasTools: listOf(body.tools).length > 0,
  }),
  reply(turn, { model, stream }, id) {
    const items = itemsOf(turn, id)
    const response = { id: `resp_${id}`, object: 'response', model, status: 'completed', usage: USAGE }
    const whole = { ...response, output: items }
    if (!stream) return { json: whole }
    const events: readonly (Data & { readonly type: string })[] = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...items.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        ...(('deltas' in turn && turn.deltas) || []).map((delta) => ({
          type: 'response.output_text.delta',
          item_id: item.id as Json,
          output_index,
          content_index: 0,
          delta,
        })),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: whole },
    ]
    return { events: events.map((data) => ({ name: data.type, data })) }
  },
}

function said(item: Data): Said {
  const isOwn = OWN.includes(String(item.type)) || item.role === 'assistant'
  return { by: isOwn ? 'model' : 'user', text: textsIn(item) }
}

function itemsOf(turn: Turn, id: string): readonly Data[] {
  const calls = callsOf(turn)
  if (calls.length > 0) return calls.map((call, index) => callItem(call, `${id}_${index}`))
  const content = [{ type: 'output_text', text: textOf(turn), annotations: [] }]
  return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }]
}

function callItem(call: ProofCall, id: string): Data {
  const { name, namespace } = call
  const common = { call_id: `call_${id}`, name, ...(namespace && { namespace }), status: 'completed' }
  return typeof call.input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...common, input: call.input }
    : { type: 'function_call', id: `fc_${id}`, ...common, arguments: inputText(call) }
}
