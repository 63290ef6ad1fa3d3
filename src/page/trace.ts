// The trace that `carabiner audit` shows, as rows for the page: read, followed, counted and verified.

import { setTimeout } from 'node:timers/promises'
import { textOf } from '../core/base/errors.js'
import { type FireEntry, isFire, type ShownEntry } from '../store/audit/entry-words.js'
import { type FilterOptions, filterOf, timeOf } from '../store/audit/filter.js'
import { type HookHistory, historyOf } from '../store/audit/stats.js'
import { callIdOf, withCalls, withCallsSoon } from '../store/audit-calls/entry-calls.js'
import type { AuditCalls } from '../store/audit-calls.js'
import type { AuditLog, EntryFilter, StoredEntry, Verification, VerifyOptions } from '../store/audit-log.js'
import { ANSWER_DAYS, answersAmong, isAboutAnswers } from './answer-history.js'
import { NotAnswered } from './answers.js'
import { detailsOf, rowOf } from './row.js'
import type { HistoryOfAnswers } from './view/approvals.js'
import type { Details, Row, Rows } from './view/row.js'

export interface RowsWanted extends FilterOptions {
  readonly limit: number
  /** Only entries with a smaller number. */
  readonly before?: number
}

/** What was called, as far as it was kept. */
export interface RecordedCall {
  readonly event: string
  readonly tool?: string
  /** JSON. */
  readonly input?: string
  /** False if secrets were taken out, long texts were cut, or nothing was kept. */
  readonly isExact: boolean
}

/** Looked for so often, an entry is on the page before the next heartbeat of 50 ms. */
const LOOK_MS = 25
/** Entries of one burst are sent together. */
const BURST_MS = 10
const MOST_AT_ONCE = 200
const MOST_ANSWERS = 2000

export class PageTrace {
  readonly #log: AuditLog
  readonly #calls: () => Promise<AuditCalls>
  readonly #onProblem: (text: string) => void

  constructor(log: AuditLog, calls: () => Promise<AuditCalls>, onProblem: (text: string) => void) {
    this.#log = log
    this.#calls = calls
    this.#onProblem = onProblem
  }

