// Lines of JSON-RPC. A line is only read as a message if no other program can read another message in it.

import { isObject, type Json, shapeOf } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import {
  type Fields,
  type Message,
  messageOf,
  RPC_CODES,
  type RpcId,
  readMessage,
} from '../../rpc/message.js'
import type { Judges, RpcFailure, RpcReply } from './judge.js'
import { mistakenInMessage, mistakenInParams } from './protocol-keys.js'

export type SideName = 'client' | 'server'

/** Far more than any message needs, and far less than would overflow a stack. */
const DEEPEST = 500

/** The side that wrote a line. */
export interface Sender {
  readonly name: SideName
  readonly judges: Judges
}

interface Read {
  /** What may be passed on. */
  readonly line: string
  readonly message: Message | undefined
  /** Whether an object in the line has a key twice. */
  readonly hasTwins: boolean
}

/** The message in a line, unless the other side may read another one in it than we judge. */
export function readLine(text: string, from: Sender): Read {
  // What is before an object hides nothing of it.
  const line = (text.includes('\r') ? withoutReturns(text) : text).trim()
  let fields: Fields
  try {
    if (!line.startsWith('{')) return { line, message: readMessage(line), hasTwins: false }
    fields = JSON.parse(line) as Fields
  } catch {
    return { line, message: readMessage(line), hasTwins: false }
  }
  const shape = shapeOf(line, DEEPEST)
  return { line, message: unequivocal(fields, shape, from), hasTwins: shape.repeated !== undefined }
}

function unequivocal(
  fields: Fields,
  { isTooDeep, repeated }: ReturnType<typeof shapeOf>,
  from: Sender,
): Message {
  const message = messageOf(fields)
  if (message.type === 'malformed') return message
  if ('method' in message) {
    const why = isTooDeep ? TOO_DEEP : problemOf(message, fields, { repeated, from })
    const id = 'id' in message ? message.id : undefined
    return why === undefined ? message : { type: 'malformed', why, id }
  }
  const why = isTooDeep ? TOO_DEEP : mistakenInMessage(fields)
  return why === undefined ? message : { type: 'malformed', why, replyTo: message.id }
}

const TOO_DEEP = `it is nested more than ${DEEPEST} levels deep`

function problemOf(
  { type, method, params }: Extract<Message, { type: 'request' | 'notification' }>,
  fields: Fields,
  { repeated, from }: { readonly repeated: string | undefined; readonly from: Sender },
): string | undefined {
  if (repeated !== undefined) return `an object in it has the key ${shown(repeated)} twice`
  if (typeof fields.id === 'number' && !isExact(fields.id)) return 'its id is too large a number'
  const isNews = type === 'notification' && from.name === 'server'
  const mistaken = mistakenInMessage(fields) ?? (isNews ? undefined : mistakenInParams(params))
  if (mistaken !== undefined) return mistaken
  if (Object.hasOwn(fields, 'result') || Object.hasOwn(fields, 'error'))
    return 'some programs take it for a reply'
  // Some servers would carry it out, and nobody would have judged it.
  const needsId = isNews ? Object.hasOwn(from.judges, method) : !method.startsWith('notifications/')
  if (type === 'notification' && needsId) return `${shown(method)} needs an id`
  return undefined
}

/** Some programs end a line at a carriage return, and would read a part of the message as another one. */
function withoutReturns(text: string): string {
  const line = text.replace(/\r$/, '')
  return line.includes('\r') ? line.replaceAll('\r', ' ') : line
}

/** One revision of the protocol has batches. */
export function batchIn(line: string): readonly unknown[] | undefined {
  if (!/^\s*\[\s*\{/.test(line) || shapeOf(line, DEEPEST).isTooDeep) return undefined
  try {
    return JSON.parse(line) as unknown[]
  } catch {
    return undefined
  }
}

/** Whether every program reads the same error. Some take a text of digits for the code. */
export function isPlainError(error: Json): boolean {
  return isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
}

export function failureOf(error: Json): RpcFailure {
  const { code, message, data } = isObject(error) ? error : ({ message: error } as Record<string, Json>)
  return {
    code: typeof code === 'number' ? code : RPC_CODES.serverError,
    message: typeof message === 'string' ? message : JSON.stringify(error),
    ...(data !== undefined && { data: data as Json }),
  }
}

// ---- writing --------------------------------------------------------------------------------------------------

/** `request`: the line of the request, if its id may be one that a number cannot keep. */
export function replyLine(id: RpcId | null, reply: RpcReply, request?: string): string {
  if (reply.line !== undefined) return reply.line
  const how =
    'result' in reply ? `"result":${JSON.stringify(reply.result)}` : `"error":${JSON.stringify(reply.error)}`
  return `{"jsonrpc":"2.0","id":${idText(id, request)},${how}}`
}

/** As the sender wrote it, so that it finds its request again. */
function idText(id: RpcId | null, request = ''): string {
  if (typeof id !== 'number' || isExact(id)) return JSON.stringify(id)
  const written = [...request.matchAll(/"id"\s*:\s*(-?\d[\d.eE+-]*)/g)].map(([, text]) => text as string)
  return written.find((text) => Object.is(Number(text), id)) ?? 'null'
}

/** Above this, several numbers of the text are one number here. */
function isExact(id: number): boolean {
  return Math.abs(id) <= Number.MAX_SAFE_INTEGER
}

export function requestLine(id: RpcId, method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

export function notificationLine(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
