// Events on their way to an observer. A limited number waits for the hello, or while the process does not read. Nothing waits for them.

import type { Diagnostic } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'

const MOST_WAITING = 1000
/** Characters of all waiting events. */
const MOST_TEXT = 1024 * 1024

interface Waiting {
  readonly observation: Json
  /** The caller that it comes from. */
  readonly caller: number
  readonly size: number
  readonly since: number
}

export interface ObservationsOptions {
  /** Returns false if it cannot be sent now. */
  readonly send: (observation: Json, caller: number) => boolean
  /** How long the process may take to read again. */
  readonly patienceMs: number
  readonly report: (d: Diagnostic) => void
}

export class Observations {
  readonly #options: ObservationsOptions
  readonly #waiting: Waiting[] = []
  #size = 0
  /** The process has said hello. Patience counts from then on. */
  #open = false
  #openedAt = 0
  #dropped = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #onEmpty: (() => void)[] = []

  constructor(options: ObservationsOptions) {
    this.#options = options
  }

  push(observation: Json, caller = 0): void {
    if (this.#open && this.#waiting.length === 0 && this.#options.send(observation, caller)) return
    const size = JSON.stringify(observation).length
    if (this.#waiting.length >= MOST_WAITING || this.#size + size > MOST_TEXT) {
      this.#drop(1, this.#open ? UNREAD : 'too many events arrived before it had started')
      return
    }
    this.#waiting.push({ observation, caller, size, since: performance.now() })
    this.#size += size
    if (this.#open) this.#expireLater()
  }

  /** The process is ready. */
  open(): void {
    this.#tellTotal()
    this.#open = true
    this.#openedAt = performance.now()
    this.flush()
  }

  /** Sends as much as the process accepts. */
  flush(): void {
    let sent = 0
    for (const { observation, caller } of this.#waiting) {
      if (!this.#options.send(observation, caller)) break
      sent++
    }
    this.#remove(sent)
    this.#expireLater()
  }

  /** The process is gone or could not be started. `why` is for people. */
  close(why: string): void {
    this.#open = false
    this.#drop(this.#waiting.length, why)
    this.#remove(this.#waiting.length)
    this.#expireLater()
    this.#tellTotal()
  }

  /** Counts an event that could not even wait. */
  refuse(why: string): void {
    this.#drop(1, why)
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Settles when every event was sent or dropped. */
  empty(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) resolve()
      else this.#onEmpty.push(resolve)
    })
  }

  #remove(count: number): void {
    for (const { size } of this.#waiting.splice(0, count)) this.#size -= size
    if (this.#waiting.length > 0) return
    for (const tell of this.#onEmpty.splice(0)) tell()
  }

  /** Uses a single timer, for the oldest event. */
  #expireLater(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const oldest = this.#waiting[0]
    if (!this.#open || !oldest) return
    const left = this.#dueAt(oldest) - performance.now()
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, Math.ceil(left))).unref()
  }

  #expire(): void {
    const now = performance.now()
    const young = this.#waiting.findIndex((one) => this.#dueAt(one) > now)
    const old = young < 0 ? this.#waiting.length : young
    this.#drop(old, UNREAD)
    this.#remove(old)
    this.#expireLater()
  }

  #dueAt({ since }: Waiting): number {
    return Math.max(since, this.#openedAt) + this.#options.patienceMs
  }

  /** Reports the first drop at once, and the total at the end. */
  #drop(count: number, why: string): void {
    if (count === 0) return
    const first = this.#dropped === 0
    this.#dropped += count
    if (first) this.#options.report({ code: 'observer-dropped', text: `events for it are dropped: ${why}` })
  }

  #tellTotal(): void {
    if (this.#dropped === 0) return
    const text = `it was not told of ${this.#dropped} event${this.#dropped === 1 ? '' : 's'}`
    this.#dropped = 0
    this.#options.report({ code: 'observer-dropped', text })
  }
}

const UNREAD = 'it does not read them in time'
