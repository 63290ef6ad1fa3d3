// One request and its answer: connects only to allowed addresses, sends once, reads a limited amount, and stops when the caller no longer waits.

import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { callerNow, perCaller } from '../../core/base/caller.js'
import { HookError } from '../../core/base/errors.js'
import { type OwnTls, ownTls } from '../../effects/shell/own-environment.js'
import { badReply, requestFailure } from './failures.js'
import { guardedLookup, Reach } from './reach.js'

export interface Question {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The hook is one of the user's own files. */
  readonly own: boolean
  readonly allowedPrivateHosts: readonly string[]
  /** Called when the caller no longer waits, with what was read of the answer by then. */
  readonly soFar?: (unfinished: Reply) => void
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** The answer is incomplete. `body` is what was read of it. */
  readonly failure?: HookError
}

type OnAbort = (listener: () => void) => void

/** The longest body of an answer. */
const MOST_BYTES = 1024 * 1024
const MOST_HEADER_BYTES = 64 * 1024
/** With a status outside 200 to 299, text that is not a JSON object is read only this long, because people see an excerpt of it. */
const EXCERPT_MS = 250
/** A connection that has been idle longer may have been closed without Node noticing. */
const RESTED_MS = 50

/**
 * Rejects with a HookError. Nothing is sent twice: a kept connection is only replaced if it was closed before anything was
 * sent. A server may also reset a kept connection with the request, so callers of a service get fresh ones, as they would
 * in a process of their own.
 */
export async function ask(question: Question, onAbort: OnAbort): Promise<Reply> {
  const { url, own, allowedPrivateHosts } = question
  const reach = new Reach(url, own, allowedPrivateHosts)
  const refusal = reach.refusalOfHost()
  if (refusal) throw refusal
  const tls = url.protocol === 'https:' ? await tlsOfCaller() : {}
  const network = { ...(await networkFor(url.protocol)), tls }
  try {
    return await new Exchange(question, reach, network, callerNow() ? 'fresh' : 'kept').begin(onAbort)
  } catch (error) {
    if (error !== WAS_CLOSED) throw requestFailure(error, url.host)
  }
  try {
    return await new Exchange(question, reach, network, 'fresh').begin(onAbort)
  } catch (error) {
    throw requestFailure(error, url.host)
  }
}

const WAS_CLOSED = new Error('the kept connection was closed')

class Exchange {
  readonly #question: Question
  readonly #reach: Reach
  readonly #request: ClientRequest
  readonly #settled: Promise<Reply>
  #resolve: (reply: Reply) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #isSettled = false
  #isWritten = false
  /** An answer has begun. */
  #isAnswered = false
  /** The part of the answer read so far. */
  #soFar: (() => Reply) | undefined

