// A hook is a function with metadata. Every runner makes these, and the kernel knows nothing else.

import { type Diagnostic, type DiagnosticSink, HookError, textOf } from '../base/errors.js'
import { type Data, isObject } from '../base/json.js'
import { anything, type Checks, checkOptions, isFlag, isOneOf, isSeconds, isText } from '../base/options.js'
import { isPromise } from '../base/promise.js'
import { type EventArgument, type EventKind, intendedEvent, type Payload } from '../events/events.js'
import { askUser, deny, type HookResult } from '../events/result.js'
import type { Count } from './count.js'
import type { HookKind, HookRole } from './kinds.js'
import { compileMatcher, type Matcher, type MatcherSpec } from './matcher.js'
import type { Outcome } from './outcome.js'

/** A hook's origin, for people. */
export interface Origin {
  /** `named`: a file or plugin that the embedder or the command line named. */
  readonly scope: 'global' | 'host' | 'session' | 'company' | 'user' | 'project' | 'named'
  /** A plugin's or file's name; `code` for functions. */
  readonly source: string
  readonly file?: string
  readonly line?: number
  readonly hash?: string
  /** For a hook from another agent's file: that agent, and its own name of the event. */
  readonly writtenFor?: { readonly agent: string; readonly event: string }
}

/** Whether a hook from there runs only after somebody reviewed it. */
export function needsTrust(scope: Origin['scope']): boolean {
  return scope === 'project' || scope === 'named'
}

export interface SessionInfo {
  readonly id: string
  readonly cwd?: string
  /** The agent that asks, such as `codex`. Absent if the embedder does not say. */
  readonly agent?: string
  /** The turn that the event belongs to: `turn-1` is the first. */
  readonly turnId?: string
  /** The embedder announces turns itself (startTurn, endTurn). Otherwise prompts and stops begin and end them. */
  readonly announcesTurns?: boolean
  /** The turn that a subagent was started from. */
  readonly parentTurnId?: string
  /** Model calls of the turn before the one that the event belongs to. */
  readonly iteration?: number
}

/** An event as one hook sees it. */
export interface HookEvent {
  /** Canonical. */
  readonly name: string
  readonly data: Data
  readonly session: SessionInfo | undefined
}

/** The tools a hook gets while it runs. */
export interface HookContext {
  /** Aborted when the hook is overdue or the fire is aborted. */
  readonly signal: AbortSignal
  /** A cheaper alternative to `signal`: it creates no AbortSignal. */
  readonly onAbort: (listener: () => void) => void
  readonly session: SessionInfo | undefined
  /** The outcome of the event; only observers get it. */
  readonly outcome: Outcome | undefined
  /** Counts something that a limit is about, in the session store. Absent outside a session. */
  readonly count?: Count | undefined
  /** Adds a diagnostic to the outcome. */
  readonly note: (d: Diagnostic) => void
  /** The effect of a failure here: `block` closes the gate. */
  readonly onFailure: Exclude<FailurePolicy, 'byEvent'>
  /** Keeps the hook's output for the trace. */
  readonly printed: (output: Printed) => void
  /** A refusal or a question that the hook gave in time. It counts if the hook does not answer before its deadline. */
  readonly lastWord: (result: HookResult) => void
  /**
   * For an answer that comes by way of another process: at the deadline the hook is asked, and has a moment more. Settles once
   * everything that was said in time is here; with false if that is not certain, and then the hook was interrupted.
   */
  readonly atDeadline?: (ask: () => Promise<boolean>) => void
}

/** A program's output, within bounds. */
export interface Printed {
  readonly stdout?: string
  readonly stderr?: string
}

/** An answer that comes later: the hook goes on by itself, and its result counts like that of a detached hook. */
export class LateAnswer {
  readonly timeoutMs: number
  readonly finish: Finish

  constructor(timeoutMs: number, finish: Finish) {
    this.timeoutMs = timeoutMs
    this.finish = finish
  }
}

/** Waits for the answer, in a new context, because the one the hook ran in has ended. */
type Finish = (context: HookContext) => Promise<unknown>

