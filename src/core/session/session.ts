// One conversation of one agent: fires events, guards tool and model calls, and keeps state between them.

import { randomUUID } from 'node:crypto'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import type { Json } from '../base/json.js'
import { type Checks, checkOptions, isList, isOneOf, isText } from '../base/options.js'
import { isPromise, type MaybePromise } from '../base/promise.js'
import {
  type EventArgument,
  type EventKind,
  intendedEvent,
  resolveEvent,
  resolveNotice,
} from '../events/events.js'
import type { HookDef, Register, SessionInfo } from '../hooks/hook.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { Injection, Outcome } from '../hooks/outcome.js'
import type { Plan } from '../run/plan.js'
import type { CallOptions, CallSession } from './begun-call.js'
import { Background, type Engine, explainEvent, type Interrupt, type Layers } from './engine.js'
import { type FireOptions, type FireResult, fireEvent, nextTurn } from './fire.js'
import {
  type AnyRequest,
  type BeginModelOptions,
  type BegunModel,
  beginModelCall,
  type CallModelOptions,
  guardModelCall,
  type ModelAnswer,
  type ModelCallResult,
  type ModelRequest,
  type ModelSession,
  type RunModel,
} from './model-call.js'
import { type StreamedModel, type StreamModelOptions, streamModelCall } from './model-stream.js'
import { tellObservers, undelivered } from './off-path.js'
import { HookRegistry } from './registry.js'
import { type SessionContext, type TurnStatus, Turns } from './session-context.js'
import { hasPending, type SessionState, type Skills } from './session-store.js'
import { SkillLayer, skillsOf } from './skills.js'
import {
  type BegunTool,
  beginToolCall,
  beginUnheardCall,
  guardToolCall,
  type RunTool,
  type ToolCall,
  type ToolCallResult,
  type UnheardTool,
} from './tool-call.js'
import { passUnheard } from './unheard.js'

export interface SessionOptions {
  /** Generated if absent. */
  readonly id?: string
  readonly cwd?: string
  /** The agent that asks, such as `codex`. Rules may count only in some agents. */
  readonly agent?: string
  readonly transcriptPath?: string
  readonly permissionMode?: string
  readonly agentId?: string
  readonly agentType?: string
  readonly parentTurnId?: string
  readonly channel?: string
  readonly chatId?: string
  /** Hooks for this session only. */
  readonly hooks?: readonly HookDef[]
}

/** Names of the options in every payload of the session. */
const PAYLOAD_NAMES = {
  cwd: 'cwd',
  transcriptPath: 'transcript_path',
  permissionMode: 'permission_mode',
  agentId: 'agent_id',
  agentType: 'agent_type',
  parentTurnId: 'parent_turn_id',
  channel: 'channel',
  chatId: 'chat_id',
} as const

const OPTIONS: Checks<SessionOptions> = {
  id: isText,
  cwd: isText,
  agent: isText,
  transcriptPath: isText,
  permissionMode: isText,
  agentId: isText,
  agentType: isText,
  parentTurnId: isText,
  channel: isText,
  chatId: isText,
  hooks: isList,
}

const START_OPTIONS: Checks<{ prompt?: string }> = {
  prompt: [(value) => typeof value === 'string', 'a string'],
}
const END_OPTIONS: Checks<{ status?: TurnStatus }> = { status: isOneOf('completed', 'error', 'aborted') }

export class Session implements AsyncDisposable {
  readonly id: string
  readonly #engine: Engine
  readonly #options: SessionOptions
  readonly #context: SessionContext
  #layers: Layers
  #own: HookRegistry | undefined
  /** Made when a skill with hooks is first loaded here. */
  #skills: SkillLayer | undefined
  /** The versions of the hooks of files and skills whose problems were already reported here. */
  #toldFiles = 0
  #toldSkills = 0
  #closed = false
  readonly #parent: Session | undefined
  readonly #children = new Set<Session>()
  /** Calls that were begun here and have not ended. Made for the first one, because sessions may be many. */
  #begun: Set<Interrupt> | undefined
  /** What they need of the session. */
  #trackedCalls: CallSession | undefined
  #closing: Promise<void> | undefined
  /** Durable injections of `fire` that wait for a model call. */
  #fired: readonly Injection[] = []

