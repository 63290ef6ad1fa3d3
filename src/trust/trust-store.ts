// What the user trusts: keeps records and private copies, and decides whether a unit may run now.

import { join, resolve } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { plainText, quoted } from '../core/base/text.js'
import { companyFolder } from '../files/company-folder.js'
import type { TrustDecision } from '../files/fleet/policy.js'
import { fleetTrust } from '../files/fleet-files.js'
import type { PolicyPlace } from '../files/fleet-places.js'
import { discard } from '../files/folder.js'
import { dataHome } from '../files/homes.js'
import { BrokenFile } from '../files/versioned-file.js'
import { fileListedRecords, fileTrustRecords } from '../store/file-stores.js'
import {
  type CopyKey,
  copyKeyOf,
  isDigest,
  type TrustedFile,
  type TrustRecord,
  type TrustRecords,
  type UnitHook,
  type Where,
} from '../store/trust-records.js'
import { CopiedUnit, compare, Watch } from './changes.js'
import {
  binPath,
  CopyDraft,
  copyFailure,
  copyPath,
  isRealFolder,
  KeptFiles,
  makeBin,
  removeCopy,
  scriptsPath,
} from './copies.js'
import { at, type Held, isUntouched, ListedUnits, modified, placed, recordOf } from './listed-units.js'
import type { DigestList } from './pre-trusted.js'
import { programGone } from './program-search.js'
import { type Review, reviewOf } from './review.js'
import { placeOf, whereabouts } from './set-aside.js'
import type { Standing, Unit } from './unit.js'
import { readContent, type UnitContent } from './unit-content.js'

export interface TrustStoreOptions {
  /** Default `dataHome()`. */
  readonly dataDir?: string
  /** Digests that need no record; see pre-trusted.ts. */
  readonly preTrusted?: DigestList
  /** Where the decisions of the fleet's reviewers are. Default: as on every machine. */
  readonly fleet?: readonly PolicyPlace[]
}

/** The folder with the copy, or the text of the hooks file, or a sentence about the problem. */
export type Kept = { readonly copy: string } | { readonly text: string } | { readonly problem: string }

/** An update moves the unit aside and its successor into place, so a slow reader may see more than one move. */
const MOST_MOVES = 4

/** The trust of this user, with records in files. */
export function trustStore(options: TrustStoreOptions = {}): TrustStore {
  return new TrustStore(fileTrustRecords(options.dataDir), options)
}

/** Decides without awaiting anything: hooks are planned synchronously. */
export class TrustStore {
  readonly #records: TrustRecords
  readonly #copies: string
  readonly #kept: KeptFiles
  readonly #listed: ListedUnits
  readonly #held = new WeakMap<TrustRecord, Held>()
  readonly #own: DigestList
  readonly #fleet: readonly PolicyPlace[]

