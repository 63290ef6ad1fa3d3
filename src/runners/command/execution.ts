// One run of a program, from its start to its ending.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type MaybePromise, onAbort } from '../../core/base/promise.js'
import { NOT_UTF8 } from '../../systems/claude-code/stdout.js'

/** A program that was started: by this process, or by a client of the service. */
export interface Running {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly group: Group
  /** Called once. */
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  /** Called instead of `onExit` if nobody can tell any more how it ends. */
  onLost?(listener: (why: Error) => void): void
  /** Nothing more is read from it, and it does not keep our process alive. */
  release(): void
}

/** A program and everything it started that did not leave its group. */
export interface Group {
  /** Settles when every process that can be stopped has ended. */
  readonly gone: Promise<void>
  readonly isGone: boolean
  /** Sends TERM now and KILL after half a second. Returns whether a living process was stopped. */
  end(): MaybePromise<boolean>
  /** Checks whether a process is left. */
  look(): void
}

/** How a program ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** Its standard output was longer than the limit. Standard error may be cut without notice. */
  readonly cut: boolean
  /** Set if another process still held the output when we stopped reading: one in the group, which is stopped, or one outside it. */
  readonly heldBy?: 'group' | 'outsider'
}

/** A program that said in its first line that it continues on its own. The caller no longer waits for it. */
export interface GoingOn {
  /** Everything it has printed so far, including the first line. */
  readonly stdout: string
  /** Waits for it to end. From now on this signal ends it, instead of the one it was started with. */
  rest(signal: AbortSignal): Promise<Ending>
}

/** Decides from the first line of output whether the program continues on its own. */
export type GoesOn = (firstLine: string) => boolean

/** How long we read after the program has ended: `exec > >(tee log)` prints the answer later. Claude Code waits as long. */
const DRAIN_MS = 500
const LONGEST_FIRST_LINE = 4096
/** How long we still listen to a program that continues on its own, because it may refuse or end right away. */
const BREATH_MS = 100
/** How long the rest of the group may take to die before we answer without knowing who held the output. */
const PARTING_MS = 50

/** Settles when the program and its output have ended, or soon after, or when it continues on its own. Never waits for `close`, which a grandchild can delay forever. */
export function follow(
  running: Running,
  { outputLimit, soFar }: Bounds,
  signal: AbortSignal,
  leftBehind: LeftBehind,
  goesOn?: GoesOn,
): Promise<Ending | GoingOn> {
  return new Promise((resolve, reject) => {
    new Execution(running, outputLimit, { resolve, reject, leftBehind, soFar }, goesOn).obey(signal)
  })
}

export interface Bounds {
  /** Bytes kept of each stream. */
  readonly outputLimit: number
  /** Called if the program is stopped early, with what it had printed by then. */
  readonly soFar?: ((unfinished: Ending) => void) | undefined
}

/** Called with who was still running after the program had ended or was aborted. */
export type LeftBehind = (who: 'group' | 'outsider') => void

type Exit = Pick<Ending, 'code' | 'signal'>

interface Waiting {
  readonly resolve: (ending: Ending | GoingOn) => void
  readonly reject: (reason: unknown) => void
}

interface Caller extends Waiting, Pick<Bounds, 'soFar'> {
  /** Called after the answer if others of the group had to be stopped, or after an abort if a process outside it holds the output. */
  readonly leftBehind: LeftBehind
}

class Execution {
  readonly #running: Running
  readonly #group: Group
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #caller: Caller
  /** Whoever waits for the end: the caller first, later whoever calls `rest`. */
  #waiting: Waiting
  /** Unset once the first line is known. */
  #goesOn: GoesOn | undefined
  #exit: Exit | undefined
  #heldBy: Ending['heldBy']
  #aborted = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #breath: ReturnType<typeof setTimeout> | undefined
  #settled = false
  #stopListening = () => {}