  /** @internal `hooks.session()` makes one. */
  constructor(engine: Engine, options: SessionOptions, layers: Layers = engine.layers, parent?: Session) {
    checkOptions('session', options, OPTIONS)
    this.id = options.id ?? randomUUID()
    this.#engine = engine
    this.#options = options
    this.#layers = layers
    this.#parent = parent
    const parentTurnId = options.parentTurnId ?? parent?.turnId
    const info: SessionInfo = Object.freeze({
      id: this.id,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.agent !== undefined && { agent: options.agent }),
      ...(parentTurnId !== undefined && { parentTurnId }),
    })
    this.#context = {
      engine,
      store: engine.openStore(),
      background: new Background(),
      info,
      turns: new Turns(info),
      // No id contains this character, so no session can have the key of another's child.
      key: options.agentId === undefined ? this.id : `${this.id}\u0000${options.agentId}`,
      base: payloadBase(options),
      claimed: new Set(),
      hooks: (): HookSet => this.#snapshot(),
      useSkills: (state) => this.#useSkills(state),
      takeNews: () => this.#takeNews(),
    }
    if (options.hooks && options.hooks.length > 0) this.#registry().registerHooks(options.hooks)
  }

  /** Runs the hooks of an event. Rejects for invalid data, an aborted signal, or a closed session. */
  async fire<const N extends string, Own extends boolean = false>(
    event: EventArgument<N, Own>,
    data: object = {},
    options: FireOptions<Own> = {},
  ): Promise<Outcome> {
    const { outcome } = await this.#fire(event, data, options)
    this.#keepFired(outcome)
    return outcome
  }

  /**
   * A guarded tool call: PreToolUse, the call, PostToolUse. `run` gets the input as hooks left it. A tool's own error
   * is rethrown after PostToolUseFailure. Rejects with TURN_ABORTED or AGENT_ABORTED if a hook ends the turn or the agent.
   */
  callTool<T, C extends ToolCall = ToolCall>(
    call: C,
    run: RunTool<T, C['input']>,
    options: CallOptions = {},
  ): Promise<ToolCallResult<T>> {
    return guardToolCall(this.#calls(), call, run, options)
  }

  /**
   * The first half of callTool, for a host that runs the tool elsewhere: PreToolUse. Only `status: 'run'` has the input. Then
   * call `finish` with the result, which fires PostToolUse, or `fail`. A call that is neither finished nor failed when it is
   * disposed of, or when the session is closed, is an interrupted failure.
   */
  beginTool<C extends ToolCall = ToolCall>(
    call: C,
    options: CallOptions = {},
  ): Promise<BegunTool<C['input']>> {
    return beginToolCall(this.#tracked(), 'beginTool', call, options)
  }

  /**
   * @internal The same at once, for a call that no hook hears: of plain data that nothing changes afterwards. Undefined if a hook may
   * hear it: then nothing was done. The options are not checked.
   */
  beginUnheardTool(call: ToolCall, options: CallOptions): UnheardTool | undefined {
    return this.closed ? undefined : beginUnheardCall(this.#tracked(), call, options)
  }

  /**
   * A guarded model call: ModelRequest, the call, ModelResponse. `run` may return a message or a stream of deltas. Deltas
   * go to `onDelta` at once, unless a ModelResponse hook listens: then they wait until it has let the response pass.
   */
  callModel<T, D = never, R extends AnyRequest = ModelRequest, A = never>(
    request: R,
    run: RunModel<T, D, R>,
    options: CallModelOptions<D, A, R> = {},
  ): Promise<ModelCallResult<ModelAnswer<T, D, A>>> {
    return guardModelCall(this.#modelCalls(this.#calls()), request, run, options)
  }

  /**
   * A guarded model call as an async iterable of the deltas that may be shown. What `hold` keeps back comes when ModelResponse
   * hooks let the response pass. Hooks run, and the model is called, when the first delta is asked for. `result` has the status.
   */
  streamModel<T, D = never, R extends AnyRequest = ModelRequest, A = never>(
    request: R,
    run: RunModel<T, D, R>,
    options: StreamModelOptions<D, A, R> = {},
  ): StreamedModel<D, ModelAnswer<T, D, A>> {
    return streamModelCall(this.#modelCalls(this.#tracked()), request, run, options)
  }

  /** The first half of callModel: ModelRequest. `finish` fires ModelResponse, and says whether the response may be used. */
  beginModel<R extends AnyRequest = ModelRequest>(
    request: R,
    options: BeginModelOptions<R> = {},
  ): Promise<BegunModel<R>> {
    return beginModelCall(this.#modelCalls(this.#tracked()), 'beginModel', request, options)
  }

  /**
   * Whether nothing could notice a call that begins now: there is no hook, no file of hooks and no audit, and nothing waits for
   * a model call. Then an adapter leaves the call to its SDK.
   */
  get isIdle(): boolean {
    const { embedder, recordsAll, configured } = this.#engine
    if (this.closed || embedder.store || recordsAll || configured.version > 0) return false
    if (this.#snapshot().all().length > 0 || this.#fired.length > 0) return false
    const state = this.#context.store.load(this.#context.key)
    if (isPromise(state) || state.skills.length > 0 || state.lost !== '') return false
    return state.ephemeral.length === 0 && !hasPending(state)
  }

  /** A hook of this session and its children. */
  readonly register: Register = (event, handler, options) => {
    this.#refuseClosed()
    const off = this.#registry().register(event, handler, options)
    this.#engine.noteRegistered(event, handler, options)
    return off
  }

  /** The plan of this event: which hooks would run here, in which order, and why the others would not. Runs nothing. */
  explain<const N extends string>(event: EventArgument<N>, data: object = {}): Plan {
    return explainEvent(this.#engine, this.#snapshot(), event, data, this.#context)
  }

  /** The session of a subagent: the same id and hooks, its own turn and budget. */
  child(agent: { readonly agentId: string; readonly agentType?: string; readonly cwd?: string }): Session {
    this.#refuseClosed()
    if (typeof agent?.agentId !== 'string' || agent.agentId === '') {
      throw new HookError('OPTIONS_INVALID', 'child() needs a non-empty agentId')
    }
    const { hooks: _, agentType: __, parentTurnId: ___, ...options } = this.#options
    this.#registry()
    const child = new Session(this.#engine, { ...options, id: this.id, ...agent }, this.#layers, this)
    this.#children.add(child)
    return child
  }

  /** Begins a turn: resets the injection budget and tells observers, with the prompt if given. Without this call, UserPromptSubmit begins a turn. */
  async startTurn(options: { readonly prompt?: string | undefined } = {}): Promise<void> {
    checkOptions('startTurn', options, START_OPTIONS)
    const { prompt } = options
    this.#refuseClosed()
    let turn = 0
    await this.#context.store.update(this.#context.key, (state) => {
      const next = nextTurn(state)
      turn = next.turn
      return { ...next, announced: true }
    })
    this.#context.turns.announce(turn)
    tellObservers(this.#context, 'turn_start', { prompt })
  }

  /** Ends a turn: drops ephemeral injections that no model call took, and tells observers. The default status follows from what hooks and models did. */
  async endTurn(options: { readonly status?: TurnStatus | undefined } = {}): Promise<void> {
    checkOptions('endTurn', options, END_OPTIONS)
    const { status } = options
    this.#refuseClosed()
    await this.#context.store.update(this.#context.key, (state) => ({
      ...state,
      announced: false,
      ephemeral: [],
    }))
    tellObservers(this.#context, 'turn_end', { status: status ?? this.#context.turns.status })
  }

  /** Tells observers what happened, under a name of your own. Nothing waits for them; a failure is in hooks.diagnostics. */
  notify(kind: string, payload: object = {}): void {
    const telling = this.#fire(kind, payload, { custom: true }, resolveNotice)
    this.#engine.inBackground(`notify ${kind}`, telling, this.#context.background)
  }

  /** The current turn; `turn-1` is the first. Undefined before that. */
  get turnId(): string | undefined {
    return this.#context.turns.id
  }

  get closed(): boolean {
    return this.#closed || this.#engine.closed || (this.#parent?.closed ?? false)
  }

  /** Interrupts calls that were begun and not finished, waits for background work, here and in child sessions, then forgets the session's state. */
  close(): Promise<void> {
    this.#closed = true
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Like close, but the state stays in the store, so that another process can continue the session. */
  leave(): Promise<void> {
    this.#closed = true
    this.#closing ??= this.#leave()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#interruptBegun()
    await Promise.all([...this.#children].map((child) => child.close()))
    await this.#context.background.idle()
    const { pending } = await this.#context.store.load(this.#context.key)
    for (const d of undelivered(pending)) this.#engine.note(d)
    await this.#context.store.release(this.#context.key)
    if (!this.#parent) this.#engine.sessionEnded(this.id)
    this.#left()
  }

  async #leave(): Promise<void> {
    this.#interruptBegun()
    await Promise.all([...this.#children].map((child) => child.leave()))
    await this.#context.background.idle()
    this.#left()
  }

  #left(): void {
    for (const failure of this.#context.store.takeFailures()) this.#engine.note(failure)
    if (this.#parent) this.#parent.#children.delete(this)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #fire(
    event: string,
    data: object,
    options: FireOptions,
    resolve: (name: string, custom?: boolean) => EventKind = intendedEvent,
  ): Promise<FireResult> {
    this.#refuseClosed()
    return fireEvent(this.#context, resolve(event, options?.custom), data, options)
  }

  #calls(): CallSession {
    return {
      fire: (event, data, how) => this.#fireForCall(event, data, how),
      pass: (event, data) => passUnheard(this.#context, event, data),
      refuseClosed: () => this.#refuseClosed(),
      ending: this.#engine.ending,
    }
  }

  /** For calls that the host ends: they must not outlive the session. */
  #tracked(): CallSession {
    this.#trackedCalls ??= this.#makeTracked()
    return this.#trackedCalls
  }

  #makeTracked(): CallSession {
    this.#begun ??= new Set()
    const sets = [this.#begun, this.#engine.begun]
    const track = (interrupt: Interrupt) => {
      for (const set of sets) set.add(interrupt)
      return () => {
        for (const set of sets) set.delete(interrupt)
      }
    }
    return { ...this.#calls(), track }
  }

  #modelCalls(calls: CallSession): ModelSession {
    return {
      ...calls,
      decides: (kind) => this.#snapshot().listeners(kind)?.decides ?? false,
      takeEphemeral: () => this.#takeEphemeral(),
      returnEphemeral: async (injections) =>
        this.#context.store.update(this.#context.key, (now) => ({
          ...now,
          ephemeral: [...injections, ...now.ephemeral],
        })),
      failed: (error) => this.#modelFailed(error),
    }
  }

  #interruptBegun(): void {
    if (this.#begun) this.#engine.interrupt(this.#begun, this.#context.background)
  }

  /** A call that has begun is finished even if the session is closed meanwhile, because hooks must see what was done. */
  async #fireForCall(event: string, data: object, options: FireOptions): Promise<FireResult> {
    if (event === 'PreToolUse' || event === 'ModelRequest') this.#refuseClosed()
    return this.#kept(event, await fireEvent(this.#context, resolveEvent(event), data, options))
  }

  async #kept(event: string, fired: FireResult): Promise<FireResult> {
    if (event !== 'ModelRequest') await this.#keepForModel(fired.outcome)
    const { open } = fired
    if (!open) return fired
    const answer = async (reply: unknown) => {
      this.#refuseClosed()
      return this.#kept(event, await open.answer(reply))
    }
    return { ...fired, open: { ...open, answer } }
  }

  /** If the embedder has no `context`, durable injections can only reach the model with the next model call. */
  async #keepForModel({ injections }: Outcome): Promise<void> {
    const durable = injections.filter((one) => !one.ephemeral)
    if (durable.length === 0 || this.#engine.embedder.context) return
    await this.#context.store.update(this.#context.key, (now) => ({
      ...now,
      ephemeral: [...now.ephemeral, ...durable],
    }))
  }

  /**
   * The same for events that the embedder fires itself. In memory only: a program that fires an event and ends has its own way
   * to the model.
   */
  #keepFired({ injections, data }: Outcome): void {
    if (injections.length === 0 || this.#engine.embedder.context) return
    if (data.hook_event_name === 'ModelRequest') return
    const durable = injections.filter((one) => !one.ephemeral)
    this.#fired = [...this.#fired, ...durable].slice(-MAX_FIRED)
  }

  #modelFailed(error: unknown): void {
    this.#context.turns.fail('error')
    tellObservers(this.#context, 'error', { stage: 'llm', message: textOf(error) })
  }

  #takeNews(): readonly Diagnostic[] {
    const { configured } = this.#engine
    const skills = this.#skills?.list
    const version = skills?.version ?? 0
    if (this.#toldFiles === configured.version && this.#toldSkills === version) return NO_NEWS
    this.#toldFiles = configured.version
    this.#toldSkills = version
    return skills ? [...configured.problems, ...skills.problems] : configured.problems
  }

  #snapshot(): HookSet {
    return (this.#skills?.over(this.#layers) ?? this.#layers).snapshot()
  }

  #useSkills(state: SessionState): MaybePromise<void> {
    const skills = skillsOf(this.#context, state)
    return isPromise(skills) ? skills.then((loaded) => this.#use(loaded)) : this.#use(skills)
  }

  #use(state: Skills): MaybePromise<void> {
    if (state.skills.length === 0 && state.lost === '' && !this.#skills) return
    this.#skills ??= new SkillLayer(this.#engine)
    return this.#skills.use(state)
  }

  #registry(): HookRegistry {
    if (!this.#own) {
      this.#own = new HookRegistry({
        scope: 'session',
        owner: this.#context.key,
        onDiagnostic: (d) => this.#engine.note(d),
      })
      this.#layers = this.#layers.with(this.#own)
    }
    return this.#own
  }

  async #takeEphemeral(): Promise<readonly Injection[]> {
    const fired = this.#fired
    this.#fired = []
    const state = await this.#context.store.load(this.#context.key)
    if (state.ephemeral.length === 0) return fired
    let taken: readonly Injection[] = []
    await this.#context.store.update(this.#context.key, (now) => {
      taken = now.ephemeral
      return { ...now, ephemeral: [] }
    })
    return [...fired, ...taken]
  }

  #refuseClosed(): void {
    if (this.closed) throw new HookError('SESSION_CLOSED', `The session ${this.id} is closed`)
  }
}

const NO_NEWS: readonly Diagnostic[] = []

/** An embedder that never calls a model through the session must not fill its memory. */
const MAX_FIRED = 100

function payloadBase(options: SessionOptions): Record<string, Json> {
  const base: Record<string, Json> = {}
  for (const [option, name] of Object.entries(PAYLOAD_NAMES)) {
    const value = options[option as keyof typeof PAYLOAD_NAMES]
    if (value !== undefined) base[name] = value
  }
  return base
}
