// When a process that ended may be started again: later after each end in a row, and in the end no more.

export interface Restart {
  /** Seconds before the first start after an end; twice as long before each further one. */
  readonly delay: number
  /** Seconds: no pause is longer. */
  readonly maxDelay: number
  /** Starts again in a row; 0 is never again. */
  readonly attempts: number
}

/** Seconds. Also where no pause is wanted, a process that dies at once must come to the end of its attempts. */
const SHORTEST_STEADY_LIFE = 1

export class BackOff {
  readonly #restart: Restart
  #ends = 0
  #notBefore = 0

  constructor(restart: Restart) {
    this.#restart = restart
  }

  /** Ends in a row, failed starts among them. */
  get ends(): number {
    return this.#ends
  }

  /**
   * It lived so long after its hello; 0 if it never got there. Who lived as long as the longest pause starts a new row:
   * whatever makes it die, it is not started more often than that pause allows.
   */
  ended(livedMs: number, now: number): void {
    const { delay, maxDelay, attempts } = this.#restart
    if (livedMs >= Math.max(maxDelay, SHORTEST_STEADY_LIFE) * 1000) this.#ends = 0
    this.#ends++
    const pause = Math.min(delay * 2 ** (this.#ends - 1), maxDelay)
    this.#notBefore = this.#ends > attempts ? Infinity : now + pause * 1000
  }

  /** Milliseconds until it may be started; Infinity is never. */
  wait(now: number): number {
    return Math.max(0, this.#notBefore - now)
  }

  /** Somebody may have mended it. */
  forgive(): void {
    this.#ends = 0
    this.#notBefore = 0
  }
}
