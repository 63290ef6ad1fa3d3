// Resident processes: each is started on first use, shared by many calls, and restarted after a pause when it has ended.

import { setImmediate } from 'node:timers/promises'
import { type ForCaller, forCallerOfNow, forNobody } from '../../core/base/caller.js'
import { type Diagnostic, HookError, textOf } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import type { HookContext } from '../../core/hooks/hook.js'
import { isBelow } from '../../files/within.js'
import { RpcError } from '../../rpc/problem.js'
import { checkHello, EVENT_METHOD, HELLO_METHOD } from '../../systems/picoclaw/protocol.js'
import type { HookSpec } from '../hook-spec.js'
import { CodeStamps } from '../program/code-stamp.js'
import { Living } from '../program/process-group.js'
import { callerNumber, interrupted, SharedCalls } from '../program/shared-calls.js'
import { BackOff, type Restart } from './back-off.js'
import { type Launch, launched } from './launch.js'
import { callFailure, helloFailure, Life, withLastWords } from './life.js'
import { Observations } from './observations.js'

interface ResidentOptions {
  /** Called for each start, because the environment may have changed. Throws if it may not be started. */
  readonly launch: () => Launch
  readonly hello: Json
  readonly helloMs: number
  /** How long it may take to read an event. */
  readonly observeMs: number
  readonly restart: Restart
  readonly maxLineBytes: number | undefined
  /** A call without an answer in time ends the process: it may be in an endless loop. The next call starts a new one. */
  readonly endsLate?: boolean
  /** Reports problems that do not belong to a call in progress. */
  readonly report: (d: Diagnostic) => void
}

/** Keeps all lives, to end them. */
interface Registry {
  /** If true, nothing is started any more. */
  readonly closed: boolean
  readonly isWarm: boolean
  add(life: Life): void
}

interface Question {
  readonly method: string
  readonly params: Json
  /** Counts from the hello, if that has not happened yet. */
  readonly timeoutMs: number
  /** Whether it printed something before this answer, which is then read first. */
  readonly hasPrinted?: (answer: Json) => boolean
  /** Throws if the process may have loaded other code than was reviewed. It then ends, and its answer does not count. */
  readonly check?: (answer: Json, isFirst: boolean) => void
}

export class Resident {
  #options: ResidentOptions
  readonly #registry: Registry
  readonly #backOff: BackOff
  readonly #observations: Observations
  /** Callers that wait for an answer, latest last. */
  readonly #asking = new Map<HookContext, ForCaller>()
  /** Lives that did not answer in time, and end with their last call. */
  readonly #late = new Set<Life>()
  readonly #calls = new WeakMap<Life, SharedCalls>()
  readonly #checked = new WeakSet<Life>()
  /** Set once it has said hello. */
  #life: Life | undefined
  #readyAt = 0
  #starting: Promise<Life> | undefined
  /** How it last ended. Undefined before its first end. */
  #lastEnd: (() => string) | undefined
  #retired = false

