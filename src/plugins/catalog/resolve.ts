// Resolves a source or NAME@CATALOG to what will be fetched and what the result must be.

import { isAbsolute } from 'node:path'
import { nearest, visibleName } from '../../core/base/text.js'
import { MANIFEST } from '../plugin-content.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from '../sources/file-tree.js'
import { type FetchableSource, parseSource, type Source } from '../sources/source.js'
import { type CatalogEntry, type EntryManifest, EntryProblem, type Fields, isFields, PARTS } from './entry.js'
import { CATALOG_FILES } from './file.js'
import { type CatalogRecord, CatalogStore } from './store.js'

/** A catalog's answer for a name: its source, and what the content must be. */
export interface CatalogAnswer {
  readonly source: string | FetchableSource
  readonly path?: string
  readonly ref?: string
  readonly commit?: string
  /** The integrity of the fetched files. */
  readonly integrity?: string
  /** The catalog's own word on the plugin's hooks. */
  readonly manifest?: EntryManifest
}

export type ResolveCatalog = (name: string, catalog: string) => Promise<CatalogAnswer>

/** A source that can be fetched, with the promises made about it. */
export interface Resolved extends Pick<CatalogAnswer, 'commit' | 'integrity' | 'manifest'> {
  readonly source: FetchableSource
  /** `NAME@CATALOG`. */
  readonly catalog?: string
}

export async function resolveSource(
  source: Source,
  resolve: ResolveCatalog = resolveCatalog,
): Promise<Resolved> {
  if (source.kind !== 'catalog') return { source }
  const catalog = `${source.name}@${source.catalog}`
  const { commit, integrity, manifest, ...answer } = await resolve(source.name, source.catalog)
  const found = typeof answer.source === 'string' ? parseSource(answer.source, answer) : answer.source
  if (found.kind === 'catalog')
    throw new PluginProblem('SOURCE_INVALID', `${visibleName(catalog)} points to another catalog`)
  // Without a ref, ask for the promised commit instead of the newest one.
  const pinned =
    found.kind === 'git' && found.ref === undefined && commit !== undefined
      ? { ...found, ref: commit }
      : found
  return {
    source: pinned,
    catalog,
    ...(commit !== undefined && { commit }),
    ...(integrity !== undefined && { integrity }),
    ...(manifest && { manifest }),
  }
}

/** Throws if there is no such catalog or plugin. Reads the stored catalog and fetches nothing. */
export async function resolveCatalog(
  name: string,
  catalog: string,
  store: CatalogStore = new CatalogStore(),
): Promise<CatalogAnswer & { readonly source: FetchableSource }> {
  const record = store.get(catalog)
  const entry = record.plugins.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (!entry) throw notThere(name, record)
  const { commit, integrity, manifest } = entry
  const source = sourceOf(entry, record)
  const promised = commit ?? (source.kind === 'git' && 'inside' in entry.where ? record.commit : undefined)
  return {
    source,
    ...(promised !== undefined && { commit: promised }),
    ...(integrity !== undefined && { integrity }),
    ...(manifest && { manifest }),
  }
}

/** A plugin inside the catalog is pinned to the catalog's commit, so that the plugin listed is the one installed. */
function sourceOf({ name, where, commit }: CatalogEntry, record: CatalogRecord): FetchableSource {
  if (!('inside' in where)) {
    const { source } = where
    // The branch may have moved on since.
    return source.kind === 'git' && commit !== undefined ? { ...source, ref: commit } : source
  }
  const path = where.inside === '' ? {} : { path: where.inside }
  const { source } = record
  switch (source.kind) {
    case 'folder':
      return { kind: 'folder', folder: source.folder, ...path }
    case 'git':
      return { kind: 'git', url: source.url, ref: record.commit ?? source.ref ?? 'HEAD', ...path }
    case 'file':
      return { kind: 'folder', folder: folderOf(source.file, name), ...path }
  }
}

function folderOf(file: string, name: string): string {
  const end = CATALOG_FILES.find((one) => file.endsWith(`/${one}`))
  if (end !== undefined && isAbsolute(file)) return file.slice(0, -end.length - 1) || '/'
  throw new PluginProblem(
    'NOT_IN_CATALOG',
    `The path of ${name} is relative to its catalog, but the catalog is a single file`,
  )
}

function notThere(name: string, { name: catalog, plugins, problems }: CatalogRecord): PluginProblem {
  const shown = visibleName(name.slice(0, 200))
  const leftOut = problems.find((one) => one.startsWith(`${shown} is left out: `))
  if (leftOut !== undefined) return new PluginProblem('NOT_IN_CATALOG', `In ${catalog} ${leftOut}`)
  const meant = nearest(
    name,
    plugins.map((one) => one.name),
  )
  const guess = meant === undefined ? '' : `; did you mean ${meant}@${catalog}?`
  return new PluginProblem(
    'NOT_IN_CATALOG',
    `The catalog ${catalog} has no plugin ${shown}${guess}`,
    `carabiner catalog search lists the plugins; carabiner catalog update ${catalog} fetches the list again.`,
  )
}

/** The tree with the catalog's manifest merged into the plugin's own, or in place of it. */
export function withManifest(tree: FileTree, manifest: EntryManifest): FileTree {
  const text = manifestFor(manifest, tree.text(MANIFEST))
  if (text === undefined) return tree
  const changed = new FileTree()
  for (const [path, { bytes, isExecutable }] of tree.files) {
    if (path !== MANIFEST) changed.addFile(path, bytes, isExecutable)
  }
  changed.addFile(MANIFEST, Buffer.from(text), false)
  return changed
}

function manifestFor(manifest: EntryManifest, own: string | undefined): string | undefined {
  try {
    return manifestText(manifest, own)
  } catch (error) {
    if (!(error instanceof EntryProblem)) throw error
    throw new PluginProblem('NO_PLUGIN', `The plugin cannot be installed: ${error.message}`)
  }
}

/**
 * The text for .claude-plugin/plugin.json that includes the entry. Undefined if the file may stay as it is. `own` is the
 * plugin's file. Like Claude Code, throws an EntryProblem if both claim to be complete.
 */
function manifestText(entry: EntryManifest, own: string | undefined): string | undefined {
  const { strict, hooks, parts = hooks === undefined ? [] : ['hooks'], ...facts } = entry
  if (hooks === undefined && (strict || parts.length === 0)) return undefined
  const known = own === undefined ? undefined : parsed(own)
  const named = known ? PARTS.filter((part) => Object.hasOwn(known, part)) : []
  if (!strict && named.length > 0) {
    throw new EntryProblem(
      `the catalog names ${parts.join(', ')} and says that nothing else counts ("strict": false), but plugin.json also names ${named.join(', ')}`,
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
    // Reported below.
  }
  throw new EntryProblem(
    'the catalog adds hooks to its .claude-plugin/plugin.json, but that file cannot be read',
  )
}
