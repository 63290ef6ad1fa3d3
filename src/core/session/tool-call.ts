// A tool call between its hooks: PreToolUse, the tool, PostToolUse or PostToolUseFailure.

import { isWhole } from '../base/content.js'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { type Data, frozenCopy, hasFormOf, isObject, type Json } from '../base/json.js'
import { hasChanged, restored, shownAnyway, viewed } from '../base/json-view.js'
import {
  type Checks,
  checkArgument,
  checkOptions,
  isFlag,
  isFunction,
  isSeconds,
  isSignal,
} from '../base/options.js'
import { unlessAborted } from '../base/promise.js'
import { actionRow } from '../events/actions.js'
import { described } from '../events/events.js'
import type { Outcome } from '../hooks/outcome.js'
import { isApprover } from './embedder.js'
import type { FireOptions, FireResult } from './fire.js'

export interface ToolCall {
  readonly name: string
  readonly input: object
  /** The model's id of the call. */
  readonly id?: string
}

/**
 * Gets the input and name as hooks left them. The input is the frozen copy that hooks judged. A Date, a Map or an object
 * of a class in it is the caller's own, unless a hook changed it. It has the type of the call's input: a hook that rewrites
 * the input is trusted to keep its form.
 */
export type RunTool<T, I extends object = Data> = (
  input: object extends I ? Data : I,
  call: { readonly name: string; readonly id: string | undefined; readonly signal: AbortSignal | undefined },
) => T | Promise<T>

export interface CallOptions extends Omit<FireOptions, 'custom'> {
  /** Set this if `run` looks at `call.name` and can run the tool that a hook chose instead. Otherwise a renamed call is denied. */
  readonly renames?: boolean
  /** Gets the outcome of every event that the call fires, also before the tool's own error is rethrown. Awaited; an error that it throws ends the call. */
  readonly onOutcome?: (event: string, outcome: Outcome) => unknown
}

/** `outcome` belongs to PreToolUse, `after` to PostToolUse. */
export type ToolCallResult<T> =
  | {
      /** The tool ran. If a hook replaced its result, the new one has the same form: text for text, the same fields. */
      readonly status: 'ok'
      readonly result: T
      readonly reason?: undefined
      readonly outcome: Outcome
      readonly after: Outcome
    }
  | {
      /** A hook gave the result instead of the tool, or, if `after` is set, replaced the tool's result. */
      readonly status: 'responded'
      readonly result: Json
      readonly reason?: undefined
      readonly outcome: Outcome
      readonly after?: Outcome
    }
  | {
      readonly status: 'denied' | 'needs_approval'
      readonly result?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after?: undefined
    }

/** When the signal is aborted, the tool or model gets this long to end by itself. */
export const ABORT_GRACE_MS = 1000

export type Fire = (event: string, data: object, options: FireOptions) => Promise<FireResult>

/** callModel takes these as well. */
export const CALL_OPTIONS = {
  signal: isSignal,
  timeout: isSeconds,
  approver: isApprover,
  onOutcome: isFunction,
} as const

const OPTIONS: Checks<CallOptions> = { ...CALL_OPTIONS, renames: isFlag }