/** Returns a HookResult, which the dispatch validates, or throws. Obeys the signal and never decides policy. A late answer is dropped. */
export type Run = (event: HookEvent, context: HookContext) => unknown

/** `block` closes the gate when the hook fails, `continue` goes on, and `byEvent` lets the catalogue decide. */
export type FailurePolicy = 'block' | 'continue' | 'byEvent'

/**
 * Whether a failure counts as a deny, by the hook's own policy or the event's. With `failClosed` (the setting
 * `on_failure: "block"`) every gate closes. Stop-like events never close, because an agent that cannot stop is no safer.
 */
export function closesOnFailure(kind: EventKind, policy: FailurePolicy, failClosed: boolean): boolean {
  if ((kind.deny !== 'block' && kind.deny !== 'tell') || kind.denyOnlyClaudeFormat) return false
  if (failClosed && kind.deny === 'block') return true
  return policy === 'byEvent' ? kind.onFailure === 'deny' : policy === 'block'
}

export type HookMode = 'enforce' | 'shadow'

export interface Hook {
  /** Unique and stable: grants are bound to it. */
  readonly id: string
  readonly name: string
  readonly kind: HookKind
  readonly origin: Origin
  /** Digest of the files it runs, if they were reviewed. */
  readonly content?: string
  /** Who trusted these files for the whole fleet, and when (ISO-8601). */
  readonly reviewer?: { readonly by: string; readonly at: string }
  readonly events: 'all' | ReadonlySet<string>
  /** Null matches everything. */
  readonly matcher: Matcher | null
  /** A rule in addition to the matcher (`if`): true, or why not. Sees the data as it is when its step begins. */
  readonly condition?: (event: HookEvent) => true | string
  /** A condition accepts every call that it might mean. An allow only counts if this says that it certainly means the event. */
  readonly isSure?: (event: HookEvent) => boolean
  readonly role: HookRole
  /** Ascending. */
  readonly priority: number
  /** Null: a step of its own. Hooks with lanes at one priority form one step; its lanes run in parallel, the hooks of a lane in sequence. */
  readonly lane: string | null
  /** Nothing waits for it; a later event delivers its effects. */
  readonly detached: boolean
  /** For a detached hook: a deny wakes the model and gives it the reason. */
  readonly wakes?: boolean
  /** Runs at most once in a session. */
  readonly once: boolean
  /** It only watches: it is not a gate, and sees each call only once. */
  readonly observe?: boolean
  /** In shadow mode it runs, and what it would have done is recorded, but nothing of it counts. */
  readonly mode?: HookMode
  /** Only the first of the hooks with the same key runs for an event. */
  readonly sameAs?: string
  /** It never runs, and stands for many hooks of one file or plugin that may not run. Its name says how many. */
  readonly standsForMany?: true
  readonly timeoutMs: number
  /** Extra time if a process has to be started for the call. */
  readonly startupMs?: number
  /** Set if one of our limits is lower than the timeout that the hook asked for: says what to do about it. A gate that hits the limit closes. */
  readonly cappedBy?: string | undefined
  readonly onFailure: FailurePolicy
  readonly run: Run
  /** For people: what it would say about the event, if that can be told without running anything. */
  readonly foresee?: (event: HookEvent) => Promise<readonly string[]>
}

// ---- function hooks -------------------------------------------------------------------------------------------

/** The return value of a function hook; objects are validated. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement is a handler that goes on
export type Answer = HookResult | undefined | void

/** `event` is the name that the hook was registered under, or for `*` the canonical one. `data` is deep-frozen: return modify({ … }) to change it. */
export type Handler<N extends string = string, M = undefined> = (
  event: string,
  data: Payload<N, M>,
  context: HookContext,
) => Answer | Promise<Answer>

export interface RegisterOptions<
  M extends MatcherSpec = MatcherSpec,
  Own extends boolean = boolean,
  R extends HookRole = HookRole,
