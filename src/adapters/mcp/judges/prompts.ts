// Prompts (prompts/get). They are commands in Claude Code's terms, so hooks see UserPromptExpansion before the server is asked.

import { type Data, isObject, type Json } from '../../../core/base/json.js'
import { mcpToolName } from '../../../hosts/mcp-tool-name.js'
import { RPC_CODES } from '../../../rpc/message.js'
import { type Exchange, failure, type RpcReply } from '../judge.js'
import type { Judging, Params } from './judging.js'

export async function judgePrompt(judging: Judging, params: Params, exchange: Exchange): Promise<RpcReply> {
  const { name, arguments: args = {} } = params
  if (typeof name !== 'string' || !isObject(args))
    return failure('prompts/get needs a name, and arguments that are an object', RPC_CODES.invalidParams)
  const command = mcpToolName(judging.name, name)
  const written = Object.keys(args).length === 0 ? '' : JSON.stringify(args)
  const data = {
    command_name: command,
    command_args: written,
    command_source: judging.name,
    expansion_type: 'mcp_prompt',
    prompt: `/${command} ${written}`.trimEnd(),
  }
  const { signal, line } = exchange
  const { outcome, refusal } = await judging.fire('UserPromptExpansion', data, signal, line)
  const told = judging.textsOf(outcome)
  if (refusal !== undefined) return failure([refusal, ...told].join('\n'))
  if (outcome.modified) return failure('A hook changed this prompt, which cannot be passed on to the server')
  const reply = await exchange.forward()
  if (told.length === 0 || !('result' in reply) || !isObject(reply.result)) return reply
  const messages = Array.isArray(reply.result.messages) ? (reply.result.messages as Json[]) : []
  const more = told.map((text) => ({ role: 'user', content: { type: 'text', text } }))
  return { result: { ...(reply.result as Data), messages: [...messages, ...more] } }
}
