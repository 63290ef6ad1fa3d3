// Connection: calls, requests and notifications in both directions over two streams. It knows nothing of processes or
// hooks. Written by hand: libraries leave framing, limits and cancelling to us, and take twice as long for a round trip.

import type { Readable } from 'node:stream'
import { textOf } from '../core/base/errors.js'
import { type Json, shapeOf } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import {
  Answers,
  callNumber,
  idAtStart,
  type Message,
  notificationLine,
  type RequestHandler,
  RPC_CODES,
  type RpcId,
  readMessage,
  requestLine,
} from './message.js'
import { abortedError, PendingCall, PendingCalls, type RpcCallOptions } from './pending-calls.js'
import { Problems, RpcError, type RpcProblem, remoteError } from './problem.js'
import { LineReader } from './reader.js'
import { type LineOutput, LineWriter } from './writer.js'

export interface ConnectionOptions {
  readonly input: Readable
  readonly output: LineOutput
  /** The longest line that is read, in bytes. Default 1 MiB. A longer one is skipped and reported. */
  readonly maxLineBytes?: number
  /**
   * Handles requests of the other side. Absent: each is answered with -32601 and reported. A thrown RpcError becomes the error
   * reply. Anything else becomes -32000 with its message. May be async. Answers are sent in any order.
   */
  readonly onRequest?: RequestHandler
  /** Answers a line that is not a message with an error, as JSON-RPC asks of a server. Its sender may be waiting. */
  readonly answersMalformed?: boolean
  /** Absent: each notification is reported. Errors that it throws are reported too. */
  readonly onNotification?: (method: string, params: Json | undefined) => void
  /** Turns a result into what the caller gets. `line` is the whole message as it was written. If it throws, the call fails. */
  readonly readResult?: (result: Json, line: string) => Json
  /**
   * Finds replies in anything but a plain result: an error reply, a list of replies, a reply over several lines. Each ends
   * its call with its result. If it throws, every call that the text names by its id fails.
   */
  readonly repliesIn?: (text: string) => readonly { readonly id: unknown; readonly result: Json }[]
  /** Gets noise, over-long lines, late, unknown or duplicate replies and unhandled messages, limited in number and length. If it throws, the connection is closed. */
  readonly onProblem?: (problem: RpcProblem) => void
  /** The other side is gone (its output ended, a write failed) or close() was called. Called once, after every call has failed. Must not throw. */
  readonly onClose?: (reason: Error) => void
  /** Bytes that may wait for a slow reader before notifications are dropped. Default 1 MiB. */
  readonly maxQueuedBytes?: number
  /** Bytes that may wait before calls fail with 'overloaded' and answers are dropped. Default 64 MiB. */
  readonly maxPendingBytes?: number
}

const MIB = 1_048_576

