// serve(): the engine for a host in any language. One host at the other end of two streams: its hello, its sessions, its
// requests, and its end.

import type { Readable, Writable } from 'node:stream'
import { type Diagnostic, HookError, textOf } from '../../core/base/errors.js'
import { inexactNumber } from '../../core/base/exact-numbers.js'
import { type Json, shapeOf } from '../../core/base/json.js'
import { inTime, type MaybePromise, onAbort } from '../../core/base/promise.js'
import { withoutSecrets } from '../../core/base/secrets.js'
import type { ContextMessage, Embedder } from '../../core/session/embedder.js'
import type { Session, SessionOptions } from '../../core/session/session.js'
import type { Approver, Reply } from '../../core/verdict/approval.js'
import type { Hooks } from '../../hooks.js'
import { Connection } from '../../rpc/connection.js'
import type { RpcId } from '../../rpc/message.js'
import type { RpcProblem } from '../../rpc/problem.js'
import { BegunCalls } from './begun-calls.js'
import { checkExact, methodOf, paramsOf, replyOf } from './params.js'
import { type Method, type ParamsOf, VERSIONS } from './protocol.js'

export interface ServeOptions {
  readonly input: Readable
  readonly output: Writable
  /** The version of Carabiner. */
  readonly version: string
  /** Opens the hooks that a host asks for. */
  readonly open: (hello: ParamsOf<'hello'>, embedder: Embedder) => Promise<Opened>
  /** Gets problems with messages, a sentence each. Must not throw. */
  readonly log: (text: string) => void
  /** Ends the service as if the host were gone. */
  readonly signal?: AbortSignal
}

export interface Opened {
  readonly hooks: Hooks
  readonly projectDir: string
  /** What a host should know besides the diagnostics of the hooks. */
  readonly notices: readonly Diagnostic[]
}

/** A conversation with long files in it fits. */
export const MAX_LINE_BYTES = 64 * 1_048_576
/** How long a host that has closed its output may wait for its last answers. */
const LAST_ANSWERS_MS = 2000
/** How long hooks may run once the host is gone. */
const LAST_HOOKS_MS = 10_000
const MOST_SESSIONS = 10_000

/** Serves until the host is gone and every hook process has ended. Returns what the host did wrong, if that ended it. */
export function serve(options: ServeOptions): Promise<string | undefined> {
  return new Service(options).ended
}

interface Request {
  readonly controller: AbortController
}

type Handlers = {
  readonly [M in Method]: (params: ParamsOf<M>, request: Request) => MaybePromise<object | Json>
}

interface OpenSession {
  readonly session: Session
  readonly parent: string | undefined
}

class Service {
  readonly ended: Promise<string | undefined>
  readonly #options: ServeOptions
  readonly #connection: Connection
  readonly #sessions = new Map<string, OpenSession>()
  readonly #calls = new BegunCalls()
  /** Requests in progress, by id. */
  readonly #running = new Map<string, AbortController>()
  #opening: Promise<Opened> | undefined
  #opened: Opened | undefined
  #approves = false
  #lastSession = 0
  #fault: string | undefined

