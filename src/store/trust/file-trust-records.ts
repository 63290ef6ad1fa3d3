// Trust records in files: a folder for each unit, read again only after somebody wrote to it.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { digest as digestOf } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { quoted } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { count, fieldsOf, flag, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { discard, isDiscarded } from '../../files/folder.js'
import { exactLstatIfThere, exactStatIfThere, statIfThere } from '../../files/if-there.js'
import { isSame, isStamp, moment, parseStamp, type Stamp, stampOf } from '../../files/stamp.js'
import { BrokenFile, VersionedFile } from '../../files/versioned-file.js'
import { versionsIn } from '../../files/versions.js'
import {
  type CopyKey,
  type CopyStamps,
  copyKeyOf,
  type ImplicitLoad,
  isDigest,
  keyOf,
  type TrustedFile,
  type TrustedFolder,
  type TrustRecord,
  type TrustRecords,
  type UnitHook,
  type Where,
} from '../trust-records.js'
import { type Entry, ProjectIndex } from './project-index.js'
import { StorePlace } from './store-place.js'

/**
 * A record with the stamps of its folder and of its file. We add a file there for every change, which changes the stamp of
 * the folder. Anybody else may write into the file.
 */
interface Loaded {
  readonly stamp: Stamp | undefined
  readonly file: Stamped | undefined
  readonly record: TrustRecord | undefined
}

interface Stamped {
  readonly path: string
  /** Undefined if it cannot be relied on. */
  readonly stamp: Stamp | undefined
}

/** Enough for ten thousand files with long names, and as many in the copy. */
const MOST_BYTES = 32 * 1024 * 1024

export class FileTrustRecords implements TrustRecords {
  readonly #root: string
  readonly #place: StorePlace
  readonly #index: ProjectIndex
  /** By the name of the record's folder. */
  readonly #loaded = new Map<string, Loaded>()
  readonly #names = new Map<string, string>()

  /** `name`: the folder of the records. */
  constructor(dataDir: string, name: 'trust' | 'listed' = 'trust') {
    this.#root = join(dataDir, name)
    this.#place = new StorePlace(dataDir)
    this.#index = new ProjectIndex(this.#root, join(dataDir, `${name}-projects`))
  }

  checkOutside(projectDir: string): void {
    this.#place.checkOutside(projectDir)
  }

  checkPrivate(): void {
    this.#place.checkPrivate()
  }

  load(where: Where): TrustRecord | undefined {
    const record = this.#recordIn(this.#name(where), where.projectDir)
    if (record && keyOf(record) !== keyOf(where)) {
      throw new Error(`the record in ${this.#folder(where)} is about ${quoted(record.path)}; remove it`)
    }
    return record
  }

