// Responses as hooks see them, `{ role, content, tool_calls? }`, and the parts of an SDK's response that hooks changed.

import { isDeepStrictEqual } from 'node:util'
import {
  type Data,
  HookError,
  type Json,
  type ModelCallResult,
  type RenderedInjection,
  type Session,
} from '../core/index.js'
import { refused } from './begun-calls.js'

/** A tool call as hooks see it, with an object as its input in every SDK. */
export interface SaidCall {
  readonly id: string | undefined
  readonly name: string
  readonly input: Data
}

/** How hooks see the parts of an SDK's response. A part that is neither text nor a call stays unseen. */
export interface PartForm<P> {
  readonly textOf: (part: P) => string | undefined
  readonly callOf: (part: P) => SaidCall | undefined
  /** `was` is the part that hooks changed. */
  readonly text: (text: string, was: P | undefined) => P
  readonly call: (call: SaidCall, was: P | undefined) => P
}

/** A response as hooks see it. */
export function messageOf<P>(parts: readonly P[], { textOf, callOf }: PartForm<P>) {
  const texts = parts.map((part) => textOf(part) ?? '')
  const calls = parts.flatMap((part) => callOf(part) ?? [])
  const tool_calls = calls.map(({ id = null, name, input }) => ({ id, name, input }))
  return { role: 'assistant', content: texts.join(''), ...(calls.length > 0 && { tool_calls }) }
}

/**
 * The parts of a response that a hook gave or changed. Parts that hooks do not see stay, and so do those that hooks did not
 * change: providers refuse a conversation that lacks their reasoning and its signatures.
 */
export function partsOf<P>(response: Json, form: PartForm<P>, made: readonly P[] = []): P[] {
  const { text, calls } = saidIn(response)
  const isSameText = text === made.map((part) => form.textOf(part) ?? '').join('')
  const left = [...calls]
  let isTextSaid = isSameText || text === ''
  const parts = made.flatMap((part) => {
    if (form.textOf(part) !== undefined) {
      if (isSameText) return part
      if (isTextSaid) return []
      isTextSaid = true
      return form.text(text, part)
    }
    const was = form.callOf(part)
    if (!was) return part
    const at = left.findIndex(({ id, name }) => (was.id === undefined ? name === was.name : id === was.id))
    const [call] = at < 0 ? [] : left.splice(at, 1)
    if (!call) return []
    return call.name === was.name && isDeepStrictEqual(call.input, was.input) ? part : form.call(call, part)
  })
  if (!isTextSaid) {
    const firstCall = parts.findIndex((part) => form.callOf(part))
    parts.splice(firstCall < 0 ? parts.length : firstCall, 0, form.text(text, undefined))
  }
  return [...parts, ...left.map((call) => form.call(call, undefined))]
}

interface Whole<R, M, P> {
  readonly call: (request: R) => PromiseLike<M>
  readonly partsIn: (made: M) => readonly P[]
  readonly form: PartForm<P>
  readonly signal?: AbortSignal | undefined
  readonly addInjections: (request: R, injections: readonly RenderedInjection[]) => R
}

/**
 * A model call that is not streamed. `made` is what the model gave, unless a hook answered in its place. There are `parts`
 * only if hooks gave or changed them.
 */
export async function judgedParts<R extends SeenRequest, M, P>(
  session: Session,
  request: R,
  { call, partsIn, form, ...options }: Whole<R, M, P>,
): Promise<{ readonly made: M; readonly parts?: undefined } | { readonly made?: M; readonly parts: P[] }> {
  let made: { readonly response: M } | undefined
  const run = async (judged: R) => {
    const response = await call(judged)
    made = { response }
    return messageOf(partsIn(response), form)
  }
  const called = await session.callModel(request, run, options)
  if (called.response === undefined) throw refused(called)
  if (!made) return { parts: partsOf(called.response as Json, form) }
  if (called.status === 'ok' && !called.after.modified) return { made: made.response }
  return { made: made.response, parts: partsOf(called.response as Json, form, partsIn(made.response)) }
}

interface SeenRequest {
  readonly model: string
  readonly messages: readonly object[]
}

/** What a response says that a hook gave or changed. It need not have the form of a message. */
export function saidIn(response: Json): { readonly text: string; readonly calls: readonly SaidCall[] } {
  const message = (typeof response === 'object' && response !== null ? response : {}) as {
    readonly content?: Json
    readonly tool_calls?: Json
  }
  const content = message.content ?? (message.tool_calls ? '' : response)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  return {
    text: asText(content),
    calls: calls.map((call) => {
      const { id, name, input } = (call ?? {}) as { id?: string | null; name?: Json; input?: Json }
      // What hooks judged is frozen, and SDKs write into their parts.
      return { id: id ?? undefined, name: String(name), input: structuredClone(inputOf(input)) }
    }),
  }
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The input of a call, which most SDKs have as JSON text. What is no object becomes `{ input }`. */
export function inputOf(given: unknown): Data {
  const value = typeof given === 'string' ? parsed(given) : (given ?? {})
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Data)
    : { input: value as Json }
}

/** Text that is no JSON stays text. */
export function parsed(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** For the end of a stream: a refused one just ends. */
export async function unlessRefused(result: Promise<ModelCallResult<unknown>>): Promise<void> {
  const called = await result
  if (called.response === undefined) throw refused(called)
}

/** For a stream that has shown what a hook then changed. */
export function changedLate(): HookError {
  const text = 'A hook changed the response after the changed part was shown'
  return new HookError('CALL_DENIED', text, {
    hint: 'Use `hold: "all"`, so that changes of hooks take effect.',
  })
}
