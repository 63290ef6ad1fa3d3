// Reads the params of a request by the table of the protocol, and turns every error into a reply that names its code.

import { type ErrorCode, HookError, isHookError, textOf } from '../../core/base/errors.js'
import { inexactNumber } from '../../core/base/exact-numbers.js'
import { isObject, type Json } from '../../core/base/json.js'
import { didYouMean } from '../../core/base/text.js'
import { described, resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { RPC_CODES } from '../../rpc/message.js'
import { RpcError } from '../../rpc/problem.js'
import { type Fields, fieldType, isMethod, METHODS, type Method, type ParamsOf } from './protocol.js'
import type { ToldOutcome } from './structures.js'

/** Throws METHOD_UNKNOWN. */
export function methodOf(name: string): Method {
  if (isMethod(name)) return name
  const meant = didYouMean(name, Object.keys(METHODS))
  throw new HookError('METHOD_UNKNOWN', `There is no method ${JSON.stringify(name.slice(0, 100))}${meant}`)
}

/** Throws OPTIONS_INVALID, and names the field. Quotes no value, because a model may have written it. */
export function paramsOf<M extends Method>(method: M, given: Json | undefined): ParamsOf<M> {
  const fields: Fields = METHODS[method].params
  const params = given ?? {}
  if (!isObject(params))
    throw refused(method, undefined, `the params must be an object, got ${described(given)}`)
  for (const key of Object.keys(params)) {
    if (Object.hasOwn(fields, key)) continue
    throw refused(
      method,
      key,
      `there is no field ${key.slice(0, 100)}${didYouMean(key, Object.keys(fields))}`,
    )
  }
  for (const [key, { of, optional }] of Object.entries(fields)) {
    const value = params[key]
    if (value === undefined) {
      if (!optional) throw refused(method, key, `the field ${key} is missing`)
      continue
    }
    const [accepts, wanted] = fieldType(of)?.check ?? [() => true, '']
    if (!accepts(value)) throw refused(method, key, `${key} must be ${wanted}, got ${described(value)}`)
  }
  return params as ParamsOf<M>
}

function refused(method: Method, field: string | undefined, what: string): RpcError {
  return replyOf(new HookError('OPTIONS_INVALID', `${method}: ${what}`), field === undefined ? {} : { field })
}

/** Methods whose params hooks judge. */
const JUDGED: ReadonlySet<Method> = new Set<Method>([
  'tool.begin',
  'tool.answer',
  'model.begin',
  'model.answer',
])

/** Hooks would judge another number than the host has. */
export function checkExact<M extends Method>(method: M, params: ParamsOf<M>, line: string): void {
  const isGate =
    method === 'session.fire' && resolveEvent((params as ParamsOf<'session.fire'>).event).deny === 'block'
  const path = isGate || JUDGED.has(method) ? inexactNumber(line) : undefined
  if (path === undefined) return
  const text = `${method}: ${path.replace(/^params\./, '')} is a number that cannot be kept exactly: hooks would judge a different number than the tool gets`
  throw new HookError('PAYLOAD_INVALID', text, { hint: 'Send it as a string, or with fewer digits.' })
}

/** An answer about a call does not repeat the call. */
export function withoutData({ data: _, ...outcome }: Outcome): ToldOutcome {
  return outcome
}

// ---- errors ---------------------------------------------------------------------------------------------------

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  OPTIONS_INVALID: RPC_CODES.invalidParams,
  PAYLOAD_INVALID: RPC_CODES.invalidParams,
  EVENT_INVALID: RPC_CODES.invalidParams,
  METHOD_UNKNOWN: RPC_CODES.methodNotFound,
  HELLO_MISPLACED: RPC_CODES.invalidRequest,
  VERSION_UNSUPPORTED: RPC_CODES.invalidParams,
}

/** Every error reply has `data.code`. Nothing that fails is ever answered with a status. */
export function replyOf(error: unknown, more: { readonly [key: string]: Json } = {}): RpcError {
  if (error instanceof RpcError) return error
  if (isHookError(error)) {
    const { code, message, hint, outcome } = error
    const told = isOutcome(outcome) ? { outcome: withoutData(outcome) } : {}
    const data = { code, hint, ...told, ...more } as unknown as Json
    return new RpcError('remote', message, { code: CODES[code] ?? RPC_CODES.serverError, data })
  }
  const { code, hint } = error as { readonly code?: unknown; readonly hint?: unknown }
  if (typeof code === 'string') {
    const data = { code, ...(typeof hint === 'string' && { hint }), ...more }
    return new RpcError('remote', textOf(error), { code: RPC_CODES.serverError, data })
  }
  const text = `This is a bug in carabiner: ${textOf(error)}`
  return new RpcError('remote', text, { code: RPC_CODES.internalError, data: { code: 'INTERNAL' } })
}

function isOutcome(value: unknown): value is Outcome {
  return isObject(value) && typeof value.action === 'string'
}
