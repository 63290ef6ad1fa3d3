// RpcError: why a call has no result; and the errors that go out as replies.

import type { Json } from '../core/base/json.js'
import { boundedText } from './problem.js'

/**
 * timeout: no reply in time. aborted: the signal of the call. closed: the other side is gone, or close() was called.
 * overloaded: not sent, since the other side does not read and too much waits for it. remote: an error reply.
 * malformed: a reply that is none.
 */
export type RpcErrorKind = 'timeout' | 'aborted' | 'closed' | 'overloaded' | 'remote' | 'malformed'

export interface RpcErrorDetails {
  readonly code?: number | undefined
  readonly data?: Json | undefined
  readonly cause?: unknown
}

/** Thrown by onRequest, its code, message and data are the error reply. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly kind: RpcErrorKind
  /** Of an error reply, if it had one that is a number. */
  readonly code?: number
  readonly data?: Json

  constructor(kind: RpcErrorKind, message: string, { code, data, cause }: RpcErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    if (code !== undefined) this.code = code
    if (data !== undefined) this.data = data
  }
}

/** The longest text of a stranger's error that is kept, in bytes. */
const LONGEST_MESSAGE = 2000

/** What an error reply says. Many programs send a bare text, or forget the code: that is no reason to lose what they say. */
export function remoteError(error: Json): RpcError {
  if (typeof error !== 'object' || error === null || Array.isArray(error)) {
    return new RpcError('remote', textOf(error))
  }
  const { code, message, data } = error as { readonly [key: string]: Json | undefined }
  return new RpcError('remote', textOf(message ?? error), {
    code: typeof code === 'number' ? code : undefined,
    data,
  })
}

function textOf(message: Json): string {
  const text = boundedText(typeof message === 'string' ? message : JSON.stringify(message), LONGEST_MESSAGE)
  return text.trim() === '' ? 'an error without a message' : text
}
