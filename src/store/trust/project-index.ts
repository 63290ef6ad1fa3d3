// Finds the records of one project without reading others: a file for each record, in a folder for each project.

import { closeSync, existsSync, ftruncateSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivate, namesIn, syncFolder } from '../../files/folder.js'
import { exactStatIfThere } from '../../files/if-there.js'
import { oncePerCall } from '../../files/looks.js'
import { placeWhole, readIfThere } from '../../files/plain-file.js'
import { indexFolder } from '../../files/which-project.js'

/** The name of a record's folder, its project, and the path of its unit. */
export type Entry = readonly [name: string, projectDir: string, path: string]

const MOST_BYTES = 16_384
const MOST_TRIES = 8

/**
 * A version without an index may have written records, so the index notes the state of their folder for which it is
 * complete. In any other state, it is rebuilt. A project without records has no folder here.
 *
 * An entry is empty until its record is written, and then holds the path of the unit. It is removed before the record. So
 * an entry with a path means that a record must exist.
 */
export class ProjectIndex {
  readonly #records: string
  readonly #folder: string
  readonly #state: string
  readonly #folders = new Map<string, string>()
  /** For this state of the records. A caller of a service asks for every folder around its project. */
  readonly #isComplete = oncePerCall((now) => this.#completeFor() === now)

  constructor(records: string, folder: string) {
    this.#records = records
    this.#folder = folder
    this.#state = join(folder, 'complete')
  }

  /** Names of the record folders of a project. `readAll` reads every record, and is needed only if the index is not complete. */
  names(projectDir: string, readAll: () => readonly Entry[]): readonly string[] {
    const now = this.#now()
    const known = namesIn(this.#folderOf(projectDir))
    if (now === undefined || this.#isComplete(now)) return known
    const all = readAll()
    this.#complete(all, now)
    const own = all.filter(([, dir]) => dir === projectDir).map(([name]) => name)
    return [...new Set([...known, ...own])]
  }

  /** The path of the unit whose record must exist. Undefined if it need not exist. */
  expected(name: string, projectDir: string): string | undefined {
    const entry = join(this.#folderOf(projectDir), name)
    const read = readIfThere(entry, MOST_BYTES)
    return read && ('text' in read ? read.text || undefined : entry)
  }

  /** Wrap every change of records in it. `entry` is a record that is about to be written. */
  changing<T>(entry: Entry | undefined, change: () => T): T {
    const wasComplete = this.#completeFor() === (this.#now() ?? '')
    const isNew = entry !== undefined && this.#add(entry)
    try {
      const changed = change()
      if (entry) this.#confirm(entry)
      if (wasComplete) this.#note(this.#now() ?? '')
      return changed
    } catch (error) {
      if (isNew) this.remove(entry)
      throw error
    }
  }

  /** Removes the folder, too, unless another process is adding to it. */
  remove([name, projectDir]: Entry): void {
    rmSync(join(this.#folderOf(projectDir), name), { force: true })
    removeIfEmpty(this.#folderOf(projectDir))
    removeIfEmpty(this.#folder)
  }

  /** If it cannot be written, that only costs time. */
  #complete(all: readonly Entry[], now: string): void {
    try {
      for (const entry of all) {
        this.#add(entry)
        this.#confirm(entry)
      }
      this.#note(now)
    } catch {}
  }

  /** Returns false if it already exists. */
  #add(entry: Entry, tries = MOST_TRIES): boolean {
    const [name, projectDir] = entry
    const folder = this.#folderOf(projectDir)
    if (existsSync(join(folder, name))) return false
    makePrivate(folder)
    try {
      writeFileSync(join(folder, name), '', { mode: 0o600 })
    } catch (error) {
      // Another process has removed the empty folder in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 0) throw error
      return this.#add(entry, tries - 1)
    }
    syncFolder(folder)
    return true
  }

  /**
   * Call it once the record exists. Never creates the entry, because another process may have removed it with its record.
   * If the entry cannot be written, the index does not expect the record.
   */
  #confirm([name, projectDir, path]: Entry): void {
    if (this.expected(name, projectDir) === path) return
    try {
      const fd = openSync(join(this.#folderOf(projectDir), name), 'r+')
      try {
        ftruncateSync(fd)
        writeFileSync(fd, path)
      } finally {
        closeSync(fd)
      }
    } catch {}
  }

  /** Without this note, the index is rebuilt. */
  #note(now: string): void {
    try {
      if (namesIn(this.#records).length === 0) {
        rmSync(this.#state, { force: true })
        removeIfEmpty(this.#folder)
        return
      }
      makePrivate(this.#folder)
      placeWhole(this.#state, (draft) => writeFileSync(draft, now, { mode: 0o600 }))
    } catch {}
  }

  /** The state for which the index is complete. Before the first record, it is the empty one. */
  #completeFor(): string | undefined {
    const read = readIfThere(this.#state, MOST_BYTES)
    if (!read) return ''
    return 'text' in read ? read.text : undefined
  }

  /** Changes whenever a record's folder is added or removed. Undefined if there are no records at all. */
  #now(): string | undefined {
    const stats = exactStatIfThere(this.#records)
    return stats && `${stats.dev} ${stats.ino} ${stats.mtimeNs}`
  }

  #folderOf(projectDir: string): string {
    const known = this.#folders.get(projectDir)
    if (known !== undefined) return known
    const folder = indexFolder(this.#folder, projectDir)
    this.#folders.set(projectDir, folder)
    return folder
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}
