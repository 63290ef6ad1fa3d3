// A tool call between its hooks: PreToolUse, the tool, PostToolUse or PostToolUseFailure.

import { HookError, textOf } from '../base/errors.js'
import { type Data, frozenCopy, hasFormOf, isObject, type Json } from '../base/json.js'
import { hasChanged, restored, viewed } from '../base/json-view.js'
import { type Checks, checkArgument, checkOptions, isFlag, isFunction } from '../base/options.js'
import { unlessAborted } from '../base/promise.js'
import { described } from '../events/events.js'
import type { Outcome } from '../hooks/outcome.js'
import { quietOutcome } from '../verdict/judge.js'
import {
  ABORT_GRACE_MS,
  asJson,
  asked,
  CALL_OPTIONS,
  type CallOptions,
  type CallSession,
  CHANGED,
  type DeniedCall,
  denied,
  endings,
  type OpenCall,
  refuseAborted,
  refuseStopped,
  refusesPromise,
  UNBEGUN,
  withDiagnostic,
} from './begun-call.js'
import type { Interrupt } from './engine.js'
import type { FireResult } from './fire.js'
import type { ToolData } from './unheard.js'

export interface ToolCall {
  readonly name: string
  readonly input: object
  /** The model's id of the call. */
  readonly id?: string
  /** More fields of its events, such as `mcp_server`. */
  readonly fields?: Data
}

/**
 * The input as hooks left it: the frozen copy that they judged. A Date, a Map or an object of a class in it is the caller's
 * own, unless a hook changed it. It has the type of the call's input: a hook that rewrites the input is trusted to keep
 * its form.
 */
export type JudgedInput<I extends object> = object extends I ? Data : I

/** Gets the input and name as hooks left them. */
export type RunTool<T, I extends object = Data> = (
  input: JudgedInput<I>,
  call: { readonly name: string; readonly id: string | undefined; readonly signal: AbortSignal | undefined },
) => T | Promise<T>

// ---- what comes back: `outcome` belongs to PreToolUse, `after` to PostToolUse or PostToolUseFailure

interface ToolRan<T> {
  /** The tool ran. If a hook replaced its result, the new one has the same form: text for text, the same fields. */
  readonly status: 'ok'
  readonly result: T
  readonly reason?: undefined
  readonly outcome: Outcome
  readonly after: Outcome
}

interface ToolResponded {
  /** A hook gave the result instead of the tool, or, if `after` is set, replaced the tool's result. */
  readonly status: 'responded'
  readonly result: Json
  readonly reason?: undefined
  readonly outcome: Outcome
  readonly after?: Outcome
}

export type ToolCallResult<T> =
  | ToolRan<T>
  | ToolResponded
  | {
      readonly status: 'denied' | 'needs_approval'
      readonly result?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after?: undefined
    }

/** A begun call that has ended. */
export type FinishedTool<T> =
  | ToolRan<T>
  | (ToolResponded & { readonly after: Outcome })
  | {
      /** The tool failed, or the call was interrupted. */
      readonly status: 'failed'
      readonly result?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after: Outcome
    }

/** A call that hooks have judged. Only a call that may run has an input. */
export type BegunTool<I extends object = Data> =
  | ToolRunning<I>
  | (Omit<ToolResponded, 'reason' | 'after'> & AsyncDisposable)
  | DeniedCall
  | OpenCall<BegunTool<I>>

/** Make the call now, then end it. If you dispose of it or close the session instead, it is an interrupted failure. */
interface ToolRunning<I extends object> extends AsyncDisposable {
  readonly status: 'run'
  /** As hooks left it; only with `renames` can it be another tool. */
  readonly name: string
  readonly input: JudgedInput<I>
  readonly outcome: Outcome
  /**
   * Fires PostToolUse. The first of finish and fail counts, and every later one gets its result. Rejects with TURN_ABORTED or
   * AGENT_ABORTED if a hook ends the turn or the agent.
   */
  finish<T>(result: T): Promise<FinishedTool<T>>
  /** Fires PostToolUseFailure. It does not throw the error that it is given. */
  fail(error: unknown): Promise<FinishedTool<unknown>>
}

const OPTIONS: Checks<CallOptions> = { ...CALL_OPTIONS, renames: isFlag }