  async rows({ limit, before, ...options }: RowsWanted): Promise<Rows> {
    const chosen = filterFor(options)
    const isOlder = (entry: unknown) => before === undefined || (entry as StoredEntry).seq < before
    const filter: EntryFilter = Object.assign(
      (entry: Parameters<EntryFilter>[0]) => isOlder(entry) && chosen(entry),
      chosen.since !== undefined && { since: chosen.since },
    )
    let damaged = 0
    const found: StoredEntry[] = []
    const onDamaged = () => {
      damaged++
    }
    for await (const entry of this.#log.entries({ newestFirst: true, filter, limit: limit + 1, onDamaged }))
      found.push(entry)
    const shown = await this.#with(await this.#asked(found.slice(0, limit)), withCalls)
    return { rows: shown.map(rowOf), more: found.length > limit, damaged }
  }

  async details(seq: number): Promise<Details> {
    return detailsOf(await this.#entry(seq))
  }

  /** The call of an entry. Throws NotAnswered for an entry that is not about an event. */
  async call(seq: number): Promise<RecordedCall> {
    const entry = await this.#entry(seq)
    if (!isFire(entry)) throw new NotAnswered(400, `Entry ${seq} is not about an event`)
    const { event, tool, kept } = entry
    const input = kept?.call.tool_input
    return {
      event: String(event),
      ...(tool !== undefined && { tool: String(tool) }),
      ...(input !== undefined && { input: JSON.stringify(input) }),
      isExact: kept?.exact === true,
    }
  }

  async #entry(seq: number): Promise<ShownEntry> {
    const filter: EntryFilter = (entry) => (entry as StoredEntry).seq === seq
    for await (const entry of this.#log.entries({ newestFirst: true, filter, limit: 1 }))
      for (const shown of await this.#with(await this.#asked([entry]), withCalls)) return shown
    throw new NotAnswered(404, `There is no entry ${seq}`)
  }

  /** Yields rows as they are written, in bursts. A row comes again when its call is known. Ends when the signal aborts. */
  async *follow(after: number | undefined, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    const bursts = new Bursts(signal)
    const reading = this.#read(after, signal, bursts)
    try {
      for await (const burst of bursts) {
        yield burst.map(rowOf)
        const fresh = burst.filter(({ kept }) => !kept)
        void this.#asked(fresh)
          .then((entries) => this.#with(entries, withCallsSoon))
          .then((shown) => bursts.add(...shown.filter(({ kept }) => kept)))
      }
    } finally {
      await reading
    }
  }

  async #read(after: number | undefined, signal: AbortSignal, bursts: Bursts): Promise<void> {
    try {
      const options = { signal, everyMs: LOOK_MS, ...(after !== undefined && { after }) }
      for await (const entry of this.#log.follow(options)) bursts.add(entry)
    } catch (error) {
      this.#onProblem(textOf(error))
    } finally {
      bursts.end()
    }
  }

  /** The answers of people, with the calls that they are about. */
  async answers(): Promise<HistoryOfAnswers> {
    const filter = aboutAnswersFor(ANSWER_DAYS)
    const found: StoredEntry[] = []
    for await (const entry of this.#log.entries({ newestFirst: true, filter, limit: MOST_ANSWERS }))
      found.push(entry)
    const answers = answersAmong(await this.#with(found, withCalls))
    return { answers, isCut: found.length >= MOST_ANSWERS, days: ANSWER_DAYS }
  }

  /** The newest entries in which something in shadow mode would have acted. */
  async shadows(limit: number): Promise<readonly FireEntry[]> {
    const found: FireEntry[] = []
    const filter: EntryFilter = (entry) =>
      'diagnostics' in entry &&
      Array.isArray(entry.diagnostics) &&
      entry.diagnostics.some((one) => one?.code === 'shadow')
    for await (const entry of this.#log.entries({ newestFirst: true, filter, limit }))
      if (isFire(entry)) found.push(entry)
    return found
  }

  history(options: FilterOptions, parts: number): Promise<HookHistory> {
    const filter = filterFor(options)
    const { until } = options
    const to = until === undefined ? Date.now() : timeOf(until, 'until', Date.now())
    return historyOf(this.#log.entries({ filter }), parts, to)
  }

  /** Entries as they are stored, the oldest first, one a line. */
  async *lines(options: FilterOptions): AsyncGenerator<string> {
    for await (const entry of this.#log.entries({ filter: filterFor(options) }))
      yield `${JSON.stringify(entry)}\n`
  }

  verify(options: VerifyOptions): Promise<Verification> {
    return this.#log.verify(options)
  }

  /** Answers get the calls that they are about. Never rejects. */
  async #asked(entries: readonly StoredEntry[]): Promise<readonly StoredEntry[]> {
    const wanted = new Set(entries.flatMap((entry) => (entry.kind === 'approval' ? [questionOf(entry)] : [])))
    if (wanted.size === 0) return entries
    const calls = new Map<string, string>()
    try {
      for await (const entry of this.#log.entries({
        newestFirst: true,
        filter: aboutAnswersFor(ANSWER_DAYS),
      })) {
        const [question, call] = isFire(entry) ? [questionOf(entry), callIdOf(entry)] : []
        if (question === undefined || call === undefined || !wanted.delete(question)) continue
        calls.set(question, call)
        if (wanted.size === 0) break
      }
    } catch (error) {
      this.#onProblem(`the calls of answers cannot be shown: ${textOf(error)}`)
    }
    return entries.map((entry) => {
      const call = entry.kind === 'approval' ? calls.get(questionOf(entry)) : undefined
      return call === undefined ? entry : { ...entry, call }
    })
  }

  async #with(entries: readonly StoredEntry[], add: typeof withCalls): Promise<readonly ShownEntry[]> {
    try {
      return await add(entries, this.#calls)
    } catch (error) {
      this.#onProblem(`the calls cannot be shown: ${textOf(error)}`)
      return entries
    }
  }
}

/** Questions and answers of the last days. */
function aboutAnswersFor(days: number): EntryFilter {
  const since = Date.now() - days * 86_400_000
  return Object.assign(
    (entry: Parameters<EntryFilter>[0]) => isAboutAnswers(entry) && Date.parse(entry.time) >= since,
    { since },
  )
}

function filterFor(options: FilterOptions): EntryFilter {
  try {
    return filterOf(options)
  } catch (error) {
    throw new NotAnswered(400, textOf(error))
  }
}

/** The same for a call that was asked about and for the answer. */
function questionOf({ session, digest }: { readonly session: string; readonly digest: string }): string {
  return JSON.stringify([session, digest])
}

/** Collects entries for a moment, so that a hundred of them are one message. */
class Bursts implements AsyncIterable<readonly ShownEntry[]> {
  #waiting: ShownEntry[] = []
  #wake: (() => void) | undefined
  #ended = false

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.end()
    signal.addEventListener('abort', () => this.end(), { once: true })
  }

  add(...entries: readonly ShownEntry[]): void {
    this.#waiting.push(...entries)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly ShownEntry[]> {
    while (!this.#ended) {
      await this.#something()
      const burst = this.#waiting.splice(0, MOST_AT_ONCE)
      if (burst.length > 0) yield burst
    }
  }

  async #something(): Promise<void> {
    while (this.#waiting.length === 0 && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (!this.#ended) await setTimeout(BURST_MS)
  }
}
