// A catalog's file, in our format or Claude Code's. One bad entry does not break the others.

import { textOf } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import { shown, visible, visibleName } from '../../core/base/text.js'
import { JsonText } from '../../files/json-text.js'
import { PluginProblem } from '../plugin-problem.js'
import {
  type CatalogEntry,
  type EntryManifest,
  type EntryOrigin,
  EntryProblem,
  entryFacts,
  type Fields,
  insideOf,
  isFields,
  noSource,
  PARTS,
  plainPath,
  promisesOf,
  type Where,
  whereOf,
  whereOfText,
} from './entry.js'

/** The first one found is used. */
export const CATALOG_FILES = ['catalog.json', '.claude-plugin/marketplace.json'] as const
export const MOST_CATALOG_BYTES = 4 * 1024 * 1024
const MOST_PLUGINS = 5000
const FORMAT = 1

export interface Catalog {
  /** The name it gives itself. */
  readonly name: string | undefined
  readonly plugins: readonly CatalogEntry[]
  /** One sentence for each entry that was left out. */
  readonly problems: readonly string[]
}

/** `file` is for messages. Throws CATALOG_INVALID if it is not a catalog at all. */
export function readCatalog(text: string, file: string, origin: EntryOrigin): Catalog {
  const parsed = new JsonText(text).parse()
  if ('problem' in parsed) throw invalid(file, `line ${parsed.line}: ${parsed.problem}`)
  const { value } = parsed
  if (!isFields(value)) throw invalid(file, `it must be a JSON object, got ${shown(value)}`)
  const { plugins, name } = value
  if (!Array.isArray(plugins)) throw invalid(file, `"plugins" must be a list, got ${shown(plugins)}`)
  if (plugins.length > MOST_PLUGINS) throw invalid(file, `it lists more than ${MOST_PLUGINS} plugins`)
  const read = readerOf(value, file, origin)
  return {
    name: typeof name === 'string' ? name : undefined,
    ...entriesOf(plugins, read),
  }
}

type ReadEntry = (value: unknown) => CatalogEntry

/** Our format states its version. A file without one is Claude Code's. */
function readerOf(
  { carabiner, metadata }: { readonly [key: string]: unknown },
  file: string,
  origin: EntryOrigin,
): ReadEntry {
  if (carabiner === undefined) {
    const root = isFields(metadata) ? metadata.pluginRoot : undefined
    return (value) => marketplaceEntry(value, root, origin)
  }
  if (carabiner === FORMAT) return (value) => ownEntry(value, origin)
  const newer = Number.isInteger(carabiner) && (carabiner as number) > FORMAT
  throw invalid(
    file,
    newer
      ? `it has format ${shown(carabiner)}, but this version of Carabiner only reads ${FORMAT}: update Carabiner`
      : `"carabiner" must be ${FORMAT}, got ${shown(carabiner)}`,
  )
}

function ownEntry(value: unknown, origin: EntryOrigin): CatalogEntry {
  if (!isFields(value)) throw new EntryProblem('it is not an object')
  const { source, commit, integrity } = value
  const facts = entryFacts(value)
  if (typeof source === 'string') {
    const where = whereOfText(source, origin)
    return { ...facts, where, ...promisesOf(where, commit, integrity) }
  }
  if (!isFields(source)) throw noSource(source)
  const where = whereOf(source, origin)
  return { ...facts, where, ...promisesOf(where, commit ?? source.sha, integrity) }
}

function entriesOf(values: readonly unknown[], read: ReadEntry): Pick<Catalog, 'plugins' | 'problems'> {
  const plugins = new Map<string, CatalogEntry>()
  const problems: string[] = []
  for (const [i, value] of values.entries()) {
    try {
      const entry = read(value)
      const key = entry.name.toLowerCase()
      if (plugins.has(key)) throw new EntryProblem('an earlier plugin has the same name')
      plugins.set(key, entry)
    } catch (error) {
      if (!(error instanceof EntryProblem)) throw error
      problems.push(`${calledIn(value, i)} is left out: ${visible(textOf(error))}`)
    }
  }
  return { plugins: [...plugins.values()], problems }
}

function calledIn(value: unknown, i: number): string {
  const name = isFields(value) ? value.name : undefined
  return typeof name === 'string' ? visibleName(name.slice(0, 100)) : `plugin ${i + 1}`
}

function invalid(file: string, why: string): PluginProblem {
  return new PluginProblem(
    'CATALOG_INVALID',
    `${visible(file)} is not a catalog: ${visible(why)}`,
    'A catalog is a catalog.json or a .claude-plugin/marketplace.json with a list of plugins.',
  )
}

// ---- Claude Code's marketplace.json ---------------------------------------------------------------------------

/** One entry of `plugins`. `root` is metadata.pluginRoot. Throws an EntryProblem if it cannot be installed. */
function marketplaceEntry(value: unknown, root: unknown, origin: EntryOrigin): CatalogEntry {
  if (!isFields(value)) throw new EntryProblem('it is not an object')
  const facts = entryFacts(value)
  const where = placeOf(value.source, root, origin)
  const manifest = manifestOf(value, facts)
  const sha = isFields(value.source) ? value.source.sha : undefined
  return { ...facts, where, ...promisesOf(where, sha, undefined), ...(manifest && { manifest }) }
}

function placeOf(source: unknown, root: unknown, origin: EntryOrigin): Where {
  if (typeof source === 'string') return relative(source, root, origin)
  if (isFields(source)) return whereOf(source, origin)
  throw noSource(source)
}

/**
 * Claude Code reads `./x` from the marketplace's folder whatever pluginRoot says, and a bare name from pluginRoot. Its
 * documentation puts pluginRoot before both, and files of both kinds exist. So we use whichever folder exists.
 */
function relative(source: string, root: unknown, origin: EntryOrigin): Where {
  const plain = plainPath(source)
  const base = root === undefined ? '' : plainPath(root)
  const below = [base, plain].filter((part) => part !== '').join('/')
  const order = source.startsWith('.') ? [plain, below] : [below, plain]
  return insideOf(order.find((path) => path === '' || origin.hasFolder?.(path)) ?? plain, origin)
}

function manifestOf(
  fields: Fields,
  { name, description, version }: Pick<CatalogEntry, 'name' | 'description' | 'version'>,
): EntryManifest | undefined {
  const { strict, hooks } = fields
  if (hooks === undefined && strict !== false) return undefined
  const parts = PARTS.filter((part) => fields[part] !== undefined)
  return {
    name,
    ...(description !== '' && { description }),
    ...(version !== undefined && { version }),
    strict: strict !== false,
    ...(parts.length > 0 && { parts }),
    // This value was parsed from JSON.
    ...(hooks !== undefined && { hooks: hooks as Json }),
  }
}
