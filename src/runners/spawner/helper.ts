// One helper process: small, so that it starts programs quickly, and as many at once as this process needs.

import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import { statOf } from '../../files/process.js'
import { callerFrames, encodeToCaller, FrameError, type FromCaller, type ToCaller } from '../../rpc/frames.js'
import type { Group, Running } from '../command/execution.js'
import type { Program } from '../command/start.js'
import { HelperProgram, NotBegun, type Report } from './helper-program.js'
import { unreportedBy } from './unreported.js'

/** What to start. */
export interface HelperCommand {
  readonly file: string
  /** Unless it has a guard, they name this process, so that no other process has the same. */
  readonly args: readonly string[]
  /** It has a process that ends its programs if it is killed. */
  readonly hasGuard: boolean
}

/** A helper that takes longer to read a request is stopped, or hangs. */
const WORD_MS = 5000
/** The dispatcher waits 2 seconds for a hook's last word. */
const PONG_MS = 1000
/** More words than a helper reads. */
const MOST_WORDS = 10_000

type Socket = Duplex & { ref(): void; unref(): void }

export class Helper {
  /** Settles when it can be used; with false if it cannot be. */
  readonly ready: Promise<boolean>
  /** Settles when it is gone. */
  readonly gone: Promise<void>
  readonly #command: HelperCommand
  readonly #child: ChildProcess
  readonly #startTicks: number | undefined
  /** The same by the clock of this process, or a little later: a program that seems older than it is would not be found. */
  readonly #startedAt: number
  readonly #socket: Socket
  readonly #frames = callerFrames()
  readonly #programs = new Map<number, HelperProgram>()
  /** Programs that it has not begun, oldest first. */
  readonly #unconfirmed = new Set<HelperProgram>()
  /** Whoever waits for a `pong`, oldest first. */
  #pings: ((isThere: boolean) => void)[] = []
  #lastId = 0
  #isClosing = false
  #isLost = false
  /** Some of its words cannot be read. A program whose `begun` may be among them must not be started again. */
  #isGarbled = false
  #unsent: Buffer[] = []
  #watch: NodeJS.Timeout | undefined

