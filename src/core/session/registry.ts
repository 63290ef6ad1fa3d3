// An ordered collection of hooks that can be emitted to: Amplifier's HookRegistry with BeamAgent's hook values.

import { type Diagnostic, type DiagnosticSink, HookError, textOf } from '../base/errors.js'
import { type Data, frozenCopy } from '../base/json.js'
import {
  type Checks,
  checkArgument,
  checkOptions,
  isFlag,
  isFunction,
  isList,
  isOneOf,
  isSeconds,
  isSignal,
} from '../base/options.js'
import { deadlineIn, milliseconds, timestamp } from '../base/time.js'
import {
  checkRequired,
  type EventArgument,
  type EventKind,
  intendedEvent,
  matcherValue,
  openPayload,
  resolveEvent,
} from '../events/events.js'
import { CONTINUE } from '../events/result.js'
import {
  definitionOf,
  functionHook,
  type Handler,
  type Hook,
  type HookDef,
  type HookEvent,
  handlerOf,
  type Origin,
  type Register,
  type RegisterOptions,
} from '../hooks/hook.js'
import { HookSet, inOrder, type Listeners } from '../hooks/hook-set.js'
import type { Outcome } from '../hooks/outcome.js'
import { type DispatchOptions, runAlone, runOnFinal } from '../run/dispatch.js'
import { skipOf } from '../run/plan.js'
import type { Ran } from '../run/trace.js'
import { diagnosticsOf, judge, outcomeOf, quietOutcome } from '../verdict/judge.js'
import { seenOutcome } from '../verdict/merge.js'

export interface RegistryOptions {
  /** The policy for hooks without one of their own. Default: by event. */
  readonly onFailure?: 'block' | 'continue' | undefined
  readonly scope?: Origin['scope']
  /** Tells registries with the same scope apart: hooks of two sessions are never the same hook. */
  readonly owner?: string
  /** Also gets everything that goes into `diagnostics`. */
  readonly onDiagnostic?: (d: Diagnostic) => void
}

export interface EmitOptions<Own extends boolean = boolean> {
  readonly signal?: AbortSignal | undefined
  /** Seconds, for the whole emit. */
  readonly timeout?: number
  /** The event is your own, even if its name resembles a known one. */
  readonly custom?: Own
}

const REGISTRY_OPTIONS: Checks<RegistryOptions> = {
  onFailure: isOneOf('block', 'continue'),
  scope: isOneOf('global', 'host', 'session', 'user', 'project'),
  owner: [(value) => typeof value === 'string', 'a string'],
  onDiagnostic: isFunction,
}
const EMIT_OPTIONS: Checks<EmitOptions> = { signal: isSignal, timeout: isSeconds, custom: isFlag }

const MAX_DIAGNOSTICS = 100
const NO_DEFAULTS: object = Object.freeze({})
const COLLECT_TIMEOUT = 1

/** Gets the version after the change. */
type Subscriber = (version: number) => void

export class ReloadBus {
  #version = 0
  readonly #subscribers = new Map<Subscriber, AbortSignal | undefined>()

  /** Changes since the beginning. */
  get version(): number {
    return this.#version
  }

  /** Subscribing twice has no further effect. The subscriber stays until it is unsubscribed or its signal is aborted. */
  subscribe(subscriber: Subscriber, signal?: AbortSignal): () => void {
    this.#subscribers.set(subscriber, signal)
    return () => void this.#subscribers.delete(subscriber)
  }

