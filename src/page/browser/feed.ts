// The newest rows, kept up to date by the server.

import type { Row, Rows } from '../view/row.js'
import { ask, ENDED, endAsking, Problem, Unreached } from './ask.js'

export type Connection = 'connecting' | 'listening' | 'lost' | 'ended'

/** The list stays quick with so many. Audit shows older ones. */
const MOST_ROWS = 2000
const FIRST_ROWS = 400
/** However many rows arrive, the page is drawn at most so often. The first of them is drawn at once. */
const DRAW_MS = 40
const LONGEST_DRAW_MS = 1000
/** After a slow drawing the page rests for so many times as long, so that it stays usable. */
const REST = 4

/** After so long without an answer the page has ended. */
const LOST_MS = 10_000
const AGAIN_MS = 1000
/** How often a tab that nobody sees tells the server that it is there. */
const HIDDEN_MS = 60_000

const REFUSED = 'This tab gets no events: too many tabs of this page are open. Close some.'

export class Feed {
  /** The newest first. */
  rows: readonly Row[] = []
  connection: Connection = 'connecting'
  problem = ''
  readonly #listeners = new Set<() => void>()
  readonly #arrived = new Map<number, Row>()
  #source: EventSource | undefined
  #ping: number | undefined
  #again: number | undefined
  /** Since when nobody answers. */
  #lostAt: number | undefined
  #timer: number | undefined
  #drawn = 0
  #rest = DRAW_MS

  async start(): Promise<void> {
    document.addEventListener('visibilitychange', () => this.#looked())
    await this.#resume()
  }

  /** Returns a function that ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** For good: nothing is sent to the port any more, because another program may take it. */
  end(why = ENDED): void {
    if (this.connection === 'ended') return
    this.#pause()
    endAsking(why)
    this.problem = why
    this.#become('ended')
  }

  /** A browser has six connections to a server, and a stream takes one. So only a tab that is seen has a stream. */
  #looked(): void {
    if (this.connection === 'ended') return
    this.#pause()
    if (document.visibilityState === 'visible') void this.#resume()
    // The server ends when nobody asks for long.
    else this.#ping = window.setInterval(() => void this.#stay(), HIDDEN_MS)
  }

  async #stay(): Promise<void> {
    try {
      await ask('api/about')
      this.#lostAt = undefined
    } catch (error) {
      this.#failed(error)
    }
  }

  #pause(): void {
    this.#source?.close()
    window.clearInterval(this.#ping)
    window.clearTimeout(this.#again)
  }

  /** Takes the newest rows, and listens for more. */
  async #resume(): Promise<void> {
    try {
      const { rows } = await ask<Rows>('api/rows', { limit: FIRST_ROWS })
      this.#lostAt = undefined
      this.#take(rows)
      this.#tell()
      if (document.visibilityState === 'visible') this.#listen(this.rows[0]?.seq ?? 0)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Rows that are known already stay, unless some between them and the newest are missing. */
  #take(rows: readonly Row[]): void {
    const oldest = rows.at(-1)?.seq ?? 0
    const known = (this.rows[0]?.seq ?? 0) >= oldest - 1 ? this.rows.filter(({ seq }) => seq < oldest) : []
    this.rows = [...rows, ...known].slice(0, MOST_ROWS)
  }

  #listen(after: number): void {
    this.#source?.close()
    const source = new EventSource(`api/stream?after=${after}`)
    this.#source = source
    source.onopen = () => {
      this.#lostAt = undefined
      this.problem = ''
      this.#become('listening')
    }
    source.onerror = () => {
      // The server refused it, and the browser does not try again.
      if (source.readyState === EventSource.CLOSED) this.problem = REFUSED
      this.#lost(source.readyState === EventSource.CLOSED)
    }
    source.addEventListener('end', () => this.end())
    source.addEventListener('rows', ({ data }) => this.#arrive(JSON.parse(data)))
  }

  #failed(error: unknown): void {
    if (error instanceof Unreached) this.#lost(true)
    else this.end(error instanceof Problem ? error.message : String(error))
  }

  /** `isOver`: nothing tries again by itself. */
  #lost(isOver: boolean): void {
    this.#lostAt ??= Date.now()
    if (Date.now() - this.#lostAt > LOST_MS) {
      this.end()
      return
    }
    this.#become('lost')
    window.clearTimeout(this.#again)
    if (isOver && document.visibilityState === 'visible')
      this.#again = window.setTimeout(() => void this.#resume(), AGAIN_MS)
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
