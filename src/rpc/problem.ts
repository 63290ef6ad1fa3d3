// Problems with messages from the other side, reported in limited number and length, and the errors of calls.

import type { Json } from '../core/base/json.js'
import { byteLength, cutText, plainText } from '../core/base/text.js'

/**
 * malformed: a line that is not a message. too-long: a line that was skipped. late: a reply to a call that was given up.
 * doubled: a second reply. unknown-id: a reply without a call. request, notification: one without a handler, or whose
 * handler failed. unread: an answer that was dropped, because the other side does not read.
 */
type RpcProblemKind =
  | 'malformed'
  | 'too-long'
  | 'late'
  | 'doubled'
  | 'unknown-id'
  | 'request'
  | 'notification'
  | 'unread'

export interface RpcProblem {
  readonly kind: RpcProblemKind
  /** Short, without control characters. */
  readonly text: string
}

const LONGEST_TEXT = 500
/** This many problems of a kind are reported one by one. Then the tenth, the hundredth and so on, and the total at the end. */
const ONE_BY_ONE = 5

interface Tally {
  count: number
  told: number
  next: number
}

export class Problems {
  readonly #tell: ((problem: RpcProblem) => void) | undefined
  readonly #tallies = new Map<RpcProblemKind, Tally>()

  constructor(tell: ((problem: RpcProblem) => void) | undefined) {
    this.#tell = tell
  }

  /** Calls `text` only if the problem is reported. */
  add(kind: RpcProblemKind, text: () => string): void {
    const tally = this.#tallies.get(kind) ?? { count: 0, told: 0, next: 10 }
    this.#tallies.set(kind, tally)
    tally.count++
    if (tally.count <= ONE_BY_ONE) this.#say(kind, tally, text())
    if (tally.count < tally.next) return
    tally.next *= 10
    this.#say(kind, tally, `${text()} (${tally.count} like this so far)`)
  }

  /** Reports the number of problems of each kind that were not reported one by one. */
  end(): void {
    for (const [kind, tally] of this.#tallies) {
      if (tally.count > tally.told)
        this.#say(kind, tally, `${tally.count} problems of the kind "${kind}" in total`)
    }
  }

  #say(kind: RpcProblemKind, tally: Tally, text: string): void {
    tally.told = tally.count
    this.#tell?.({ kind, text: boundedText(text, LONGEST_TEXT) })
  }
}

/** One line of third-party text, at most `limit` bytes. Only the part that could be shown is processed. */
export function boundedText(text: string, limit: number): string {
  const beginning = plainText(text.slice(0, limit * 2)).replace(/\s+/g, ' ')
  return beginning.length < limit / 4 || byteLength(beginning) <= limit
    ? beginning
    : cutText(beginning, limit, '…')
}

// ---- errors of calls ------------------------------------------------------------------------------------------

/**
 * timeout: no reply in time. aborted: the signal of the call. closed: the other side is gone, or close() was called.
 * overloaded: not sent, because the other side does not read and too much data is waiting. remote: an error reply.
 * malformed: an invalid reply.
 */
export type RpcErrorKind = 'timeout' | 'aborted' | 'closed' | 'overloaded' | 'remote' | 'malformed'

interface RpcErrorDetails {
  readonly code?: number | undefined
  readonly data?: Json | undefined
  readonly cause?: unknown
}

/** If onRequest throws it, its code, message and data are the error reply. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly kind: RpcErrorKind
  /** The code of an error reply, if it is a number. */
  readonly code?: number
  readonly data?: Json

  constructor(kind: RpcErrorKind, message: string, { code, data, cause }: RpcErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    if (code !== undefined) this.code = code
    if (data !== undefined) this.data = data
  }
}

/** The longest text of the other side's error that is kept, in bytes. */
const LONGEST_MESSAGE = 2000

/** Reads an error reply. Many programs send a bare string or omit the code. Whatever they send is kept. */
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
  const text = boundedText(typeof message === 'string' ? message : written(message), LONGEST_MESSAGE)
  return text.trim() === '' ? 'an error without a message' : text
}

function written(message: Json): string {
  try {
    return JSON.stringify(message)
  } catch {
    return 'an error that is nested too deeply to be shown'
  }
}
