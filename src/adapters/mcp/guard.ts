// The guard: what hooks decide about the messages between an MCP client and a server, one judge a method.

import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { inexactNumber } from '../../core/base/exact-numbers.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import type { Session } from '../../core/session/session.js'
import type { BegunTool, ToolCall } from '../../core/session/tool-call.js'
import type { Approver } from '../../core/verdict/approval.js'
import { RPC_CODES } from '../../rpc/message.js'
import { mistakenInResult } from './protocol-keys.js'
import { type Exchange, failure, type Judges, type Passed, type Reply } from './relay.js'
import { messageResultOf, modelRequestOf, samplingParams } from './sampling.js'
import { mcpToolName, normalized } from './server-name.js'
import { failureIn, refusedResult, toolResultOf, withTexts } from './tool-result.js'

export interface GuardOptions {
  readonly session: Session
  readonly approver: Approver
  /** Why nothing can be judged now. */
  readonly problem: () => string | undefined
  /** Called if there is a problem, since it may have been repaired. */
  readonly reload: () => Promise<void>
  /** The name of the server in `mcp__SERVER__TOOL`. Absent: the one that the server gives itself. */
  readonly name: string | undefined
  /** Where the server comes from, for hooks. */
  readonly source: 'stdio' | 'http'
  /** Called with the client's capabilities, and what the server answered. */
  readonly onInitialized: (capabilities: Json | undefined, answer: Json) => void
}

type Params = Readonly<Record<string, Json | undefined>>

/** A longer call is judged the long way, because its record would keep it in memory for a while. */
const MOST_UNHEARD = 65_536
/** A server that names a million tools has no more of them hidden. */
const MOST_HIDDEN = 10_000
const NAMELESS = 'server'

export class Guard {
  readonly judges: { readonly client: Judges; readonly server: Judges } = {
    client: {
      initialize: (params, exchange) => this.#initialize(asParams(params), exchange),
      'tools/list': (_, exchange) => this.#listTools(exchange),
      'tools/call': (params, exchange) => this.#callTool(asParams(params), exchange),
      'resources/read': (params, exchange) => this.#readResource(asParams(params), exchange),
      'prompts/get': (params, exchange) => this.#getPrompt(asParams(params), exchange),
    },
    server: {
      'sampling/createMessage': (params, exchange) => this.#sample(asParams(params), exchange),
      'elicitation/create': (params, exchange) => this.#elicit(asParams(params), exchange),
    },
  }
  readonly #options: GuardOptions
  #name: string
  /** Tools that hooks took out of the list. */
  readonly #hidden = new Set<string>()
  /** The limit of injections is one for a turn, and only we know when one begins. */
  #hasInjected = false

  constructor(options: GuardOptions) {
    this.#options = options
    this.#name = options.name ?? NAMELESS
  }

  async #initialize({ capabilities }: Params, exchange: Exchange): Promise<Reply> {
    const reply = await exchange.forward()
    if (!('result' in reply)) return reply
    const { serverInfo } = asParams(reply.result)
    const { name } = asParams(serverInfo)
    if (this.#options.name === undefined && typeof name === 'string')
      this.#name = normalized(name) || NAMELESS
    this.#options.onInitialized(capabilities, reply.result)
    return reply
  }

  // ---- tools ----------------------------------------------------------------------------------------------------

  async #listTools(exchange: Exchange): Promise<Reply> {
    const reply = asJudged(await exchange.forward())
    if (!('result' in reply) || !isObject(reply.result) || !Array.isArray(reply.result.tools)) return reply
    const { tools } = reply.result as { readonly tools: readonly Json[] }
    const data = { mcp_server_name: this.#name, tools }
    const { outcome, refusal } = await this.#judged('ToolsListed', data, exchange.signal)
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
      else if (this.#hidden.size < MOST_HIDDEN) this.#hidden.add(name)
    }
  }

