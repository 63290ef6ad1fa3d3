// The source that the user accepted for each plugin of a project, and its content at the time. Never read from the project.

import { join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { fieldsOf, flag, oneOf, optional, text } from '../../files/fields.js'
import { discard } from '../../files/folder.js'
import { dataHome } from '../../files/homes.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { realOf } from '../../files/within.js'
import { StorePlace } from '../../store/trust/store-place.js'
import { type LockEntry, readLock, SOURCE_KINDS } from '../lock-file.js'
import { PluginProblem } from '../plugin-problem.js'
import { lockPath, type Target } from '../target.js'

export type Accepted = Omit<LockEntry, 'installed'>

interface AcceptedRecord {
  readonly project: string
  readonly plugin: string
  readonly entry: Accepted
}

/** Undefined if the user has not accepted one here. The user's own lock file counts as accepted. */
export function acceptedSource(target: Target, name: string): Accepted | undefined {
  if (target.scope === 'user') return readLock(lockPath(target)).get(name)
  return asProblem('NOT_READ', () => {
    checkPlace(target)
    const record = fileOf(target, name).load()
    return record?.project === projectOf(target) && record.plugin === name ? record.entry : undefined
  })
}

export function acceptSource(target: Target, name: string, { installed: _, ...entry }: LockEntry): void {
  if (target.scope === 'user') return
  asProblem('NOT_WRITTEN', () => {
    checkPlace(target)
    fileOf(target, name).update(() => ({ project: projectOf(target), plugin: name, entry }))
  })
}

export function forgetSource(target: Target, name: string): void {
  discard(folderOf(target, name))
}

/** A record inside the project, or where others can write, would prove nothing. */
function checkPlace(target: Target): void {
  const place = new StorePlace(dataHome())
  place.checkOutside(target.base)
  place.checkPrivate()
}

function projectOf({ base }: Target): string {
  return realOf(base)
}

function folderOf(target: Target, name: string): string {
  return join(dataHome(), 'sources', digest([projectOf(target), name]).slice(0, 32))
}

function fileOf(target: Target, name: string): VersionedFile<AcceptedRecord | null> {
  return new VersionedFile<AcceptedRecord | null>({
    folder: folderOf(target, name),
    what: `the source that you accepted for ${name}`,
    fresh: null,
    check: stored,
    durable: true,
  })
}

function stored(value: unknown): AcceptedRecord | null {
  if (value === null) return null
  const fields = fieldsOf(value, 'the record')
  const entry = fieldsOf(fields.entry, 'entry')
  const maybe = <K extends string>(key: K) => optional(key, entry[key], text, 'entry')
  return {
    project: text(fields.project, 'project'),
    plugin: text(fields.plugin, 'plugin'),
    entry: {
      source: text(entry.source, 'entry.source'),
      kind: oneOf(...SOURCE_KINDS)(entry.kind, 'entry.kind'),
      ...maybe('ref'),
      ...maybe('path'),
      ...maybe('catalog'),
      ...maybe('commit'),
      ...(entry.tag !== undefined && flag(entry.tag, 'entry.tag') && { tag: true }),
      ...maybe('version'),
      integrity: text(entry.integrity, 'entry.integrity'),
    },
  }
}

function asProblem<T>(code: 'NOT_READ' | 'NOT_WRITTEN', work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new PluginProblem(code, textOf(error))
  }
}

// ---- comparing sources ----------------------------------------------------------------------------------------

export type Origin = Pick<LockEntry, 'source' | 'kind' | 'ref' | 'path' | 'catalog'>

const PARTS = ['source', 'kind', 'ref', 'path', 'catalog'] as const

/** Within one catalog, version and folder may change freely: that is what a catalog is for. */
export function isSameOrigin(a: Origin, b: Origin): boolean {
  const parts = isFoundAlike(a, b) ? (['source', 'kind'] as const) : PARTS
  return parts.every((part) => a[part] === b[part])
}

/** Both came from the same name in the same catalog. */
function isFoundAlike(a: Origin, b: Origin): boolean {
  return a.catalog !== undefined && a.catalog === b.catalog
}

/** The source that would be fetched, compared with the accepted one. */
export interface FoundSource {
  /** `moved-by-…`: the project's lock file or the catalog now names another source. `unknown`: none was accepted here. */
  readonly state: 'accepted' | 'moved-by-project' | 'moved-by-catalog' | 'unknown'
  readonly was: Origin | undefined
  readonly now: Origin
}

export function findSource(was: Origin | undefined, now: Origin): FoundSource {
  if (!was) return { state: 'unknown', was, now }
  if (isSameOrigin(was, now)) return { state: 'accepted', was, now }
  return { state: isFoundAlike(was, now) ? 'moved-by-catalog' : 'moved-by-project', was, now }
}

/** Nothing was fetched, because the source is not one that the user accepted or may be asked about. */
export class SourceProblem extends PluginProblem {
  readonly source: FoundSource

  constructor(
    code: 'SOURCE_MOVED' | 'SOURCE_REFUSED' | 'NOT_TRUSTED',
    message: string,
    source: FoundSource,
    hint?: string,
  ) {
    super(code, message, hint)
    this.source = source
  }
}
