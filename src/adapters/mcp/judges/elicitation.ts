// A server's question to the person (elicitation/create): hooks see Elicitation, then ElicitationResult.

import { type Data, isObject, type Json } from '../../../core/base/json.js'
import type { Exchange, RpcReply } from '../judge.js'
import { asJudged, asParams, type Judging, type Params } from './judging.js'
import type { Tasks } from './tasks.js'

export async function judgeElicitation(
  judging: Judging,
  params: Params,
  exchange: Exchange,
  tasks: Tasks,
): Promise<RpcReply> {
  const asked = askedOf(judging, params)
  const { signal, line } = exchange
  const { outcome, refusal } = await judging.fire('Elicitation', asked, signal, line)
  const { action, content } = outcome.host ?? {}
  if (refusal !== undefined) return { result: { action: action === 'cancel' ? 'cancel' : 'decline' } }
  if (action === 'accept') return { result: { action, ...(content !== undefined && { content }) } }
  const reply = await exchange.forward(outcome.modified ? changedParams(params, outcome.data) : undefined)
  const judge = (answer: RpcReply) => judgeAnswer(judging, answer, asked, signal)
  return tasks.keep(params, reply, { judge, drop: () => undefined }) ?? judge(reply)
}

/** The question as hooks see it. */
export function askedOf(judging: Judging, params: Params): Data {
  const { message, mode, url, elicitationId, requestedSchema } = params
  return {
    mcp_server_name: judging.name,
    message: typeof message === 'string' ? message : '',
    ...texts({ mode, url, elicitation_id: elicitationId }),
    ...(isObject(requestedSchema) && { requested_schema: requestedSchema as Json }),
  }
}

/** The question as hooks left it. */
export function changedParams(params: Params, data: object): Json {
  const { message, requested_schema: schema, elicitation_id: elicitationId, mode, url } = data as Params
  return {
    ...params,
    message,
    ...texts({ mode, url, elicitationId }),
    ...(schema !== undefined && { requestedSchema: schema }),
  } as Json
}

async function judgeAnswer(
  judging: Judging,
  given: RpcReply,
  asked: Data,
  signal: AbortSignal,
): Promise<RpcReply> {
  const reply = asJudged(given)
  if (!('result' in reply) || !isObject(reply.result)) return reply
  const result = asParams(reply.result)
  const { mode, elicitation_id } = asked
  const data = {
    mcp_server_name: judging.name,
    action: typeof result.action === 'string' ? result.action : 'cancel',
    ...(result.content !== undefined && { content: result.content }),
    ...texts({ mode, elicitation_id }),
  }
  const { outcome, refusal } = await judging.fire('ElicitationResult', data, signal, reply.line)
  if (refusal !== undefined) return { result: { action: 'decline' } }
  if (!outcome.modified) return reply
  const { action, content } = outcome.data as Params
  return { result: { action, ...(content !== undefined && { content }) } as Json }
}

function texts(fields: Params): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => typeof value === 'string'),
  ) as Record<string, string>
}
