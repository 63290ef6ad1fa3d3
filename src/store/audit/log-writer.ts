// Appends batches, each with one write under the mutex, so that all of a batch is in the log or none. Removes the oldest segments.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { timestamp } from '../../core/base/time.js'
import { syncFolder } from '../../files/folder.js'
import { lstatIfThere } from '../../files/if-there.js'
import { Mutex } from '../../files/mutex.js'
import { PLAIN, placeWhole, removeIfThere } from '../../files/plain-file.js'
import type { OwnEntry, PrunedEntry } from '../audit-log.js'
import { chained, textOfEntry } from './chain.js'
import { type Found, findPosition, type Head, HeadFile, headPath, type Position, readEnd } from './head.js'
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
import { firstMarkOf, segmentName, segmentPath, segmentsIn } from './segments.js'
import { openWitness } from './witness.js'

export interface LogWriterOptions {
  readonly folder: string
  readonly fsync: boolean
  readonly maxSegmentBytes: number
  readonly maxBytes: number
  /** The path of the witness. Absent if it would be inside the project. */
  readonly witness: string | undefined
  /** Called at each write with problems that do not prevent it. */
  readonly onTrouble?: (text: string) => void
}

interface Noted {
  readonly notes: readonly Note[]
}

/** A batch that is ready to be written. */
interface Batch {
  readonly segment: number
  readonly bytes: Buffer
  readonly position: Position
  readonly after: () => void
}

export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #mutex: Mutex
  /** The end of the log after this writer's last write. It saves a search while nobody else writes. */
  #left: Head | undefined
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
   * Returns the file that has the entries, or undefined while another process writes. With `syncs` false, the caller must
   * sync the file.
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

  /** Notes that records are lost. The next writer records it in the log. Never throws. */
  lose(records: number, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException
    const before = this.#loss
    // If the note is gone, another process has recorded it.
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
      // This process remembers the loss, and records it when it can.
    }
  }

  #write(texts: readonly string[], syncs: boolean): string {
    const { folder, witness: path } = this.#options
    const found = this.#asLeft() ?? this.#find()
    const head = new HeadFile(headPath(folder), found.headless)
    const witness =
      path === undefined ? undefined : openWitness(path, found.position, this.#options.onTrouble)
    const marked = { witness: witness !== undefined }
    try {
      if (found.headless || found.isNew) head.write({ ...found.position, ...marked })
      const batch = this.#batch(texts, found)
      this.#put(batch, found.position, syncs)
      // The order matters: a reader of the witness then finds the head at least as far, and the log at least as far as the head.
      head.write({ ...batch.position, ...marked })
      witness?.write(batch.position)
      this.#left = { ...batch.position, ...marked }
      removeNotes(found.notes)
      batch.after()
      return segmentPath(folder, batch.segment)
    } finally {
      head.close()
      witness?.close()
    }
  }

  /** Undefined if the log is not as this writer left it, or if there are notes. */
  #asLeft(): (Found & Noted) | undefined {
    const { folder, witness = '' } = this.#options
    const left = this.#left
    if (!left || hasNotes(folder) || statsOf(headPath(folder)) === undefined) return undefined
    if (statsOf(segmentPath(folder, left.segment + 1)) || (left.witness && !statsOf(witness)))
      return undefined
    const { size } = statsOf(segmentPath(folder, left.segment)) ?? {}
    return size === left.size
      ? { position: left, headless: false, isNew: false, said: [], notes: [] }
      : undefined
  }

  #find(): Found & Noted {
    const { folder, witness } = this.#options
    const names = readdirSync(folder)
    this.#mutex.sweep(names)
    for (const name of names.filter((one) => DRAFT.test(one))) removeIfThere(join(folder, name))
    const found = findPosition(folder, names, witness === undefined ? undefined : readEnd(witness))
    // Finding the position may have left a note, too.
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

  /** A loss that could not be noted in the folder. */
  #untold(): readonly OwnEntry[] {
    return this.#loss && this.#loss.note === undefined ? [gapEntry(this.#loss)] : []
  }

  #put(batch: Batch, before: Position, syncs: boolean): void {
    const { folder } = this.#options
    const path = segmentPath(folder, batch.segment)
    const size = batch.segment === before.segment ? before.size : 0
    // A killed writer must not leave an empty file, which would look like one that somebody added.
    if (size === 0 && !statsOf(path)) {
      placeWhole(path, (draft) => this.#append(draft, batch, { size, syncs, make: true }))
    } else this.#append(path, batch, { size, syncs, make: false })
    if (this.#options.fsync && size === 0) syncFolder(folder)
    this.#loss = undefined
  }

  #append(path: string, { segment, bytes }: Batch, { size, syncs, make }: Appending): void {
    const how = constants.O_WRONLY | constants.O_APPEND | (make ? constants.O_CREAT | constants.O_EXCL : 0)
    const fd = openSync(path, how | PLAIN, 0o600)
    try {
      const stats = fstatSync(fd)
      checkFile(path, stats)
      if (stats.size !== size)
        throw new Error(`${segmentName(segment)} was changed while it was being written`)
      if (!this.#mutex.isMine)
        throw new Error('this process was stopped for so long that another one took its mutex')
      writeWhole(fd, bytes, size)
      if (this.#options.fsync && (syncs || make)) fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}

interface Appending {
  /** The size that the file must have. */
  readonly size: number
  readonly syncs: boolean
  readonly make: boolean
}

/** A new file that a killed writer did not finish. */
const DRAFT = /^\d{8,15}\.jsonl\.[0-9a-f]{16}\.tmp$/

/** Writes all or nothing: no line may follow half a line. */
function writeWhole(fd: number, bytes: Buffer, before: number): void {
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
  } catch (error) {
    // If this fails, the next writer moves the partial line out of the log.
    quietly(() => ftruncateSync(fd, before))
    throw error
  }
}

function statsOf(path: string): Stats | undefined {
  return lstatIfThere(path)
}

/** Ignores errors, because the one that led here is the one to report. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}

// ---- removing the oldest --------------------------------------------------------------------------------------

interface Pruning {
  readonly entry: PrunedEntry
  /** Removed once the entry is written. */
  readonly paths: readonly string[]
}

/** Chooses the segments to remove so that `more` bytes fit within the bound. `end` is the end of the log before them. */
function pruningFor(
  folder: string,
  segments: readonly number[],
  end: Position,
  more: number,
  maxBytes: number,
): Pruning | undefined {
  const sized = segments.map((segment) => {
    const path = segmentPath(folder, segment)
    return { path, size: lstatIfThere(path)?.size ?? 0 }
  })
  let total = sized.reduce((sum, { size }) => sum + size, more)
  let count = 0
  for (; count < sized.length && total > maxBytes; count++) total -= sized[count]?.size ?? 0
  const [oldest] = sized
  if (count === 0 || !oldest) return undefined
  const next = sized[count]
  const after = next ? firstMarkOf(next.path) : { seq: end.seq + 1, prev: end.hash }
  // Without it, the new beginning of the log could not be recorded. Keeping too much is better.
  if (!after) return undefined
  const first = firstMarkOf(oldest.path)?.seq ?? 0
  return {
    entry: {
      kind: 'pruned',
      time: timestamp(),
      segments: count,
      first,
      last: after.seq - 1,
      lastHash: after.prev,
    },
    paths: sized.slice(0, count).map(({ path }) => path),
  }
}

/** Removes the oldest first, so that there is never a hole. A segment that cannot be removed is tried again later. */
function prune({ paths }: Pruning): void {
  for (const path of paths) {
    try {
      unlinkSync(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    }
  }
}