  constructor(options: ServeOptions) {
    this.#options = options
    let close = () => {}
    const closed = new Promise<void>((resolve) => {
      close = resolve
    })
    this.#connection = new Connection({
      input: options.input,
      output: options.output,
      maxLineBytes: MAX_LINE_BYTES,
      answersMalformed: true,
      onRequest: (method, params, sent) => this.#answer(method, params, sent),
      onNotification: (method, params) => this.#take(method, params),
      readResult: exactReply,
      onProblem: (problem) => this.#note(problem),
      onClose: () => close(),
    })
    const { signal } = options
    const stopListening = signal && onAbort(signal, () => this.#connection.close())
    this.ended = closed.then(() => this.#end()).finally(() => stopListening?.())
  }

  // ---- requests -----------------------------------------------------------------------------------------------

  async #answer(
    name: string,
    given: Json | undefined,
    { id, line }: { readonly id: RpcId; readonly line: string },
  ): Promise<unknown> {
    try {
      const method = methodOf(name)
      return await this.#inProgress(id, given, (request) => this.#handle(method, given, line, request))
    } catch (error) {
      throw replyOf(error)
    }
  }

  async #inProgress<T>(
    id: RpcId,
    params: Json | undefined,
    handle: (request: Request) => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify(id)
    if (this.#running.has(key)) {
      const text = `A request with the id ${key} is still in progress; give every request an id of its own`
      throw new HookError('OPTIONS_INVALID', text)
    }
    // Hooks of a call run with the signal that the call began with.
    const { call } = (params ?? {}) as { readonly call?: unknown }
    const known = typeof call === 'string' ? this.#calls.controllerOf(call) : undefined
    const controller = known ?? new AbortController()
    this.#running.set(key, controller)
    try {
      return await handle({ controller })
    } finally {
      this.#running.delete(key)
    }
  }

  async #handle(method: Method, given: Json | undefined, line: string, request: Request): Promise<unknown> {
    if (method !== 'hello' && method !== 'cancel') await this.#greeted(method)
    const params = paramsOf(method, given)
    checkExact(method, params, line)
    if (request.controller.signal.aborted) throw new HookError('ABORTED', `${method} was cancelled`)
    const handler = this.#handlers[method] as (params: unknown, request: Request) => MaybePromise<unknown>
    return handler(params, request)
  }

  /** A host may send requests right behind hello. */
  async #greeted(method: Method): Promise<void> {
    if (this.#opened) return
    if (!this.#opening) throw new HookError('HELLO_MISPLACED', `${method} came before hello`)
    try {
      await this.#opening
    } catch (error) {
      throw new HookError('HELLO_MISPLACED', `${method} is refused, because hello was: ${textOf(error)}`)
    }
  }

  readonly #handlers: Handlers = {
    hello: (params) => this.#hello(params),
    cancel: ({ id }) => ({ cancelled: this.#cancel(id) }),
    'session.open': (params) => this.#openSession(params),
    'session.fire': async ({ session, event, data = {}, timeout, custom }, { controller }) => {
      const approver = this.#approver({ session })
      const options = { signal: controller.signal, timeout, custom, ...(approver && { approver }) }
      return { outcome: await this.#session(session).fire(event, data, options) }
    },
    'session.startTurn': async ({ session: name, prompt }) => {
      const session = this.#session(name)
      await session.startTurn({ prompt })
      return { turnId: session.turnId ?? '' }
    },
    'session.endTurn': async ({ session, status }) => {
      await this.#session(session).endTurn({ status })
      return {}
    },
    'session.close': ({ session }) => this.#closeSession(session),
    'tool.begin': (params, { controller }) =>
      this.#calls.beginTool(this.#session(params.session), params, this.#how(params.session, controller)),
    'tool.answer': (params) => this.#calls.answer('tool', params),
    'tool.finish': ({ call, result }) => this.#calls.finish('tool', call, result),
    'tool.fail': ({ call, error }) => this.#calls.fail('tool', call, error),
    'model.begin': (params, { controller }) =>
      this.#calls.beginModel(this.#session(params.session), params, this.#how(params.session, controller)),
    'model.answer': (params) => this.#calls.answer('model', params),
    'model.finish': ({ call, response }) => this.#calls.finish('model', call, response),
    'model.fail': ({ call, error }) => this.#calls.fail('model', call, error),
    'hooks.list': () => ({ hooks: this.#hooks().hooks.list(), ...this.#found(this.#hooks()) }),
    'hooks.reload': async () => {
      const opened = this.#hooks()
      await opened.hooks.reload()
      return { hooks: readyIn(opened), ...this.#found(opened) }
    },
    'hooks.explain': ({ event, data = {}, session }) => {
      const explained = session === undefined ? this.#hooks().hooks : this.#session(session)
      return { plan: explained.explain(event, data) }
    },
  }

  #take(method: string, params: Json | undefined): void {
    if (methodOf(method) !== 'cancel')
      throw new Error('it has no id, so it cannot be answered; send it as a request')
    this.#cancel(paramsOf('cancel', params).id)
  }

  #cancel(id: RpcId): boolean {
    const controller = this.#running.get(JSON.stringify(id))
    controller?.abort(new HookError('ABORTED', 'The host cancelled the request'))
    return controller !== undefined
  }

  // ---- hello --------------------------------------------------------------------------------------------------

  async #hello(hello: ParamsOf<'hello'>): Promise<object> {
    const { version, approves = false } = hello
    if (this.#opening) throw new HookError('HELLO_MISPLACED', 'hello was already said')
    if (!VERSIONS.includes(version)) {
      const text = `This carabiner speaks version ${VERSIONS.join(', ')} of the protocol, not ${version}`
      throw replyOf(new HookError('VERSION_UNSUPPORTED', text), { versions: VERSIONS })
    }
    this.#opening = this.#options.open(hello, this.#embedder())
    try {
      this.#opened = await this.#opening
    } catch (error) {
      this.#opening = undefined
      throw error
    }
    this.#approves = approves
    return {
      version,
      carabiner: this.#options.version,
      projectDir: this.#opened.projectDir,
      hooks: readyIn(this.#opened),
      ...this.#found(this.#opened),
    }
  }

  #hooks(): Opened {
    return this.#opened as Opened
  }

  #found({ hooks, notices }: Opened): object {
    return { untrusted: hooks.untrusted(), diagnostics: [...notices, ...hooks.diagnostics] }
  }

  // ---- to the host --------------------------------------------------------------------------------------------

  #embedder(): Embedder {
    return {
      display: ({ text, level, source }) => this.#tell('message', { text, level, source }),
      wake: (message) => this.#wake(message),
    }
  }

  #wake(message: ContextMessage): void {
    const [session] = [...this.#sessions].find(([, one]) => one.session.id === message.metadata.session) ?? []
    this.#tell('wake', { ...(session !== undefined && { session }), message } as unknown as Json)
  }

  /** Throws if it cannot be sent, so that it is reported and, where possible, told later. */
  #tell(method: string, params: Json): void {
    if (!this.#connection.notify(method, params)) throw new Error('the host does not read, or is gone')
  }

  #how(session: string, controller: AbortController) {
    const asks = (call: string) => this.#approver({ session, call }) as Approver
    return { controller, approver: this.#approves ? asks : undefined }
  }

  /** Undefined if the host does not ask anybody: then the question is left open. */
  #approver(about: { readonly session: string; readonly call?: string }): Approver | undefined {
    if (!this.#approves) return undefined
    return async (question, signal) => {
      let id = 0
      const onStart = (_: () => void, started: number) => {
        id = started
      }
      try {
        const params = { question, ...about } as unknown as Json
        return (await this.#connection.call('approve', params, { signal, onStart })) as Reply
      } catch (error) {
        if (signal.aborted) this.#connection.notify('cancel', { id })
        throw error
      }
    }
  }

  // ---- sessions -----------------------------------------------------------------------------------------------

  #openSession({ parent, ...options }: ParamsOf<'session.open'>): object {
    if (this.#sessions.size >= MOST_SESSIONS)
      throw new HookError('OPTIONS_INVALID', `${MOST_SESSIONS} sessions are open; close some first`)
    const session = parent === undefined ? this.#newSession(options) : this.#child(parent, options)
    this.#lastSession++
    const name = `s${this.#lastSession}`
    this.#sessions.set(name, { session, parent })
    return { session: name, id: session.id }
  }

  #newSession(options: Omit<ParamsOf<'session.open'>, 'parent'>): Session {
    const isOpen = [...this.#sessions.values()].some(({ session }) => session.id === options.id)
    if (isOpen) throw new HookError('OPTIONS_INVALID', `session.open: a session with this id is already open`)
    const { hooks, projectDir } = this.#hooks()
    return hooks.session({ cwd: projectDir, ...(options as SessionOptions) })
  }

  #child(parent: string, options: Omit<ParamsOf<'session.open'>, 'parent'>): Session {
    const { agentId, agentType, cwd, ...others } = options
    const [other] = Object.keys(others)
    if (other !== undefined)
      throw new HookError('OPTIONS_INVALID', `session.open: a subagent has the ${other} of its parent`)
    if (agentId === undefined)
      throw new HookError('OPTIONS_INVALID', 'session.open: the field agentId is missing')
    return this.#session(parent).child({
      agentId,
      ...(agentType !== undefined && { agentType }),
      ...(cwd !== undefined && { cwd }),
    })
  }

  #session(name: string): Session {
    const open = this.#sessions.get(name)
    if (open) return open.session
    const number = Number(/^s([1-9]\d{0,14})$/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY)
    const was = number <= this.#lastSession
    throw new HookError(
      'SESSION_CLOSED',
      was ? `The session ${name} is closed` : 'There is no such session',
      {
        hint: 'Open a session with session.open, and use the name that it returns.',
      },
    )
  }

  async #closeSession(name: string): Promise<object> {
    const session = this.#session(name)
    this.#forget(name)
    await session.close()
    return {}
  }

  /** With its subagents. */
  #forget(name: string): void {
    const open = this.#sessions.get(name)
    if (!open) return
    this.#sessions.delete(name)
    this.#calls.forget(open.session)
    for (const [child, { parent }] of this.#sessions) if (parent === name) this.#forget(child)
  }

  // ---- the end ------------------------------------------------------------------------------------------------

  #note({ kind, text }: RpcProblem): void {
    this.#options.log(withoutSecrets(text))
    if (kind !== 'unread') return
    // The host would wait for ever for an answer that was dropped.
    this.#fault = 'The host does not read the answers to its requests'
    this.#connection.close(new Error(this.#fault))
  }

  async #end(): Promise<string | undefined> {
    await inTime(this.#connection.finished(), LAST_ANSWERS_MS).catch(() => undefined)
    const gone = new HookError('ABORTED', 'The host is gone')
    for (const controller of this.#running.values()) controller.abort(gone)
    const opened = await this.#opening?.catch(() => undefined)
    if (opened) await this.#closeAll(opened.hooks)
    this.#connection.close()
    return this.#fault
  }

  async #closeAll(hooks: Hooks): Promise<void> {
    const timer = setTimeout(() => void hooks.close({ abort: true }).catch(() => undefined), LAST_HOOKS_MS)
    try {
      const sessions = [...this.#sessions.values()].map(({ session }) => session.close())
      await Promise.allSettled(sessions)
      await hooks.close()
    } catch (error) {
      this.#options.log(`The hooks could not be closed: ${textOf(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }
}

function readyIn({ hooks }: Opened): number {
  return hooks.list().filter(({ state }) => state === 'ready').length
}

/** An edit that was not read as it was written must not count, and neither must the call without it. */
function exactReply(result: Json, line: string): Json {
  const isExact = shapeOf(line).repeated === undefined && inexactNumber(line) === undefined
  return isExact
    ? result
    : { option: 'Deny', reason: 'The answer has a key twice, or a number with too many digits' }
}