> {
  /** Default: the function's own name, otherwise `EVENT#n`. Made unique if it is taken. */
  readonly name?: string
  /** Lower runs earlier; default 0. */
  readonly priority?: number
  readonly matcher?: M | undefined
  /** Seconds; default 60. */
  readonly timeout?: number
  readonly onFailure?: 'block' | 'continue' | undefined
  /** Default `intercept`. */
  readonly role?: R
  /** Runs at most once in a session. A subagent's session counts separately. */
  readonly once?: boolean
  /** The event is your own, even if its name resembles a known one. */
  readonly custom?: Own
  /** For loggers: the hook does not see a call again after hooks or a person rewrote it. Unlike with the role `observe`, it keeps its place in the order, and its deny counts. */
  readonly observe?: boolean
  /** `shadow`: it runs, and the trace says what it would have done, but nothing of it counts. Default `enforce`. */
  readonly mode?: HookMode
}

/** Observers may also be told of things that are not events. */
type IsOwn<Own, R> = Own extends true ? true : R extends 'observe' ? true : false

/** Adds a hook. The types of its data follow from the event and the matcher. Returns a function that removes the hook. */
export type Register = <
  const N extends string,
  const M extends MatcherSpec = MatcherSpec,
  Own extends boolean = false,
  R extends HookRole = 'intercept',
>(
  event: EventArgument<N, IsOwn<Own, R>>,
  handler: Handler<N, M>,
  options?: RegisterOptions<M, Own, R>,
) => () => void

const DEFAULT_TIMEOUT = 60

const OPTIONS: Checks<RegisterOptions> = {
  name: isText,
  priority: [Number.isFinite, 'a number'],
  matcher: anything, // compileMatcher says more about it
  timeout: isSeconds,
  onFailure: isOneOf('block', 'continue'),
  role: isOneOf('intercept', 'approve', 'observe'),
  once: isFlag,
  observe: isFlag,
  mode: isOneOf('enforce', 'shadow'),
  custom: isFlag,
}

/** What the registry knows about a hook, but the function does not. */
interface Registration {
  readonly name: string
  readonly id: string
  readonly origin: Origin
  /** The default for hooks without a policy of their own. */
  readonly onFailure: 'block' | 'continue' | undefined
  readonly diagnostics: DiagnosticSink
}

/** Makes a hook from a function. Throws OPTIONS_INVALID or MATCHER_INVALID, so that a mistake shows at registration. */
export function functionHook(
  event: string,
  handler: Handler<never>,
  options: RegisterOptions,
  { name, id, origin, onFailure, diagnostics }: Registration,
): Hook {
  if (typeof handler !== 'function') {
    throw new HookError(
      'OPTIONS_INVALID',
      `The handler of ${event} must be a function, got ${typeof handler}`,
    )
  }
  checkOptions(`Hook on ${event}`, options, OPTIONS)
  const kind = event === '*' ? undefined : intendedEvent(event, options.custom)
  const role = options.role ?? 'intercept'
  return {
    id,
    name,
    kind: 'function',
    origin,
    events: kind ? new Set([kind.name]) : 'all',
    matcher: compileMatcher(options.matcher, {
      narrow: kind?.narrowMatcher,
      note: (d) => diagnostics.push({ ...d, text: `${name}: ${d.text}` }),
    }),
    role,
    priority: options.priority ?? 0,
    lane: null,
    detached: false,
    once: options.once ?? false,
    observe: options.observe ?? false,
    mode: options.mode ?? 'enforce',
    timeoutMs: (options.timeout ?? DEFAULT_TIMEOUT) * 1000,
    onFailure: options.onFailure ?? onFailure ?? (role === 'approve' ? 'block' : 'byEvent'),
    run: ({ name, data }, context) => (handler as Handler)(kind ? event : name, data as never, context),
  }
}

// ---- BeamAgent's hook values ----------------------------------------------------------------------------------

/** A BeamAgent callback's answer: `['ok', context]` goes on with exactly that context; a HookResult works as well. */
export type CallbackAnswer =
  | 'ok'
  | readonly ['ok', object]
  | readonly ['deny', string]
  | readonly ['ask', string]
  | Answer
/** Gets the event's data with the key `event`. */
export type Callback<N extends string = string, M = undefined> = (
  context: Payload<N, M> & { readonly event: string },
) => CallbackAnswer | Promise<CallbackAnswer>

