// From NAME@CATALOG to what is fetched for it, and what that has to be.

import { isAbsolute } from 'node:path'
import { nearest } from '../../core/base/nearest.js'
import { visibleName } from '../../core/base/visible.js'
import type { CatalogAnswer } from '../install-plugin.js'
import { MANIFEST } from '../plugin-content.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from '../sources/file-tree.js'
import type { FetchableSource } from '../sources/source.js'
import { type CatalogEntry, type EntryManifest, EntryProblem } from './entry.js'
import { CATALOG_FILES } from './file.js'
import { manifestText } from './marketplace.js'
import type { CatalogRecord } from './record.js'
import { CatalogStore } from './store.js'

interface ResolvedEntry extends CatalogAnswer {
  /** Pinned where the catalogue pins it. */
  readonly source: FetchableSource
  /** The entry's own words about hooks: `withManifest` tells what becomes of them. */
  readonly manifest?: EntryManifest
}

/** Throws where there is no such catalogue, or no such plugin in it. Looks at what is kept of it, and fetches nothing. */
export async function resolveCatalog(
  name: string,
  catalog: string,
  store: CatalogStore = new CatalogStore(),
): Promise<ResolvedEntry> {
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

/** What lies in the catalogue is taken as it was when the catalogue was fetched: what was found is what is installed. */
function sourceOf({ name, where, commit }: CatalogEntry, record: CatalogRecord): FetchableSource {
  if (!('inside' in where)) {
    const { source } = where
    // A branch moves on, and what was meant is the commit.
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
  throw new PluginProblem('NOT_IN_CATALOG', `${name} lies beside its catalogue, which is a lone file`)
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
    `There is no ${shown} in the catalogue ${catalog}${guess}`,
    `carabiner catalog search lists what there is; carabiner catalog update ${catalog} fetches it anew.`,
  )
}

/** The tree in which the catalogue's word counts, beside the plugin's own or in place of it. */
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
    throw new PluginProblem('NO_PLUGIN', `It cannot be installed: ${error.message}`)
  }
}
