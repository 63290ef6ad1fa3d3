// A call of the client that hooks judge as a tool call: PreToolUse, the server, PostToolUse or PostToolUseFailure.

import type { Data, Json } from '../../../core/base/json.js'
import type { MaybePromise } from '../../../core/base/promise.js'
import type { BegunTool, ToolCall, UnheardTool } from '../../../core/session/tool-call.js'
import type { Exchange, Passed, RpcReply } from '../judge.js'
import { asJudged, type Judging, type Params, reasonOf } from './judging.js'
import type { Tasks } from './tasks.js'
import { checkKeys } from './twin-keys.js'

/** How a judged call looks in the protocol. */
export interface CallForm {
  readonly refused: (reason: string, told?: readonly string[]) => RpcReply
  readonly responded: (answer: Json, told: readonly string[], params: Params) => RpcReply
  /** The params with the input as hooks left it. */
  readonly changed: (input: Data, params: Params) => Json
  /** Why the tool failed, if the result says so. */
  readonly failure: (result: Json) => string | undefined
  readonly told: (result: Json, told: readonly string[], params: Params) => Json
}

/** The request of such a call. */
export interface CallRequest {
  readonly call: ToolCall
  readonly params: Params
  readonly exchange: Exchange
  /** For calls that may be made as tasks. */
  readonly tasks?: Tasks
  /** Why it does not reach the server, whatever hooks say. */
  readonly refusal?: string | undefined
}

export function judgeCall(
  judging: Judging,
  request: CallRequest,
  form: CallForm,
): Promise<RpcReply> | Passed {
  const judged = new JudgedCall(judging, request, form)
  return (request.refusal === undefined && judged.unheard()) || judged.heard()
}

class JudgedCall {
  readonly #judging: Judging
  readonly #request: CallRequest
  readonly #form: CallForm

  constructor(judging: Judging, request: CallRequest, form: CallForm) {
    this.#judging = judging
    this.#request = request
    this.#form = form
  }

  /** Most calls concern no hook, and then the proxy should cost next to nothing. Undefined if a hook may hear it. */
  unheard(): Passed | undefined {
    const { call, exchange } = this.#request
    if (!this.#judging.isReady(exchange.line)) return undefined
    const { session, approver } = this.#judging
    const options = {
      approver,
      get signal() {
        return exchange.signal
      },
    }
    const begun = session.beginUnheardTool(call, options)
    if (!begun) return undefined
    return { replied: (reply) => this.#asTask(begun, reply, []) ?? this.#unheardEnded(begun, reply) }
  }

  #unheardEnded(begun: UnheardTool, reply: RpcReply): MaybePromise<RpcReply> {
    const why = 'error' in reply ? reply.error.message : this.#form.failure(reply.result)
    const how = why === undefined ? { result: undefined } : { error: why }
    return begun.endUnheard(how) ? reply : this.#ended(begun, reply, [])
  }

  async heard(): Promise<RpcReply> {
    const { call, params, exchange } = this.#request
    const { line, signal } = exchange
    const form = this.#form
    try {
      await this.#judging.ready(line)
      checkKeys(call.input)
      const { session, approver } = this.#judging
      const begun = await session.beginTool(call, { signal, approver })
      const told = this.#judging.textsOf(begun.outcome)
      if (begun.status === 'responded') return form.responded(begun.result, told, params)
      if (begun.status !== 'run') return form.refused(begun.reason, told)
      const toSend = this.#toSend(begun)
      if ('refusal' in toSend) {
        const { after } = await begun.fail(toSend.refusal)
        return form.refused(toSend.refusal, [...told, ...this.#judging.textsOf(after)])
      }
      const reply = await exchange.forward(toSend.changed)
      return this.#asTask(begun, reply, told) ?? this.#ended(begun, reply, told)
    } catch (error) {
      return form.refused(reasonOf(error))
    }
  }

  #toSend({ outcome, input }: RunningTool): { readonly changed?: Json } | { readonly refusal: string } {
    const { params, refusal } = this.#request
    if (refusal !== undefined) return { refusal }
    try {
      return outcome.modified ? { changed: this.#form.changed(input, params) } : {}
    } catch (error) {
      return { refusal: reasonOf(error) }
    }
  }

  /** `told` comes with the result. */
  #asTask(begun: RunningTool, reply: RpcReply, told: readonly string[]): RpcReply | undefined {
    const { tasks, params } = this.#request
    if (!tasks || params.task === undefined) return undefined
    const judge = (result: RpcReply) => this.#ended(begun, result, told)
    return tasks.keep(params, reply, { judge, drop: () => void begun[Symbol.asyncDispose]() })
  }

  /** What hooks make of the reply. `told` is what they had to say before. */
  async #ended(begun: RunningTool, given: RpcReply, told: readonly string[]): Promise<RpcReply> {
    const form = this.#form
    const { params } = this.#request
    try {
      const reply = asJudged(given)
      if (!('result' in reply)) {
        const { after } = await begun.fail(reply.error.message)
        return withMessages(reply, [...told, ...this.#judging.textsOf(after)])
      }
      const why = form.failure(reply.result)
      const ended = why === undefined ? await begun.finish(reply.result) : await begun.fail(why)
      const all = [...told, ...this.#judging.textsOf(ended.after)]
      // A server could hide a result from hooks by padding it.
      const { hooks, diagnostics } = ended.after
      if (hooks.length > 0 && diagnostics.some(({ code }) => code === 'result-not-json'))
        return form.refused('The result is not passed on, because hooks could not see the whole of it', all)
      const replaced = 'result' in ended && ended.after.modified
      if (!replaced) return all.length === 0 ? reply : { result: form.told(reply.result, all, params) }
      return form.responded(ended.result as Json, all, params)
    } catch (error) {
      return form.refused(reasonOf(error))
    }
  }
}

type RunningTool = Extract<BegunTool<object>, { status: 'run' }>

function withMessages(reply: RpcReply, told: readonly string[]): RpcReply {
  if (told.length === 0 || !('error' in reply)) return reply
  return { error: { ...reply.error, message: [reply.error.message, ...told].join('\n') } }
}
