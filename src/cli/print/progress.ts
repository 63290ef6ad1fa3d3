// A progress line on the terminal, for work that takes longer than a second. A thread of its own writes it: most of our
// work reads files without a pause, and a timer would never get its turn.

import type { Worker } from 'node:worker_threads'
import type { Output } from '../output.js'
import { isTerminal } from './terminal.js'

const STDERR = 2
const QUIET_MS = 1000
/** For a terminal that does not report its width. */
const USUAL_COLUMNS = 80

/** `end` removes the line early, before something else is printed. */
export async function withProgress<T>(
  what: string,
  output: Output,
  work: (end: () => void) => Promise<T>,
): Promise<T> {
  if (output.json || !isTerminal(STDERR)) return work(() => undefined)
  // Without a terminal nothing needs the module, which takes a tenth of a start.
  const threads = await import('node:worker_threads')
  const progress = new Progress(what, threads)
  try {
    return await work(() => progress.end())
  } finally {
    progress.end()
  }
}

/** Cells that both threads see. */
const TURN = 0
const SHOWN = 1
/** Whose turn it is to write: nobody's, the thread's, or ours for good. */
const [FREE, WRITING, OVER] = [0, 1, 2]

class Progress {
  readonly #cells = new Int32Array(new SharedArrayBuffer(8))
  readonly #thread: Worker

  constructor(what: string, threads: { readonly Worker: typeof Worker }) {
    const columns = process.stderr.columns || USUAL_COLUMNS
    const workerData = { cells: this.#cells, what, room: columns - 1, quietMs: QUIET_MS }
    this.#thread = new threads.Worker(THREAD, { eval: true, workerData, execArgv: [], env: {} })
    this.#thread.unref()
    // It only says what is going on.
    this.#thread.on('error', () => undefined)
  }

  /** Removes the line. May be called more than once. */
  end(): void {
    for (;;) {
      const turn = Atomics.compareExchange(this.#cells, TURN, FREE, OVER)
      if (turn === OVER) return
      if (turn === FREE) break
    }
    Atomics.notify(this.#cells, TURN)
    if (Atomics.load(this.#cells, SHOWN) === 1) process.stderr.write('\r\x1b[K')
  }
}

/** Writes a line every second until it is over. A line that wraps could not be overwritten. */
const THREAD = `
const { workerData: { cells, what, room, quietMs } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const started = performance.now()
while (Atomics.wait(cells, ${TURN}, ${FREE}, quietMs) === 'timed-out') {
  if (Atomics.compareExchange(cells, ${TURN}, ${FREE}, ${WRITING}) !== ${FREE}) break
  const end = ' … ' + Math.round((performance.now() - started) / 1000) + ' s'
  const most = Math.max(0, room - end.length)
  const text = what.length > most ? what.slice(0, Math.max(0, most - 1)) + '…' : what
  try {
    writeSync(${STDERR}, '\\r' + text + end)
    Atomics.store(cells, ${SHOWN}, 1)
  } catch {}
  Atomics.store(cells, ${TURN}, ${FREE})
}
`