  /** Tells every subscriber. Removes those whose signal is aborted and those that throw. */
  notify(diagnostics: DiagnosticSink): void {
    this.#version++
    for (const [subscriber, signal] of [...this.#subscribers]) {
      if (signal?.aborted) this.#subscribers.delete(subscriber)
      else if (this.#subscribers.has(subscriber)) this.#tell(subscriber, diagnostics)
    }
  }

  #tell(subscriber: Subscriber, diagnostics: DiagnosticSink): void {
    try {
      subscriber(this.#version)
    } catch (error) {
      this.#subscribers.delete(subscriber)
      diagnostics.push({
        code: 'subscriber-failed',
        text: `a subscriber threw and was removed: ${textOf(error)}`,
      })
    }
  }
}

export class HookRegistry {
  readonly #onFailure: RegistryOptions['onFailure']
  readonly #origin: Origin
  readonly #owner: string
  readonly #bus = new ReloadBus()
  /** Hooks by name. Names are unique, so that one hook never removes another. */
  readonly #hooks = new Map<string, Hook>()
  readonly #defs = new Map<string, HookDef>()
  readonly #numbers = new Map<string, number>()
  #defaults: object = NO_DEFAULTS
  #set: HookSet | undefined
  readonly #plainOptions: DispatchOptions = {
    signal: undefined,
    deadline: Infinity,
    recheck: 'final',
    failClosed: false,
    protectSystemMessages: true,
    detach: (hook, event) => this.#detach(resolveEvent(event.name), hook, event),
  }
  readonly #diagnostics: Diagnostic[] = []
  readonly #onDiagnostic: RegistryOptions['onDiagnostic']
  readonly #sink: DiagnosticSink = { push: (d) => this.#note(d) }

  constructor(options: RegistryOptions = {}) {
    checkOptions('HookRegistry', options, REGISTRY_OPTIONS)
    this.#onFailure = options.onFailure
    this.#onDiagnostic = options.onDiagnostic
    this.#origin = { scope: options.scope ?? 'host', source: 'code' }
    this.#owner = options.owner ? `${this.#origin.scope}:${options.owner}` : this.#origin.scope
  }

  /**
   * Adds a hook for one event, or for every event with `*`. Returns a function that removes it, which may be called more
   * than once. Throws for a mistake in the options.
   */
  readonly register: Register = (event, handler, options = {}) =>
    this.#register(event, handler as Handler<never>, options as RegisterOptions).off

  /** The same as `register`. */
  readonly on: Register = (event, handler, options) => this.register(event, handler, options)

  /** Adds hook values in order, all or none. Returns a function that removes all of them. */
  registerHooks(defs: readonly HookDef[]): () => void {
    checkArgument('registerHooks: the hooks', defs, isList)
    const undo: (() => void)[] = []
    const off = () => {
      for (const one of undo) one()
    }
    try {
      for (const def of defs) {
        const options: RegisterOptions = def.matcher === undefined ? {} : { matcher: def.matcher }
        const registered = this.#register(def.event, handlerOf(def), options)
        this.#defs.set(registered.hook.name, def)
        undo.push(registered.off)
      }
    } catch (error) {
      off()
      throw error
    }
    return off
  }

  /** Adds an existing hook. Its name must be free. */
  add(hook: Hook): void {
    if (this.#hooks.has(hook.name)) {
      throw new HookError('OPTIONS_INVALID', `A hook named ${hook.name} is already registered`)
    }
    this.#hooks.set(hook.name, hook)
    this.#changed()
  }

  /** Removes a hook by name, or every hook made from this value. An unknown one is not an error. */
  unregister(which: string | HookDef): void {
    const names =
      typeof which === 'string'
        ? [which]
        : [...this.#defs].filter(([, def]) => def === which).map(([name]) => name)
    for (const name of names) this.#hooks.delete(name)
    for (const name of names) this.#defs.delete(name)
    this.#changed()
  }

  #register(
    event: string,
    handler: Handler<never>,
    options: RegisterOptions,
  ): { hook: Hook; off: () => void } {
    const stem = event === '*' ? event : intendedEvent(event, options?.custom).name
    const given = options?.name ?? handler?.name
    const name = this.#freeName(given || this.#numbered(stem))
    const unnamed = name !== given
    // A number depends on the order of registration, so nothing remembered about it may outlive the process.
    const hook = functionHook(event, handler, options, {
      name,
      id: unnamed ? `${this.#owner}:${name}@${performance.timeOrigin}` : `${this.#owner}:${name}`,
      origin: this.#origin,
      onFailure: this.#onFailure,
      diagnostics: this.#sink,
    })
    this.add(hook)
    const off = () => {
      if (this.#hooks.get(name) === hook) this.unregister(name)
    }
    return { hook, off }
  }

  /** Names in order of execution, by canonical event; `*` is listed under itself. */
  listHandlers(event?: string): Record<string, readonly string[]> {
    const hooks = [...this.#hooks.values()]
    const events =
      event === undefined
        ? new Set(hooks.flatMap((hook) => (hook.events === 'all' ? ['*'] : [...hook.events])))
        : [event]
    return Object.fromEntries([...events].map((name) => this.#names(name)))
  }

  #names(event: string): [string, readonly string[]] {
    if (event === '*') {
      const hooks = [...this.#hooks.values()].filter((hook) => hook.events === 'all')
      return ['*', inOrder(hooks).map((hook) => hook.name)]
    }
    const kind = resolveEvent(event)
    const listeners = this.snapshot().listeners(kind)
    const hooks = listeners ? [...listeners.interceptors, ...listeners.approvers, ...listeners.observers] : []
    return [kind.name, hooks.map((hook) => hook.name)]
  }

  /** The definitions behind these names, in the same order: BeamAgent's `hook_registry`. */
  definitions(): Record<string, readonly HookDef[]> {
    const entries = Object.entries(this.listHandlers())
    return Object.fromEntries(
      entries.map(([event, names]) => [event, names.flatMap((name) => this.#definition(event, name))]),
    )
  }

  /** A hook value is listed as it was given, so that it can be used to unregister the hook. */
  #definition(event: string, name: string): readonly HookDef[] {
    const hook = this.#hooks.get(name)
    if (!hook) return []
    return [this.#defs.get(name) ?? definitionOf(event, hook)]
  }

  /** Default data for every emit; the emit's own data wins. Replaces earlier defaults. */
  setDefaultFields(fields: object): void {
    this.#defaults = frozenCopy(fields, 'default fields') as Data
  }

  /** The current hooks. Later changes do not affect the snapshot. */
  snapshot(): HookSet {
    this.#set ??= new HookSet([[...this.#hooks.values()]])
    return this.#set
  }

  /** Changes since the beginning. */
  get version(): number {
    return this.#bus.version
  }

  /** Called with the version after each change, until unsubscribed or the signal is aborted. */
  subscribe(subscriber: Subscriber, signal?: AbortSignal): () => void {
    return this.#bus.subscribe(subscriber, signal)
  }

  get scope(): Origin['scope'] {
    return this.#origin.scope
  }

  /** The newest problems outside any outcome. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics
  }

  /** Runs the hooks of an event and merges what they answer. Rejects for invalid data or an aborted signal. */
  emit<const N extends string, Own extends boolean = false>(
    event: EventArgument<N, Own>,
    data: object,
    options?: EmitOptions<Own>,
  ): Promise<Outcome> {
    // Not an async function, because an event without listeners must cost next to nothing.
    try {
      const kind = intendedEvent(event, options?.custom)
      checkRequired(kind, this.#defaults === NO_DEFAULTS ? data : { ...this.#defaults, ...data })
      if (options) checkEmitOptions(options)
      const listeners = this.#hooks.size === 0 ? undefined : this.snapshot().listeners(kind)
      return listeners ? this.#emitTo(kind, listeners, data, options) : Promise.resolve(quietOutcome(data))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #emitTo(
    kind: EventKind,
    listeners: Listeners,
    data: object,
    options: EmitOptions | undefined,
  ): Promise<Outcome> {
    const payload = openPayload(kind, this.#defaults, data, { timestamp: timestamp() })
    const opened = { name: kind.name, data: payload, session: undefined }
    return judge(kind, listeners, opened, this.#dispatchOptions(options), (judgement) => {
      const outcome = outcomeOf(judgement, judgement.merged, diagnosticsOf(judgement))
      for (const hook of listeners.observers) this.#observe(kind, hook, judgement.event, outcome)
      return outcome
    })
  }

  /**
   * Asks every hook, whatever the others answer, and returns the `data` of those that gave some. A failing or late
   * hook is left out and reported in `diagnostics`. `timeout` is per hook; default 1 second.
   */
  async emitAndCollect<const N extends string, Own extends boolean = false>(
    event: EventArgument<N, Own>,
    data: object,
    options: EmitOptions<Own> = {},
  ): Promise<readonly Data[]> {
    const kind = intendedEvent(event, options.custom)
    checkRequired(kind, data)
    const timeoutMs = milliseconds(options.timeout ?? COLLECT_TIMEOUT, 'timeout')
    const listeners = this.snapshot().listeners(kind)
    if (listeners === undefined) return []
    const opened = { name: kind.name, data: openPayload(kind, {}, data), session: undefined }
    const dispatchOptions = this.#dispatchOptions({ signal: options.signal })
    const collected: Data[] = []
    for (const hook of listeners.select(matcherValue(kind, opened.data)).hooks) {
      const asked: Hook = { ...hook, timeoutMs, detached: false, onFailure: 'continue' }
      for (const one of (await runOnFinal(kind, [asked], opened, dispatchOptions)).ran) {
        if (one.trace.status === 'failed') this.#noteLate(kind, one)
        else if (one.effect.data) collected.push(one.effect.data)
      }
    }
    return collected
  }

  #dispatchOptions(given?: EmitOptions): DispatchOptions {
    if (given === undefined) return this.#plainOptions
    return { ...this.#plainOptions, signal: given.signal, deadline: deadlineIn(given.timeout) }
  }

  #observe(kind: EventKind, hook: Hook, event: HookEvent, outcome: Outcome): void {
    this.#inBackground(kind, hook, async () => {
      if (skipOf(kind, hook, event, matcherValue(kind, event.data), undefined)) return
      const { ran } = await runAlone(kind, hook, event, {
        ...this.#plainOptions,
        outcome: seenOutcome(outcome),
      })
      if (ran.trace.status === 'failed') this.#noteLate(kind, ran)
    })
  }

  /** Runs a detached hook. Its effects are lost, because there is no session to keep them. */
  #detach(kind: EventKind, hook: Hook, event: HookEvent): void {
    this.#inBackground(kind, hook, async () => {
      const { ran } = await runAlone(kind, hook, event, this.#plainOptions)
      if (ran.trace.status === 'failed') this.#noteLate(kind, ran)
      else if (ran.effect !== CONTINUE) {
        const text = `${hook.name} on ${kind.name} is async; its ${ran.effect.action} came too late, and there is no session to keep it`
        this.#note({ code: 'async-verdict-ignored', text })
      }
    })
  }

  #inBackground(kind: EventKind, hook: Hook, work: () => Promise<void>): void {
    work().catch((error) =>
      this.#note({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${textOf(error)}` }),
    )
  }

  #noteLate(kind: EventKind, { hook, trace }: Ran): void {
    this.#note({ code: 'late-failed', text: `${hook.name} on ${kind.name}: ${trace.detail}` })
  }

  #note(d: Diagnostic): void {
    this.#onDiagnostic?.(d)
    this.#diagnostics.push(d)
    if (this.#diagnostics.length > MAX_DIAGNOSTICS) this.#diagnostics.shift()
  }

  #changed(): void {
    this.#set = undefined
    this.#bus.notify(this.#sink)
  }

  #numbered(stem: string): string {
    const count = (this.#numbers.get(stem) ?? 0) + 1
    this.#numbers.set(stem, count)
    return `${stem}#${count}`
  }

  #freeName(wanted: string): string {
    if (!this.#hooks.has(wanted)) return wanted
    let name: string
    do name = this.#numbered(wanted)
    while (this.#hooks.has(name))
    return name
  }
}

/** Checked even if nobody listens, so that a mistake shows before the first hook is registered. */
function checkEmitOptions(options: EmitOptions): void {
  checkOptions('emit', options, EMIT_OPTIONS)
  if (options.signal?.aborted) {
    throw new HookError('ABORTED', 'The emit was aborted', { cause: options.signal.reason })
  }
}

/** Hooks of the whole process. They run in every session that does not opt out, before session hooks of the same priority. */
export const globalHooks: HookRegistry = new HookRegistry({ scope: 'global' })

/** The process-wide hooks by event: BeamAgent's `global_registry`. Empty if there are none. */
export function globalRegistry(): Record<string, readonly HookDef[]> {
  return globalHooks.definitions()
}

/** A registry of these hook values; undefined if there are none. */
export function buildRegistry(defs: readonly HookDef[] | null | undefined): HookRegistry | undefined {
  if (!defs || (Array.isArray(defs) && defs.length === 0)) return undefined
  const registry = new HookRegistry({ scope: 'session' })
  registry.registerHooks(defs)
  return registry
}