  #callTool(params: Params, exchange: Exchange): Promise<Reply> | Passed {
    const { name, arguments: input = {} } = params
    if (typeof name !== 'string' || !isObject(input))
      return answered(
        failure('tools/call needs a name, and arguments that are an object', RPC_CODES.invalidParams),
      )
    const twin = twinOf(Object.keys(input))
    if (twin !== undefined)
      return answered(failure(`Two arguments differ only in case: ${shown(twin)}`, RPC_CODES.invalidParams))
    if (this.#hidden.has(name))
      return answered(refused(`A hook took the tool ${shown(name)} out of the list`))
    const call = {
      name: mcpToolName(this.#name, name),
      input: input as Data,
      fields: { mcp_server: { name: this.#name, source: this.#options.source }, host_tool_name: name },
    }
    return this.#call(call, exchange, {
      refused,
      responded: (answer, told) => ({ result: withTexts(toolResultOf(answer), told) }),
      changed: (changed) => ({ ...params, arguments: changed }) as Json,
      failure: failureIn,
      told: withTexts,
    })
  }

  /** Claude Code has a tool for it, so hooks judge that one. */
  #readResource(params: Params, exchange: Exchange): Promise<Reply> | Passed {
    const { uri } = params
    if (typeof uri !== 'string')
      return answered(failure('resources/read needs a uri', RPC_CODES.invalidParams))
    const call = {
      name: 'ReadMcpResourceTool',
      input: { server: this.#name, uri },
      fields: { mcp_server: { name: this.#name, source: this.#options.source } },
    }
    return this.#call(call, exchange, {
      refused: (reason, told = []) => failure([reason, ...told].join('\n')),
      responded: (answer, told) => ({ result: withContents(resourceResultOf(uri, answer), uri, told) }),
      changed: ({ server, uri: changed }) => {
        if (server === this.#name && typeof changed === 'string') return { ...params, uri: changed } as Json
        throw new Error('a hook chose another server, which this proxy cannot ask')
      },
      failure: () => undefined,
      told: (result, told) => withContents(result, uri, told),
    })
  }

  #call(call: ToolCall, exchange: Exchange, form: CallForm): Promise<Reply> | Passed {
    const identified = { ...call, id: String(exchange.id) }
    return this.#callUnheard(identified, exchange, form) ?? this.#callHeard(identified, exchange, form)
  }

  /** Most calls concern no hook, and then the proxy should cost next to nothing. Undefined if a hook may hear it. */
  #callUnheard(call: ToolCall, exchange: Exchange, form: CallForm): Passed | undefined {
    if (this.#hasInjected || exchange.line.length > MOST_UNHEARD || this.#options.problem() !== undefined)
      return undefined
    if (inexactNumber(exchange.line) !== undefined) return undefined
    const { session, approver } = this.#options
    const options = {
      approver,
      get signal() {
        return exchange.signal
      },
    }
    const begun = session.beginUnheardTool(call, options)
    if (!begun) return undefined
    return {
      replied: (reply) => {
        const why = 'error' in reply ? reply.error.message : form.failure(reply.result)
        const how = why === undefined ? { result: undefined } : { error: why }
        return begun.endUnheard(how) ? reply : this.#ended(begun, reply, form, [])
      },
    }
  }

  async #callHeard(call: ToolCall, exchange: Exchange, form: CallForm): Promise<Reply> {
    try {
      await this.#ready(exchange.line)
      const { session, approver } = this.#options
      const { signal } = exchange
      const begun = await session.beginTool(call, { signal, approver })
      const told = this.#textsOf(begun.outcome)
      if (begun.status === 'responded') return form.responded(begun.result, told)
      if (begun.status !== 'run') return form.refused(begun.reason, told)
      const changed = begun.outcome.modified ? form.changed(begun.input) : undefined
      return this.#ended(begun, await exchange.forward(changed), form, told)
    } catch (error) {
      return form.refused(reasonOf(error))
    }
  }

