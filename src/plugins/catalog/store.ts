// The user's catalogs, stored as they were last fetched, so that searching needs no network.

import { isAbsolute, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { frozenCopy, type Json } from '../../core/base/json.js'
import { nearest, visibleName } from '../../core/base/text.js'
import { fieldsOf, flag, listOf, oneOf, optional, type Reader, text } from '../../files/fields.js'
import { discard, isDiscarded, namesIn, removeDiscarded } from '../../files/folder.js'
import { dataHome } from '../../files/homes.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { SOURCE_KINDS } from '../lock-file.js'
import { checkPluginName, isPluginName, pluginNameFrom } from '../plugin-name.js'
import { PluginProblem } from '../plugin-problem.js'
import { type FetchableSource, sourceText } from '../sources/source.js'
import type { CatalogEntry, EntryManifest, Where } from './entry.js'
import {
  type CatalogSource,
  catalogSourceText,
  type FetchedCatalog,
  fetchCatalog,
  parseCatalogSource,
  sourceName,
} from './fetch.js'

/** More than the limit for a catalog's file, because the stored form adds field names. */
const MOST_BYTES = 16 * 1024 * 1024

export interface CatalogUpdate {
  readonly catalog: CatalogRecord
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
  /** Plugins that now come from somewhere else. */
  readonly moved: readonly { readonly name: string; readonly was: string; readonly now: string }[]
}

/** Throws a PluginProblem that says what went wrong and what to do. */
export class CatalogStore {
  readonly #folder: string

  constructor(dataDir: string = dataHome()) {
    this.#folder = join(dataDir, 'catalogs')
  }

  /** `name` replaces the catalog's own name. Adding the same source again fetches it again. */
  async add(text: string, name?: string): Promise<CatalogRecord> {
    if (name !== undefined) checkPluginName(name)
    const source = parseCatalogSource(text)
    const fetched = await fetchCatalog(source)
    const called = name ?? nameOf(fetched, source)
    const now = new Date().toISOString()
    this.#change(called, (before) => {
      if (before && catalogSourceText(before.source) !== catalogSourceText(source)) {
        throw new PluginProblem(
          'CATALOG_TAKEN',
          `You already have a catalog called ${called}, from ${visibleName(catalogSourceText(before.source))}`,
          `Give this one another name with --name NAME, or remove the other with carabiner catalog remove ${called}.`,
        )
      }
      return recordOf(called, source, fetched, before?.added ?? now, now)
    })
    return this.get(called)
  }

  /** Throws if there is no catalog of that name. */
  get(name: string): CatalogRecord {
    const found = isPluginName(name) ? this.#load(name) : null
    if (found) return found
    const names = this.names()
    const meant = nearest(name, names)
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new PluginProblem(
      'CATALOG_UNKNOWN',
      `You have no catalog called ${visibleName(name.slice(0, 200))}${guess}`,
      names.length === 0
        ? 'Add one with carabiner catalog add SRC.'
        : `You have ${names.join(', ')}. Add another with carabiner catalog add SRC.`,
    )
  }

  names(): readonly string[] {
    try {
      const names = namesIn(this.#folder).filter((name) => isPluginName(name) && !isDiscarded(name))
      return names.sort()
    } catch (error) {
      throw unusable(error)
    }
  }

  /** A catalog that cannot be read does not hide the others. */
  all(): { readonly catalogs: readonly CatalogRecord[]; readonly problems: readonly string[] } {
    const problems: string[] = []
    const catalogs = this.names().flatMap((name) => {
      try {
        return this.#load(name) ?? []
      } catch (error) {
        problems.push(textOf(error))
        return []
      }
    })
    return { catalogs, problems }
  }

  /** If fetching fails, the stored catalog stays. */
  async update(name: string): Promise<CatalogUpdate> {
    const { source } = this.get(name)
    const fetched = await fetchCatalog(source)
    let was: CatalogRecord | null = null
    this.#change(name, (before) => {
      if (!before) throw new PluginProblem('CATALOG_UNKNOWN', `${name} was removed in the meantime`)
      was = before
      return recordOf(name, source, fetched, before.added, new Date().toISOString())
    })
    return changesBetween(was, this.get(name))
  }

  /** Plugins installed from it stay. */
  remove(name: string): CatalogRecord {
    const gone = this.get(name)
    try {
      discard(join(this.#folder, name))
      for (const left of namesIn(this.#folder).filter(isDiscarded)) {
        removeDiscarded(join(this.#folder, left))
      }
    } catch (error) {
      throw unusable(error)
    }
    return gone
  }

  #change(name: string, change: (before: CatalogRecord | null) => CatalogRecord): void {
    try {
      this.#file(name).update(change)
    } catch (error) {
      throw unusable(error)
    }
  }

  #load(name: string): CatalogRecord | null {
    try {
      return this.#file(name).load()
    } catch (error) {
      throw unusable(error)
    }
  }

  #file(name: string): VersionedFile<CatalogRecord | null> {
    return new VersionedFile<CatalogRecord | null>({
      folder: join(this.#folder, name),
      what: `the catalog ${name}`,
      fresh: null,
      check: storedCatalog,
      durable: true,
      maxBytes: MOST_BYTES,
    })
  }
}

function recordOf(
  name: string,
  source: CatalogSource,
  { plugins, problems, commit }: FetchedCatalog,
  added: string,
  updated: string,
): CatalogRecord {
  return { name, source, ...(commit !== undefined && { commit }), added, updated, plugins, problems }
}

function nameOf({ name }: FetchedCatalog, source: CatalogSource): string {
  return pluginNameFrom(name ?? sourceName(source))
}

function changesBetween(was: CatalogRecord | null, catalog: CatalogRecord): CatalogUpdate {
  const before = new Map((was?.plugins ?? []).map((one) => [one.name, JSON.stringify(one)]))
  const now = new Map(catalog.plugins.map((one) => [one.name, JSON.stringify(one)]))
  const names = [...now.keys()]
  return {
    catalog,
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !now.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== now.get(name)),
    moved: movedBetween(was?.plugins ?? [], catalog.plugins),
  }
}

function movedBetween(was: readonly CatalogEntry[], now: readonly CatalogEntry[]): CatalogUpdate['moved'] {
  const before = new Map(was.map((one) => [one.name, placeOf(one)]))
  return now.flatMap((one) => {
    const [old, place] = [before.get(one.name), placeOf(one)]
    return old === undefined || old === place ? [] : [{ name: one.name, was: old, now: place }]
  })
}

/** The source without its version and folder. */
function placeOf({ where }: CatalogEntry): string {
  return 'inside' in where ? 'the catalog itself' : `${where.source.kind} ${sourceText(where.source)}`
}

function unusable(error: unknown): PluginProblem {
  return error instanceof PluginProblem ? error : new PluginProblem('NOT_WRITTEN', textOf(error))
}

// ---- the stored form: every field is checked, unknown ones are dropped ----------------------------------------

export interface CatalogRecord {
  /** The user's name for it. */
  readonly name: string
  readonly source: CatalogSource
  /** The fetched commit of a git source. */
  readonly commit?: string
  readonly added: string
  readonly updated: string
  readonly plugins: readonly CatalogEntry[]
  /** One sentence for each entry that was left out. */
  readonly problems: readonly string[]
}

const path: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (!isAbsolute(read)) throw new Error(`is not valid: ${where} must be an absolute path`)
  return read
}

