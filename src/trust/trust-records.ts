// The records of trust in files, a folder for each unit: read again only when somebody wrote.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { digest as digestOf } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { discard, isDiscarded } from '../files/folder.js'
import { VersionedFile } from '../files/versioned-file.js'
import { quoted } from './quoted.js'
import { isSame, moment, parseStamp, type Stamp, stampOf } from './stamp.js'
import { storedRecord } from './stored-record.js'
import type { CopyKey, TrustRecord, Unit } from './unit.js'
import type { UnitContent } from './unit-content.js'

/** What a record is kept by. The project belongs to it: a plugin that names files of the project is another one in another. */
export type Where = Pick<Unit, 'kind' | 'path' | 'projectDir'>

/** What was read, and the stamp of its folder by then: a record is never changed but by a new file in it. */
interface Loaded {
  readonly stamp: Stamp | undefined
  readonly record: TrustRecord | undefined
}

/** Ten thousand files with long names, and as many in the copy. */
const MOST_BYTES = 32 * 1024 * 1024

export class TrustRecords {
  readonly #root: string
  readonly #check: () => void
  readonly #loaded = new Map<string, Loaded>()
  readonly #folders = new Map<string, string>()

  /** `check` throws where nothing may be read. */
  constructor(root: string, check: () => void) {
    this.#root = root
    this.#check = check
  }

  /** The same object as long as nobody wrote. */
  load(where: Where): TrustRecord | undefined {
    const key = keyOf(where)
    const seen = moment()
    const stats = statSync(this.#folder(where), { bigint: true, throwIfNoEntry: false })
    if (!stats) {
      this.#loaded.delete(key)
      return undefined
    }
    const known = this.#loaded.get(key)
    if (known?.stamp && isSame(stats, known.stamp)) return known.record
    this.#check()
    const record = this.#file(where).load() ?? undefined
    if (record && keyOf(record) !== key) {
      throw new Error(`the record in ${this.#folder(where)} is about ${quoted(record.path)}; remove it`)
    }
    this.#loaded.set(key, { stamp: parseStamp(stampOf(stats, seen)), record })
    return record
  }

  write(where: Where, record: TrustRecord): void {
    this.#file(where).update(() => record)
    this.#loaded.delete(keyOf(where))
  }

  /** Beside what is trusted there now; nothing where nothing is. */
  addNext(where: Where, next: TrustRecord): void {
    this.#file(where).update((now) => now && { ...now, next })
    this.#loaded.delete(keyOf(where))
  }

  /** The exchange is done. Never throws: until somebody can write, both count. */
  promote(where: Where, next: TrustRecord): void {
    try {
      this.#file(where).update((now) =>
        now?.next?.digest === next.digest ? { ...next, former: copyKeyOf(now) } : now,
      )
    } catch {}
  }

  /** The same content under other stamps. Whatever somebody decided meanwhile stays. */
  refresh(where: Where, before: TrustRecord, now: TrustRecord): void {
    try {
      this.#file(where).update((stored) =>
        stored && stored.digest === before.digest && stored.at === before.at
          ? { ...now, ...(stored.next && { next: stored.next }) }
          : stored,
      )
    } catch {
      // A store that cannot be written: the next process reads the files again, this one need not.
      const key = keyOf(where)
      const loaded = this.#loaded.get(key)
      if (loaded) this.#loaded.set(key, { ...loaded, record: now })
    }
  }

  /** What it was, if it was there. */
  remove(where: Where): TrustRecord | undefined {
    const removed: { record: TrustRecord | null } = { record: null }
    // First on the disk for good, then out of sight.
    this.#file(where).update((now) => {
      removed.record = now
      return null
    })
    this.#loaded.delete(keyOf(where))
    if (removed.record === null) return undefined
    discard(this.#folder(where))
    return removed.record
  }

  /** Throws if one of them cannot be read. */
  all(): readonly TrustRecord[] {
    return namesIn(this.#root)
      .filter((name) => !isDiscarded(name))
      .flatMap((name) => fileIn(join(this.#root, name)).load() ?? [])
  }

  #folder(where: Where): string {
    const { kind, path, projectDir } = where
    const key = keyOf(where)
    const folder = this.#folders.get(key) ?? join(this.#root, digestOf([kind, path, projectDir]).slice(0, 32))
    this.#folders.set(key, folder)
    return folder
  }

  #file(where: Where): VersionedFile<TrustRecord | null> {
    return fileIn(this.#folder(where))
  }
}

export function keyOf({ kind, path, projectDir }: Where): string {
  return [kind, path, projectDir].join('\0')
}

/** What is trusted from now on. */
export function recordOf({ kind, path, name, projectDir, hooks }: Unit, content: UnitContent): TrustRecord {
  const { digest, files, folders, scripts, source, absent, words, programs } = content
  return {
    kind,
    path,
    name,
    projectDir,
    digest,
    hooks,
    files,
    folders,
    scripts,
    ...(source && { source }),
    absent,
    words,
    programs,
    at: new Date().toISOString(),
  }
}

export function copyKeyOf({ kind, path, digest, programs }: TrustRecord): CopyKey {
  return { kind, path, digest, programs }
}

/** Those that count, as one text. */
export function stampsOf({ files, folders, scripts, copied }: TrustRecord): string {
  const own = [...folders, ...files, ...scripts, ...(copied?.folders ?? [])].map(({ stamp }) => stamp)
  return [...own, ...(copied?.files ?? [])].filter(Boolean).join('\n')
}

function fileIn(folder: string): VersionedFile<TrustRecord | null> {
  return new VersionedFile<TrustRecord | null>({
    folder,
    what: 'the record of trust',
    fresh: null,
    check: storedRecord,
    durable: true,
    maxBytes: MOST_BYTES,
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the records of trust in ${folder} cannot be read: ${textOf(error)}`, { cause: error })
  }
}
