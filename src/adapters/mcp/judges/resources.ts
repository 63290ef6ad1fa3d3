// Resources (resources/read). Claude Code has a tool for them, ReadMcpResourceTool, so hooks judge a call of that.

import { type Data, isObject, type Json } from '../../../core/base/json.js'
import { RPC_CODES } from '../../../rpc/message.js'
import { type Exchange, failure, type Passed, type RpcReply } from '../judge.js'
import { type CallForm, judgeCall } from './calls.js'
import type { Judging, Params } from './judging.js'

export function judgeResource(
  judging: Judging,
  params: Params,
  exchange: Exchange,
): Promise<RpcReply> | Passed {
  const { uri } = params
  if (typeof uri !== 'string')
    return Promise.resolve(failure('resources/read needs a uri', RPC_CODES.invalidParams))
  const { name, source } = judging
  const call = {
    name: 'ReadMcpResourceTool',
    input: { server: name, uri },
    id: String(exchange.id),
    fields: { mcp_server: { name, source } },
  }
  return judgeCall(judging, { call, params, exchange }, formFor(name))
}

const formFor = (name: string): CallForm => ({
  refused: (reason, told = []) => failure([reason, ...told].join('\n')),
  responded: (answer, told, { uri }) => ({
    result: withContents(resultOf(String(uri), answer), String(uri), told),
  }),
  changed: ({ server, uri }, params) => {
    if (server === name && typeof uri === 'string') return { ...params, uri } as Json
    throw new Error('a hook chose another server, which this proxy cannot ask')
  },
  failure: () => undefined,
  told: (result, told, { uri }) => withContents(result, String(uri), told),
})

function resultOf(uri: string, answer: Json): Json {
  if (isObject(answer) && Array.isArray(answer.contents)) return answer
  return { contents: [textResource(uri, typeof answer === 'string' ? answer : JSON.stringify(answer))] }
}

function withContents(result: Json, uri: string, told: readonly string[]): Json {
  if (told.length === 0 || !isObject(result)) return result
  const contents = Array.isArray(result.contents) ? (result.contents as Json[]) : []
  return { ...(result as Data), contents: [...contents, ...told.map((text) => textResource(uri, text))] }
}

function textResource(uri: string, text: string): Data {
  return { uri, mimeType: 'text/plain', text }
}