const json: Reader<Json> = (value, where) => frozenCopy(value, where)

const fetchable: Reader<FetchableSource> = (value, where) => {
  const fields = fieldsOf(value, where)
  const kind = oneOf(...SOURCE_KINDS)(fields.kind, `${where}.kind`)
  const below = optional('path', fields.path, text, where)
  switch (kind) {
    case 'folder':
      return { kind, folder: path(fields.folder, `${where}.folder`), ...below }
    case 'git':
      return {
        kind,
        url: text(fields.url, `${where}.url`),
        ...optional('ref', fields.ref, text, where),
        ...below,
      }
    case 'npm':
      return {
        kind,
        name: text(fields.name, `${where}.name`),
        range: text(fields.range, `${where}.range`),
        ...below,
      }
    case 'archive':
      return { kind, place: text(fields.place, `${where}.place`), ...below }
  }
}

const catalogSource: Reader<CatalogSource> = (value, where) => {
  const fields = fieldsOf(value, where)
  if (fields.kind === 'file') return { kind: 'file', file: path(fields.file, `${where}.file`) }
  const source = fetchable(value, where)
  if (source.kind === 'folder' || source.kind === 'git') return source
  throw new Error(`is not valid: ${where} is not a source of a catalog`)
}

const whereIs: Reader<Where> = (value, where) => {
  const { inside, source } = fieldsOf(value, where)
  return inside === undefined
    ? { source: fetchable(source, `${where}.source`) }
    : { inside: text(inside, `${where}.inside`) }
}

const manifest: Reader<EntryManifest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    strict: flag(fields.strict, `${where}.strict`),
    ...optional('description', fields.description, text, where),
    ...optional('version', fields.version, text, where),
    ...optional('parts', fields.parts, listOf(text), where),
    ...optional('hooks', fields.hooks, json, where),
  }
}

const entry: Reader<CatalogEntry> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: text(fields.name, `${where}.name`),
    description: text(fields.description, `${where}.description`),
    keywords: listOf(text)(fields.keywords, `${where}.keywords`),
    where: whereIs(fields.where, `${where}.where`),
    ...optional('version', fields.version, text, where),
    ...optional('commit', fields.commit, text, where),
    ...optional('integrity', fields.integrity, text, where),
    ...optional('manifest', fields.manifest, manifest, where),
  }
}

/** Throws an Error that names the first wrong field. */
function storedCatalog(value: unknown): CatalogRecord | null {
  if (value === null) return null
  const fields = fieldsOf(value, 'the catalog')
  return {
    name: text(fields.name, 'name'),
    source: catalogSource(fields.source, 'source'),
    ...optional('commit', fields.commit, text, ''),
    added: text(fields.added, 'added'),
    updated: text(fields.updated, 'updated'),
    plugins: listOf(entry)(fields.plugins, 'plugins'),
    problems: listOf(text)(fields.problems, 'problems'),
  }
}
