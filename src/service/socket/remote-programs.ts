// Programs that a caller runs for the service: in its own environment, folder, limits, namespaces and terminal.

import { setImmediate } from 'node:timers/promises'
import { onAbort } from '../../core/base/promise.js'
import { FrameError, type FromCaller, type ToCaller } from '../../rpc/frames.js'
import type { Group, Running } from '../../runners/command/execution.js'
import { Incoming, NOTHING, signalName, startFailure } from '../../runners/command/reported.js'
import type { Program, Start } from '../../runners/command/start.js'

/** What a caller says about its programs. */
type Report = Exclude<Extract<FromCaller, { readonly id: number }>, { readonly kind: 'begun' }>

const REPORTS: ReadonlySet<FromCaller['kind']> = new Set(['child', 'output', 'exited', 'gone', 'ending'])

export function isReport(message: FromCaller): message is Report {
  return REPORTS.has(message.kind)
}

/** The programs of one caller. */
export class RemotePrograms {
  readonly #send: (message: ToCaller) => void
  readonly #known = new Map<number, RemoteProgram>()
  #lastId = 0
  #lost: string | undefined

  /** `send` never throws. */
  constructor(send: (message: ToCaller) => void) {
    this.#send = send
  }

  readonly start: Start = (program, signal, began) => {
    if (this.#lost !== undefined) throw new Error(this.#lost)
    const id = ++this.#lastId
    const remote = new RemoteProgram(program, () => this.#send({ kind: 'end', id }))
    this.#known.set(id, remote)
    program.atDeadline?.(() => remote.hasSaidAll())
    const { file, args, cwd, env, input } = program
    this.#send({ kind: 'run', id, file, args, cwd, env, input })
    began(remote)
    return remote.startedUnless(signal)
  }

  /** Throws FrameError for a program that the caller was not asked to run. */
  receive(report: Report): void {
    const remote = this.#known.get(report.id)
    if (remote) remote.receive(report)
    else if (report.id < 1 || report.id > this.#lastId)
      throw new FrameError(`there is no program ${report.id}`)
    // Its verdict can arrive after the news that it is gone.
    if (!remote?.isGone || !remote.isSilent) return
    remote.forget()
    this.#known.delete(report.id)
  }

  /** The caller is gone. Whatever it ran ends with it, or is out of reach. */
  lose(why: string): void {
    this.#lost = why
    for (const remote of this.#known.values()) remote.lose(new Error(why))
    this.#known.clear()
  }
}

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null]

class RemoteProgram implements Running, Group {
  readonly stdout = new Incoming()
  readonly stderr = new Incoming()
  readonly gone: Promise<void>
  isGone = false
  readonly #program: Program
  readonly #askToEnd: () => void
  readonly #started: Promise<void>
  #ending: Promise<boolean> | undefined
  readonly #askedAt = performance.now()
  #startedAt: number | undefined
  #exit: Exit | undefined
  /** Its caller has told it to end. */
  #isTold = false
  #exited: (exit: Exit) => void = () => {}
  // Settle the promises of the same names.
  #start: (failure?: Error) => void = () => {}
  #leave = () => {}
  #end: (living: boolean) => void = () => {}

  constructor(program: Program, askToEnd: () => void) {
    this.#program = program
    this.#askToEnd = askToEnd
    this.gone = new Promise((resolve) => {
      this.#leave = resolve
    })
    this.#started = new Promise((resolve, reject) => {
      this.#start = (failure) => (failure ? reject(failure) : resolve())
    })
    this.#started.catch(() => undefined) // Reported to whoever starts it.
  }

  get group(): Group {
    return this
  }

  /** Whether all of its output has arrived. */
  get isSilent(): boolean {
    return this.stdout.isComplete && this.stderr.isComplete
  }

  /** If the signal comes first, the program is ended as soon as it runs. */
  startedUnless(signal: AbortSignal): Promise<Running> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        // Nobody else reads them, and a program may print until it has ended.
        this.stdout.resume()
        this.stderr.resume()
        void this.end()
        reject(signal.reason)
      })
      this.#started.then(() => resolve(this), reject).finally(stopListening)
    })
  }

  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void {
    this.#exited = ([code, signal]) => listener(code, signal)
    if (this.#exit) this.#exited(this.#exit)
  }

  release(): void {
    this.stdout.destroy()
    this.stderr.destroy()
  }

  end(): boolean | Promise<boolean> {
    if (this.isGone || this.#ending !== undefined) return false
    return this.#endAnyway()
  }

  /** Settles with `ending`, which comes after everything that the caller had to tell before. */
  #endAnyway(): Promise<boolean> {
    this.#ending ??= new Promise<boolean>((resolve) => {
      this.#end = resolve
      this.#askToEnd()
    })
    return this.#ending
  }

  /**
   * Ends it. Settles once everything that it said before is here: with false if the caller may have been suspended while it
   * should have started it, so that it had less time than it was given.
   */
  async hasSaidAll(): Promise<boolean> {
    if (this.#startedAt === undefined) return false
    await this.#endAnyway()
    await setImmediate() // Streams tell their end later.
    return this.#startedAt - this.#askedAt < LATE_MS
  }

  /** The caller looks by itself. */
  look(): void {}

  /** Nothing more is said about it. */
  forget(): void {
    this.#end(false)
  }

  receive(report: Report): void {
    const isStarted = this.#startedAt !== undefined || report.kind === 'child' || report.kind === 'ending'
    // Nobody reads its output before.
    if (!isStarted) throw new FrameError(`the message ${report.kind} comes before child`)
    switch (report.kind) {
      case 'child':
        this.#startedAt ??= performance.now()
        if ('pid' in report) this.#start()
        else this.#fail(startFailure(this.#program, report.errno))
        break
      case 'output':
        this[report.fd === 1 ? 'stdout' : 'stderr'].fill(report.bytes)
        break
      case 'exited':
        this.#exit ??= [report.code, report.signal === null ? null : signalName(report.signal)]
        // Later it exits because it was told to, which says nothing about it.
        if (!this.#isTold) this.#exited(this.#exit)
        if (report.alone) this.#left()
        break
      case 'gone':
        this.#left()
        break
      case 'ending':
        this.#isTold = true
        this.#end(report.living)
    }
  }

  lose(why: Error): void {
    this.#start(why)
    this.stdout.fill(NOTHING)
    this.stderr.fill(NOTHING)
    this.#exit ??= [null, 'SIGKILL']
    this.#exited(this.#exit)
    this.#left()
    this.forget()
  }

  #fail(failure: Error): void {
    this.#start(failure)
    this.stdout.fill(NOTHING)
    this.stderr.fill(NOTHING)
    this.#left()
  }

  #left(): void {
    this.isGone = true
    this.#leave()
  }
}

/** A caller that took longer to start a program may have been suspended. */
const LATE_MS = 200
