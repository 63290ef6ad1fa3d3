// The log for who embeds the engine: records are queued, and written in batches beside the work.

import { open } from 'node:fs/promises'
import type { AuditRecord, AuditSink } from '../../core/session/audit-record.js'
import { type AuditLogOptions, LockTimeout, type OpenLog, openLog, pauseMs } from './audit-log.js'
import { textOfEntry } from './chain.js'
import type { Writable } from './entry.js'
import { withAdvice } from './log-folder.js'

export interface FileAudit extends AuditSink, AsyncDisposable {
  /** Settles when the record is written; rejects when it is lost. */
  (record: AuditRecord): Promise<void>
  /** Any other entry, in the order of the calls. */
  write(entry: Writable): Promise<void>
  /** Settles when nothing is under way any more, written or lost. */
  flush(): Promise<void>
  readonly folder: string
}

interface Queued {
  readonly entry: Writable
  readonly done: () => void
  readonly lost: (error: Error) => void
}

interface Ready extends Queued {
  readonly text: string
}

/** One batch; what is more waits for the next turn, so that nobody else waits for this process. */
const MOST_AT_ONCE = 1000
/** Beyond it records are lost at once: a log that cannot be written must not fill the memory. */
const MOST_QUEUED = 100_000

/** Throws for options that make no sense, and for a folder in the project; makes no folder before the first record. */
export function fileAudit(options: AuditLogOptions): FileAudit {
  const queue = new Queue(openLog('fileAudit', options))
  const write = (entry: Writable) => queue.add(entry)
  const flush = () => queue.idle()
  return Object.assign((record: AuditRecord) => queue.add(record), {
    write,
    flush,
    folder: queue.folder,
    [Symbol.asyncDispose]: flush,
  })
}

class Queue {
  readonly #log: OpenLog
  #waiting: Queued[] = []
  /** Lost, and not told of yet. */
  #dropped = 0
  #running: Promise<void> | undefined

  constructor(log: OpenLog) {
    this.#log = log
  }

  get folder(): string {
    return this.#log.folder
  }

  add(entry: Writable): Promise<void> {
    return new Promise((done, reject) => {
      const lost = (error: Error) => reject(withAdvice(this.folder, error))
      if (this.#waiting.length >= MOST_QUEUED) {
        this.#dropped++
        lost(new Error(`${MOST_QUEUED} records wait to be written`))
        return
      }
      this.#waiting.push({ entry, done, lost })
      this.#running ??= this.#run()
    })
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    await turnOfTheLoop()
    while (this.#waiting.length > 0) {
      if (this.#dropped > 0) this.#log.writer.lose(this.#dropped, new Error('too many records wait'))
      this.#dropped = 0
      await this.#writeBatch(this.#serialised(this.#waiting.splice(0, MOST_AT_ONCE)))
      await turnOfTheLoop()
    }
    this.#running = undefined
  }

  /** One that is no entry does not take the others with it. */
  #serialised(batch: readonly Queued[]): readonly Ready[] {
    return batch.flatMap((one) => {
      try {
        return [{ ...one, text: textOfEntry(one.entry) }]
      } catch (error) {
        this.#log.writer.lose(1, error)
        one.lost(error as Error)
        return []
      }
    })
  }

  async #writeBatch(batch: readonly Ready[]): Promise<void> {
    if (batch.length === 0) return
    try {
      const path = await this.#written(batch.map(({ text }) => text))
      if (this.#log.fsync) await synced(path)
      for (const { done } of batch) done()
    } catch (error) {
      this.#log.writer.lose(batch.length, error)
      for (const { lost } of batch) lost(error as Error)
    }
  }

  async #written(texts: readonly string[]): Promise<string> {
    const { writer, lockTimeoutMs } = this.#log
    const until = performance.now() + lockTimeoutMs
    for (let waits = 0; ; waits++) {
      const path = writer.tryWrite(texts, false)
      if (path !== undefined) return path
      if (performance.now() > until) throw new LockTimeout(writer.holder, lockTimeoutMs)
      await new Promise((resolve) => setTimeout(resolve, pauseMs(waits)))
    }
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Aside from the lock: others may write meanwhile, and their lines come along. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}
