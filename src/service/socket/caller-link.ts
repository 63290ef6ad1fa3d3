// The connection of one caller: takes its call, tells it what to run and print, and notices when it is gone.

import type { Socket } from 'node:net'
import type { MaybePromise } from '../../core/base/promise.js'
import type { Caller } from '../../files/caller.js'
import {
  type Call,
  callerFrames,
  encodeToCaller,
  FrameError,
  type FromCaller,
  type ToCaller,
} from '../../rpc/frames.js'
import { signalName } from '../../runners/command/reported.js'
import { isReport, RemotePrograms } from './remote-programs.js'
import type { Turns } from './turns.js'

/** What a caller prints, and its exit code, if it loses the service. */
export interface Interrupted {
  /** Milliseconds after which the caller no longer waits. */
  readonly deadline: number
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** A call that the service can answer. */
export interface Served {
  readonly interrupted: Interrupted
  /** Returns the exit code. */
  run(io: CallIo): Promise<number>
}

export interface CallIo {
  readonly write: (fd: 1 | 2, text: string) => void
  /** The verdict is written, and only work that the caller's agent does not wait for is left. */
  readonly answered: (exit: number) => void
  /** Aborted with the name of a signal that the caller got, or when it is gone. */
  readonly signal: AbortSignal
}

/** Everything that belongs to one call while it runs. */
export interface Context {
  readonly caller: Caller
  readonly programs: RemotePrograms
  /** Settles when the call has ended. */
  readonly over: Promise<void>
}

export interface Desk {
  /** Touches no state. Returns why the caller has to run cold, if the service cannot answer as the cold path would. */
  admit(call: Call): MaybePromise<Served | string>
  /** Calls `work` for this caller: code in it that asks for the caller finds it. */
  inContext<T>(context: Context, work: () => T): T
  readonly turns: Turns
  /** Takes more bytes of requests that are not complete, or with a negative number fewer. Returns false if all callers together sent too many. */
  hold(bytes: number): boolean
  /** JSON. */
  status(): string
  /** Settles when every other call has ended and no new one is taken. */
  stop(): Promise<void>
  /** An error of our own, which costs this caller its answer. */
  failed(error: unknown): void
}

/** How long the first request, and then `go`, may take to arrive. */
const REQUEST_MS = 10_000
/** After this much more than its deadline, a caller that has not left by itself is suspended. */
const LATE_MS = 5000
/** How often a caller hears that we live. */
const ALIVE_MS = 1000
/** The longest that a timer of Node can wait. */
const LONGEST_MS = 2 ** 31 - 1

export class CallerLink {
  /** Settles when the connection is closed and its call is over. */
  readonly over: Promise<void>
  readonly #socket: Socket
  readonly #desk: Desk
  readonly #frames = callerFrames()
  readonly #programs = new RemotePrograms((message) => this.#send(message))
  readonly #abort = new AbortController()
  #work: Promise<void> | undefined
  #context: Context | undefined
  #isOver = false
  /** Frames. */
  #unsent: Buffer[] = []
  /** Bytes that the desk holds for us. */
  #held = 0
  #alive: NodeJS.Timeout | undefined
  /** Ends the connection of a caller that says nothing. */
  #timer: NodeJS.Timeout | undefined
  #go: () => void = () => {
    throw new FrameError('nothing was started')
  }
  /** Whether it asked for an answer of hooks, and not about the service itself. */
  isCall = false