  /** Throws if it is gone and the index of the project expects it. */
  #recordIn(name: string, projectDir?: string): TrustRecord | undefined {
    const seen = moment()
    const stats = exactStatIfThere(join(this.#root, name))
    if (!stats) {
      this.#loaded.delete(name)
      if (projectDir !== undefined) this.#checkNotMissed(name, projectDir)
      return undefined
    }
    const known = this.#loaded.get(name)
    if (known?.stamp && isSame(stats, known.stamp) && (!known.file || isUntouched(known.file))) {
      this.#place.checkPrivateOnce()
      return known.record
    }
    this.checkPrivate()
    const versions = fileIn(join(this.#root, name))
    const file = stamped(versions.newest(), seen)
    const record = versions.read() ?? undefined
    if (!record && projectDir !== undefined) this.#checkNotMissed(name, projectDir)
    this.#loaded.set(name, { stamp: parseStamp(stampOf(stats, seen)), file, record })
    return record
  }

  #checkNotMissed(name: string, projectDir: string): void {
    const folder = join(this.#root, name)
    const path = this.#index.expected(name, projectDir)
    // A removed record leaves a version that says so until its folder is gone.
    if (path === undefined || (versionsIn(folder)?.numbers.length ?? 0) > 0) return
    throw new BrokenFile(gone(folder, path))
  }

  write(where: Where, record: TrustRecord): void {
    this.#index.changing(this.#entry(where), () => this.#file(where).replace(record))
    this.#loaded.delete(this.#name(where))
  }

  addNext(where: Where, next: TrustRecord): void {
    this.#file(where).update((now) => now && { ...now, next })
    this.#loaded.delete(this.#name(where))
  }

  /** If this cannot be written, both records stay valid. */
  promote(where: Where, next: TrustRecord): void {
    try {
      this.#file(where).update((now) =>
        now?.next?.digest === next.digest ? { ...next, former: copyKeyOf(now) } : now,
      )
    } catch {}
  }

  refresh(where: Where, before: TrustRecord, now: TrustRecord): void {
    try {
      this.#file(where).update((stored) =>
        stored && stored.digest === before.digest && stored.at === before.at
          ? { ...now, ...(stored.next && { next: stored.next }) }
          : stored,
      )
    } catch {
      // The store cannot be written. The next process reads the files again, but this one need not.
      const name = this.#name(where)
      const loaded = this.#loaded.get(name)
      if (loaded) this.#loaded.set(name, { ...loaded, record: now })
    }
  }

  remove(where: Where): TrustRecord | 'unreadable' | undefined {
    const removed = this.#unlessBroken(where)
    if (removed === null) return undefined
    // First record durably that it is gone, then remove it from the index, which would expect it, then remove the folder.
    if (statIfThere(this.#folder(where))) this.#file(where).replace(null)
    this.#loaded.delete(this.#name(where))
    this.#index.remove(this.#entry(where))
    this.#index.changing(undefined, () => discard(this.#folder(where)))
    return removed
  }

  /** Null if there is none. */
  #unlessBroken(where: Where): TrustRecord | 'unreadable' | null {
    const [name, projectDir] = this.#entry(where)
    try {
      return this.#file(where).read() ?? (this.#index.expected(name, projectDir) ? 'unreadable' : null)
    } catch (error) {
      if (statIfThere(this.#folder(where))) return 'unreadable'
      throw error
    }
  }

  ofProject(projectDir: string): readonly TrustRecord[] {
    const names = this.#index.names(projectDir, () => this.#all().map(entryOf))
    return names
      .flatMap((name) => this.#recordIn(name, projectDir) ?? [])
      .filter((record) => record.projectDir === projectDir)
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  all(): readonly TrustRecord[] {
    return this.#all().map(([, record]) => record)
  }

  #all(): readonly (readonly [name: string, record: TrustRecord])[] {
    return namesIn(this.#root)
      .filter((name) => !isDiscarded(name))
      .flatMap((name) => {
        const record = this.#recordIn(name)
        return record ? [[name, record] as const] : []
      })
  }

  #entry(where: Where): Entry {
    return [this.#name(where), where.projectDir, where.path]
  }

  #name(where: Where): string {
    const { kind, path, projectDir } = where
    const key = keyOf(where)
    const name = this.#names.get(key) ?? digestOf([kind, path, projectDir]).slice(0, 32)
    this.#names.set(key, name)
    return name
  }

  #folder(where: Where): string {
    return join(this.#root, this.#name(where))
  }

  #file(where: Where): VersionedFile<TrustRecord | null> {
    return fileIn(this.#folder(where))
  }
}

function stamped(path: string | undefined, seen: bigint): Stamped | undefined {
  if (path === undefined) return undefined
  const stats = exactLstatIfThere(path)
  return { path, stamp: stats && parseStamp(stampOf(stats, seen)) }
}

function isUntouched({ path, stamp }: Stamped): boolean {
  const stats = stamp && exactLstatIfThere(path)
  return stamp !== undefined && stats !== undefined && isSame(stats, stamp)
}

function fileIn(folder: string): VersionedFile<TrustRecord | null> {
  return new VersionedFile<TrustRecord | null>({
    folder,
    what: 'the trust record',
    fresh: null,
    check: storedRecord,
    durable: true,
    maxBytes: MOST_BYTES,
  })
}

function entryOf([name, { projectDir, path }]: readonly [string, TrustRecord]): Entry {
  return [name, projectDir, path]
}

function gone(folder: string, path: string): string {
  return `the trust record in ${folder} is gone, but you trusted ${quoted(path)}. Put the record back, review the hooks again (carabiner trust), or stop trusting them (carabiner untrust ${shellQuoted(path)})`
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the trust records in ${folder} cannot be read: ${textOf(error)}`, { cause: error })
  }
}

// ---- checking stored records -----------------------------------------------------------------------------------

const sha: Reader<string> = (value, where) => {
  if (isDigest(text(value, where))) return value as string
  throw new Error(`is not valid: ${where} must be a SHA-256 digest in hexadecimal`)
}

const stamp: Reader<string> = (value, where) => {
  if (isStamp(text(value, where))) return value as string
  throw new Error(`is not valid: ${where} must be a stamp`)
}

const nullable: Reader<string | null> = (value, where) => (value === null ? null : text(value, where))

const texts: Reader<Readonly<Record<string, string>>> = (value, where) => {
  const entries = Object.entries(fieldsOf(value, where))
  return Object.fromEntries(entries.map(([name, one]) => [name, text(one, `${where}.${name}`)]))
}

const hook: Reader<UnitHook> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    event: text(fields.event, `${where}.event`),
    matcher: nullable(fields.matcher, `${where}.matcher`),
    ...optional('type', fields.type, text, where),
    command: text(fields.command, `${where}.command`),
    ...optional('args', fields.args, listOf(text), where),
    ...optional('shell', fields.shell, oneOf('bash', 'sh', 'powershell'), where),
    ...optional('dir', fields.dir, text, where),
    ...optional('env', fields.env, texts, where),
    ...optional('terms', fields.terms, listOf(text), where),
    hash: text(fields.hash, `${where}.hash`),
    ...optional('line', fields.line, count, where),
  }
}

const file: Reader<TrustedFile> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    path: text(fields.path, `${where}.path`),
    mode: count(fields.mode, `${where}.mode`),
    size: count(fields.size, `${where}.size`),
    sha256: sha(fields.sha256, `${where}.sha256`),
    ...optional('link', fields.link, text, where),
    stamp: stamp(fields.stamp, `${where}.stamp`),
  }
}

const folder: Reader<TrustedFolder> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { path: text(fields.path, `${where}.path`), stamp: stamp(fields.stamp, `${where}.stamp`) }
}

const copied: Reader<CopyStamps> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    files: listOf(stamp)(fields.files, `${where}.files`),
    folders: listOf(folder)(fields.folders, `${where}.folders`),
  }
}

/** Null means that it is no longer trusted. Every field is checked: half of what a person trusted is not what they trusted. */
function storedRecord(value: unknown): TrustRecord | null {
  if (value === null) return null
  const { next } = fieldsOf(value, 'the record')
  return { ...record(value, 'the record'), ...(next !== undefined && { next: record(next, 'next') }) }
}

const copyKey: Reader<CopyKey> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    kind: oneOf('folder', 'file')(fields.kind, `${where}.kind`),
    path: text(fields.path, `${where}.path`),
    digest: sha(fields.digest, `${where}.digest`),
    programs: texts(fields.programs, `${where}.programs`),
  }
}

const implicitLoad: Reader<ImplicitLoad> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    ...optional('script', fields.script, text, where),
    folder: text(fields.folder, `${where}.folder`),
    ...optional('modules', fields.modules, listOf(text), where),
    ...optional('package', fields.package, text, where),
    ...optional('isModule', fields.isModule, flag, where),
  }
}

function record(value: unknown, where: string): TrustRecord {
  const fields = fieldsOf(value, where)
  return {
    ...copyKey(value, where),
    name: text(fields.name, `${where}.name`),
    projectDir: text(fields.projectDir, `${where}.projectDir`),
    hooks: listOf(hook)(fields.hooks, `${where}.hooks`),
    files: listOf(file)(fields.files, `${where}.files`),
    folders: listOf(folder)(fields.folders, `${where}.folders`),
    scripts: listOf(file)(fields.scripts, `${where}.scripts`),
    ...optional('source', fields.source, file, where),
    ...optional('copied', fields.copied, copied, where),
    absent: listOf(text)(fields.absent, `${where}.absent`),
    words: listOf(text)(fields.words, `${where}.words`),
    ...optional('implicit', fields.implicit, listOf(implicitLoad), where),
    at: text(fields.at, `${where}.at`),
    ...optional('former', fields.former, copyKey, where),
  }
}
