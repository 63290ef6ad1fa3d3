// A progress line on the terminal, for work that takes longer than a second.

import type { Output } from '../output.js'
import { isTerminal } from './terminal.js'

const QUIET_MS = 1000
/** For a terminal that does not report its width. */
const USUAL_COLUMNS = 80

/** Call it often during synchronous work, which keeps timers from running. */
export type Tick = () => void

/** Ticks for each item. */
export async function* ticking<T>(items: AsyncIterable<T>, tick: Tick): AsyncGenerator<T> {
  for await (const item of items) {
    tick()
    yield item
  }
}

/** `end` removes the line early, before something else is printed. */
export async function withProgress<T>(
  what: string,
  output: Output,
  work: (tick: Tick, end: () => void) => Promise<T>,
): Promise<T> {
  const progress = new Progress(what, output)
  try {
    return await work(
      () => progress.tick(),
      () => progress.end(),
    )
  } finally {
    progress.end()
  }
}

class Progress {
  readonly #what: string
  readonly #started = performance.now()
  readonly #timer: ReturnType<typeof setInterval> | undefined
  #next = this.#started + QUIET_MS
  #isShown = false
  #isOver: boolean

  constructor(what: string, output: Output) {
    this.#what = what
    this.#isOver = output.json || !isTerminal(2)
    if (!this.#isOver) this.#timer = setInterval(() => this.#show(performance.now()), QUIET_MS)
  }

  tick(): void {
    const now = performance.now()
    if (!this.#isOver && now >= this.#next) this.#show(now)
  }

  #show(now: number): void {
    this.#next = now + QUIET_MS
    this.#isShown = true
    process.stderr.write(`\r${line(this.#what, Math.round((now - this.#started) / 1000))}`)
  }

  /** Removes the line. May be called more than once. */
  end(): void {
    clearInterval(this.#timer)
    if (this.#isShown && !this.#isOver) process.stderr.write('\r\x1b[K')
    this.#isOver = true
  }
}

/** A line that wraps could not be overwritten. */
function line(what: string, seconds: number): string {
  const end = ` … ${seconds} s`
  const room = (process.stderr.columns || USUAL_COLUMNS) - 1 - end.length
  return (what.length > room ? `${what.slice(0, Math.max(0, room - 1))}…` : what) + end
}