  constructor(running: Running, outputLimit: number, caller: Caller, goesOn: GoesOn | undefined) {
    this.#running = running
    this.#group = running.group
    this.#caller = caller
    this.#waiting = caller
    this.#goesOn = goesOn
    const ended = () => this.#ended()
    this.#stdout = new Output(running.stdout, outputLimit, ended, goesOn && (() => this.#readOn()))
    this.#stderr = new Output(running.stderr, outputLimit, ended)
    running.onExit((code, signal) => this.#exited(code, signal))
    running.onLost?.((why) => this.#abandon(why))
  }

  /** Stops the group when the signal is aborted. The caller does not wait for that. */
  obey(signal: AbortSignal): void {
    if (!this.#settled) this.#stopListening = onAbort(signal, () => this.#abandon(signal.reason))
  }

  #abandon(reason: unknown): void {
    if (!this.#settle()) return
    this.#aborted = true
    // Nobody waits for the output of a program that continues on its own.
    if (this.#waiting === this.#caller)
      this.#caller.soFar?.(this.#ending(this.#exit ?? { code: null, signal: null }))
    this.#waiting.reject(reason)
    void this.#endGroup()
  }

  /** Some programs print the first line without a line break and continue, so the output so far may be the whole line. */
  #readOn(): void {
    if (!this.#goesOn || this.#settled) return
    const [line = '', ...more] = this.#stdout.answer().split('\n', 2)
    const goesOn = this.#goesOn(line)
    if (goesOn || more.length > 0 || this.#stdout.size > LONGEST_FIRST_LINE) this.#goesOn = undefined
    if (goesOn) this.#breath = setTimeout(() => this.#letGo(), BREATH_MS)
  }

  /** The first signal ends it until `rest` is called, so that a program whose answer is never taken does not run forever. */
  #letGo(): void {
    if (this.#exit) return // It has ended, which is an answer.
    const { resolve } = this.#waiting
    const rest = new Promise<Ending | GoingOn>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    }) as Promise<Ending>
    rest.catch(() => undefined) // Reported to whoever calls `rest`.
    resolve({
      stdout: this.#stdout.answer(),
      rest: (signal) => {
        this.#stopListening()
        this.obey(signal)
        return rest
      },
    })
  }

  get #silent(): boolean {
    return this.#stdout.ended && this.#stderr.ended
  }

  #ended(): void {
    if (this.#exit && this.#silent) this.#answer(this.#exit)
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exit = { code, signal }
    if (this.#settled) this.#group.look()
    else if (this.#silent) this.#answer(this.#exit)
    else this.#drain(this.#exit)
  }

  /** Another process still holds the output, or it has not been read yet. */
  #drain(exit: Exit): void {
    this.#group.look()
    this.#later(DRAIN_MS, async () => {
      // It may let go of the output before we hear that it was told to end.
      this.#heldBy = this.#group.isGone ? 'outsider' : 'group'
      const isStopped = await this.#endGroup()
      if (this.#settled) return
      if (this.#group.isGone && !isStopped) {
        this.#heldBy = 'outsider'
        return this.#answer(exit)
      }
      this.#later(PARTING_MS, () => {
        this.#group.look()
        if (this.#group.isGone) this.#heldBy = 'outsider'
        this.#answer(exit)
      })
    })
  }

  /** Output printed while a process is being stopped is not part of the answer. We still read it, because SIGPIPE would leave no time to clean up. */
  #endGroup(): MaybePromise<boolean> {
    this.#stdout.close()
    this.#stderr.close()
    // Pending reads come first.
    void this.#group.gone.then(() => setImmediate(() => this.#release()))
    return this.#group.end()
  }

