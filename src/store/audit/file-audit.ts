// The audit log of a project in files, written at once (FileAuditLog) or in batches in the background (fileAudit).

import { lstatSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { callerNow } from '../../core/base/caller.js'
import { type Checks, checkOptions, isFlag, isText } from '../../core/base/options.js'
import type { AuditRecord, AuditSink } from '../../core/session/audit-record.js'
import { ifThere } from '../../files/if-there.js'
import { isInProject } from '../../files/within.js'
import type {
  AuditLog,
  FollowOptions,
  ReadOptions,
  StoredEntry,
  Verification,
  VerifyOptions,
  Writable,
} from '../audit-log.js'
import { textOfEntry } from './chain.js'
import { headPath, readHead } from './head.js'
import { auditFolder, withAdvice } from './log-folder.js'
import { LogWriter, type LogWriterOptions } from './log-writer.js'
import { segmentsIn } from './segments.js'
import { witnessPath } from './witness.js'

export interface FileAuditOptions {
  /** Each project has its own log. */
  readonly projectDir: string
  /** Default `dataHome()`. It must lie outside the project. */
  readonly dataDir?: string
  /** Whether an acknowledged record must survive a power cut. Default false: it survives only the end of the process. */
  readonly fsync?: boolean
  /** The most bytes of one file. A new one begins before that. Default 16 MiB. */
  readonly maxSegmentBytes?: number
  /** The most bytes of all files together. The oldest are removed before that. Default 1 GiB. */
  readonly maxBytes?: number
  /** How long to wait for other writers. Default 5000. */
  readonly lockTimeoutMs?: number
}

const isSize: Checks<{ size: number }>['size'] = [
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  'a whole number above 0',
]

const CHECKS: Checks<FileAuditOptions> = {
  projectDir: isText,
  dataDir: isText,
  fsync: isFlag,
  maxSegmentBytes: isSize,
  maxBytes: isSize,
  lockTimeoutMs: isSize,
}

const MIB = 1024 * 1024

/** Shared by both ways of writing. */
class OpenLog {
  readonly folder: string
  readonly fsync: boolean
  readonly lockTimeoutMs: number
  readonly #options: Omit<LogWriterOptions, 'folder' | 'fsync'>
  #writer: LogWriter | undefined

  /** Creates no folder yet. Throws for invalid options and for a folder inside the project. */
  constructor(what: string, options: FileAuditOptions, onTrouble?: (text: string) => void) {
    checkOptions(what, { ...options, projectDir: options?.projectDir ?? null }, CHECKS)
    const { fsync = false, maxSegmentBytes = 16 * MIB, maxBytes = 1024 * MIB, lockTimeoutMs = 5000 } = options
    this.folder = auditFolder(options.projectDir, options.dataDir)
    this.fsync = fsync
    this.lockTimeoutMs = lockTimeoutMs
    const path = witnessPath(this.folder)
    const witness = isInProject(path, resolve(options.projectDir)) ? undefined : path
    this.#options = { maxSegmentBytes, maxBytes, witness, ...(onTrouble && { onTrouble }) }
  }

  /** Created for the first write: readers need no mutex. */
  get writer(): LogWriter {
    this.#writer ??= writerOf({ folder: this.folder, fsync: this.fsync, ...this.#options })
    return this.#writer
  }

  /** Closes the files. The next write opens them again. */
  close(): void {
    this.#writer?.close()
  }
}

/** The writers of a service. A writer checks before each write whether the log is still as it left it. */
const kept = new Map<string, LogWriter>()
const MOST_KEPT = 64

/** Callers of a service share a writer, which need not search for the end of the log each time. */
function writerOf(options: LogWriterOptions): LogWriter {
  if (!callerNow() || options.onTrouble) return new LogWriter(options)
  const key = JSON.stringify(options)
  const writer = kept.get(key) ?? new LogWriter(options)
  kept.delete(key)
  kept.set(key, writer)
  for (const [oldest] of kept) if (kept.size > MOST_KEPT) kept.delete(oldest)
  return writer
}

class MutexTimeout extends Error {
  readonly code = 'ETIMEDOUT'

  constructor(holder: string, ms: number) {
    super(`${holder}, and did not release it within ${ms} ms; let that process continue, or end it`)
  }
}

/** Random, so that no two waiters stay in step, and growing with each wait. */
function pauseMs(waits: number): number {
  return (0.3 + Math.random()) * Math.min(1 + waits / 4, 10)
}

// ---- at once --------------------------------------------------------------------------------------------------

/** `append` is synchronous and takes at most `lockTimeoutMs`: for programs that handle one event per process. */
export class FileAuditLog implements AuditLog {
  readonly #log: OpenLog

  constructor(options: FileAuditOptions) {
    this.#log = new OpenLog('FileAuditLog', options)
  }

  get place(): string {
    return this.#log.folder
  }

  append(entries: readonly Writable[]): void {
    if (entries.length === 0) return
    const { folder, writer, lockTimeoutMs } = this.#log
    try {
      const texts = entries.map(textOfEntry)
      const until = performance.now() + lockTimeoutMs
      for (let waits = 0; writer.tryWrite(texts) === undefined; waits++) {
        if (performance.now() > until) throw new MutexTimeout(writer.holder, lockTimeoutMs)
        sleep(pauseMs(waits))
      }
    } catch (error) {
      writer.lose(entries.length, error)
      throw withAdvice(folder, error)
    }
  }

  /** Closes the files, which stay open between records. The next record opens them again. */
  close(): void {
    this.#log.close()
  }

  isEmpty(): boolean {
    const ends = [headPath(this.place), witnessPath(this.place)]
    const isWritten = ends.some((path) => ifThere(() => lstatSync(path)) !== undefined)
    return !isWritten && segmentsIn(this.place).length === 0
  }

  // Readers are loaded on demand, because most processes only write. The head shows whether we can read the log's format.

  async *entries(options: ReadOptions = {}): AsyncGenerator<StoredEntry> {
    readHead(this.place)
    const [{ entriesOrPauses }, { Turns }] = await Promise.all([import('./read.js'), import('./turns.js')])
    const turns = new Turns()
    for (const entry of entriesOrPauses(this.place, options))
      if (entry) yield entry
      else await turns.next()
  }

  async *follow(options: FollowOptions = {}): AsyncGenerator<StoredEntry> {
    readHead(this.place)
    const { followEntries } = await import('./read.js')
    yield* followEntries(this.place, options)
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const [{ verifying }, { Turns }] = await Promise.all([import('./verify.js'), import('./turns.js')])
    const turns = new Turns()
    const work = verifying(this.place, options)
    try {
      for (;;) {
        options.signal?.throwIfAborted()
        const step = work.next()
        if (step.done) return step.value
        await turns.next()
      }
    } finally {
      // Closes its files.
      work.return(undefined as never)
    }
  }
}

const bell = new Int32Array(new SharedArrayBuffer(4))

function sleep(ms: number): void {
  Atomics.wait(bell, 0, 0, ms)
}

// ---- in batches -----------------------------------------------------------------------------------------------

export interface FileAudit extends AuditSink, AsyncDisposable {
  /** Settles when the record is written; rejects when it is lost. */
  (record: AuditRecord): Promise<void>
  /** Any other entry, in the order of the calls. */
  write(entry: Writable): Promise<void>
  /** Resolves when every record is written or lost. */
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

/** The size of a batch. The rest waits for the next turn, so that this process does not keep others waiting. */
const MOST_AT_ONCE = 1000
/** Further records are lost at once: a log that cannot be written must not fill the memory. */
const MOST_QUEUED = 100_000

/** An audit sink for programs that embed the engine. Creates no folder before the first record. Throws like OpenLog. */
export function fileAudit(options: FileAuditOptions): FileAudit {
  const queue = new Queue(new OpenLog('fileAudit', options, warnedOnce()))
  const write = (entry: Writable) => queue.add(entry)
  const flush = () => queue.idle()
  const dispose = async () => {
    await flush()
    queue.close()
  }
  return Object.assign((record: AuditRecord) => queue.add(record), {
    write,
    flush,
    folder: queue.folder,
    [Symbol.asyncDispose]: dispose,
  })
}

/** Uses Node's warnings, because records are still written and nothing has failed. */
function warnedOnce(): (text: string) => void {
  let isTold = false
  return (text) => {
    if (!isTold) process.emitWarning(text, { code: 'AUDIT_UNWITNESSED' })
    isTold = true
  }
}

class Queue {
  readonly #log: OpenLog
  #waiting: Queued[] = []
  /** Records that were lost and not reported to the log yet. */
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
        lost(new Error(`${MOST_QUEUED} records are waiting to be written`))
        return
      }
      this.#waiting.push({ entry, done, lost })
      this.#running ??= this.#run()
    })
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  close(): void {
    this.#log.close()
  }

  async #run(): Promise<void> {
    await turnOfTheLoop()
    while (this.#waiting.length > 0) {
      if (this.#dropped > 0) this.#log.writer.lose(this.#dropped, new Error('too many records are waiting'))
      this.#dropped = 0
      await this.#writeBatch(this.#serialised(this.#waiting.splice(0, MOST_AT_ONCE)))
      await turnOfTheLoop()
    }
    this.#running = undefined
  }

  /** Only the invalid entry is lost. The rest of the batch is written. */
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
      if (performance.now() > until) throw new MutexTimeout(writer.holder, lockTimeoutMs)
      await new Promise((resolve) => setTimeout(resolve, pauseMs(waits)))
    }
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Needs no mutex: others may write at the same time, and their lines are synced, too. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}
