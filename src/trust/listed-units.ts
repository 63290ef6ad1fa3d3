// Units that a list of digests, the user's or the fleet's, admits without a review. They are not recorded, so that removing a digest takes effect.

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

/** What it needs from the store it belongs to. */
interface Keeping {
  heldOf(record: TrustRecord): Held
  standing(unit: Unit, held: Held): Standing
  /** Copies what runs, if the unit has this digest. */
  keep(unit: Unit, digest: string): TrustRecord
}

export class ListedUnits {
  readonly #digests: () => DigestList
  /** Records of units from when the list contained them. */
  readonly #records: TrustRecords
  readonly #store: Keeping
  readonly #trusted = new Map<string, Held>()
  /** Units that are not on the list. Remembered to avoid reading them each time. */
  readonly #others = new Map<string, Held>()

  /** The list may change while somebody asks. */
  constructor(digests: () => DigestList, records: TrustRecords, store: Keeping) {
    this.#digests = digests
    this.#records = records
    this.#store = store
  }

  get digests(): DigestList {
    return this.#digests()
  }

  get isEmpty(): boolean {
    return this.digests.size === 0
  }

  /** The unit's record from when the list contained it, if the list still contains that digest. */
  recordOf(unit: Unit): TrustRecord | undefined {
    const record = this.#records.load(placed(unit))
    return record && this.digests.has(record.digest) ? record : undefined
  }

  /** Records of a project, except those for units in `recorded`. */
  recordsBeside(recorded: readonly TrustRecord[], projectDir: string): readonly TrustRecord[] {
    const keys = new Set(recorded.map(keyOf))
    return this.#records
      .ofProject(projectDir)
      .filter((one) => this.digests.has(one.digest) && !keys.has(keyOf(one)))
  }

  /** Undefined if the list says nothing about the unit. `record` is from when the list contained it. */
  standingOf(unit: Unit, record: TrustRecord | undefined): Standing | undefined {
    return this.#admitted(unit) ?? this.#noLonger(unit, record)
  }

  /** The digest of a unit that `standingOf` has just found not to be on the list. */
  refusedDigest(unit: Unit): string | undefined {
    return this.#others.get(keyOf(unit))?.record.digest
  }

  /** Returns false if the list does not trust the unit. */
  refresh(unit: Unit, held: Held, now: TrustRecord): boolean {
    const key = keyOf(unit)
    if (this.#trusted.get(key) !== held) return false
    this.#trusted.set(key, this.#store.heldOf(now))
    return true
  }

  /** For a unit whose former version was on the list. */
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
      if (standing.state === 'trusted' && this.digests.has(known.record.digest)) return standing
      this.#trusted.delete(key)
    }
    const refused = this.#others.get(key)
    const isStill = refused && hasHooks(refused, unit) && isUntouched(refused.watch)
    if (isStill && !this.digests.has(refused.record.digest)) return undefined
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

  /** Keeps its gates known after the unit is gone. Does nothing if the store cannot be written. */
  #remember(unit: Unit, record: TrustRecord): void {
    try {
      const where = placed(unit)
      if (this.#records.load(where)?.digest !== record.digest)
        this.#records.write(where, { ...record, path: where.path })
    } catch {}
  }
}

// ---- shared by the store and the list ---------------------------------------------------------------------------

/** The unit at its proper place. The same object if it is already there. */
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
    return false // reading it will report the problem
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