  #answer(exit: Exit): void {
    if (!this.#settle()) return
    // Usually no process is left, and finding out takes longer than everything else here, so the caller does not wait for it.
    setImmediate(async () => {
      if (await this.#group.end()) this.#caller.leftBehind('group')
    })
    this.#waiting.resolve(this.#ending(exit))
  }

  #ending({ code, signal }: Exit): Ending {
    const [stdout, stderr] = [this.#stdout.answer(), this.#stderr.text()]
    return {
      code,
      signal,
      stdout,
      stderr,
      cut: this.#stdout.cut,
      ...(this.#heldBy && { heldBy: this.#heldBy }),
    }
  }

  /** Returns false if the caller already has its answer. */
  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    clearTimeout(this.#timer)
    clearTimeout(this.#breath)
    this.#stopListening()
    return true
  }

  /** A blocked event loop fires the timer before it reads. This lets it read first. */
  #later(ms: number, then: () => MaybePromise<void>): void {
    this.#timer = setTimeout(() => {
      setImmediate(() => {
        if (!this.#settled) void then()
      })
    }, ms)
  }

  /** A program that is gone, or cannot be ended, must not keep our own process alive. */
  #release(): void {
    if (this.#aborted && !this.#silent) this.#caller.leftBehind('outsider')
    this.#running.release()
  }
}

// ---- output ---------------------------------------------------------------------------------------------------

/** A program that writes byte by byte must not cost one buffer per byte. */
const MOST_CHUNKS = 1024

export class Output {
  readonly #limit: number
  #chunks: Buffer[] = []
  #size = 0
  #closed = false
  #cut = false
  #ended = false

  /** `onEnd` is called once, when no process holds the other end any more. `onMore` is called after each piece that was kept. */
  constructor(stream: Readable, limit: number, onEnd: () => void, onMore?: () => void) {
    this.#limit = limit
    const end = () => {
      if (this.#ended) return
      this.#ended = true
      onEnd()
    }
    stream.on('data', (chunk: Buffer) => {
      this.#keep(chunk)
      onMore?.()
    })
    stream.on('end', end)
    stream.on('error', end)
  }

  /** There was more than the limit. */
  get cut(): boolean {
    return this.#cut
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Bytes kept. */
  get size(): number {
    return this.#size
  }

  /** Keeps nothing from now on, but continues to read. */
  close(): void {
    this.#closed = true
  }

  /** The text, with a mark if it was not UTF-8. */
  answer(): string {
    return utf16In(this.#bytes()) === undefined ? this.text() : NOT_UTF8 + this.text()
  }

  /** Replaces invalid UTF-8. A cut falls between two characters. */
  text(): string {
    const bytes = this.#bytes()
    const utf16 = utf16In(bytes)
    if (utf16) return utf16.toString('utf16le').replace(/^\uFEFF/, '')
    return this.#cut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8')
  }

  #bytes(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  #keep(chunk: Buffer): void {
    if (this.#closed) return
    const room = this.#limit - this.#size
    this.#cut = chunk.length > room
    this.#closed = this.#cut
    const kept = this.#cut ? chunk.subarray(0, room) : chunk
    this.#size += kept.length
    if (this.#chunks.push(kept) === MOST_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }
}

/** At least this share of the characters in JSON is ASCII. */
const ASCII_SHARE = 1 / 8
/** Bytes. In less, a few zeros prove nothing. */
const SHORTEST_UTF16 = 16

/**
 * The bytes as UTF-16LE if they are UTF-16, recognised by the byte order mark or by zeros in every other byte. JSON in UTF-16
 * has zeros, so a mark without any is only a stray one.
 */
function utf16In(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes(0)) return undefined
  const [first, second] = bytes
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  if (first === 0xff && second === 0xfe) return even
  if (first === 0xfe && second === 0xff) return Buffer.from(even).swap16()
  if (even.length < SHORTEST_UTF16) return undefined
  let [before, after] = [0, 0]
  for (let i = 0; i < even.length; i += 2) {
    if (even[i] === 0) before++
    if (even[i + 1] === 0) after++
  }
  const [few, many] = [Math.min(before, after), Math.max(before, after)]
  // Few characters, such as U+5F00, have a zero in the other byte.
  if (few > many * ASCII_SHARE || many < (even.length / 2) * ASCII_SHARE) return undefined
  return after > before ? even : Buffer.from(even).swap16()
}
