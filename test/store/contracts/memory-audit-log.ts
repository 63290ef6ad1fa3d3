// An audit log in memory that answers later, as a log on another machine would.

import { setImmediate as laterTurn, setTimeout as pause } from 'node:timers/promises'
import { textOf } from '../../../src/core/base/errors.js'
import { chained, isIntact, markOf, START, textOfEntry } from '../../../src/store/audit/chain.js'
import type {
  AuditLog,
  FollowOptions,
  GapEntry,
  Link,
  Problem,
  ReadOptions,
  StoredEntry,
  Verification,
  VerifyOptions,
  Writable,
} from '../../../src/store/audit-log.js'

/** What all views of one log share. */
interface Kept {
  readonly lines: Buffer[]
  last: Link
  lost?: GapEntry
}

export class MemoryAuditLog implements AuditLog {
  readonly place = 'memory'
  readonly #kept: Kept

  constructor(kept: Kept = { lines: [], last: START }) {
    this.#kept = kept
  }

  /** The same log, as another process sees it. */
  another(): MemoryAuditLog {
    return new MemoryAuditLog(this.#kept)
  }

  async append(entries: readonly Writable[]): Promise<void> {
    await laterTurn()
    if (entries.length === 0) return
    const { lost } = this.#kept
    try {
      this.#add([...(lost ? [lost] : []), ...entries].map(textOfEntry))
      delete this.#kept.lost
    } catch (error) {
      const time = new Date().toISOString()
      const records = (lost?.records ?? 0) + entries.length
      this.#kept.lost = { kind: 'gap', time, records, since: lost?.since ?? time, why: textOf(error) }
      throw error
    }
  }

  #add(texts: readonly string[]): void {
    const { bytes, last } = chained(texts, this.#kept.last)
    const lines = bytes.toString().trimEnd().split('\n')
    this.#kept.lines.push(...lines.map((line) => Buffer.from(line)))
    this.#kept.last = last
  }

  async isEmpty(): Promise<boolean> {
    await laterTurn()
    return this.#kept.lines.length === 0
  }

  async *entries(options: ReadOptions = {}): AsyncGenerator<StoredEntry> {
    const { newestFirst = false, filter = () => true, limit = Infinity } = options
    await laterTurn()
    const all = this.#stored()
    let left = limit
    for (const entry of newestFirst ? all.reverse() : all)
      if (left > 0 && filter(entry) && left--) yield entry
  }

  async *follow(options: FollowOptions = {}): AsyncGenerator<StoredEntry> {
    const { filter = () => true, signal, everyMs = 200 } = options
    let after = options.after ?? this.#kept.last.seq
    while (!signal?.aborted) {
      for (const entry of this.#stored().filter(({ seq }) => seq > after)) {
        after = entry.seq
        if (filter(entry)) yield entry
      }
      await pause(everyMs, undefined, signal && { signal }).catch(() => undefined)
    }
  }

  async verify({ expect, onLine, signal }: VerifyOptions = {}): Promise<Verification> {
    await laterTurn()
    signal?.throwIfAborted()
    const { lines, last } = this.#kept
    const problems: Problem[] = []
    const found = (what: string, seq: number, line: number) =>
      problems.push({ what, seq, line, file: this.place })
    let before: Link = START
    for (const [i, line] of lines.entries()) {
      onLine?.()
      const mark = markOf(line)
      if (!mark || !isIntact(line, mark) || mark.prev !== before.hash) found('was changed', i + 1, i + 1)
      before = mark ?? before
    }
    if (lines.length === 0) found('there is no log', 0, 0)
    const wanted = expect && this.#stored().find(({ seq }) => seq === expect.seq)
    if (expect && wanted?.hash !== expect.hash) found('is not the record that is expected', expect.seq, 0)
    const gaps = this.#stored().filter(({ kind }) => kind === 'gap')
    const [first] = this.#stored()
    return {
      ok: problems.length === 0,
      records: lines.length,
      first,
      last: this.#stored().at(-1),
      problems,
      problemCount: problems.length,
      head: lines.length === 0 ? undefined : last,
      notes: gaps.map(({ seq }) => `records are missing before ${seq}`),
    }
  }

  #stored(): StoredEntry[] {
    return this.#kept.lines.map((line) => JSON.parse(line.toString()) as StoredEntry)
  }
}
