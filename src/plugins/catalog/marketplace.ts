// Claude Code's .claude-plugin/marketplace.json, as it is.

import type { Json } from '../../core/base/json.js'
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
  plainPath,
  promisesOf,
  type Where,
  whereOf,
} from './entry.js'

/** One entry of `plugins`; `root` is metadata.pluginRoot. Throws an EntryProblem where it cannot be had. */
export function marketplaceEntry(value: unknown, root: unknown, origin: EntryOrigin): CatalogEntry {
  if (!isFields(value)) throw new EntryProblem('it is no object')
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
 * Claude Code takes `./x` from the folder of the marketplace, whatever pluginRoot says, and a bare name from pluginRoot;
 * its pages say that pluginRoot comes before either, and there are files of both kinds. So what is there is taken.
 */
function relative(source: string, root: unknown, origin: EntryOrigin): Where {
  const plain = plainPath(source)
  const base = root === undefined ? '' : plainPath(root)
  const below = [base, plain].filter((part) => part !== '').join('/')
  const order = source.startsWith('.') ? [plain, below] : [below, plain]
  return insideOf(order.find((path) => path === '' || origin.hasFolder?.(path)) ?? plain, origin)
}

function manifestOf(
  { strict, hooks }: Fields,
  { name, description, version }: Pick<CatalogEntry, 'name' | 'description' | 'version'>,
): EntryManifest | undefined {
  if (hooks === undefined && strict !== false) return undefined
  return {
    name,
    ...(description !== '' && { description }),
    ...(version !== undefined && { version }),
    strict: strict !== false,
    // It was read from JSON.
    ...(hooks !== undefined && { hooks: hooks as Json }),
  }
}

// ---- as the plugin's own file ---------------------------------------------------------------------------------

/** Parts of a plugin that a plugin.json may name. */
const COMPONENTS = ['commands', 'agents', 'skills', 'hooks', 'mcpServers', 'lspServers', 'outputStyles']

/**
 * The text that .claude-plugin/plugin.json has to have so that the entry's word counts; undefined if it may stay as it
 * is. `own`: the file the plugin has. Throws an EntryProblem where both claim to be the whole truth, as Claude Code does.
 */
export function manifestText(entry: EntryManifest, own: string | undefined): string | undefined {
  const { strict, hooks, ...facts } = entry
  const known = own === undefined ? undefined : parsed(own)
  const named = known ? COMPONENTS.filter((key) => Object.hasOwn(known, key)) : []
  if (!strict && named.length > 0) {
    throw new EntryProblem(
      `the catalogue says that its entry is all there is ("strict": false), but plugin.json has ${named.join(', ')}, too`,
    )
  }
  if (hooks === undefined) return undefined
  const all = [known?.hooks, hooks].flat().filter((one) => one !== undefined)
  return `${JSON.stringify({ ...facts, ...known, hooks: all.length === 1 ? all[0] : all }, null, 2)}\n`
}

function parsed(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    if (isFields(value)) return value
  } catch {
    // Said below.
  }
  throw new EntryProblem('its .claude-plugin/plugin.json cannot be read, and the catalogue adds hooks to it')
}