  constructor(socket: Socket, desk: Desk) {
    this.#socket = socket
    this.#desk = desk
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', () => undefined) // `close` follows.
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        clearTimeout(this.#timer)
        clearInterval(this.#alive)
        this.#hold(0)
        this.#inContext(() => this.#lose())
        resolve()
      })
    })
    this.#destroyAfter(REQUEST_MS)
    // A caller ends its side only when it is gone.
    socket.once('end', () => socket.destroy())
    this.over = closed.then(() => this.#work)
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#frames.push(chunk)) this.#inContext(() => this.#take(message))
      if (!this.#hold(this.#frames.size)) this.#socket.destroy()
    } catch (error) {
      if (!(error instanceof FrameError)) this.#desk.failed(error)
      this.#socket.destroy()
    }
  }

  #hold(bytes: number): boolean {
    const more = bytes - this.#held
    this.#held = bytes
    return this.#desk.hold(more)
  }

  #inContext<T>(work: () => T): T {
    return this.#context ? this.#desk.inContext(this.#context, work) : work()
  }

  #take(message: FromCaller): void {
    if (isReport(message)) this.#programs.receive(message)
    else if (message.kind === 'signal') this.#abort.abort(signalName(message.number))
    else if (message.kind === 'go') this.#go()
    else if (message.kind === 'begun' || message.kind === 'pong')
      throw new FrameError(`only a spawner says ${message.kind}`)
    else if (this.#work !== undefined) throw new FrameError(`a second request: ${message.kind}`)
    else this.#work = this.#answer(message).catch((error) => this.#fail(error))
  }

  #destroyAfter(ms: number): void {
    clearTimeout(this.#timer)
    const timer = setTimeout(
      () => {
        // We may have been busy: what has arrived meanwhile is read first.
        setImmediate(() => {
          if (this.#timer === timer) this.#socket.destroy()
        })
      },
      Math.min(ms, LONGEST_MS),
    )
    this.#timer = timer
  }

  /** The caller notices, and refuses. */
  #fail(error: unknown): void {
    this.#desk.failed(error)
    this.#socket.destroy()
  }

  async #answer(request: Extract<FromCaller, { kind: 'call' | 'status' | 'stop' }>): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.isCall = request.kind === 'call'
    if (request.kind === 'call') return this.#serve(request)
    if (request.kind === 'status') this.#send({ kind: 'status', json: this.#desk.status() })
    else {
      await this.#desk.stop()
      this.#send({ kind: 'stopped' })
    }
    this.#end()
  }

  /** What was sent still arrives. */
  #end(): void {
    this.#socket.end()
    this.#destroyAfter(LATE_MS)
  }

  async #serve(call: Call): Promise<void> {
    const { env, cwd, pid } = call
    this.#context = {
      caller: { env: { ...env }, cwd, pid },
      programs: this.#programs,
      over: this.over,
    }
    const served = await this.#inContext(() => this.#desk.admit(call))
    if (typeof served === 'string') {
      this.#send({ kind: 'cold', why: served })
      this.#end()
      return
    }
    this.#destroyAfter(REQUEST_MS)
    if (!(await this.#begins(served.interrupted))) return
    this.#destroyAfter(served.interrupted.deadline + LATE_MS)
    this.#alive = setInterval(() => this.#send({ kind: 'alive' }), ALIVE_MS)
    await this.#desk.turns.next()
    if (this.#socket.destroyed) return
    const io: CallIo = {
      write: (fd, text) => this.#sendSoon({ kind: 'out', fd, bytes: text }),
      answered: (exit) => this.#sendSoon({ kind: 'answered', exit }),
      signal: this.#abort.signal,
    }
    const code = await this.#inContext(() => served.run(io))
    this.#isOver = true
    clearInterval(this.#alive)
    this.#send({ kind: 'exit', code })
    this.#end()
  }

  /** Nothing begins until the caller says `go`: one that did not wait for `started` is judging by itself. */
  #begins(interrupted: Interrupted): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve(false)
      this.#go = () => resolve(true)
      this.#socket.once('close', () => resolve(false))
      this.#send({ kind: 'started', ...interrupted })
    })
  }

  /** With the message that follows, if that comes before the process waits for anything: `exit` mostly does. */
  #sendSoon(message: ToCaller): void {
    if (this.#unsent.length === 0) process.nextTick(() => this.#sendAll())
    this.#unsent.push(encodeToCaller(message))
  }

  #send(message: ToCaller): void {
    this.#unsent.push(encodeToCaller(message))
    this.#sendAll()
  }

  #sendAll(): void {
    const frames = this.#unsent
    this.#unsent = []
    if (frames.length > 0 && !this.#socket.destroyed) this.#socket.write(Buffer.concat(frames))
  }

  #lose(): void {
    if (!this.#isOver) this.#abort.abort('SIGHUP')
    this.#programs.lose('the process that ran it is gone')
  }
}
