// Tools: hooks filter and describe the list (tools/list), and judge each call (tools/call).

import { type Data, isObject, type Json } from '../../../core/base/json.js'
import { shown } from '../../../core/base/text.js'
import { mcpToolName } from '../../../hosts/mcp-tool-name.js'
import { RPC_CODES } from '../../../rpc/message.js'
import { type Exchange, failure, type Passed, type RpcReply } from '../judge.js'
import { type CallForm, judgeCall } from './calls.js'
import { asJudged, type Judging, type Params } from './judging.js'
import type { Tasks } from './tasks.js'
import { failureIn, refusedResult, toolResultOf, withTexts } from './tool-result.js'

/** A server that names more of them is not called at all, because nobody could tell which are hidden. */
const MOST_HIDDEN = 10_000

export class ToolJudge {
  readonly #judging: Judging
  readonly #tasks: Tasks
  /** Tools that hooks took out of the list. */
  readonly #hidden = new Set<string>()

  constructor(judging: Judging, tasks: Tasks) {
    this.#judging = judging
    this.#tasks = tasks
  }

  async list(exchange: Exchange): Promise<RpcReply> {
    const reply = asJudged(await exchange.forward())
    if (!('result' in reply) || !isObject(reply.result) || !Array.isArray(reply.result.tools)) return reply
    const { tools } = reply.result as { readonly tools: readonly Json[] }
    const data = { mcp_server_name: this.#judging.name, tools }
    const { outcome, refusal } = await this.#judging.fire('ToolsListed', data, exchange.signal)
    const left = refusal === undefined ? (outcome.data.tools as readonly Json[]) : []
    this.#hide(tools, left)
    if (refusal === undefined && !outcome.modified) return reply
    return { result: { ...(reply.result as Data), tools: left } }
  }

  #hide(listed: readonly Json[], left: readonly Json[]): void {
    const shownNames = new Set(left.map(nameOf))
    for (const name of listed.map(nameOf)) {
      if (name === undefined) continue
      if (shownNames.has(name)) this.#hidden.delete(name)
      else if (this.#hidden.size <= MOST_HIDDEN) this.#hidden.add(name)
    }
  }

  call(params: Params, exchange: Exchange): Promise<RpcReply> | Passed {
    const { name, arguments: input = {} } = params
    if (typeof name !== 'string' || !isObject(input))
      return answered(
        failure('tools/call needs a name, and arguments that are an object', RPC_CODES.invalidParams),
      )
    const { name: server, source } = this.#judging
    const call = {
      name: mcpToolName(server, name),
      input: input as Data,
      id: String(exchange.id),
      fields: { mcp_server: { name: server, source }, host_tool_name: name },
    }
    const request = { call, params, exchange, tasks: this.#tasks, refusal: this.#refusalOf(name) }
    return judgeCall(this.#judging, request, TOOL_CALL)
  }

  #refusalOf(name: string): string | undefined {
    if (this.#hidden.has(name)) return `A hook took the tool ${shown(name)} out of the list`
    if (this.#hidden.size > MOST_HIDDEN)
      return `Hooks took more than ${MOST_HIDDEN} tools out of the list, so none is called`
    return undefined
  }
}

const TOOL_CALL: CallForm = {
  refused,
  responded: (answer, told) => ({ result: withTexts(toolResultOf(answer), told) }),
  changed: (input, params) => ({ ...params, arguments: input }) as Json,
  failure: failureIn,
  told: withTexts,
}

const answered = (reply: RpcReply): Promise<RpcReply> => Promise.resolve(reply)

function refused(reason: string, told: readonly string[] = []): RpcReply {
  return { result: refusedResult(reason, told) }
}

function nameOf(tool: Json): string | undefined {
  return isObject(tool) && typeof tool.name === 'string' ? tool.name : undefined
}