  constructor(
    question: Question,
    reach: Reach,
    { request, agent, tls }: Network & { readonly tls: Partial<OwnTls> },
    connection: 'kept' | 'fresh',
  ) {
    this.#question = question
    this.#reach = reach
    this.#settled = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { url, headers, body } = question
    this.#request = request({
      method: 'POST',
      hostname: reach.host,
      port: reach.port,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) },
      agent: connection === 'kept' ? agent : false,
      lookup: guardedLookup(reach),
      maxHeaderSize: MOST_HEADER_BYTES,
      insecureHTTPParser: false,
      ...tls,
    })
  }

  begin(onAbort: OnAbort): Promise<Reply> {
    const request = this.#request
    request.on('error', (error) => this.#fail(this.#isUnused ? WAS_CLOSED : error))
    // After an answer that switches protocols, Node emits nothing but `close`.
    request.on('close', () => {
      if (!this.#isAnswered) this.#fail(badReply('it closed the connection without an answer'))
    })
    request.once('socket', (socket) => {
      request.once('response', (response) => this.#read(response, socket))
      this.#connect(socket)
    })
    onAbort(() => {
      if (!this.#isSettled && this.#soFar) this.#question.soFar?.(this.#soFar())
      this.#fail(new HookError('ABORTED', 'the call was cancelled before it answered'))
    })
    return this.#settled
  }

  /** A kept connection on which nothing has been written yet. */
  get #isUnused(): boolean {
    return this.#request.reusedSocket && !this.#isWritten
  }

  // ---- sending --------------------------------------------------------------------------------------------------

  #connect(socket: Socket): void {
    if (!this.#request.reusedSocket) {
      socket.once('connect', () => this.#isAllowed(socket))
      socket.once(this.#question.url.protocol === 'https:' ? 'secureConnect' : 'connect', () =>
        this.#write(socket),
      )
      return
    }
    if (restedFor(socket, performance.now()) < RESTED_MS) this.#write(socket)
    // Waits for a whole turn of the event loop, in which Node learns that the other side has closed it. The current turn may be past that point.
    else setImmediate(() => setImmediate(() => this.#write(socket)))
  }

  /** Checks the address again as the system reports it, because that is the server that will get the request. */
  #isAllowed({ remoteAddress }: Socket): boolean {
    const refusal = remoteAddress === undefined ? GONE : this.#reach.refusalOf(remoteAddress)
    if (refusal) this.#fail(refusal === GONE && this.#isUnused ? WAS_CLOSED : refusal)
    return refusal === undefined
  }

  #write(socket: Socket): void {
    if (this.#isSettled || !this.#isAllowed(socket)) return
    // The pool also returns connections that only the other side has closed.
    if (this.#isUnused && (socket.destroyed || socket.readableEnded || !socket.writable)) {
      this.#fail(WAS_CLOSED)
      return
    }
    this.#isWritten = true
    this.#request.end(this.#question.body)
  }

  // ---- receiving ------------------------------------------------------------------------------------------------

  #read(response: IncomingMessage, socket: Socket): void {
    this.#isAnswered = true
    const { statusCode: status = 0, headers } = response
    const counts = status >= 200 && status <= 299
    const problem = this.#isWritten
      ? counts && unreadable(headers)
      : badReply('it answered before the request was sent')
    if (problem) {
      this.#fail(problem)
      return
    }
    const body = new Body(MOST_BYTES)
    const soFar = () => ({ status, headers, body: body.text })
    this.#soFar = soFar
    const finish = (failure?: HookError) => this.#finish({ ...soFar(), ...(failure && { failure }) })
    /** The rest is not wanted, or does not arrive. */
    const breakOff = (why: () => HookError) => this.#giveUp(() => finish(counts ? why() : undefined))
    response.on('data', (chunk: Buffer) => {
      if (!body.add(chunk)) breakOff(tooLarge)
    })
    response.on('end', () => {
      if (!response.complete) return breakOff(brokenOff)
      if (!saysItsLength(status, headers) && body.isBlank) return breakOff(nothingSent)
      restFrom(socket, performance.now())
      finish()
    })
    response.on('error', () => breakOff(brokenOff))
    response.on('close', () => breakOff(brokenOff))
    if (counts) return
    setTimeout(() => {
      if (!body.mayBeObject) this.#giveUp(finish)
    }, EXCERPT_MS).unref()
  }

  // ---- the end --------------------------------------------------------------------------------------------------

  #finish(reply: Reply): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#resolve(reply)
    // A server may answer before it has read everything. The rest of the request would wait forever.
    if (!this.#request.writableFinished) this.#request.destroy()
  }

  /** Stops reading. */
  #giveUp(finish: () => void): void {
    if (this.#isSettled) return
    finish()
    this.#request.destroy()
  }

  #fail(error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#reject(error)
    this.#request.destroy()
  }
}

const GONE = badReply('it closed the connection before the request was sent')

function brokenOff(): HookError {
  return badReply('its answer broke off in the middle')
}

/** A server that dies after its headers also sends nothing until the connection ends. */
function nothingSent(): HookError {
  return badReply(
    'it sent headers and closed the connection, so its answer may be incomplete',
    'A server without objections should answer with status 204 or with "content-length: 0".',
  )
}

function saysItsLength(status: number, headers: IncomingMessage['headers']): boolean {
  const hasLength = 'content-length' in headers || 'transfer-encoding' in headers
  return hasLength || status === 204 || status === 205
}

function tooLarge(): HookError {
  return new HookError('HOOK_OUTPUT', 'its answer is larger than 1 MiB and cannot be read', {
    hint: 'Send only the answer.',
  })
}

/** Collects what arrives, up to a limit. */
class Body {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns false if it exceeds the limit. */
  add(chunk: Buffer): boolean {
    this.#size += chunk.length
    this.#chunks.push(chunk)
    return this.#size <= this.#limit
  }

  get isBlank(): boolean {
    return this.text.trim() === ''
  }

  /** Whether what was read so far may still be a JSON object. */
  get mayBeObject(): boolean {
    return /^\s*(?:\{|$)/.test(this.text)
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** Judges by the headers alone. We asked for plain bytes, because a compressed body may expand to any size. */
function unreadable(headers: IncomingMessage['headers']): HookError | undefined {
  if (Number(headers['content-length']) > MOST_BYTES) return tooLarge()
  const content = headers['content-encoding']?.trim().toLowerCase()
  const transfer = headers['transfer-encoding']?.trim().toLowerCase()
  const packed = content && content !== 'identity' ? content : transfer && transfer !== 'chunked' && transfer
  if (!packed) return undefined
  const text = `its answer is compressed (${packed.replace(/[^a-z0-9, -]/g, '').slice(0, 40)}), which was not requested`
  return badReply(text, 'The server must honour "accept-encoding: identity".')
}

// ---- connections ----------------------------------------------------------------------------------------------

/** Loaded on first use. All hooks of the process share its connections. */
interface Network {
  readonly request: (options: RequestOptions) => ClientRequest
  readonly agent: Agent
}

/** Idle connections are closed after this time. Most servers wait longer. They do not keep a process alive. */
const IDLE_MS = 30_000
const AGENT = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 16, scheduling: 'lifo' } as const

const networks = new Map<string, Promise<Network>>()

function networkFor(protocol: string): Promise<Network> {
  const network = networks.get(protocol) ?? load(protocol)
  networks.set(protocol, network)
  return network
}

const tlsOfCaller = perCaller(ownTls)

async function load(protocol: string): Promise<Network> {
  const { Agent, request } = protocol === 'https:' ? await import('node:https') : await import('node:http')
  return { request, agent: new Agent(AGENT) }
}

const idleSince = new WeakMap<Socket, number>()

/** Records since when a connection has been idle. */
function restFrom(socket: Socket, now: number): void {
  idleSince.set(socket, now)
}

function restedFor(socket: Socket, now: number): number {
  return now - (idleSince.get(socket) ?? 0)
}
