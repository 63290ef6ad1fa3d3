// Appending a batch: one lock, one write. What is written is in the log for everybody, or not at all.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { syncFolder } from '../../files/folder.js'
import { Mutex } from '../../files/mutex.js'
import { PLAIN } from '../../files/plain-file.js'
import { chained, textOfEntry } from './chain.js'
import type { OwnEntry } from './entry.js'
import { HeadFile, headPath } from './head.js'
import { checkFile, checkFolder } from './log-folder.js'
import {
  clearNoted,
  gapEntry,
  hasNotes,
  type Loss,
  leaveNote,
  type Note,
  notesAmong,
  removeNote,
  removeNotes,
} from './notes.js'
import { type Found, findPosition, type Position } from './position.js'
import { prune, pruningFor } from './retention.js'
import { segmentName, segmentPath, segmentsIn } from './segments.js'

export interface LogWriterOptions {
  readonly folder: string
  readonly fsync: boolean
  readonly maxSegmentBytes: number
  readonly maxBytes: number
}

interface Noted {
  readonly notes: readonly Note[]
}

/** What a batch became. */
interface Batch {
  readonly segment: number
  readonly bytes: Buffer
  readonly position: Position
  readonly after: () => void
}

export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #mutex: Mutex
  /** Where this writer left the log: while nobody else wrote, it need not be looked for. */
  #left: Position | undefined
  #loss: (Loss & { readonly note?: string }) | undefined

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#mutex = new Mutex(options.folder)
  }

  /** For messages. */
  get holder(): string {
    return this.#mutex.holder
  }

  /**
   * Answers the file they are in now; undefined while another process writes. `syncs` false leaves it to the caller to
   * have the file written to the disk.
   */
  tryWrite(texts: readonly string[], syncs = true): string | undefined {
    checkFolder(this.#options.folder)
    if (!this.#mutex.tryTake()) return undefined
    try {
      return this.#write(texts, syncs)
    } catch (error) {
      this.#left = undefined
      throw error
    } finally {
      this.#mutex.release()
    }
  }

  /** Records that will not be in the log: whoever writes next says so there. Never throws. */
  lose(records: number, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException
    const before = this.#loss
    // A note that is gone was told of by another process.
    const told = before?.note !== undefined && !removeNote(before.note)
    const kept = told ? undefined : before
    const loss: Loss = {
      records: (kept?.records ?? 0) + records,
      since: kept?.since ?? Date.now(),
      why: kept?.why ?? code ?? 'FAILED',
    }
    this.#loss = loss
    this.#left = undefined
    try {
      this.#loss = { ...loss, note: leaveNote(this.#options.folder, loss) }
    } catch {
      // This process remembers it, and says so when it can.
    }
  }

  #write(texts: readonly string[], syncs: boolean): string {
    const { folder } = this.#options
    const found = this.#asLeft() ?? this.#find()
    const head = new HeadFile(folder, found.headless)
    try {
      if (found.headless) head.write(found.position)
      const batch = this.#batch(texts, found)
      this.#put(batch, found.position, syncs)
      head.write(batch.position)
      this.#left = batch.position
      removeNotes(found.notes)
      batch.after()
      return segmentPath(folder, batch.segment)
    } finally {
      head.close()
    }
  }

  /** Undefined where the log is not as this writer left it, or somebody has something to say. */
  #asLeft(): (Found & Noted) | undefined {
    const { folder } = this.#options
    const left = this.#left
    if (!left || hasNotes(folder) || statsOf(headPath(folder)) === undefined) return undefined
    if (statsOf(segmentPath(folder, left.segment + 1))) return undefined
    const { size } = statsOf(segmentPath(folder, left.segment)) ?? {}
    return size === left.size ? { position: left, headless: false, said: [], notes: [] } : undefined
  }

  #find(): Found & Noted {
    const { folder } = this.#options
    const names = readdirSync(folder)
    this.#mutex.sweep(names)
    const found = findPosition(folder, names)
    // It may have left a note as well.
    clearNoted(folder)
    return { ...found, notes: notesAmong(folder, readdirSync(folder)) }
  }

  #batch(texts: readonly string[], { position, said, notes }: Found & Noted): Batch {
    const { folder, maxSegmentBytes, maxBytes } = this.#options
    const own = [...said, ...notes.map(({ entry }) => entry), ...this.#untold()]
    const made = (more: readonly OwnEntry[]) =>
      chained([...[...own, ...more].map(textOfEntry), ...texts], position)
    let { bytes, last } = made([])
    if (position.size === 0 || position.size + bytes.length <= maxSegmentBytes) {
      const size = position.size + bytes.length
      return { segment: position.segment, bytes, position: { ...position, ...last, size }, after: () => {} }
    }
    const segment = position.segment + 1
    const pruning = pruningFor(folder, segmentsIn(folder), position, bytes.length, maxBytes)
    if (pruning) ({ bytes, last } = made([pruning.entry]))
    return {
      segment,
      bytes,
      position: { segment, size: bytes.length, ...last },
      after: () => pruning && prune(pruning),
    }
  }

  /** A loss of which no note could be left. */
  #untold(): readonly OwnEntry[] {
    return this.#loss && this.#loss.note === undefined ? [gapEntry(this.#loss)] : []
  }

  #put({ segment, bytes }: Batch, before: Position, syncs: boolean): void {
    const { folder, fsync } = this.#options
    const path = segmentPath(folder, segment)
    const size = segment === before.segment ? before.size : 0
    const make = size === 0 ? constants.O_CREAT : 0
    const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | make | PLAIN, 0o600)
    try {
      const stats = fstatSync(fd)
      checkFile(path, stats)
      if (stats.size !== size)
        throw new Error(`${segmentName(segment)} was changed while it was being written`)
      if (!this.#mutex.isMine)
        throw new Error('this process was stopped for so long that another took its lock')
      writeWhole(fd, bytes, size)
      if (fsync && syncs) fdatasyncSync(fd)
      if (fsync && size === 0) syncFolder(folder)
      this.#loss = undefined
    } finally {
      closeSync(fd)
    }
  }
}

/** All of it or none: the next line must not follow half of one. */
function writeWhole(fd: number, bytes: Buffer, before: number): void {
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
  } catch (error) {
    // What cannot be taken back is torn, and the next who writes moves it out of the log.
    quietly(() => ftruncateSync(fd, before))
    throw error
  }
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
