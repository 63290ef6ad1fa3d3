// The newest rows, kept up to date by the server.

import type { Row, Rows } from '../view/row.js'
import { ask, Problem } from './ask.js'

export type Connection = 'connecting' | 'listening' | 'lost' | 'ended'

/** The list stays quick with so many. Audit shows older ones. */
const MOST_ROWS = 2000
const FIRST_ROWS = 400
/** However many rows arrive, the page is drawn at most so often. The first of them is drawn at once. */
const DRAW_MS = 40
const LONGEST_DRAW_MS = 1000
/** After a slow drawing the page rests for so many times as long, so that it stays usable. */
const REST = 4

export class Feed {
  /** The newest first. */
  rows: readonly Row[] = []
  connection: Connection = 'connecting'
  problem = ''
  readonly #listeners = new Set<() => void>()
  readonly #arrived = new Map<number, Row>()
  #timer: number | undefined
  #drawn = 0
  #rest = DRAW_MS

  async start(): Promise<void> {
    try {
      const { rows } = await ask<Rows>('api/rows', { limit: FIRST_ROWS })
      this.rows = rows
      this.#listen(rows[0]?.seq ?? 0)
    } catch (error) {
      this.connection = 'ended'
      this.problem = error instanceof Problem ? error.message : String(error)
    }
    this.#tell()
  }

  /** Returns a function that ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #listen(after: number): void {
    const source = new EventSource(`api/stream?after=${after}`)
    source.onopen = () => this.#become('listening')
    source.onerror = () => this.#become(source.readyState === EventSource.CLOSED ? 'ended' : 'lost')
    source.addEventListener('rows', ({ data }) => this.#arrive(JSON.parse(data)))
  }

  #become(connection: Connection): void {
    this.connection = connection
    this.#tell()
  }

  #arrive(rows: readonly Row[]): void {
    for (const row of rows) this.#arrived.set(row.seq, row)
    const wait = Math.max(0, this.#drawn + this.#rest - performance.now())
    this.#timer ??= window.setTimeout(() => this.#merge(), wait)
  }

  /** A row comes again once its call is known. */
  #merge(): void {
    this.#timer = undefined
    this.#drawn = performance.now()
    const merged = this.rows.map((row) => this.#arrived.get(row.seq) ?? row)
    const newest = this.rows[0]?.seq ?? 0
    const added = [...this.#arrived.values()].filter(({ seq }) => seq > newest).sort((a, b) => b.seq - a.seq)
    this.rows = [...added, ...merged].slice(0, MOST_ROWS)
    this.#arrived.clear()
    this.#tell()
    void this.#measure()
  }

  /** The script and the frame count as drawing; the wait for the frame does not. */
  async #measure(): Promise<void> {
    const begun = this.#drawn
    // Preact draws in a microtask that was queued before this one.
    await undefined
    const scripted = performance.now()
    const frame = await new Promise<number>((resolve) =>
      requestAnimationFrame(() => resolve(performance.now())),
    )
    await new Promise<void>((resolve) => window.setTimeout(resolve))
    const end = performance.now()
    this.#drawn = end
    this.#rest = Math.min(LONGEST_DRAW_MS, Math.max(DRAW_MS, (scripted - begun + end - frame) * REST))
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
