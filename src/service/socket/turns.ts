// Whose call begins next: one at a time, so that callers who have just come are told at once that they are heard.

/** A caller that hears nothing for a second starts Node itself, and many of those take all the time that the service needs. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Settles when the call may begin. At once, if no other has begun since the service last looked for callers. */
  async next(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#take()
  }

  #take(): void {
    this.#isTaken = true
    setImmediate(() => {
      this.#isTaken = false
      const first = this.#waiting.shift()
      if (!first) return
      this.#take()
      first()
    })
  }
}