export async function guardToolCall<T, C extends ToolCall>(
  fire: Fire,
  call: C,
  run: RunTool<T, C['input']>,
  options: CallOptions,
): Promise<ToolCallResult<T>> {
  checkCall(call)
  checkArgument('callTool: run', run, isFunction)
  checkOptions('callTool', options, OPTIONS)
  const { signal, timeout, approver, onOutcome } = options
  const { name, input, id } = call
  const given = viewed(input)
  const seenInput = given ? given.view : input
  const base = { tool_name: name, tool_input: seenInput, ...(id !== undefined && { tool_use_id: id }) }
  const { outcome } = await fire('PreToolUse', base, { signal, timeout, approver })
  await onOutcome?.('PreToolUse', outcome)
  refuseAborted(outcome)
  if (outcome.action === 'respond') return { status: 'responded', result: outcome.response ?? null, outcome }
  if (outcome.action !== 'continue') {
    const status = outcome.action === 'ask_user' ? 'needs_approval' : 'denied'
    return { status, reason: outcome.reason ?? 'Denied by a hook', outcome }
  }
  const judged = {
    ...base,
    tool_name: String(outcome.data.tool_name),
    tool_input: frozenCopy(outcome.data.tool_input, 'tool_input') as Data,
  }
  if (given && hasChanged(given)) return { status: 'denied', reason: CHANGED, outcome }
  const final = given ? (restored(judged.tool_input, given) as Data) : judged.tool_input
  if (judged.tool_name !== name && !options.renames) {
    const reason = `A hook renamed ${name} to ${judged.tool_name}, but the host does not run renamed calls (callTool option renames)`
    return { status: 'denied', reason, outcome }
  }
  refuseStopped(signal)
  // Hooks must see what a tool did, even if a signal stopped the tool.
  const afterwards = () => (signal?.aborted ? { timeout } : { signal, timeout })
  const startedAt = performance.now()
  let result: T
  try {
    const running = (async () => run(final as never, { name: judged.tool_name, id, signal }))()
    result = await unlessAborted(running, signal, ABORT_GRACE_MS)
  } catch (error) {
    const failure = {
      ...judged,
      error: textOf(error),
      is_interrupt: signal?.aborted ?? false,
      duration_ms: since(startedAt),
    }
    const failed = await fire('PostToolUseFailure', failure, afterwards())
    await onOutcome?.('PostToolUseFailure', failed.outcome)
    refuseAborted(failed.outcome)
    throw error
  }
  const [seen, problem] = asJson(result)
  const done = { ...judged, tool_response: seen, duration_ms: since(startedAt) }
  const { outcome: fired, changed } = await fire('PostToolUse', done, afterwards())
  const after = withDiagnostic(fired, problem)
  await onOutcome?.('PostToolUse', after)
  refuseAborted(after)
  if (!changed.has('tool_response')) return { status: 'ok', result, outcome, after }
  const replaced = after.data.tool_response as Json
  if (!hasFormOf(replaced, result)) return { status: 'responded', result: replaced, outcome, after }
  return { status: 'ok', result: replaced as T, outcome, after }
}

/** Values of the call are not quoted, because a model may have written them. */
function checkCall(call: ToolCall): void {
  const wrong = !isObject(call)
    ? `the call must be { name, input, id? }, got ${described(call)}`
    : typeof call.name !== 'string'
      ? `name must be a string, got ${described(call.name)}`
      : !isObject(call.input)
        ? `input must be an object, got ${described(call.input)}`
        : call.id !== undefined && typeof call.id !== 'string'
          ? `id must be a string, got ${described(call.id)}`
          : undefined
  if (wrong !== undefined) throw new HookError('PAYLOAD_INVALID', `callTool: ${wrong}`)
}

/** The tool would get something other than what hooks judged. */
export const CHANGED =
  'A value in the call changed while hooks were judging it, so they judged something else; pass plain data, or make the call again'

/** A hook ended the turn or the agent. */
export function refuseAborted(outcome: Outcome): void {
  const { aborts } = actionRow(outcome.action)
  if (aborts) throw new HookError(aborts, outcome.reason ?? 'A hook ended it', { outcome })
}

/** Nothing is called after the signal is aborted, even if hooks had allowed it. */
export function refuseStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new HookError('ABORTED', 'The call was aborted', { cause: signal.reason })
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

export function withDiagnostic(outcome: Outcome, problem: Diagnostic | undefined): Outcome {
  return problem ? { ...outcome, diagnostics: [...outcome.diagnostics, problem] } : outcome
}

/** A tool or model may return anything; hooks see its content. */
export function asJson(result: unknown): [Json, Diagnostic | undefined] {
  const seen = shownAnyway(result)
  if (isWhole(seen)) return [seen, undefined]
  const text = 'hooks did not see the whole result: a part of it cannot be shown; return plain data'
  return [seen, { code: 'result-not-json', text }]
}
