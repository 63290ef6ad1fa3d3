// Units that the user's list of digests admits without a review. They are not recorded, so that shortening the list takes effect.

import { keyOf, type TrustRecord, type TrustRecords } from '../store/trust-records.js'
import type { CopiedUnit, Watch } from './changes.js'
import type { DigestList } from './pre-trusted.js'
import { placeOf } from './set-aside.js'
import type { Standing, Unit } from './unit.js'
import { readContent, type UnitContent } from './unit-content.js'

/** A record that is ready to be compared with the files. */
export interface Held {
  readonly record: TrustRecord
  readonly watch: Watch
  readonly hooks: ReadonlySet<string>
  /** Only for a folder. */
  readonly copy: CopiedUnit | undefined
}

/** What it asks of the store that it is part of. */
interface Keeping {
  heldOf(record: TrustRecord): Held
  standing(unit: Unit, held: Held): Standing
  /** Copies what runs, if the unit has this digest. */
  keep(unit: Unit, digest: string): TrustRecord
}

export class ListedUnits {
  readonly digests: DigestList
  /** As they were when the list had them. */
  readonly #records: TrustRecords
  readonly #store: Keeping
  readonly #trusted = new Map<string, Held>()
  /** Units that are not on the list, so that they are not read each time. */
  readonly #others = new Map<string, Held>()

  constructor(digests: DigestList, records: TrustRecords, store: Keeping) {
    this.digests = digests
    this.#records = records
    this.#store = store
  }

  get isEmpty(): boolean {
    return this.digests.size === 0
  }

  /** As it was when the list had it, if the list still has that. */
  recordOf(unit: Unit): TrustRecord | undefined {
    const record = this.#records.load(placed(unit))
    return record && this.digests.has(record.digest) ? record : undefined
  }

  /** Those of a project that none of these records is about. */
  recordsBeside(recorded: readonly TrustRecord[], projectDir: string): readonly TrustRecord[] {
    const keys = new Set(recorded.map(keyOf))
    return this.#records
      .ofProject(projectDir)
      .filter((one) => this.digests.has(one.digest) && !keys.has(keyOf(one)))
  }

  /** Undefined if the list says nothing about it. `record`: what it was when the list had it. */
  standingOf(unit: Unit, record: TrustRecord | undefined): Standing | undefined {
    return this.#admitted(unit) ?? this.#noLonger(unit, record)
  }

  /** False if it is not trusted by the list. */
  refresh(unit: Unit, held: Held, now: TrustRecord): boolean {
    const key = keyOf(unit)
    if (this.#trusted.get(key) !== held) return false
    this.#trusted.set(key, this.#store.heldOf(now))
    return true
  }

  /** It was on the list as it was before. */
  #noLonger(unit: Unit, record: TrustRecord | undefined): Standing | undefined {
    if (!record) return undefined
    const standing = this.#store.standing(unit, this.#store.heldOf(at(unit, record)))
    return standing.state === 'trusted' ? undefined : modified(standing.why, record)
  }

  #admitted(unit: Unit): Standing | undefined {
    const key = keyOf(unit)
    const known = this.#trusted.get(key)
    if (known) {
      const standing = this.#store.standing(unit, known)
      if (standing.state === 'trusted') return standing
      this.#trusted.delete(key)
    }
    const refused = this.#others.get(key)
    if (refused && hasHooks(refused, unit) && isUntouched(refused.watch)) return undefined
    const content = readContent(unit)
    const { digest: now, problems } = content
    if (problems.length > 0 || !this.digests.has(now)) {
      if (problems.length === 0) this.#others.set(key, this.#store.heldOf(recordOf(unit, content)))
      return undefined
    }
    const record = this.#store.keep(unit, now)
    this.#remember(unit, record)
    const held = this.#store.heldOf(record)
    this.#trusted.set(key, held)
    return { state: 'trusted', record, copy: held.copy?.path }
  }

  /** So that its gates are known when it is gone. A store that cannot be written knows less. */
  #remember(unit: Unit, record: TrustRecord): void {
    try {
      const where = placed(unit)
      if (this.#records.load(where)?.digest !== record.digest)
        this.#records.write(where, { ...record, path: where.path })
    } catch {}
  }
}

// ---- what the store and the list both need ----------------------------------------------------------------------

/** The unit at the place where it belongs; the same object if it is there. */
export function placed(unit: Unit): Unit {
  const path = placeOf(unit.path)
  return path === unit.path ? unit : { ...unit, path }
}

/** The record with the path where the files are now. */
export function at({ path }: Unit, record: TrustRecord): TrustRecord {
  return path === record.path ? record : { ...record, path }
}

export function modified(why: string, record: TrustRecord): Standing {
  return { state: 'modified', why, record }
}

export function isUntouched(one: Watch | CopiedUnit): boolean {
  try {
    return one.isUntouched()
  } catch {
    return false // reading it says what is wrong
  }
}

function hasHooks({ hooks }: Held, unit: Unit): boolean {
  const now = new Set(unit.hooks.map(({ hash }) => hash))
  return now.size === hooks.size && [...now].every((hash) => hooks.has(hash))
}

/** The record of a unit that is trusted from now on. */
export function recordOf({ kind, path, name, projectDir, hooks }: Unit, content: UnitContent): TrustRecord {
  const { digest, files, folders, scripts, source, absent, words, implicit, programs } = content
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
    implicit,
    programs,
    at: new Date().toISOString(),
  }
}