  /** What hooks make of the reply to a call. `told` is what they had to say before. */
  async #ended(
    begun: Extract<BegunTool<object>, { status: 'run' }>,
    given: Reply,
    form: CallForm,
    told: readonly string[],
  ): Promise<Reply> {
    try {
      const reply = asJudged(given)
      if (!('result' in reply)) {
        const { after } = await begun.fail(reply.error.message)
        return withMessages(reply, [...told, ...this.#textsOf(after)])
      }
      const why = form.failure(reply.result)
      const ended = why === undefined ? await begun.finish(reply.result) : await begun.fail(why)
      const all = [...told, ...this.#textsOf(ended.after)]
      // A server could hide a result from hooks by padding it.
      const { hooks, diagnostics } = ended.after
      if (hooks.length > 0 && diagnostics.some(({ code }) => code === 'result-not-json'))
        return form.refused('The result is not passed on, because hooks could not see the whole of it', all)
      const replaced = 'result' in ended && ended.after.modified
      if (!replaced) return all.length === 0 ? reply : { result: form.told(reply.result, all) }
      return form.responded(ended.result as Json, all)
    } catch (error) {
      return form.refused(reasonOf(error))
    }
  }

  // ---- prompts --------------------------------------------------------------------------------------------------

  /** A command in Claude Code's terms: hooks see it before the server does. */
  async #getPrompt(params: Params, exchange: Exchange): Promise<Reply> {
    const { name, arguments: args = {} } = params
    if (typeof name !== 'string' || !isObject(args))
      return failure('prompts/get needs a name, and arguments that are an object', RPC_CODES.invalidParams)
    const command = mcpToolName(this.#name, name)
    const written = Object.keys(args).length === 0 ? '' : JSON.stringify(args)
    const data = {
      command_name: command,
      command_args: written,
      command_source: this.#name,
      expansion_type: 'mcp_prompt',
      prompt: `/${command} ${written}`.trimEnd(),
    }
    const { outcome, refusal } = await this.#judged(
      'UserPromptExpansion',
      data,
      exchange.signal,
      exchange.line,
    )
    const told = this.#textsOf(outcome)
    if (refusal !== undefined) return failure([refusal, ...told].join('\n'))
    if (outcome.modified)
      return failure('A hook changed this prompt, which cannot be passed on to the server')
    const reply = await exchange.forward()
    if (told.length === 0 || !('result' in reply) || !isObject(reply.result)) return reply
    const messages = Array.isArray(reply.result.messages) ? (reply.result.messages as Json[]) : []
    const more = told.map((text) => ({ role: 'user', content: { type: 'text', text } }))
    return { result: { ...(reply.result as Data), messages: [...messages, ...more] } }
  }

  // ---- requests of the server -----------------------------------------------------------------------------------

  async #sample(params: Params, exchange: Exchange): Promise<Reply> {
    try {
      await this.#ready(exchange.line)
      const { session, approver } = this.#options
      const how = { signal: exchange.signal, approver }
      const request = modelRequestOf(this.#name, params)
      const begun = await session.beginModel(request, how)
      if (begun.status === 'responded') return { result: messageResultOf(begun.response) }
      if (begun.status !== 'run') return failure(begun.reason, REJECTED)
      const hasMore = begun.request.messages.length !== request.messages.length
      const isChanged = begun.outcome.modified || hasMore
      const reply = asJudged(await exchange.forward(samplingParams(params, begun.request, isChanged)))
      if (!('result' in reply)) {
        await begun.fail(reply.error.message)
        return reply
      }
      const ended = await begun.finish(reply.result)
      if (ended.status === 'ok') return ended.after.modified ? { result: ended.response as Json } : reply
      if (ended.status === 'responded') return { result: messageResultOf(ended.response) }
      return failure(ended.reason, REJECTED)
    } catch (error) {
      return failure(reasonOf(error), REJECTED)
    }
  }

  async #elicit(params: Params, exchange: Exchange): Promise<Reply> {
    const { message, mode, url, elicitationId, requestedSchema } = params
    const asked = {
      mcp_server_name: this.#name,
      message: typeof message === 'string' ? message : '',
      ...texts({ mode, url, elicitation_id: elicitationId }),
      ...(isObject(requestedSchema) && { requested_schema: requestedSchema }),
    }
    const { outcome, refusal } = await this.#judged('Elicitation', asked, exchange.signal, exchange.line)
    const { action, content } = outcome.host ?? {}
    if (refusal !== undefined) return { result: { action: action === 'cancel' ? 'cancel' : 'decline' } }
    if (action === 'accept') return { result: { action, ...(content !== undefined && { content }) } }
    const { message: text, requested_schema: schema, elicitation_id: asId, ...more } = outcome.data as Params
    const changed = outcome.modified
      ? ({
          ...params,
          message: text,
          ...texts({ mode: more.mode, url: more.url, elicitationId: asId }),
          ...(schema !== undefined && { requestedSchema: schema }),
        } as Json)
      : undefined
    const reply = asJudged(await exchange.forward(changed))
    if (!('result' in reply) || !isObject(reply.result)) return reply
    return this.#elicited(reply, asked, exchange.signal)
  }

  async #elicited(
    reply: Reply & { readonly result: Json },
    asked: Data,
    signal: AbortSignal,
  ): Promise<Reply> {
    const result = asParams(reply.result)
    const { mode, elicitation_id } = asked
    const data = {
      mcp_server_name: this.#name,
      action: typeof result.action === 'string' ? result.action : 'cancel',
      ...(result.content !== undefined && { content: result.content }),
      ...texts({ mode, elicitation_id }),
    }
    const { outcome, refusal } = await this.#judged('ElicitationResult', data, signal, reply.line)
    if (refusal !== undefined) return { result: { action: 'decline' } }
    if (!outcome.modified) return reply
    const { action, content } = outcome.data as Params
    return { result: { action, ...(content !== undefined && { content }) } as Json }
  }

  // ---- events ---------------------------------------------------------------------------------------------------

  /** Fires an event that has no second half. Only `continue` lets it pass; a failure does not. */
  async #judged(
    event: 'ToolsListed' | 'UserPromptExpansion' | 'Elicitation' | 'ElicitationResult',
    data: object,
    signal: AbortSignal,
    line?: string,
  ): Promise<{
    readonly outcome: Pick<Outcome, 'data' | 'modified' | 'injections' | 'host'>
    readonly refusal?: string
  }> {
    try {
      await this.#ready(line)
      const { session, approver } = this.#options
      // A list and a form have no place for context. The next result of a tool has.
      const contextLater = event !== 'UserPromptExpansion'
      const outcome = await session.fire(event, data, { signal, approver, contextLater })
      if (outcome.action === 'continue') return { outcome }
      return { outcome, refusal: outcome.reason ?? 'Denied by a hook' }
    } catch (error) {
      return { outcome: { data: {}, modified: false, injections: [] }, refusal: reasonOf(error) }
    }
  }

  /** Throws if hooks cannot judge what is in the line. */
  async #ready(line = ''): Promise<void> {
    if (this.#options.problem() !== undefined) await this.#options.reload()
    const problem = this.#options.problem()
    if (problem !== undefined) throw new Error(problem)
    checkExact(line)
    if (!this.#hasInjected) return
    this.#hasInjected = false
    await this.#options.session.startTurn()
  }

  #textsOf({ injections }: Pick<Outcome, 'injections'>): readonly string[] {
    if (injections.length > 0) this.#hasInjected = true
    return injections.map(({ text }) => text)
  }
}

