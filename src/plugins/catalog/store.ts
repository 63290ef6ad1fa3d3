// The user's catalogues: each a value of its own, as it was when it was last fetched, so that looking needs no network.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { nearest } from '../../core/base/nearest.js'
import { visibleName } from '../../core/base/visible.js'
import { discard, isDiscarded, namesIn, removeDiscarded } from '../../files/folder.js'
import { dataHome } from '../../files/homes.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { checkPluginName, isPluginName, pluginNameFrom } from '../plugin-name.js'
import { PluginProblem } from '../plugin-problem.js'
import { sourceText } from '../sources/source.js'
import type { CatalogEntry } from './entry.js'
import {
  type CatalogSource,
  catalogSourceText,
  type FetchedCatalog,
  fetchCatalog,
  parseCatalogSource,
  sourceName,
} from './fetch.js'
import { type CatalogRecord, storedCatalog } from './record.js'

/** More than the file may have: what it says is kept with names around it. */
const MOST_BYTES = 16 * 1024 * 1024

export interface CatalogUpdate {
  readonly catalog: CatalogRecord
  /** Names of plugins. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
  /** Of those that changed: the ones that come from somewhere else now. */
  readonly moved: readonly { readonly name: string; readonly was: string; readonly now: string }[]
}

/** Throws a PluginProblem that says what is in the way and what to do. */
export class CatalogStore {
  readonly #folder: string

  constructor(dataDir: string = dataHome()) {
    this.#folder = join(dataDir, 'catalogs')
  }

  /** `name`: in place of the one it gives itself. The same source once more is fetched anew. */
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
          `You have a catalogue ${called} already, of ${visibleName(catalogSourceText(before.source))}`,
          `Give this one another name with --name NAME, or remove the other: carabiner catalog remove ${called}.`,
        )
      }
      return recordOf(called, source, fetched, before?.added ?? now, now)
    })
    return this.get(called)
  }

  /** Throws where there is none of that name. */
  get(name: string): CatalogRecord {
    const found = isPluginName(name) ? this.#load(name) : null
    if (found) return found
    const names = this.names()
    const meant = nearest(name, names)
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new PluginProblem(
      'CATALOG_UNKNOWN',
      `You have no catalogue ${visibleName(name.slice(0, 200))}${guess}`,
      names.length === 0
        ? 'carabiner catalog add SRC adds one.'
        : `You have ${names.join(', ')}; carabiner catalog add SRC adds another.`,
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

  /** One that cannot be read does not hide the others. */
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

  /** Fetches it anew. What cannot be had leaves the old one as it was. */
  async update(name: string): Promise<CatalogUpdate> {
    const { source } = this.get(name)
    const fetched = await fetchCatalog(source)
    let was: CatalogRecord | null = null
    this.#change(name, (before) => {
      if (!before) throw new PluginProblem('CATALOG_UNKNOWN', `${name} was removed meanwhile`)
      was = before
      return recordOf(name, source, fetched, before.added, new Date().toISOString())
    })
    return changesBetween(was, this.get(name))
  }

  /** What was installed from it stays. */
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
      what: `the catalogue ${name}`,
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

/** Less the version, and the folder in it. */
function placeOf({ where }: CatalogEntry): string {
  return 'inside' in where ? 'the catalogue itself' : `${where.source.kind} ${sourceText(where.source)}`
}

function unusable(error: unknown): PluginProblem {
  return error instanceof PluginProblem ? error : new PluginProblem('NOT_WRITTEN', textOf(error))
}
