// A program that a helper process runs for this one. Its group is ended from here, as if it had been started here.

import { AsyncResource } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { HookError } from '../../core/base/errors.js'
import { onAbort } from '../../core/base/promise.js'
import type { FromCaller } from '../../rpc/frames.js'
import type { Group, Running } from '../command/execution.js'
import { Incoming, NOTHING, signalName, startFailure } from '../command/reported.js'
import type { Program } from '../command/start.js'
import { ProcessGroup } from '../program/process-group.js'
import type { unreportedBy } from './unreported.js'

/** What a helper says about its programs. */
export type Report = Extract<FromCaller, { readonly id: number }>

/** The helper has not begun to start the program, so somebody else may. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'
}

/** The helper lacks something that says nothing about the program. */
const LACKS: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null]

/** What a program needs of its helper. */
export interface Link {
  /** Nothing more is read from the program. */
  release(): void
  /** Settles once everything that programs have said is here; with false if the helper is gone. */
  ping(): Promise<boolean>
}

export class HelperProgram implements Running, Group {
  readonly sentAt = performance.now()
  readonly stdout = new Incoming()
  readonly stderr = new Incoming()
  readonly gone: Promise<void>
  /** The helper has read the request, or may have. */
  isBegun = false
  #isGone = false
  #isReleased = false
  readonly #program: Program
  readonly #link: Link
  readonly #started: Promise<void>
  #group: ProcessGroup | undefined
  #isAbandoned = false
  #exit: Exit | undefined
  #lost: Error | undefined
  #exited: (code: number | null, signal: NodeJS.Signals | null) => void = () => {}
  #tellLost: (why: Error) => void = () => {}
  // Settle the promises of the same names.
  #start: (failure?: Error) => void = () => {}
  #leave = () => {}
  /** Reports come in the context of whoever started the helper. */
  readonly #context = new AsyncResource('HelperProgram')

  constructor(program: Program, link: Link) {
    this.#program = program
    this.#link = link
    this.gone = new Promise((resolve) => {
      this.#leave = () => {
        this.#isGone = true
        resolve()
      }
    })
    this.#started = new Promise((resolve, reject) => {
      this.#start = (failure) => (failure ? reject(failure) : resolve())
    })
    this.#started.catch(() => undefined) // Reported to whoever starts it.
    program.atDeadline?.(() => this.#hasSaidAll())
  }

  get group(): Group {
    return this
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether nothing more can be said about it. */
  get isOver(): boolean {
    const isSilent = this.stdout.isComplete && this.stderr.isComplete
    return this.#isReleased || (isSilent && (this.#exit !== undefined || this.#isGone))
  }

  /** If the signal comes first, the program is ended as soon as it runs. */
  startedUnless(signal: AbortSignal): Promise<Running> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        this.#abandon()
        reject(signal.reason)
      })
      this.#started.then(() => resolve(this), reject).finally(stopListening)
    })
  }

  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void {
    this.#exited = listener
    if (this.#exit) listener(...this.#exit)
  }

  onLost(listener: (why: Error) => void): void {
    this.#tellLost = listener
    if (this.#lost) listener(this.#lost)
  }

  release(): void {
    this.stdout.destroy()
    this.stderr.destroy()
    if (this.isOver) return
    this.#isReleased = true
    this.#link.release()
  }

  end(): boolean {
    return this.#group?.end() ?? false
  }

  look(): void {
    this.#group?.look()
  }

  async #hasSaidAll(): Promise<boolean> {
    if (this.#lost instanceof NotBegun) return true // It was started here, so nothing is on its way.
    if (!(await this.#link.ping())) return false
    await setImmediate() // Streams tell their end later.
    return this.#group !== undefined
  }

  receive(report: Report): void {
    this.#context.runInAsyncScope(this.#take, this, report)
  }

  #take(report: Report): void {
    switch (report.kind) {
      case 'begun':
        this.isBegun = true
        break
      case 'child':
        if ('pid' in report) this.#run(report.pid)
        else this.#fail(startFailure(this.#program, report.errno))
        break
      case 'output':
        this[report.fd === 1 ? 'stdout' : 'stderr'].fill(report.bytes)
        break
      case 'exited':
        if (this.#exit) return
        this.#exit = [report.code, report.signal === null ? null : signalName(report.signal)]
        if (report.alone) this.#group?.left()
        this.#exited(...this.#exit)
        break
      case 'gone':
      case 'ending':
    }
  }

  #run(pid: number): void {
    if (this.#group) return
    this.#follow(pid)
    this.#start()
    if (this.#isAbandoned) this.#endUnread()
  }

  #abandon(): void {
    this.#isAbandoned = true
    // Nobody else reads them, and a program may print until it has ended.
    this.stdout.resume()
    this.stderr.resume()
    this.#endUnread()
  }

  #endUnread(): void {
    if (!this.#group) return
    void this.gone.then(() => this.release())
    this.#group.end()
  }

  #follow(pid: number): void {
    const group = new ProcessGroup(pid)
    void group.gone.then(this.#leave)
    this.#group = group
  }

  #fail(failure: NodeJS.ErrnoException): void {
    this.#close(LACKS.has(failure.code) ? new NotBegun(failure.message) : failure)
  }

  /** The helper is gone. `find` may know the process of a program that it has begun, but not reported. */
  lose(find: ReturnType<typeof unreportedBy>): void {
    const why = this.isBegun ? new HookError('HOOK_INTERRUPTED', INTERRUPTED) : new NotBegun(INTERRUPTED)
    this.#context.runInAsyncScope(() => {
      this.#lost = why
      const pid = this.isBegun && !this.#group ? find(this.#program, this.sentAt) : undefined
      if (pid !== undefined) this.#follow(pid)
      if (this.#group) {
        this.#tellLost(why)
        this.#group.end() // The helper's own guard may be gone too.
      }
      this.#close(why)
    })
  }

  #close(why: Error): void {
    this.#lost = why
    this.#start(why)
    this.stdout.fill(NOTHING)
    this.stderr.fill(NOTHING)
    if (!this.#group) this.#leave()
  }
}

const INTERRUPTED = 'judging was interrupted; try again (the process that runs the hook is gone)'
