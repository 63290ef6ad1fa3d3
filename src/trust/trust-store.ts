// What the user trusts: records and copies in the user's data directory, and what they say about a unit now.

import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { digest } from '../core/digest.js'
import { textOf } from '../core/errors.js'
import { discard, isDiscarded } from '../state/discard.js'
import { dataHome } from '../state/homes.js'
import { VersionedFile } from '../state/versioned-file.js'
import { binPath, makeBin } from './bin-folder.js'
import { compare, Watch } from './changes.js'
import { CopyDraft, copyFailure, copyPath, isFolder, removeCopy } from './copies.js'
import { quoted } from './quoted.js'
import { type Review, reviewOf } from './review.js'
import { isSame, moment, parseStamp, type Stamp, stampOf } from './stamp.js'
import { isDigest, storedRecord } from './stored-record.js'
import type { Standing, TrustRecord, Unit } from './unit.js'
import { readContent, type UnitContent } from './unit-content.js'

export interface TrustStoreOptions {
  /** Default `dataHome()`. */
  readonly dataDir?: string
  /** Digests that need no record: see pre-trusted.ts. */
  readonly preTrusted?: ReadonlySet<string>
}

/** What a record is kept by. The project belongs to it: a plugin that names files of the project is another one in another. */
type Where = Pick<Unit, 'kind' | 'path' | 'projectDir'>

/** A record, ready to be compared. */
interface Held {
  readonly record: TrustRecord
  readonly watch: Watch
  readonly hooks: ReadonlySet<string>
  readonly copy: string | undefined
}

/** What was read from the store, and the stamp of its folder by then: a record is never changed but by a new file in it. */
interface Loaded {
  readonly stamp: Stamp | undefined
  readonly held: Held | undefined
}

/** Ten thousand files with long names. */
const MOST_BYTES = 16 * 1024 * 1024

export class TrustStore {
  readonly #records: string
  readonly #copies: string
  readonly #preTrusted: ReadonlySet<string>
  readonly #loaded = new Map<string, Loaded>()
  /** Of units that were trusted by the list of digests. Not in the store: who shortens the list means it. */
  readonly #listed = new Map<string, Held>()
  /** Of units that are not on the list, so that they are not read each time. */
  readonly #unlisted = new Map<string, Held>()

  constructor({ dataDir = dataHome(), preTrusted = new Set() }: TrustStoreOptions = {}) {
    this.#records = join(resolve(dataDir), 'trust')
    this.#copies = join(resolve(dataDir), 'copies')
    this.#preTrusted = preTrusted
  }