  /** Copies are always local files, whatever keeps the records. */
  constructor(
    records: TrustRecords,
    {
      dataDir = dataHome(),
      preTrusted = new Map(),
      fleet = companyFolder(dataDir).fleet ?? [],
    }: TrustStoreOptions = {},
  ) {
    const root = resolve(dataDir)
    this.#records = records
    this.#copies = join(root, 'copies')
    this.#kept = new KeptFiles(join(root, 'texts'))
    this.#own = preTrusted
    this.#fleet = fleet
    this.#listed = new ListedUnits(() => this.#listedNow(), fileListedRecords(dataDir), {
      heldOf: (record) => this.#heldOf(record),
      standing: (unit, held) => this.#standing(unit, held),
      keep: (unit, digest) => this.#keep(unit, digest),
    })
  }

  /** Never throws. A problem with the store means `untrusted`, with the problem as `why`. Known trusted units stay expected. */
  standingOf(unit: Unit): Standing {
    let record: TrustRecord | undefined
    try {
      this.#records.checkOutside(unit.projectDir)
      record = this.#records.load(placed(unit))
      const revoked = record && this.revocationOf(record.digest)
      if (revoked !== undefined) record = undefined
      const standing: Standing = record
        ? this.#settledStanding(unit, record)
        : { state: 'untrusted', why: 'It is waiting for your review.' }
      const since = revoked ?? (standing.record && this.revocationOf(standing.record.digest))
      const hasList = !this.#listed.isEmpty || this.#hasRevoked()
      if (since === undefined && (standing.state === 'trusted' || !hasList)) return standing
      const listed = this.#listed.recordOf(unit)
      record ??= listed
      const decided = this.#listed.standingOf(unit, listed)
      const now = this.#listed.refusedDigest(unit)
      const why = now === undefined ? since : this.revocationOf(now)
      return decided ?? (why === undefined ? standing : { state: 'untrusted', why, isRevoked: true })
    } catch (error) {
      const why = `Cannot determine whether it is trusted: ${textOf(error)}`
      return { state: 'untrusted', why, ...(record && { record }) }
    }
  }

  /** A sentence, if the fleet revoked this content. Then it never runs, whoever trusted it. Throws if nobody can tell. */
  revocationOf(digest: string): string | undefined {
    const { revoked } = fleetTrust(this.#fleet)
    const decision = Object.hasOwn(revoked, digest) ? revoked[digest] : undefined
    if (!decision) return undefined
    const { by, at, why } = decision
    return `${plainText(by)} revoked it for the whole fleet on ${at.slice(0, 10)}${why === undefined ? '' : `: ${plainText(why)}`}.`
  }

  #hasRevoked(): boolean {
    return Object.keys(fleetTrust(this.#fleet).revoked).length > 0
  }

  /** Who of the fleet trusts this content, and when they decided. */
  reviewerOf(digest: string): TrustDecision | undefined {
    const { trusted } = fleetTrust(this.#fleet)
    return Object.hasOwn(trusted, digest) ? trusted[digest] : undefined
  }

  /** The user's own list and the fleet's, without what the fleet revoked. */
  #listedNow(): DigestList {
    const { trusted, revoked } = fleetTrust(this.#fleet)
    const theirs = Object.entries(trusted)
    if (theirs.length === 0 && Object.keys(revoked).length === 0) return this.#own
    const own = [...this.#own].filter(([digest]) => !Object.hasOwn(revoked, digest))
    return new Map([...own, ...theirs.map(([digest, { by }]) => [digest, by] as const)])
  }

  /** For the review: reads and hashes everything, and writes nothing. Throws if the store cannot be relied on. */
  look(unit: Unit): Review {
    this.#check(unit)
    const record = this.#readable(unit)
    return reviewOf(unit, record && { record, copy: this.#copyOf(record), kept: this.#kept })
  }

  /** Throws if it cannot be trusted, or if its digest is no longer `expected`: only what was shown becomes trusted. */
  trust(unit: Unit, expected: string): TrustRecord {
    if (!isDigest(expected))
      throw new Error(`${quoted(expected)} is not the digest of a review; review the unit first`)
    const revoked = this.revocationOf(expected)
    if (revoked !== undefined) throw new Error(`${quoted(unit.name)} cannot be trusted: ${revoked}`)
    this.#check(unit)
    const before = this.#readable(unit)
    const record = { ...this.#keep(unit, expected), ...(before && { former: formerOf(before, expected) }) }
    this.#records.write(unit, record)
    if (before) this.#removeUnused(before)
    return record
  }

  /**
   * For a unit that was reviewed here and is about to move to `path`. From now on, it is trusted there in addition to the
   * current one, so that there is always a gate. Does nothing if nothing is trusted there.
   */
  trustNext(unit: Unit, path: string, expected: string): void {
    const there = { ...unit, path }
    this.#check(there)
    if (!this.#records.load(there)) return
    const next = recordOf(there, withoutStamps(this.#copied(unit, expected)))
    this.#makeBin(next)
    this.#records.addNext(there, next)
  }

  /** False if it was not trusted. */
  untrust(where: Where): boolean {
    const removed = this.#records.remove(where)
    if (!removed) return false
    if (removed !== 'unreadable') this.#removeUnused(removed)
    return true
  }

  /** Throws if one of them cannot be read. */
  records(): readonly TrustRecord[] {
    return this.#records.all()
  }

  /**
   * What the user trusts in a project, whether or not the files still exist. Throws if the records cannot be read. Ignores
   * records that the project could have written. This is called for every folder around a project, and most have no
   * records, so it first checks that there are any.
   */
  expectedIn(projectDir: string): readonly TrustRecord[] {
    try {
      const records = this.#recordsOf(projectDir)
      return records.length > 0 && this.#couldWrite(projectDir) ? [] : records
    } catch (error) {
      if (this.#couldWrite(projectDir)) return []
      throw error
    }
  }

  #couldWrite(projectDir: string): boolean {
    try {
      this.#records.checkOutside(projectDir)
      return false
    } catch {
      return true
    }
  }

  #recordsOf(projectDir: string): readonly TrustRecord[] {
    const all = this.#records.ofProject(projectDir)
    const recorded = all.filter(({ digest }) => this.revocationOf(digest) === undefined)
    return this.#listed.isEmpty
      ? recorded
      : [...recorded, ...this.#listed.recordsBeside(recorded, projectDir)]
  }

  /** The digests of the user's own list, with their names. The fleet's is about many projects, so nobody expects them here. */
  get listed(): DigestList {
    return this.#own
  }

  /**
   * The digests that are trusted now at this record's place: its version, the one it replaced, and one that is about to
   * replace it. `unknown` if the record cannot be read; then the version trusted before is still expected.
   */
  trustedNow(record: TrustRecord): readonly string[] | 'unknown' {
    try {
      if (this.#listed.digests.has(record.digest)) return [record.digest]
      const now = this.#records.load({ ...record, path: placeOf(record.path) })
      const digests = now ? copiesOf(now).map(({ digest }) => digest) : []
      return digests.filter((digest) => this.revocationOf(digest) === undefined)
    } catch {
      return 'unknown'
    }
  }

  /** The kept copy or text of the last trusted version. Never throws. */
  keptOf(record: TrustRecord): Kept {
    try {
      const revoked = this.revocationOf(record.digest)
      if (revoked !== undefined) return { problem: revoked }
      if (record.kind === 'folder') return keptFolder(this.#heldOf(record).copy)
      const text = record.source && this.#kept.textOf(record.source)
      return text === undefined
        ? { problem: 'The version of the file that you trusted was not kept.' }
        : { text }
    } catch (error) {
      return { problem: `The version you trusted cannot be read: ${textOf(error)}.` }
    }
  }

  /** Also undefined for a damaged record, which a new one will replace. */
  #readable(where: Where): TrustRecord | undefined {
    try {
      return this.#records.load(where)
    } catch (error) {
      if (error instanceof BrokenFile) return undefined
      throw error
    }
  }

  /** The folder that comes first in the `$PATH` of this record's hooks. Made if it is missing. */
  binFolder(record: TrustRecord): string {
    const path = binPath(this.#copies, record)
    if (!isRealFolder(path)) this.#makeBin(record)
    return path
  }

  /** Where a script can be run as it was reviewed. Undefined if it was not kept. */
  placeScript(record: TrustRecord, script: TrustedFile): string | undefined {
    return this.#writing(() => this.#kept.place(script, scriptsPath(this.#copies, record)))
  }

  /** Whether `placeScript` would place it. */
  keepsScript(script: TrustedFile): boolean {
    return this.#kept.runnable(script) !== undefined
  }

  #check({ projectDir }: Where): void {
    this.#records.checkOutside(projectDir)
    this.#records.checkPrivate()
  }

  // ---- standing -------------------------------------------------------------------------------------------------

  /** Looks again if the unit differs from its record: it may have been moved while it was read. */
  #settledStanding(unit: Unit, record: TrustRecord): Standing {
    const standing = this.#eitherStanding(unit, record)
    if (standing.state === 'trusted' || unit.kind === 'file') return standing
    for (let tries = 0; tries < MOST_MOVES; tries++) {
      const { path, id } = whereabouts(unit.path)
      const again = this.#eitherStanding({ ...unit, path }, this.#records.load(placed(unit)) ?? record)
      if (again.state === 'trusted') return again
      if (whereabouts(unit.path).id === id) break
    }
    return standing
  }

  #eitherStanding(unit: Unit, record: TrustRecord): Standing {
    const standing = this.#standing(unit, this.#heldOf(at(unit, record)))
    if (standing.state === 'trusted' || !record.next) return standing
    const next = this.#standing(unit, this.#heldOf(at(unit, record.next)))
    if (next.state !== 'trusted') return standing
    this.#records.promote(placed(unit), record.next)
    return { ...next, record: { ...next.record, former: copyKeyOf(record) } }
  }

  #standing(unit: Unit, held: Held): Standing {
    const { record, copy } = held
    const stranger = unit.hooks.find(({ hash }) => !held.hooks.has(hash))
    if (stranger)
      return modified(`The hook ${stranger.name} was added or changed since it was trusted.`, record)
    let now = record
    if (!isUntouched(held.watch)) {
      const found = compare(record)
      if ('why' in found) return modified(found.why, record)
      now = found.record
    }
    if (copy && !copy.isThere()) {
      return { state: 'untrusted', why: `Its copy ${quoted(copy.path)} is gone: trust it again.`, record }
    }
    if (copy && !isUntouched(copy)) {
      const found = copy.compare()
      if (typeof found === 'string') return modified(copyChanged(copy, found), record)
      now = { ...now, copied: found }
    }
    const gone = programGone(record)
    if (gone !== undefined) return modified(gone, record)
    const lost = lostHook(record, unit)
    if (lost) return modified(`The hook ${lost.name} is gone.`, record)
    this.#refresh(unit, held, now)
    return { state: 'trusted', record, copy: copy?.path }
  }

  /** The content is unchanged, so the new stamps count from now on. */
  #refresh(unit: Unit, held: Held, now: TrustRecord): void {
    if (stampsOf(now) === stampsOf(held.record)) return
    if (!this.#listed.refresh(unit, held, now) && placed(unit) === unit)
      this.#records.refresh(unit, held.record, now)
  }

  #heldOf(record: TrustRecord): Held {
    const known = this.#held.get(record)
    if (known) return known
    const path = this.#copyOf(record)
    const held: Held = {
      record,
      watch: new Watch(record),
      hooks: new Set(record.hooks.map(({ hash }) => hash)),
      copy: path === undefined ? undefined : new CopiedUnit(path, record),
    }
    this.#held.set(record, held)
    return held
  }

  // ---- copies ---------------------------------------------------------------------------------------------------

  /** Copies what runs, if the unit has this digest. */
  #keep(unit: Unit, digest: string): TrustRecord {
    const record = recordOf(unit, this.#copied(unit, digest))
    this.#makeBin(record)
    return record
  }

  /** Reads the unit and, if it has the digest, publishes a copy of what was read. Keeps the text of files outside the copy. */
  #copied(unit: Unit, expected: string): UnitContent {
    const draft =
      unit.kind === 'folder'
        ? this.#writing(() => new CopyDraft(copyPath(this.#copies, expected, unit.path)))
        : undefined
    const outside: (readonly [TrustedFile, Buffer])[] = []
    const keep = (file: TrustedFile, bytes: Buffer) => void outside.push([file, bytes])
    try {
      const content = readContent(unit, {
        ...(draft && { file: (file, bytes) => this.#writing(() => draft.file(file, bytes)) }),
        script: keep,
        source: keep,
      })
      checked(unit, content, expected)
      this.#writing(() => {
        draft?.publish(content.files)
        for (const [file, bytes] of outside) this.#kept.keep(file, bytes)
      })
      return content
    } finally {
      draft?.end()
    }
  }

  #copyOf(record: CopyKey): string | undefined {
    return record.kind === 'folder' ? copyPath(this.#copies, record.digest, record.path) : undefined
  }

  #makeBin(record: TrustRecord): void {
    this.#writing(() => makeBin(binPath(this.#copies, record), record))
  }

  /** Never throws: a leftover copy does no harm. If a record cannot be read, removes nothing, because it may still be in use. */
  #removeUnused(old: TrustRecord): void {
    try {
      const others = this.records()
      const used = others.flatMap(copiesOf)
      const copies = new Set(used.map((one) => this.#copyOf(one)))
      const bins = new Set(used.map((one) => binPath(this.#copies, one)))
      for (const one of copiesOf(old)) {
        const [copy, bin] = [this.#copyOf(one), binPath(this.#copies, one)]
        if (copy !== undefined && !copies.has(copy)) removeCopy(copy)
        if (!bins.has(bin)) discard(bin)
        if (!used.some(({ digest }) => digest === one.digest)) discard(scriptsPath(this.#copies, one))
      }
      this.#kept.removeAllBut(old, others)
    } catch {}
  }

  #writing<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw copyFailure(this.#copies, error)
    }
  }
}

/** The version that the new record replaces. If the content is the same, this is what the old record replaced. */
function formerOf(before: TrustRecord, digest: string): CopyKey | undefined {
  return before.digest === digest ? before.former : copyKeyOf(before)
}

function copiesOf({ next, former, ...record }: TrustRecord): readonly CopyKey[] {
  return [record, ...(next ? [next] : []), ...(former ? [former] : [])]
}

/** Files without a stamp are read. */
function withoutStamps(content: UnitContent): UnitContent {
  const bare = <T extends { readonly stamp: string }>(those: readonly T[]) =>
    those.map((one) => ({ ...one, stamp: '' }))
  const { files, folders, scripts } = content
  return { ...content, files: bare(files), folders: bare(folders), scripts: bare(scripts) }
}

/** A unit without hooks asks only about its files. */
function lostHook({ hooks }: TrustRecord, unit: Unit): UnitHook | undefined {
  if (unit.hooks.length === 0) return undefined
  const now = new Set(unit.hooks.map(({ hash }) => hash))
  return hooks.find(({ hash }) => !now.has(hash))
}

function keptFolder(copy: CopiedUnit | undefined): Kept {
  if (!copy?.isThere()) return { problem: `Its copy ${quoted(copy?.path ?? '')} is gone.` }
  const found = isUntouched(copy) ? undefined : copy.compare()
  return typeof found === 'string' ? { problem: copyChanged(copy, found) } : { copy: copy.path }
}

function copyChanged({ path }: CopiedUnit, why: string): string {
  return `The trusted copy ${quoted(path)} was changed, so it does not run. Type carabiner trust again. In the copy: ${why}`
}

function checked(unit: Unit, content: UnitContent, expected: string): UnitContent {
  const [first, ...more] = content.problems
  if (first !== undefined) {
    const others = more.length > 0 ? ` (and ${more.length} more)` : ''
    throw new Error(`${quoted(unit.name)} cannot be trusted: ${first}${others}`)
  }
  if (content.digest === expected) return content
  throw new Error(
    `${quoted(unit.name)} is not what was reviewed: something changed in the meantime; review it again`,
  )
}

/** All reliable stamps, as one text. */
function stampsOf({ files, folders, scripts, copied }: TrustRecord): string {
  const own = [...folders, ...files, ...scripts, ...(copied?.folders ?? [])].map(({ stamp }) => stamp)
  return [...own, ...(copied?.files ?? [])].filter(Boolean).join('\n')
}
