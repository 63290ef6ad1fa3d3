// JSON-RPC 2.0 messages, one a line: their kinds, the reading of a line, the writing of each kind, the error codes.

import type { Json } from '../core/base/json.js'
import { shown } from '../core/base/text.js'

export type RpcId = number | string

/** The codes of error replies that the protocol names, and the first of those it leaves to us. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const

export type Message =
  | {
      readonly type: 'request'
      readonly id: RpcId
      readonly method: string
      readonly params: Json | undefined
    }
  | { readonly type: 'notification'; readonly method: string; readonly params: Json | undefined }
  | { readonly type: 'result'; readonly id: unknown; readonly result: Json }
  | { readonly type: 'error'; readonly id: unknown; readonly error: Json }
  /** `replyTo`: the id of what would have been a reply, so that nobody waits for a better one. */
  | { readonly type: 'malformed'; readonly why: string; readonly replyTo?: unknown }

type Fields = { readonly [key: string]: Json | undefined }

const OPENING_BRACE = 0x7b

/** Undefined for an empty line. Never throws. Invalid UTF-8 was replaced by U+FFFD before, which only a text can hold. */
export function readMessage(line: string): Message | undefined {
  // A byte order mark, which some programs begin with, is white space to trim().
  const text = line.charCodeAt(0) === OPENING_BRACE ? line : line.trim()
  if (text === '') return undefined
  // A log is known by its first character: an error of the parser costs ten times as much as a message.
  if (text.charCodeAt(0) !== OPENING_BRACE) return { type: 'malformed', why: noObject(text) }
  try {
    return messageOf(JSON.parse(text) as Fields)
  } catch {
    return { type: 'malformed', why: 'it is not JSON' }
  }
}

function noObject(text: string): string {
  return text.startsWith('[{') ? 'it is a list, and batches are not supported' : 'it is not a JSON object'
}

/** JSON knows no undefined: a field that is undefined is not there. A missing `jsonrpc` is forgiven, a wrong one is not. */
function messageOf(fields: Fields): Message {
  const { jsonrpc, id, method, params } = fields
  if (jsonrpc !== undefined && jsonrpc !== '2.0') {
    const why = `its jsonrpc is ${shown(jsonrpc)} instead of "2.0"`
    return { type: 'malformed', why, ...(method === undefined && { replyTo: id }) }
  }
  if (method === undefined) return replyOf(fields)
  if (typeof method !== 'string')
    return { type: 'malformed', why: `its method is ${shown(method)}, not a text` }
  if (fields.result !== undefined || fields.error !== undefined) {
    return { type: 'malformed', why: 'it has a method and a result or error: neither a request nor a reply' }
  }
  // A null id is how JSON-RPC 1.0 marks a notification.
  if (id === undefined || id === null) return { type: 'notification', method, params }
  if (typeof id === 'number' || typeof id === 'string') return { type: 'request', id, method, params }
  return { type: 'malformed', why: `its id is ${shown(id)}, neither a number nor a text` }
}

/** Many programs send both fields, with null in the one that does not count. */
function replyOf({ id, result, error }: Fields): Message {
  const failed = error !== undefined && error !== null
  if (failed && result !== undefined && result !== null) {
    return { type: 'malformed', why: 'it has both a result and an error', replyTo: id }
  }
  if (failed) return { type: 'error', id, error }
  if (result !== undefined) return { type: 'result', id, result }
  return { type: 'malformed', why: 'it has no method, no result and no error', replyTo: id }
}

/** The number of the call that a reply is about. Some languages send numbers back as texts. Our ids begin at 1. */
export function callNumber(id: unknown): number | undefined {
  const number = typeof id === 'string' && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : id
  return typeof number === 'number' && number >= 1 && Number.isSafeInteger(number) ? number : undefined
}

/** Throws what JSON.stringify throws, for params that JSON cannot carry. */
export function requestLine(id: number, method: string, params: Json): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`
}

/** Throws as requestLine does. */
export function notificationLine(method: string, params: Json): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`
}

/** Throws for a result that JSON cannot carry; nothing (undefined, a function) is null. */
export function resultLine(id: RpcId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? 'null'}}\n`
}

/** Throws for data that JSON cannot carry. */
export function errorLine(
  id: RpcId,
  error: { readonly code: number; readonly message: string; readonly data?: Json | undefined },
): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}\n`
}