  /** Never throws: trouble with the store means `untrusted`, and `why` says so. */
  standingOf(unit: Unit): Standing {
    try {
      const standing = this.#standing(unit, this.#load(unit))
      if (standing.state === 'trusted' || this.#preTrusted.size === 0) return standing
      return this.#listedStanding(unit) ?? standing
    } catch (error) {
      return { state: 'untrusted', why: `Whether it is trusted cannot be told: ${textOf(error)}` }
    }
  }

  /** For the review: reads and hashes everything, writes nothing. */
  look(unit: Unit): Review {
    const record = this.#load(unit)?.record
    return reviewOf(unit, record, record && this.#copyOf(record))
  }

  /** Throws if it cannot be trusted, or is not any more what has the digest `expected`: what was shown is what is trusted. */
  trust(unit: Unit, expected: string): TrustRecord {
    if (!isDigest(expected))
      throw new Error(`${quoted(expected)} is no digest of a review; look at the unit first`)
    const before = this.#load(unit)?.record
    const content = this.#copied(unit, expected)
    const record = recordOf(unit, content)
    this.#makeBin(record)
    this.#file(unit).update(() => record)
    this.#forget(unit)
    if (before) this.#removeUnused(before)
    return record
  }

  /** False if it was not trusted. */
  untrust(where: Where): boolean {
    const file = this.#file(where)
    const removed: { record: TrustRecord | null } = { record: null }
    // First on the disk for good, then out of sight.
    file.update((now) => {
      removed.record = now
      return null
    })
    this.#forget(where)
    if (removed.record === null) return false
    discard(this.#folder(where))
    this.#removeUnused(removed.record)
    return true
  }

  /** Throws if one of them cannot be read. */
  records(): readonly TrustRecord[] {
    return namesIn(this.#records)
      .filter((name) => !isDiscarded(name))
      .flatMap((name) => this.#fileIn(join(this.#records, name)).load() ?? [])
  }

  /** First in the `$PATH` of a hook of this record. Made where it is missing. */
  binFolder(record: TrustRecord): string {
    const path = binPath(this.#copies, record)
    if (!isFolder(path)) this.#makeBin(record)
    return path
  }

  // ---- standing -------------------------------------------------------------------------------------------------

  #standing(unit: Unit, held: Held | undefined): Standing {
    if (!held) return { state: 'untrusted', why: 'It was not reviewed yet.' }
    const { record, copy } = held
    const stranger = unit.hooks.find(({ hash }) => !held.hooks.has(hash))
    if (stranger) {
      const why = `The hook ${stranger.name} was added or changed since it was trusted.`
      return { state: 'modified', why, record }
    }
    if (!this.#isUntouched(held)) {
      const now = compare(record)
      if ('why' in now) return { state: 'modified', why: now.why, record }
      this.#refresh(unit, record, now.record)
    }
    if (copy !== undefined && !isFolder(copy)) {
      return { state: 'untrusted', why: `Its copy ${quoted(copy)} is gone: trust it again.`, record }
    }
    return { state: 'trusted', record, copy }
  }

  #isUntouched({ watch }: Held): boolean {
    try {
      return watch.isUntouched()
    } catch {
      return false // to be read, which says what is wrong
    }
  }

  /** The same content under other stamps: from now on these are looked at. */
  #refresh(unit: Unit, before: TrustRecord, now: TrustRecord): void {
    if (stampsOf(now) === stampsOf(before)) return
    const key = keyOf(unit)
    if (this.#listed.get(key)?.record === before) {
      this.#listed.set(key, this.#held(now))
      return
    }
    try {
      // For the next process. Whatever somebody decided meanwhile stays.
      this.#file(unit).update((stored) =>
        stored && stored.digest === before.digest && stored.at === before.at ? now : stored,
      )
    } catch {
      // A store that cannot be written: the next process reads the files again, this one need not.
      const loaded = this.#loaded.get(key)
      if (loaded) this.#loaded.set(key, { ...loaded, held: this.#held(now) })
    }
  }

  #listedStanding(unit: Unit): Standing | undefined {
    const key = keyOf(unit)
    const known = this.#listed.get(key)
    if (known) {
      const standing = this.#standing(unit, known)
      if (standing.state === 'trusted') return standing
      this.#listed.delete(key)
    }
    const refused = this.#unlisted.get(key)
    if (refused && hasHooks(refused, unit) && this.#isUntouched(refused)) return undefined
    const content = readContent(unit)
    const { digest: now, problems } = content
    if (problems.length > 0 || !this.#preTrusted.has(now)) {
      if (problems.length === 0) this.#unlisted.set(key, this.#held(recordOf(unit, content)))
      return undefined
    }
    const record = recordOf(unit, this.#copied(unit, now))
    this.#makeBin(record)
    const held = this.#held(record)
    this.#listed.set(key, held)
    return { state: 'trusted', record, copy: held.copy }
  }

  // ---- copies ---------------------------------------------------------------------------------------------------

  /** Reads the unit, and makes the copy of what was read if it has the digest. */
  #copied(unit: Unit, expected: string): UnitContent {
    if (unit.kind === 'file') return checked(unit, readContent(unit), expected)
    const draft = this.#writing(() => new CopyDraft(copyPath(this.#copies, expected, unit.path)))
    try {
      const content = readContent(unit, {
        file: (file, bytes) => this.#writing(() => draft.file(file, bytes)),
      })
      checked(unit, content, expected)
      this.#writing(() => draft.publish(content.files))
      return content
    } finally {
      draft.end()
    }
  }

  #copyOf(record: TrustRecord): string | undefined {
    return record.kind === 'folder' ? copyPath(this.#copies, record.digest, record.path) : undefined
  }

  #makeBin(record: TrustRecord): void {
    this.#writing(() => makeBin(binPath(this.#copies, record), record))
  }

  /** Never throws. Where a record cannot be read, nothing is removed: it might be in use. */
  #removeUnused(old: TrustRecord): void {
    try {
      const others = this.records()
      const [copy, bin] = [this.#copyOf(old), binPath(this.#copies, old)]
      if (copy !== undefined && !others.some((one) => this.#copyOf(one) === copy)) removeCopy(copy)
      if (!others.some((one) => binPath(this.#copies, one) === bin)) discard(bin)
    } catch {}
  }

  #writing<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw copyFailure(this.#copies, error)
    }
  }

  // ---- records --------------------------------------------------------------------------------------------------

  #load(where: Where): Held | undefined {
    const key = keyOf(where)
    const seen = moment()
    const stats = statSync(this.#folder(where), { bigint: true, throwIfNoEntry: false })
    if (!stats) {
      this.#loaded.delete(key)
      return undefined
    }
    const known = this.#loaded.get(key)
    if (known?.stamp && isSame(stats, known.stamp)) return known.held
    const record = this.#file(where).load()
    if (record && keyOf(record) !== key) {
      throw new Error(`the record in ${this.#folder(where)} is about ${quoted(record.path)}; remove it`)
    }
    const held = record ? this.#held(record) : undefined
    this.#loaded.set(key, { stamp: parseStamp(stampOf(stats, seen)), held })
    return held
  }

  #held(record: TrustRecord): Held {
    const hooks = new Set(record.hooks.map(({ hash }) => hash))
    return { record, watch: new Watch(record), hooks, copy: this.#copyOf(record) }
  }

  #forget(where: Where): void {
    this.#loaded.delete(keyOf(where))
  }

  #folder({ kind, path, projectDir }: Where): string {
    return join(this.#records, digest([kind, path, projectDir]).slice(0, 32))
  }

  #file(where: Where): VersionedFile<TrustRecord | null> {
    return this.#fileIn(this.#folder(where))
  }

  #fileIn(folder: string): VersionedFile<TrustRecord | null> {
    return new VersionedFile<TrustRecord | null>({
      folder,
      what: 'the record of trust',
      fresh: null,
      check: storedRecord,
      durable: true,
      maxBytes: MOST_BYTES,
    })
  }
}

function recordOf({ kind, path, name, projectDir, hooks }: Unit, content: UnitContent): TrustRecord {
  const { digest: of, files, folders, scripts, absent, words, programs } = content
  const at = new Date().toISOString()
  return {
    kind,
    path,
    name,
    projectDir,
    digest: of,
    hooks,
    files,
    folders,
    scripts,
    absent,
    words,
    programs,
    at,
  }
}

function checked(unit: Unit, content: UnitContent, expected: string): UnitContent {
  const [first, ...more] = content.problems
  if (first !== undefined) {
    const others = more.length > 0 ? ` (and ${more.length} more)` : ''
    throw new Error(`${quoted(unit.name)} cannot be trusted: ${first}${others}`)
  }
  if (content.digest === expected) return content
  throw new Error(
    `${quoted(unit.name)} is not what was reviewed: something changed meanwhile; look at it again`,
  )
}

function stampsOf({ files, folders, scripts }: TrustRecord): string {
  return [...folders, ...files, ...scripts].map(({ stamp }) => stamp).join('\n')
}

function hasHooks({ hooks }: Held, unit: Unit): boolean {
  const now = new Set(unit.hooks.map(({ hash }) => hash))
  return now.size === hooks.size && [...now].every((hash) => hooks.has(hash))
}

function keyOf({ kind, path, projectDir }: Where): string {
  return [kind, path, projectDir].join('\0')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the records of trust in ${folder} cannot be read: ${textOf(error)}`, { cause: error })
  }
}