  constructor(options: ResidentOptions, registry: Registry) {
    this.#options = options
    this.#registry = registry
    this.#backOff = new BackOff(options.restart)
    this.#observations = new Observations({
      send: (observation, caller) => this.#send(observation, caller),
      patienceMs: options.observeMs,
      report: (d) => this.#options.report(d),
    })
  }

  /** Resolves with what `read` makes of the answer. Rejects with a HookError that says what happened to the process. */
  ask<T>(question: Question, context: HookContext, read: (answer: Json) => T): Promise<T> {
    this.#asking.set(context, forCallerOfNow())
    return this.#life
      ? this.#asked(this.#life, question, context, read)
      : this.#askLater(question, context, read)
  }

  /** Starts the process first. */
  async #askLater<T>(question: Question, context: HookContext, read: (answer: Json) => T): Promise<T> {
    let life: Life
    try {
      life = await this.#started()
    } catch (error) {
      this.#answered(context)
      throw error
    }
    return this.#asked(life, question, context, read)
  }

  /** Uses a single promise, because the agent waits for all of this. */
  #asked<T>(life: Life, question: Question, context: HookContext, read: (answer: Json) => T): Promise<T> {
    const { method, params, timeoutMs } = question
    if (this.#registry.isWarm && life.inFlight === 0) life.stderr.forget()
    // The context's signal is not used: making one takes as long as the call.
    const onStart = (giveUp: () => void) => context.onAbort(giveUp)
    // Only a process that serves many callers can be disturbed by another one.
    const shared = this.#options.endsLate ? this.#callsOf(life).begin() : undefined
    return life.call(method, params, { timeoutMs, onStart }).then(
      (answer) => {
        shared?.end()
        this.#check(life, question, context, answer)
        if (question.hasPrinted?.(answer)) return this.#answeredAloud(life, context, () => read(answer))
        this.#answered(context, life)
        return read(answer)
      },
      async (error: unknown) => {
        if (this.#options.endsLate && isLate(error)) this.#setAside(life, timeoutMs)
        else life.unanswered()
        const isLost = isLate(error) || (isClosed(error) && !life.isDismissed)
        const isInterrupted = isLost && shared?.lost() === true
        shared?.end()
        const failure = await callFailure(error, life, question)
        this.#answered(context, life)
        throw isInterrupted ? interrupted(failure) : failure
      },
    )
  }

  #callsOf(life: Life): SharedCalls {
    const calls = this.#calls.get(life) ?? new SharedCalls()
    this.#calls.set(life, calls)
    return calls
  }

  #check(life: Life, { check }: Question, context: HookContext, answer: Json): void {
    try {
      check?.(answer, !this.#checked.has(life))
      this.#checked.add(life)
    } catch (error) {
      this.#callsOf(life).disturb()
      life.terminate('it may have loaded other code than was reviewed')
      this.#answered(context, life)
      throw error
    }
  }

  async #answeredAloud<T>(life: Life, context: HookContext, read: () => T): Promise<T> {
    await setImmediate()
    this.#answered(context, life)
    return read()
  }

  /** It ends with its last call, because other calls may still get their answers. */
  #setAside(life: Life, timeoutMs: number): void {
    if (this.#life === life) {
      this.#life = undefined
      this.#lastEnd = () => `it did not answer within ${timeoutMs / 1000} s and was ended`
    }
    this.#late.add(life)
  }

  #answered(context: HookContext, life?: Life): void {
    this.#asking.delete(context)
    const stderr = life?.stderr.takeNew()
    if (stderr) context.printed({ stderr })
    if (life && life.inFlight === 0 && this.#late.delete(life)) life.terminate('it did not answer in time')
    if (this.#retired) this.#endIfIdle()
  }

  /** Sends it an event. Nobody waits for it, and it never throws. */
  observe(observation: Json): void {
    try {
      // Its entry is gone, so nothing would end a process that we start now.
      if (this.#retired && !this.#life && !this.#starting) throw new Error(RETIRED)
      if (!this.#life && !this.#starting) void this.#started().catch((error: unknown) => this.#tellOf(error))
      this.#observations.push(observation, callerNumber())
    } catch (error) {
      this.#observations.refuse(textOf(error))
    }
  }

  #send(observation: Json, caller: number): boolean {
    if (!this.#life?.notify(EVENT_METHOD, observation)) return false
    this.#callsOf(this.#life).serve(caller)
    return true
  }

  /** Its entry was read again. It may have been fixed, so it may be tried again. */
  renew(options: ResidentOptions): void {
    this.#options = options
    this.#backOff.forgive()
  }

  /** Its entry is gone. Events in progress may still reach it. It ends as soon as no call is waiting. */
  retire(): void {
    this.#retired = true
    this.#endIfIdle()
  }

  /** Waiting events still get the hello and their time to be read. Then the process ends, even during a call. */
  async close(): Promise<void> {
    await this.#handedOver()
    this.#life?.end(CLOSED)
    this.#observations.close(CLOSED)
  }

  async #handedOver(): Promise<void> {
    if (this.#observations.isEmpty) return
    await this.#starting?.catch(() => undefined) // Reported to whoever started it.
    if (!this.#life) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.observeMs)
    })
    await Promise.race([this.#observations.empty(), late])
    clearTimeout(timer)
  }

  #endIfIdle(): void {
    if (this.#asking.size > 0) return
    if (this.#life) this.#life.end(RETIRED)
    else void this.#starting?.then((life) => life.end(RETIRED)).catch(() => undefined) // Reported to whoever started it.
  }

  /** Throws if it may not be started now. */
  #started(): Promise<Life> {
    if (this.#starting) return this.#starting
    this.#refuseIfDown()
    const launch = this.#options.launch()
    if (this.#lastEnd) {
      this.#tell({ code: 'process-restarted', text: `its process was restarted: ${this.#lastEnd()}` })
    }
    this.#starting = forNobody(() => this.#start(launch))
      .catch((error: unknown) => {
        this.#down(() => textOf(error), 0)
        throw error
      })
      .finally(() => {
        this.#starting = undefined
      })
    return this.#starting
  }

  async #start(launch: Launch): Promise<Life> {
    const { hello, helloMs } = this.#options
    const child = await launched(launch)
    const life: Life = new Life(child, this.#options.maxLineBytes, {
      over: () => this.#over(life),
      drained: () => this.#observations.flush(),
      problem: ({ text }) => this.#tell({ code: 'rpc-noise', text }),
      leftBehind: () => this.#tell({ code: 'left-running', text: LEFT_BEHIND }),
    })
    this.#registry.add(life)
    try {
      checkHello(await life.call(HELLO_METHOD, hello, { timeoutMs: helloMs }))
    } catch (error) {
      const failure = await helloFailure(error, life, helloMs)
      life.terminate(failure.message)
      throw failure
    }
    if (life.isOver) {
      await life.ended
      const text = withLastWords(`${life.how} after it answered hook.hello`, life)
      throw new HookError('HOOK_NOT_STARTED', text)
    }
    this.#life = life
    this.#readyAt = performance.now()
    this.#observations.open()
    return life
  }

  /** Ignores a life that ends before its hello, because the failed start reports it. */
  #over(life: Life): void {
    if (this.#life !== life) return
    this.#life = undefined
    // We ended it, or it ended first. There is nothing to report, and the next start need not wait.
    if (this.#registry.closed || this.#retired) {
      this.#observations.close(GONE)
      return
    }
    const how = () => withLastWords(life.how, life)
    this.#down(how, performance.now() - this.#readyAt)
    if (this.#asking.size > 0) return // Reported to them.
    void life.ended.then(() => this.#options.report({ code: 'process-ended', text: how() }))
  }

  #down(how: () => string, livedMs: number): void {
    this.#lastEnd = how
    this.#backOff.ended(livedMs, performance.now())
    this.#observations.close(GONE)
  }

  #refuseIfDown(): void {
    if (this.#registry.closed) throw new HookError('HOOK_NOT_STARTED', `it was not started: ${CLOSED}`)
    const wait = this.#backOff.wait(performance.now())
    if (wait === 0) return
    const how = `it is down: ${this.#lastEnd?.()}`
    if (wait < Infinity) {
      const text = `${how}; it may be restarted in ${(wait / 1000).toFixed(1)} s`
      throw new HookError('HOOK_NOT_STARTED', text, { hint: 'Fix it. It is then restarted automatically.' })
    }
    const text = `${how}; it was started ${times(this.#backOff.ends)} in a row and will not be restarted`
    throw new HookError('HOOK_NOT_STARTED', text, { hint: 'Fix it, then reload the configuration.' })
  }

  /** Callers get the error of a failed start. If there are none, it is reported. */
  #tellOf(error: unknown): void {
    if (this.#asking.size === 0) this.#options.report({ code: 'HOOK_NOT_STARTED', text: textOf(error) })
  }

  /** Adds a note for the latest caller that waits, or reports it. */
  #tell(d: Diagnostic): void {
    const latest = [...this.#asking].at(-1)
    if (latest) latest[1](() => latest[0].note(d))
    else this.#options.report(d)
  }
}

function isLate(error: unknown): boolean {
  return error instanceof RpcError && (error.kind === 'timeout' || error.kind === 'aborted')
}

function isClosed(error: unknown): boolean {
  return error instanceof RpcError && error.kind === 'closed'
}

const CLOSED = 'the hooks were closed'
const RETIRED = 'its entry was removed or changed'
const LEFT_BEHIND = 'it left a process running outside its group that still holds its output'
const GONE = 'its process is not running'

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

// ---- all residents of one createHooks() -----------------------------------------------------------------------

export class Residents {
  readonly #residents = new Map<string, Resident>()
  readonly #usedAt = new WeakMap<Resident, number>()
  /** Keys of the last renewal. The next one may end their residents. */
  #renewed: ReadonlySet<string> = new Set()
  /** Keys of the renewal in progress. */
  #wanted: Set<string> | undefined
  readonly #lives = new Living<Life>()
  readonly #registry: Registry
  #closed = false
  /** The newest version of each entry. */
  readonly #latest = new Map<string, string>()
  #generation = 0
  #stamps = new CodeStamps()
  /** A configuration is read for every event, so a process stays as long as its code does. */
  readonly isWarm: boolean

  constructor(isWarm = false) {
    this.isWarm = isWarm
    const isClosed = () => this.#closed
    this.#registry = {
      isWarm,
      get closed() {
        return isClosed()
      },
      add: (life) => this.#lives.add(life),
    }
  }

  /** Files are looked at again, as for every configuration. */
  look(): void {
    this.#generation++
    this.#stamps = new CodeStamps()
  }

  /**
   * Changes with the code: with what was reviewed, and with the files themselves where they are not in a copy, because a
   * review does not cover all that they load. Code that may change unnoticed has another version for each configuration.
   */
  versionOf(
    { hook: { content = '' }, place }: Pick<HookSpec<unknown>, 'hook' | 'place'>,
    files: readonly string[],
  ): string {
    const folder = place.plugin?.root ?? place.skillDir
    const isOutside = (path: string) => place.copy === undefined || !isBelow(path, place.copy)
    const code = {
      folder: folder !== undefined && isOutside(folder) ? folder : undefined,
      files: files.filter(isOutside),
      withoutPackages: true,
    }
    const stamp = this.#stamps.of(code)
    return stamp === undefined ? `unknown ${this.#generation}` : `${content}\n${stamp}`
  }

  /**
   * Finds or creates the resident with this key, which covers everything that matters about it but the version of its
   * code. Several entries may share one. A new version of an entry replaces the older one.
   */
  of(key: string, version: string, options: ResidentOptions, entry = key): Resident {
    const whole = `${key}\n${version}`
    const known = this.#residents.get(whole)
    const resident = known ?? new Resident(options, this.#registry)
    if (known) known.renew(options)
    else this.#residents.set(whole, resident)
    this.#usedAt.set(resident, performance.now())
    this.#wanted?.add(whole)
    const before = this.#latest.get(entry)
    this.#latest.set(entry, whole)
    // A renewal ends what it does not want. Hooks of skills are created outside of one.
    if (before !== undefined && before !== whole && !this.#wanted) this.#retire(before)
    return resident
  }

  /**
   * Called when a configuration is read. `make` creates all its hooks. Residents that only the last renewal used end after
   * the calls in progress. The others keep running. If `make` throws, everything stays as it is.
   */
  renew<T>(make: () => T): T {
    const wanted = new Set<string>()
    this.#wanted = wanted
    this.look()
    try {
      const made = make()
      for (const key of this.#renewed) if (!wanted.has(key)) this.#retire(key)
      this.#renewed = wanted
      return made
    } finally {
      this.#wanted = undefined
    }
  }

  endIdle(ms: number): void {
    const since = performance.now() - ms
    for (const [key, resident] of this.#residents)
      if ((this.#usedAt.get(resident) ?? 0) < since) this.#retire(key)
  }

  /** Settles when every process is gone: end of input, half a second, TERM, half a second, KILL. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#residents.values()].map((resident) => resident.close()))
    await setImmediate() // A process that was being started exists by now.
    await this.#lives.end((life) => life.end(CLOSED))
  }

  #retire(key: string): void {
    this.#residents.get(key)?.retire()
    this.#residents.delete(key)
    for (const [entry, newest] of this.#latest) if (newest === key) this.#latest.delete(entry)
  }
}