const answered = (reply: Reply): Promise<Reply> => Promise.resolve(reply)

function refused(reason: string, told: readonly string[] = []): Reply {
  return { result: refusedResult(reason, told) }
}

/** How a judged call looks in the protocol. */
interface CallForm {
  readonly refused: (reason: string, told?: readonly string[]) => Reply
  readonly responded: (answer: Json, told: readonly string[]) => Reply
  /** The params with the input as hooks left it. */
  readonly changed: (input: Data) => Json
  /** Why the tool failed, if the result says so. */
  readonly failure: (result: Json) => string | undefined
  readonly told: (result: Json, told: readonly string[]) => Json
}

/** The protocol's code for a request that a person rejected. */
const REJECTED = -1

function asParams(value: Json | undefined): Params {
  return isObject(value) ? (value as Params) : {}
}

/** A key that many servers, such as those in Go, cannot tell from another one. */
function twinOf(keys: readonly string[]): string | undefined {
  const known = new Set<string>()
  return keys.find((key) => {
    const folded = key.normalize('NFKC').toLowerCase()
    return known.size === known.add(folded).size
  })
}

function nameOf(tool: Json): string | undefined {
  return isObject(tool) && typeof tool.name === 'string' ? tool.name : undefined
}

function texts(fields: Params): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => typeof value === 'string'),
  ) as Record<string, string>
}

/** The client must not read another result than hooks have judged. */
function asJudged(reply: Reply): Reply {
  const why = 'result' in reply ? mistakenInResult(reply.result) : undefined
  return why === undefined ? reply : failure(`The result is not passed on, because ${why}`)
}

/** Hooks would judge another number than the other side gets. */
function checkExact(line: string): void {
  const path = inexactNumber(line)
  if (path === undefined) return
  const text = `${path.replace(/^params\.(?:arguments\.)?/, '')} is a number that cannot be kept exactly`
  throw new HookError('PAYLOAD_INVALID', text, { hint: 'Send it as a string, or with fewer digits.' })
}

function withMessages(reply: Reply, told: readonly string[]): Reply {
  if (told.length === 0 || !('error' in reply)) return reply
  return { error: { ...reply.error, message: [reply.error.message, ...told].join('\n') } }
}

function resourceResultOf(uri: string, answer: Json): Json {
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

/** For the model, which has to know that nothing was done, or that the result is missing. */
function reasonOf(error: unknown): string {
  if (isHookError(error) && /_ABORTED$/.test(error.code)) return error.message
  const hint = isHookError(error) && error.hint !== undefined ? ` ${error.hint}` : ''
  return `Carabiner refused this, because hooks could not judge it: ${textOf(error)}.${hint}`
}
