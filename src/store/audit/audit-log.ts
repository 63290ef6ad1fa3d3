// The log of one project: append-only, chained by hashes, written by any number of processes that may die at any moment.

import { type Checks, checkOptions, isFlag, isText } from '../../core/base/options.js'
import { textOfEntry } from './chain.js'
import type { Writable } from './entry.js'
import { auditFolder, withAdvice } from './log-folder.js'
import { LogWriter } from './log-writer.js'

export interface AuditLogOptions {
  /** A log is a project's. */
  readonly projectDir: string
  /** Default `dataHome()`. It must lie outside the project. */
  readonly dataDir?: string
  /** Whether an acknowledged record must outlive a power cut, too; default false: it outlives every end of the process. */
  readonly fsync?: boolean
  /** A new file begins before this one would be larger; default 16 MiB. */
  readonly maxSegmentBytes?: number
  /** The oldest files are removed before all of them would be larger; default 1 GiB. */
  readonly maxBytes?: number
  /** How long to wait for other processes that write; default 5000. */
  readonly lockTimeoutMs?: number
}

const isSize: Checks<{ size: number }>['size'] = [
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  'a whole number above 0',
]

const CHECKS: Checks<AuditLogOptions> = {
  projectDir: isText,
  dataDir: isText,
  fsync: isFlag,
  maxSegmentBytes: isSize,
  maxBytes: isSize,
  lockTimeoutMs: isSize,
}

const MIB = 1024 * 1024

export interface OpenLog {
  readonly folder: string
  readonly fsync: boolean
  readonly lockTimeoutMs: number
  readonly writer: LogWriter
}

/** Makes no folder yet. Throws for options that make no sense, and for a folder in the project. */
export function openLog(what: string, options: AuditLogOptions): OpenLog {
  checkOptions(what, { ...options, projectDir: options?.projectDir ?? null }, CHECKS)
  const { fsync = false, maxSegmentBytes = 16 * MIB, maxBytes = 1024 * MIB, lockTimeoutMs = 5000 } = options
  const folder = auditFolder(options.projectDir, options.dataDir)
  return { folder, fsync, lockTimeoutMs, writer: new LogWriter({ folder, fsync, maxSegmentBytes, maxBytes }) }
}

/** Answers at once, or within `lockTimeoutMs`: for where an event is a process of its own. */
export class AuditLog {
  readonly #log: OpenLog

  constructor(options: AuditLogOptions) {
    this.#log = openLog('AuditLog', options)
  }

  get folder(): string {
    return this.#log.folder
  }

  /** All of them or none, one after another. Returns when they are written; throws when they are lost. */
  append(entries: readonly Writable[]): void {
    if (entries.length === 0) return
    const { folder, writer, lockTimeoutMs } = this.#log
    try {
      const texts = entries.map(textOfEntry)
      const until = performance.now() + lockTimeoutMs
      for (let waits = 0; writer.tryWrite(texts) === undefined; waits++) {
        if (performance.now() > until) throw new LockTimeout(writer.holder, lockTimeoutMs)
        sleep(pauseMs(waits))
      }
    } catch (error) {
      writer.lose(entries.length, error)
      throw withAdvice(folder, error)
    }
  }
}

export class LockTimeout extends Error {
  readonly code = 'ETIMEDOUT'

  constructor(holder: string, ms: number) {
    super(`${holder}, and did not let go of it in ${ms} ms; let that process go on, or end it`)
  }
}

/** Never the same for two that wait; longer when it takes long. */
export function pauseMs(waits: number): number {
  return (0.3 + Math.random()) * Math.min(1 + waits / 4, 10)
}

const bell = new Int32Array(new SharedArrayBuffer(4))

function sleep(ms: number): void {
  Atomics.wait(bell, 0, 0, ms)
}