/** The first half. `what` names the caller in errors. */
export async function beginToolCall<C extends ToolCall>(
  session: CallSession,
  what: string,
  call: C,
  options: CallOptions,
): Promise<BegunTool<C['input']>> {
  checkCall(what, call)
  checkOptions(what, options, OPTIONS)
  const { signal, timeout, approver, onOutcome } = options
  const { name, input, id } = call
  const given = viewed(input)
  const seenInput = given ? given.view : input
  const base = {
    ...call.fields,
    tool_name: name,
    tool_input: seenInput,
    ...(id !== undefined && { tool_use_id: id }),
  }
  const begin = async ({ outcome, open }: FireResult): Promise<BegunTool<C['input']>> => {
    await onOutcome?.('PreToolUse', outcome)
    refuseAborted(outcome)
    if (outcome.action === 'respond')
      return { status: 'responded', result: outcome.response ?? null, outcome, ...UNBEGUN }
    if (open) return asked(open, { outcome }, begin)
    if (outcome.action !== 'continue') return denied(outcome)
    const judged = {
      ...base,
      tool_name: String(outcome.data.tool_name),
      tool_input: frozenCopy(outcome.data.tool_input, 'tool_input') as Data,
    }
    if (given && hasChanged(given)) return denied(outcome, CHANGED)
    if (judged.tool_name !== name && !options.renames) return denied(outcome, renamed(name, judged.tool_name))
    const final = given ? restored(judged.tool_input, given) : judged.tool_input
    refuseStopped(signal)
    session.refuseClosed()
    return {
      status: 'run',
      name: judged.tool_name,
      input: final as JudgedInput<C['input']>,
      outcome,
      ...(endings(session.track, toolEnd(session, options, judged, outcome)) as Ends),
    }
  }
  return begin(await session.fire('PreToolUse', base, { signal, timeout, approver }))
}

type Ends = Pick<ToolRunning<Data>, 'finish' | 'fail' | typeof Symbol.asyncDispose>

/** How a tool ended. */
type Ending = { readonly result: unknown } | { readonly error: string }

/** A call whose PreToolUse no hook heard. */
export interface UnheardTool extends ToolRunning<Data> {
  /** Ends the call at once if no hook hears that either. False: call `finish` or `fail`. */
  endUnheard(how: Ending): boolean
}

/** The first half for a call of plain data that nothing changes afterwards. Undefined if a hook hears it. */
export function beginUnheardCall(
  session: CallSession,
  call: ToolCall,
  options: CallOptions,
): UnheardTool | undefined {
  const { name, input, id, fields } = call
  const judged: ToolData & { tool_use_id?: string } = { ...fields, tool_name: name, tool_input: input }
  if (id !== undefined) judged.tool_use_id = id
  return session.pass('PreToolUse', judged) ? new UnheardCall(session, options, judged) : undefined
}

/** There are many of them, so most of it is only made if a hook hears the end. */
class UnheardCall implements UnheardTool {
  readonly status = 'run'
  readonly name: string
  readonly input: Data
  readonly #session: CallSession
  readonly #options: CallOptions
  readonly #judged: ToolData
  readonly #startedAt = performance.now()
  readonly #forget: (() => void) | undefined
  /** How it ended, if no hook heard that. */
  #ended: Ending | undefined
  #ends: Ends | undefined
  #interruptEnds: Interrupt | undefined

  constructor(session: CallSession, options: CallOptions, judged: ToolData) {
    this.#session = session
    this.#options = options
    this.#judged = judged
    this.name = judged.tool_name
    this.input = judged.tool_input as Data
    this.#forget = session.track?.((why) => this.#interrupt(why))
  }

