// The guard: which messages between an MCP client and a server hooks judge, one judge a method.

import type { Json } from '../../core/base/json.js'
import type { Exchange, JudgeReply, Judges, RpcReply } from './judge.js'
import { judgeElicitation } from './judges/elicitation.js'
import { asParams, Judging, type JudgingOptions } from './judges/judging.js'
import { judgePrompt } from './judges/prompts.js'
import { judgeQuestions } from './judges/questions.js'
import { judgeResource } from './judges/resources.js'
import { judgeSampling } from './judges/sampling.js'
import { Tasks } from './judges/tasks.js'
import { ToolJudge } from './judges/tools.js'

export interface GuardOptions extends JudgingOptions {
  /** Called with the client's capabilities, and what the server answered. */
  readonly onInitialized: (capabilities: Json | undefined, answer: Json) => void
}

export interface Guard {
  /** For requests of the client, and of the server. */
  readonly judges: { readonly client: Judges; readonly server: Judges }
  readonly judgeReply: JudgeReply
}

export function guardOf(options: GuardOptions): Guard {
  const judging = new Judging(options)
  const calls = new Tasks(judging, ['PostToolUse', 'PostToolUseFailure'])
  const asked = new Tasks(judging, ['ModelResponse', 'ElicitationResult'])
  const tools = new ToolJudge(judging, calls)
  const judges: Guard['judges'] = {
    client: {
      initialize: (params, exchange) => initialized(params, exchange, options.onInitialized),
      'tools/list': (_, exchange) => tools.list(exchange),
      'tools/call': (params, exchange) => tools.call(asParams(params), exchange),
      'resources/read': (params, exchange) => judgeResource(judging, asParams(params), exchange),
      'prompts/get': (params, exchange) => judgePrompt(judging, asParams(params), exchange),
      'tasks/get': (_, exchange) => calls.get(exchange),
      'tasks/result': (params, exchange) => calls.result(asParams(params), exchange),
      'tasks/cancel': (params, exchange) => calls.cancel(asParams(params), exchange),
    },
    server: {
      'sampling/createMessage': (params, exchange) =>
        judgeSampling(judging, asParams(params), exchange, asked),
      'elicitation/create': (params, exchange) =>
        judgeElicitation(judging, asParams(params), exchange, asked),
      'tasks/result': (params, exchange) => asked.result(asParams(params), exchange),
      'tasks/cancel': (params, exchange) => asked.cancel(asParams(params), exchange),
    },
  }
  return { judges, judgeReply: judgeQuestions(judging) }
}

async function initialized(
  params: Json | undefined,
  exchange: Exchange,
  tell: GuardOptions['onInitialized'],
): Promise<RpcReply> {
  const reply = await exchange.forward()
  if ('result' in reply) tell(asParams(params).capabilities, reply.result)
  return reply
}
