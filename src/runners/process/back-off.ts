// Delays restarts of a process: longer after each failure in a row, and finally forever.

export interface Restart {
  /** Seconds before the first restart. Doubled before each further one. */
  readonly delay: number
  /** Seconds. The longest pause. */
  readonly maxDelay: number
  /** The most restarts in a row. 0 means never. */
  readonly attempts: number
}

/** Seconds. Even without a pause, a process that dies immediately must run out of attempts. */
const SHORTEST_STEADY_LIFE = 1

export class BackOff {
  readonly #restart: Restart
  #ends = 0
  #notBefore = 0

  constructor(restart: Restart) {
    this.#restart = restart
  }

  /** Ends in a row, including failed starts. */
  get ends(): number {
    return this.#ends
  }

  /**
   * `livedMs` counts from its hello, and is 0 if it never got there. A process that lived as long as the longest pause
   * starts a new count: it is never started more often than that pause allows.
   */
  ended(livedMs: number, now: number): void {
    const { delay, maxDelay, attempts } = this.#restart
    if (livedMs >= Math.max(maxDelay, SHORTEST_STEADY_LIFE) * 1000) this.#ends = 0
    this.#ends++
    const pause = Math.min(delay * 2 ** (this.#ends - 1), maxDelay)
    this.#notBefore = this.#ends > attempts ? Infinity : now + pause * 1000
  }

  /** Milliseconds until it may be started. Infinity: never. */
  wait(now: number): number {
    return Math.max(0, this.#notBefore - now)
  }

  /** Starts over, because the process may have been fixed. */
  forgive(): void {
    this.#ends = 0
    this.#notBefore = 0
  }
}