/** A hook as a value, to be registered anywhere. */
export interface HookDef {
  readonly event: string
  readonly callback: Callback<never>
  readonly matcher?: MatcherSpec
}

/** Makes a hook value. An invalid pattern throws here. */
export function hook<const N extends string, const M extends MatcherSpec = MatcherSpec>(
  event: EventArgument<N>,
  callback: Callback<N, M>,
  matcher?: M,
): HookDef {
  if (typeof callback !== 'function') {
    throw new HookError(
      'OPTIONS_INVALID',
      `The callback of ${event} must be a function, got ${typeof callback}`,
    )
  }
  if (event !== '*') intendedEvent(event)
  compileMatcher(matcher)
  return Object.freeze({
    event,
    callback: callback as unknown as Callback<never>,
    ...(matcher !== undefined && { matcher }),
  })
}

/** The hooks behind listed values. Registering such a value registers the hook itself. */
const madeFrom = new WeakMap<Callback<never>, Hook>()

/** A hook value for a hook that was not made from one. */
export function definitionOf(event: string, hook: Hook): HookDef {
  const callback: Callback<never> = (data: object) =>
    hook.run({ name: event, data: data as Data, session: undefined }, ALONE) as CallbackAnswer
  madeFrom.set(callback, hook)
  return Object.freeze({ event, callback, ...(hook.matcher && { matcher: hook.matcher.pattern }) })
}

/** The context of a callback that is called outside any event. */
const ALONE: HookContext = {
  get signal() {
    return new AbortController().signal
  },
  onAbort: () => {},
  session: undefined,
  outcome: undefined,
  note: () => {},
  lastWord: () => {},
  printed: () => {},
  onFailure: 'continue',
}

/** A BeamAgent callback as a handler. */
export function handlerOf(def: HookDef): Handler<never> {
  if (typeof def?.callback !== 'function') {
    throw new HookError('OPTIONS_INVALID', 'A hook value must come from hook(event, callback, matcher?)')
  }
  const made = madeFrom.get(def.callback)
  if (made)
    return ((event, data, context) =>
      made.run({ name: event, data, session: context.session }, context)) as Handler<never>
  const callback = def.callback as unknown as Callback
  const handler = (event: string, data: Data) => {
    const answer = callback(Object.freeze({ ...data, event: snakeCase(event) }) as never)
    return isPromise(answer)
      ? Promise.resolve(answer).then((late) => readAnswer(data, late as CallbackAnswer))
      : readAnswer(data, answer as CallbackAnswer)
  }
  Object.defineProperty(handler, 'name', { value: def.callback.name })
  return handler as unknown as Handler<never>
}

export function snakeCase(name: string): string {
  return (
    name.charAt(0).toLowerCase() + name.slice(1).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  )
}

/** Replaces the whole data of an event, instead of patching it: missing keys are removed. */
export class WholeData {
  readonly data: Data

  constructor(data: Data) {
    this.data = data
  }
}

function readAnswer(data: Data, answer: CallbackAnswer): Answer | WholeData {
  if (answer === 'ok') return undefined
  if (!Array.isArray(answer)) return answer as Answer
  const [verdict, detail] = answer as readonly unknown[]
  if (verdict === 'deny' && typeof detail === 'string') return deny(detail)
  if (verdict === 'ask' && typeof detail === 'string') return askUser(detail, { reason: detail })
  if (verdict === 'ok' && isObject(detail)) {
    return wholeOf(data, detail as Data)
  }
  throw new HookError(
    'ANSWER_INVALID',
    `expected ['ok', context], ['deny', reason] or ['ask', reason], got ${textOf(answer)}`,
  )
}

/** Undefined if nothing changed. The key `event` was added for the callback, and may hide a key of the data. */
function wholeOf(data: Data, { event: _, ...given }: Data): WholeData | undefined {
  const whole = data.event === undefined ? given : { ...given, event: data.event }
  const keys = Object.keys(data)
  const isSame = keys.length === Object.keys(whole).length && keys.every((key) => whole[key] === data[key])
  return isSame ? undefined : new WholeData(whole)
}
