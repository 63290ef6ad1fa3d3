// Appends batches, each with one write under the mutex, so that all of a batch is in the log or none. Removes the oldest segments.

import { constants, readdirSync, type Stats, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { timestamp } from '../../core/base/time.js'
import { syncFolder } from '../../files/folder.js'
import { lstatIfThere } from '../../files/if-there.js'
import { Mutex } from '../../files/mutex.js'
import { placeWhole, removeIfThere } from '../../files/plain-file.js'
import type { OwnEntry, PrunedEntry } from '../audit-log.js'
import { chained, textOfEntry } from './chain.js'
import { type Found, findPosition, type Head, HeadFile, headPath, type Position, readEnd } from './head.js'
import { checkFolder, isUnchanged } from './log-folder.js'
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
import { OwnFile } from './own-file.js'
import { firstMarkOf, segmentName, segmentPath, segmentsIn } from './segments.js'
import { removableUpTo } from './shipped.js'
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

/** Writers that have files open, the one that wrote last at the end. */
const writers = new Set<LogWriter>()
/** The others open their files for each write. */
const MOST_WITH_OPEN_FILES = 16

export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #mutex: Mutex
  /** The end of the log after this writer's last write. It saves a search while nobody else writes. */
  #left: Head | undefined
  #folder: Stats | undefined
  /** These files stay open while the log is as this writer left it. */
  #head: HeadFile | undefined
  #witness: HeadFile | undefined
  #segment: OwnFile | undefined
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
    this.#checkFolder()
    if (!this.#mutex.tryTake()) return undefined
    try {
      return this.#write(texts, syncs)
    } catch (error) {
      this.close()
      throw error
    } finally {
      this.#mutex.release()
    }
  }

  /** Closes the files. The next write opens them again. */
  close(): void {
    this.#left = undefined
    writers.delete(this)
    const open = [this.#head, this.#witness, this.#segment]
    this.#head = this.#witness = this.#segment = undefined
    for (const file of open) file?.close()
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
    this.close()
    try {
      this.#loss = { ...loss, note: leaveNote(this.#options.folder, loss) }
    } catch {
      // This process remembers the loss, and records it when it can.
    }
  }

  /** The folder is ours until it changes, and then it is checked again. */
  #checkFolder(): void {
    const { folder } = this.#options
    const now = lstatIfThere(folder)
    if (!now || !this.#folder || !isUnchanged(now, this.#folder)) this.#folder = checkFolder(folder)
  }

  #write(texts: readonly string[], syncs: boolean): string {
    const { folder, witness: path, onTrouble } = this.#options
    const found = this.#asLeft() ?? this.#find()
    this.#keepOpen()
    this.#head ??= new HeadFile(headPath(folder), found.headless)
    if (path !== undefined) this.#witness ??= openWitness(path, found.position, onTrouble)
    const marked = { witness: this.#witness !== undefined }
    if (found.headless || found.isNew) this.#head.write({ ...found.position, ...marked })
    const batch = this.#batch(texts, found)
    this.#put(batch, found.position, syncs)
    // The order matters: a reader of the witness then finds the head at least as far, and the log at least as far as the head.
    this.#head.write({ ...batch.position, ...marked })
    this.#witness?.write(batch.position)
    this.#left = { ...batch.position, ...marked }
    removeNotes(found.notes)
    batch.after()
    return segmentPath(folder, batch.segment)
  }

  #keepOpen(): void {
    writers.delete(this)
    writers.add(this)
    for (const oldest of writers) if (writers.size > MOST_WITH_OPEN_FILES) oldest.close()
  }

  /** Undefined if the log is not as this writer left it, or if there are notes. */
  #asLeft(): (Found & Noted) | undefined {
    const { folder } = this.#options
    const left = this.#left
    if (!left || hasNotes(folder) || lstatIfThere(segmentPath(folder, left.segment + 1))) return undefined
    const arePlaced = this.#head?.isInPlace && this.#witness?.isInPlace !== false
    return arePlaced && this.#sizeOf(left.segment) === left.size
      ? { position: left, headless: false, isNew: false, said: [], notes: [] }
      : undefined
  }

  #sizeOf(segment: number): number | undefined {
    return this.#segment ? this.#segment.size : lstatIfThere(segmentPath(this.#options.folder, segment))?.size
  }

  #find(): Found & Noted {
    const { folder, witness } = this.#options
    this.close()
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
    const { folder, fsync } = this.#options
    const path = segmentPath(folder, batch.segment)
    const size = batch.segment === before.segment ? before.size : 0
    if (size === 0) this.#closeSegment()
    // A killed writer must not leave an empty file, which would look like one that somebody added.
    if (size === 0 && !lstatIfThere(path)) {
      placeWhole(path, (draft) => {
        const file = new OwnFile(draft, APPEND | constants.O_CREAT | constants.O_EXCL)
        try {
          this.#append(file, batch.bytes, { size, syncs: true })
        } finally {
          file.close()
        }
      })
    } else {
      this.#segment ??= openSegment(path, batch.segment, size)
      this.#append(this.#segment, batch.bytes, { size, syncs })
    }
    if (fsync && size === 0) syncFolder(folder)
    this.#loss = undefined
  }

  #closeSegment(): void {
    this.#segment?.close()
    this.#segment = undefined
  }

  #append(file: OwnFile, bytes: Buffer, { size, syncs }: Appending): void {
    if (!this.#mutex.isMine)
      throw new Error('this process was stopped for so long that another one took its mutex')
    file.append(bytes, size)
    if (this.#options.fsync && syncs) file.sync()
  }
}

interface Appending {
  /** The size that the file has. */
  readonly size: number
  readonly syncs: boolean
}

const APPEND = constants.O_APPEND

function openSegment(path: string, segment: number, size: number): OwnFile {
  const file = new OwnFile(path, APPEND)
  if (file.sizeWhenOpened === size) return file
  file.close()
  throw new Error(`${segmentName(segment)} was changed while it was being written`)
}

/** A new file that a killed writer did not finish. */
const DRAFT = /^\d{8,15}\.jsonl\.[0-9a-f]{16}\.tmp$/

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
  if (total <= maxBytes) return undefined
  const removable = removableUpTo(folder)
  let count = 0
  for (; count < sized.length && total > maxBytes; count++) {
    const next = sized[count + 1]
    const last = next ? (firstMarkOf(next.path)?.seq ?? Infinity) - 1 : end.seq
    if (last > removable) break
    total -= sized[count]?.size ?? 0
  }
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