  constructor(command: HelperCommand) {
    this.#command = command
    // A session of its own: it must not hear what a terminal tells this process.
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const
    this.#child = spawn(command.file, command.args, { cwd: '/', env: {}, detached: true, stdio: [...stdio] })
    const stat = statOf(this.#child.pid ?? 0)
    this.#startTicks = stat && Number(stat.start)
    this.#startedAt = performance.now()
    this.#child.on('error', () => undefined) // `close` of the socket follows.
    this.#child.unref()
    this.#socket = this.#child.stdio[3] as unknown as Socket
    this.#socket.unref()
    this.ready = new Promise((resolve) => this.#pings.push(resolve))
    this.gone = new Promise((resolve) => {
      this.#socket.once('close', () => {
        this.#lose()
        resolve()
      })
    })
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      // `close` follows. Only a failed read comes after everything that has arrived.
      if (syscall !== 'read') this.#isGarbled = true
    })
    this.#socket.once('end', () => this.#socket.destroy())
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get isIdle(): boolean {
    return this.#programs.size === 0
  }

  /** Rejects with NotBegun if the program may be started elsewhere. */
  start(program: Program, signal: AbortSignal, began: (group: Group) => void): Promise<Running> {
    const id = ++this.#lastId
    const { file, args, cwd, env, input } = program
    // Without a name, the system's reason would be another one than Node's.
    if (this.#isLost || this.#isGarbled || file === '' || args.length > MOST_WORDS)
      return Promise.reject(new NotBegun('it cannot be asked'))
    let request: Buffer
    try {
      // The helper works in another folder.
      request = encodeToCaller({ kind: 'run', id, file, args, cwd: resolve(cwd), env, input })
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      return Promise.reject(new NotBegun(error.message))
    }
    const one = new HelperProgram(program, {
      release: () => {
        this.#send({ kind: 'release', id })
        this.#forget(id)
      },
      ping: () => this.#ping(),
    })
    if (this.isIdle) this.#socket.ref()
    this.#programs.set(id, one)
    this.#unconfirmed.add(one)
    this.#sendSoon(request)
    this.#watch ??= this.#lookSoon()
    began(one)
    return one.startedUnless(signal)
  }

  /** Ends it at once. Programs that it runs are interrupted. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Ends it as soon as it runs nothing. */
  close(): void {
    this.#isClosing = true
    if (this.isIdle) this.#socket.destroy()
  }

  // ---- what it says ---------------------------------------------------------------------------------------------

  #receive(chunk: Buffer): void {
    if (this.#isGarbled) return
    try {
      for (const message of this.#frames.push(chunk)) this.#take(message)
    } catch (error) {
      this.#isGarbled = true
      this.kill()
      if (!(error instanceof FrameError)) throw error
    }
  }

  #take(message: FromCaller): void {
    if (message.kind === 'pong') this.#pings.shift()?.(true)
    else if ('id' in message) this.#report(message)
    else throw new FrameError(`a helper does not say ${message.kind}`)
  }

  #report(report: Report): void {
    const one = this.#programs.get(report.id)
    if (!one) return // It was released.
    one.receive(report)
    this.#unconfirmed.delete(one)
    if (one.isOver) this.#forget(report.id)
  }

  #forget(id: number): void {
    if (!this.#programs.delete(id) || !this.isIdle) return
    this.#socket.unref()
    if (this.#isClosing) this.#socket.destroy()
  }

  #lose(): void {
    this.#isLost = true
    clearTimeout(this.#watch)
    for (const resolve of this.#pings.splice(0)) resolve(false)
    if (this.#isGarbled) for (const one of this.#unconfirmed) one.isBegun = true
    const find = this.#findUnreported()
    for (const one of [...this.#programs.values()]) one.lose(find)
    this.#programs.clear()
    this.#unconfirmed.clear()
  }

  /** Searches all processes of the system, but only if there is something to find. */
  #findUnreported(): ReturnType<typeof unreportedBy> {
    const [{ file, args, hasGuard }, { pid }, ticks] = [this.#command, this.#child, this.#startTicks]
    if (hasGuard || pid === undefined || ticks === undefined) return () => undefined
    let find: ReturnType<typeof unreportedBy> | undefined
    return (program, askedAt) => {
      find ??= unreportedBy({ pid, words: [file, ...args], startedAt: this.#startedAt, ticks })
      return find(program, askedAt)
    }
  }

  // ---- whether it lives -----------------------------------------------------------------------------------------

  #lookSoon(): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#look()), WORD_MS).unref()
  }

  /** After everything that has arrived was read: this process may have been busy itself. */
  #look(): void {
    const [oldest] = this.#unconfirmed
    const isLate = oldest !== undefined && performance.now() - oldest.sentAt >= WORD_MS
    if (isLate) this.kill()
    this.#watch = oldest === undefined || isLate ? undefined : this.#lookSoon()
  }

  #ping(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#isLost) return resolve(false)
      const timer = setTimeout(() => {
        setImmediate(() => {
          if (this.#pings.includes(answered)) this.kill()
        })
      }, PONG_MS)
      const answered = (isThere: boolean) => {
        clearTimeout(timer)
        resolve(isThere)
      }
      this.#pings.push(answered)
      this.#send({ kind: 'ping' })
    })
  }

  // ---- what it is told ------------------------------------------------------------------------------------------

  #send(message: ToCaller): void {
    this.#sendSoon(encodeToCaller(message))
  }

  /** Requests of one turn go together, because each piece wakes the helper. */
  #sendSoon(frame: Buffer): void {
    if (this.#unsent.length === 0) process.nextTick(() => this.#sendAll())
    this.#unsent.push(frame)
  }

  #sendAll(): void {
    const frames = this.#unsent
    this.#unsent = []
    if (!this.#socket.destroyed) this.#socket.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }
}
