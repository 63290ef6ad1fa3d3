// One life of a resident process, from its start until its whole group is gone, and its failures in words.

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import { cutText } from '../../core/base/text.js'
import { Connection } from '../../rpc/connection.js'
import type { RpcCallOptions } from '../../rpc/pending-calls.js'
import { RpcError, type RpcProblem } from '../../rpc/problem.js'
import { refusalsIn, withRepeated } from '../../systems/picoclaw/answer.js'
import { inputOf, type Pipes, pipesOf, Stall, StderrLines } from './child-pipes.js'
import { type ChildGroup, groupOf } from './launch.js'

interface LifeEvents {
  /** It can no longer be called. Called once. How it ended may be known a little later (`ended`). */
  readonly over: () => void
  /** Notifications that were refused may be sent again. */
  readonly drained: () => void
  readonly problem: (problem: RpcProblem) => void
  /** Handle requests and notifications that it sends. Without them, these are refused or dropped, and reported as a problem. */
  readonly request?: (method: string, params: Json | undefined) => unknown
  readonly notification?: (method: string, params: Json | undefined) => void
  /** A process outside its group still held its pipes when all others had ended. */
  readonly leftBehind: () => void
}

/** From the end of its input to TERM. */
const FAREWELL_MS = 500
/** Between its exit and the end of its output, or the other way round. Callers wait for both, but not for a process that inherited the pipe. */
const DRAIN_MS = 100
/** A call must not wait behind many events. Events that do not fit wait in Observations. */
const MOST_EVENT_BYTES = 64 * 1024

export class Life {
  readonly stderr: StderrLines
  /** Settles when `how` is final, or when nothing more can be learned. */
  readonly ended: Promise<void>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pipes: Pipes
  readonly #group: ChildGroup
  readonly #connection: Connection
  readonly #events: LifeEvents
  readonly #stall: Stall
  #over = false
  #isDismissed = false
  #loss: string | undefined
  #exit: string | undefined
  #ending: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #retrying = false
  #watching: NodeJS.Immediate | undefined
  #heldOpen = false
  #settle = () => {}
  #part = () => {}