  get outcome(): Outcome {
    return quietOutcome(this.#judged)
  }

  endUnheard(how: Ending): boolean {
    if (this.#ended || this.#ends) return false
    if (!this.#session.pass('error' in how ? 'PostToolUseFailure' : 'PostToolUse', this.#judged)) return false
    this.#ended = how
    this.#forget?.()
    return true
  }

  async finish<T>(result: T): Promise<FinishedTool<T>> {
    return this.#ended ? this.#finished(this.#ended) : this.#heard().finish(result)
  }

  async fail(error: unknown): Promise<FinishedTool<unknown>> {
    return this.#ended ? this.#finished(this.#ended) : this.#heard().fail(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) await this.#heard()[Symbol.asyncDispose]()
  }

  #finished<T>(how: Ending): FinishedTool<T> {
    const { outcome } = this
    if ('error' in how) return { status: 'failed', reason: how.error, outcome, after: outcome }
    return { status: 'ok', result: how.result as T, outcome, after: outcome }
  }

  async #interrupt(why: string): Promise<void> {
    if (this.#ended) return
    this.#heard()
    await this.#interruptEnds?.(why)
  }

  #heard(): Ends {
    if (this.#ends) return this.#ends
    const end = toolEnd(this.#session, this.#options, this.#judged, this.outcome, this.#startedAt)
    const track = (interrupt: Interrupt) => {
      this.#interruptEnds = interrupt
      return () => this.#forget?.()
    }
    this.#ends = endings(track, end) as Ends
    return this.#ends
  }
}

/** The second half: what hooks see of a call that ran. */
function toolEnd(
  session: CallSession,
  options: CallOptions,
  judged: ToolData,
  outcome: Outcome,
  startedAt = performance.now(),
) {
  const { timeout, onOutcome } = options
  const fire = async (event: string, fields: object, until: AbortSignal | undefined): Promise<FireResult> => {
    const data = { ...judged, ...fields, duration_ms: Math.round(performance.now() - startedAt) }
    return session.fire(event, data, { signal: until, timeout })
  }
  // Hooks must see what a tool did, even if a signal stopped the tool.
  const unaborted = () => (options.signal?.aborted ? undefined : options.signal)
  return {
    refuses: refusesPromise,
    async finish(result: unknown): Promise<FinishedTool<unknown>> {
      const [seen, problem] = asJson(result)
      const fired = await fire('PostToolUse', { tool_response: seen }, unaborted())
      const after = withDiagnostic(fired.outcome, problem)
      await onOutcome?.('PostToolUse', after)
      refuseAborted(after)
      if (!fired.changed.has('tool_response')) return { status: 'ok', result, outcome, after }
      const replaced = after.data.tool_response as Json
      const status = hasFormOf(replaced, result) ? 'ok' : 'responded'
      return { status, result: replaced, outcome, after }
    },
    async fail(thrown: unknown, isInterrupted: boolean): Promise<FinishedTool<unknown>> {
      const error = textOf(thrown)
      const is_interrupt = isInterrupted || (options.signal?.aborted ?? false)
      const until = isInterrupted ? session.ending : unaborted()
      const { outcome: after } = await fire('PostToolUseFailure', { error, is_interrupt }, until)
      await onOutcome?.('PostToolUseFailure', after)
      refuseAborted(after)
      return { status: 'failed', reason: error, outcome, after }
    },
  }
}

/** Both halves, with the tool between them. */
export async function guardToolCall<T, C extends ToolCall>(
  session: CallSession,
  call: C,
  run: RunTool<T, C['input']>,
  options: CallOptions,
): Promise<ToolCallResult<T>> {
  checkArgument('callTool: run', run, isFunction)
  const id = call?.id
  const begun = await beginToolCall(session, 'callTool', call, options)
  const { status, outcome } = begun
  if (status === 'responded') return { status, result: begun.result, outcome }
  if (status !== 'run') return { status, reason: begun.reason, outcome }
  const { signal } = options
  let result: T
  try {
    const running = (async () => run(begun.input, { name: begun.name, id, signal }))()
    result = await unlessAborted(running, signal, ABORT_GRACE_MS)
  } catch (error) {
    await begun.fail(error)
    throw error
  }
  // Nothing else ends this call, so it has not failed.
  return begun.finish(result) as Promise<ToolCallResult<T>>
}

function renamed(from: string, to: string): string {
  return `A hook renamed ${from} to ${to}, but the host does not run renamed calls (option renames)`
}

/** Values of the call are not quoted, because a model may have written them. */
function checkCall(what: string, call: ToolCall): void {
  const wrong = !isObject(call)
    ? `the call must be { name, input, id? }, got ${described(call)}`
    : typeof call.name !== 'string'
      ? `name must be a string, got ${described(call.name)}`
      : !isObject(call.input)
        ? `input must be an object, got ${described(call.input)}`
        : call.id !== undefined && typeof call.id !== 'string'
          ? `id must be a string, got ${described(call.id)}`
          : call.fields !== undefined && !isObject(call.fields)
            ? `fields must be an object, got ${described(call.fields)}`
            : undefined
  if (wrong !== undefined) throw new HookError('PAYLOAD_INVALID', `${what}: ${wrong}`)
}