export class Connection {
  readonly #options: ConnectionOptions
  readonly #calls = new PendingCalls()
  readonly #problems: Problems
  readonly #answers: Answers
  readonly #reader: LineReader
  readonly #writer: LineWriter
  readonly #maxLineBytes: number
  readonly #maxQueuedBytes: number
  readonly #maxPendingBytes: number
  #closedBy: Error | undefined
  /** The lines so far of an object or a list that spans several lines. */
  #pieces = ''

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#maxLineBytes = options.maxLineBytes ?? MIB
    this.#maxQueuedBytes = options.maxQueuedBytes ?? MIB
    this.#maxPendingBytes = options.maxPendingBytes ?? 64 * MIB
    const { onProblem } = options
    this.#problems = new Problems(onProblem && ((problem) => this.#orClose(() => onProblem(problem))))
    // Refusals that the other side does not read are not worth the memory.
    const mostAnswers = options.onRequest
      ? this.#maxPendingBytes
      : Math.min(this.#maxPendingBytes, this.#maxQueuedBytes)
    this.#answers = new Answers(options.onRequest, this.#problems, (line) => this.#send(line, mostAnswers))
    this.#writer = new LineWriter(options.output, (error) => this.close(error))
    this.#reader = new LineReader(options.input, this.#maxLineBytes, {
      line: (text) => this.#orClose(() => this.#receive(text)),
      tooLong: (beginning) => this.#orClose(() => this.#tooLong(beginning)),
      end: (error) => this.#otherSideGone(error ?? new Error('the other side closed its output')),
    })
  }

  get inFlight(): number {
    return this.#calls.size
  }

  get closed(): boolean {
    return this.#closedBy !== undefined
  }

  /**
   * Ids are 1, 2, 3, … Rejects with an RpcError, or with JSON.stringify's error if the params are not JSON. A reply that
   * arrives after the call was given up is dropped and reported.
   */
  call(method: string, params: Json, options: RpcCallOptions = {}): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy) throw closedError(this.#closedBy)
      if (options.signal?.aborted) throw abortedError(method, options.signal)
      const line = requestLine(this.#calls.nextId, method, params)
      const call = new PendingCall(this.#calls, method, resolve, reject)
      // First, because the other side of a stream in memory answers at once.
      this.#calls.add(call)
      try {
        call.begin(options)
        if (this.#send(line, this.#maxPendingBytes)) return
        this.#calls.take(call.id)?.fail(overloadedError(method))
      } catch (error) {
        this.#calls.take(call.id)?.fail(error as Error) // onStart threw.
      }
    })
  }

  /** Returns false if it was dropped: the other side does not read or is gone, or the params are not JSON. Never blocks or throws. */
  notify(method: string, params: Json): boolean {
    if (this.#closedBy) return false
    try {
      return this.#send(notificationLine(method, params), this.#maxQueuedBytes)
    } catch {
      return false // The return value tells the caller.
    }
  }

  /** Settles when every request is answered and everything is written, or when nothing can be written any more. */
  async finished(): Promise<void> {
    await this.#answers.given()
    await this.#writer.flushed()
  }

  /**
   * Fails every pending call with 'closed'. Idempotent. Does not touch processes. Ends the output stream once everything
   * that waits has been written.
   */
  close(reason: Error = new Error('the connection was closed')): void {
    try {
      this.#otherSideGone(reason)
    } finally {
      this.#writer.end()
      this.#answers.abandon()
    }
  }

  /** The other side may still read answers: the output stays open until close(). */
  #otherSideGone(reason: Error): void {
    if (this.#closedBy) return
    this.#closedBy = reason
    this.#reader.stop()
    this.#calls.failAll(closedError(reason))
    this.#problems.end()
    this.#options.onClose?.(reason)
  }

  /** An error here would end the process, or leave the rest of a chunk unread and its calls waiting. */
  #orClose(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.close(error as Error)
    }
  }

  #send(line: string, bound: number): boolean {
    const bytes = Buffer.byteLength(line)
    if (!this.#writer.hasRoom(bytes, bound)) return false
    this.#writer.write(line, bytes)
    return true
  }

  /** The sender believes that it has answered, so the call fails at once. */
  #tooLong(beginning: string): void {
    const text = `A line of more than ${this.#maxLineBytes} bytes was skipped; it begins with: ${beginning}`
    this.#problems.add('too-long', () => text)
    const isRequest = /"method"\s*:/.test(beginning)
    const id = idAtStart(beginning)
    if (isRequest || id === undefined) this.#refuse(RPC_CODES.invalidRequest, text, id)
    // The id of a request is the other side's.
    if (isRequest) return
    this.#take(id)?.fail(new RpcError('malformed', `The reply is longer than ${this.#maxLineBytes} bytes`))
  }

  #receive(line: string): void {
    const message = readMessage(line)
    switch (message?.type) {
      case 'result':
        this.#finish(this.#callOf(message.id), message.result, line)
        break
      case 'error':
        if (!this.#findReplies(line)) this.#callOf(message.id)?.fail(remoteError(message.error))
        break
      case 'request':
        this.#answers.to(message, line, shapeOf(line).repeated)
        break
      case 'notification':
        this.#onNotification(message.method, message.params)
        break
      case 'malformed':
        if (!this.#findReplies(this.#joined(line))) this.#onMalformed(line, message)
    }
  }

  /** A result that cannot be read fails its call, and no other. */
  #finish(call: PendingCall | undefined, result: Json, line: string): void {
    if (!call) return
    let read: Json
    try {
      read = this.#options.readResult?.(result, line) ?? result
    } catch (error) {
      call.fail(unreadable(error))
      return
    }
    call.succeed(read)
  }

  #findReplies(text: string): boolean {
    const { repliesIn } = this.#options
    if (!repliesIn || text === '' || this.#calls.size === 0) return false
    try {
      const ended = repliesIn(text).map(({ id, result }) => {
        const call = this.#take(id)
        call?.succeed(result)
        return call !== undefined
      })
      return ended.includes(true)
    } catch (error) {
      return this.#failNamed(text, error)
    }
  }

  /** Fails the calls that an unreadable text names. Their replies will not come again. */
  #failNamed(text: string, error: unknown): boolean {
    const named = [...text.matchAll(/"id"\s*:\s*"?(\d+)/g)].flatMap(([, id]) => this.#take(id) ?? [])
    for (const call of named) call.fail(unreadable(error))
    return named.length > 0
  }

  /** The whole value if this line completes it. Empty while it continues. */
  #joined(line: string): string {
    if (this.#pieces === '' && (!/^\s*[[{]/.test(line) || /[\]}]\s*$/.test(line))) return line
    const whole = `${this.#pieces}${line}\n`
    const isOver = /^[\]}]/.test(line)
    this.#pieces = isOver || whole.length > this.#maxLineBytes ? '' : whole
    return isOver ? whole : ''
  }

  /** The call that a reply belongs to. A reply without a call is reported. */
  #callOf(id: unknown): PendingCall | undefined {
    const call = this.#take(id)
    if (call === undefined) this.#reportReply(id)
    return call
  }

  #take(id: unknown): PendingCall | undefined {
    const number = callNumber(id)
    return number === undefined ? undefined : this.#calls.take(number)
  }

  #reportReply(id: unknown): void {
    const number = callNumber(id)
    if (number === undefined || !this.#calls.made(number)) {
      const shownId = id === undefined ? 'without an id' : `with the id ${shown(id)}`
      this.#problems.add('unknown-id', () => `A reply ${shownId} was dropped: there is no such call`)
      return
    }
    const method = this.#calls.takeLate(number)
    if (method === undefined) {
      this.#problems.add(
        'doubled',
        () => `A second reply to call ${number} was dropped: only the first counts`,
      )
    } else {
      this.#problems.add(
        'late',
        () => `The reply to call ${number} (${method}) came too late and was dropped`,
      )
    }
  }

  /** A reply that cannot be read ends its call: the sender believes that it has answered. */
  #onMalformed(line: string, malformed: Extract<Message, { readonly type: 'malformed' }>): void {
    const { why, replyTo, id, code = RPC_CODES.invalidRequest } = malformed
    this.#problems.add('malformed', () => `A line was skipped, since ${why}: ${line.slice(0, 1000)}`)
    if (replyTo === undefined) this.#refuse(code, `The line was skipped, since ${why}`, id)
    this.#take(replyTo)?.fail(unreadable(why))
  }

  #refuse(code: number, text: string, id: RpcId | null = null): void {
    if (this.#options.answersMalformed) this.#answers.refuse(id, new RpcError('remote', text, { code }))
  }

  #onNotification(method: string, params: Json | undefined): void {
    const { onNotification } = this.#options
    if (!onNotification) {
      this.#problems.add(
        'notification',
        () => `The notification ${shown(method)} was dropped: no notifications are expected`,
      )
      return
    }
    try {
      onNotification(method, params)
    } catch (error) {
      this.#problems.add('notification', () => `The handler of ${shown(method)} failed: ${textOf(error)}`)
    }
  }
}

function closedError(reason: Error): RpcError {
  return new RpcError('closed', textOf(reason), { cause: reason })
}

function unreadable(error: unknown): RpcError {
  return new RpcError('malformed', `The reply cannot be read: ${textOf(error)}`, { cause: error })
}

function overloadedError(method: string): RpcError {
  return new RpcError(
    'overloaded',
    `${method} was not sent: the other side does not read, and too much data is waiting`,
  )
}