  constructor(child: ChildProcessWithoutNullStreams, maxLineBytes: number | undefined, events: LifeEvents) {
    this.#child = child
    this.#pipes = pipesOf(child)
    this.#events = events
    this.#group = groupOf(child)
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.stderr = new StderrLines(...this.#pipes.printed)
    this.#stall = new Stall(this.#pipes.input, () => this.#stalled())
    this.#connection = new Connection({
      input: this.#pipes.output,
      output: inputOf(this.#pipes.input, () => this.#lost('it closed its input')),
      maxQueuedBytes: MOST_EVENT_BYTES,
      ...(maxLineBytes !== undefined && { maxLineBytes }),
      ...(events.request && { onRequest: events.request }),
      ...(events.notification && { onNotification: events.notification }),
      readResult: withRepeated,
      repliesIn: refusalsIn,
      onProblem: events.problem,
      onClose: () => this.#lost('it closed its output'),
    })
    child.once('exit', (code, signal) => this.#exited(code, signal))
    this.#rest()
    const parted = new Promise<void>((resolve) => {
      this.#part = resolve
    })
    // Reads its output first, which may still contain the last reply.
    void Promise.all([this.#group.gone, parted]).then(() => this.#release())
  }

  /** Settles when nothing of its group is left. */
  get gone(): Promise<void> {
    return this.#group.gone
  }

  get isOver(): boolean {
    return this.#over
  }

  /** Calls that wait for an answer. */
  get inFlight(): number {
    return this.#connection.inFlight
  }

  /** We told it to end. It had done nothing wrong. */
  get isDismissed(): boolean {
    return this.#isDismissed
  }

  /** How it ended, for people. */
  get how(): string {
    return this.#ending ?? this.#exit ?? this.#loss ?? 'it is running'
  }

  /** Rejects with an RpcError. Its timeout keeps our process alive in the meantime. */
  call(method: string, params: Json, options: RpcCallOptions): Promise<Json> {
    return this.#connection.call(method, params, options)
  }

  /** Must be called after a call without an answer, which may not even have been read. */
  unanswered(): void {
    this.#watchInput()
  }

  /** Returns false if it could not be sent. `drained` may follow. */
  notify(method: string, params: Json): boolean {
    const taken = !this.#over && this.#connection.notify(method, params)
    if (!taken && !this.#over) this.#retry()
    // The stream only gets what was written in this tick after the tick.
    this.#watching ??= setImmediate(() => this.#watchInput()).unref()
    return taken
  }

  /** Ends it gently: the end of its input, then TERM, then KILL. */
  end(why: string): void {
    if (this.#over) return
    this.#isDismissed = true
    this.#ending = why
    this.#leave()
    this.#connection.close(new Error(why))
    this.#settle()
    this.#timer = setTimeout(() => this.#group.end(), FAREWELL_MS)
  }

  /** Ends it at once: TERM, then KILL. */
  terminate(why: string): void {
    this.#ending ??= why
    this.#leave()
    clearTimeout(this.#timer)
    this.#connection.close(new Error(why))
    this.#group.end()
    this.#settle()
  }

  get #streams() {
    const { input, output, printed } = this.#pipes
    return [input, output, ...printed]
  }

  /** An embedder that forgot to call close() must still be able to exit. In Bun, pipes block nothing and have no unref. */
  #rest(): void {
    this.#child.unref()
    for (const stream of this.#streams) (stream as Partial<Pipes['input']>).unref?.()
  }

  #retry(): void {
    if (this.#retrying) return
    this.#retrying = true
    void this.#connection.finished().then(() => {
      this.#retrying = false
      if (!this.#over) this.#events.drained()
    })
  }

  /** A process that closed a pipe is probably about to exit, and the exit tells more. */
  #lost(what: string): void {
    if (this.#over) return
    this.#loss = what
    this.#leave()
    this.#soon(() => {
      if (this.#exit === undefined) this.terminate(what)
    })
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exit = code === null ? `it was killed by ${signal}` : `it exited with code ${code}`
    this.#leave()
    clearTimeout(this.#timer)
    this.#group.end() // Everything that it started.
    const finish = (stillOpen: boolean) => {
      this.#heldOpen = stillOpen
      clearTimeout(this.#timer)
      this.#connection.close(new Error(this.how))
      this.#settle()
      this.#part()
    }
    this.#child.once('close', () => finish(false))
    this.#soon(() => finish([this.#pipes.output, ...this.#pipes.printed].some(({ closed }) => !closed)))
  }

  /** A blocked event loop fires the timer before it reads. This lets it read first. */
  #soon(then: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => setImmediate(then), DRAIN_MS)
  }

  #watchInput(): void {
    this.#watching = undefined
    if (!this.#over) this.#stall.watch()
  }

  /** Only for notifications: a call has its own timeout. */
  #stalled(): void {
    if (this.#connection.inFlight === 0) this.terminate('it stopped reading its input')
    else this.#stall.watch()
  }

  #leave(): void {
    if (this.#over) return
    this.#over = true
    this.#stall.end()
    this.#events.over()
  }

  /** A process outside the group may hold the pipes forever. */
  #release(): void {
    clearTimeout(this.#timer)
    if (this.#heldOpen) this.#events.leftBehind()
    for (const stream of this.#streams) stream.destroy()
  }
}

// ---- failures in words ----------------------------------------------------------------------------------------

/** Limits for the lines of standard error in a message. */
const MOST_LINES = 3
const MOST_SEEN = 40
const MOST_BYTES = 600

/** Turns any failure of the hello into HOOK_NOT_STARTED. */
export async function helloFailure(error: unknown, life: Life, withinMs: number): Promise<HookError> {
  const because = await reasonOf(error, life, withinMs)
  const { hint } = isHookError(error) ? error : {}
  return new HookError('HOOK_NOT_STARTED', withLastWords(because, life), {
    hint:
      hint ??
      'Run its command by hand: it must answer hook.hello with one line on its standard output, and flush it.',
    cause: error,
  })
}

async function reasonOf(error: unknown, life: Life, withinMs: number): Promise<string> {
  if (!(error instanceof RpcError)) return textOf(error)
  if (error.kind === 'timeout') return `it did not answer hook.hello within ${withinMs / 1000} s`
  if (error.kind === 'remote') return `it refused hook.hello: ${remoteText(error)}`
  if (error.kind !== 'closed') return `hook.hello failed: ${error.message}`
  await life.ended
  return `${life.how} before it answered hook.hello`
}

/** The error for a call without an answer. */
export async function callFailure(
  error: unknown,
  life: Life,
  { method, timeoutMs }: { readonly method: string; readonly timeoutMs: number },
): Promise<unknown> {
  if (!(error instanceof RpcError)) return error
  switch (error.kind) {
    case 'timeout':
      return new HookError('HOOK_TIMEOUT', `it did not answer within its ${timeoutMs / 1000} s`, {
        hint: 'Make it faster, flush what it prints, or raise its "timeouts" (seconds).',
      })
    case 'remote':
      return failed(`it answered ${method} with an error: ${remoteText(error)}`, error)
    case 'closed':
      await life.ended
      if (life.isDismissed) return failed(`${life.how} during a call (${method})`, error, NOT_ITS_FAULT)
      return failed(withLastWords(`${life.how} during a call (${method})`, life), error)
    default:
      return failed(error.message, error)
  }
}

const NOT_ITS_FAULT = 'Wait for calls to finish before you close the hooks, or fire the event again.'

function failed(text: string, cause: RpcError, hint?: string): HookError {
  return new HookError('HOOK_FAILED', text, { cause, ...(hint !== undefined && { hint }) })
}

function remoteText({ message, code }: RpcError): string {
  return code === undefined ? message : `${message} (code ${code})`
}

export function withLastWords(text: string, { stderr }: Life): string {
  const all = stderr.last(MOST_SEEN)
  if (all.length === 0) return text
  // The message often comes before the location. In Node, the stack, a brace and its version follow it.
  const told = all.findLast((line) => /\b\w*(?:Error|Exception)\b.*:/.test(line))
  const last = all.slice(-MOST_LINES)
  const lines = told === undefined || last.includes(told) ? last : [told, ...last.slice(1)]
  const said = lines.map((line) => line.trim()).join(' | ')
  return `${text}; its last lines on stderr: ${said.length > MOST_BYTES ? cutText(said, MOST_BYTES, '…') : said}`
}
