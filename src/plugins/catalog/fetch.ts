// Fetching a catalog's file from a folder, a single file or a git repository, and looking up the folders beside it.

import { statSync } from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { visibleName } from '../../core/base/text.js'
import { ifThere } from '../../files/if-there.js'
import { readIfThere } from '../../files/plain-file.js'
import { PluginProblem } from '../plugin-problem.js'
import { isFolderIn } from '../sources/folder-source.js'
import { FORMS, parseSource, type Source } from '../sources/source.js'
import { withWorkFolder } from '../work-folder.js'
import { CATALOG_FILES, type Catalog, MOST_CATALOG_BYTES, readCatalog } from './file.js'

export type CatalogSource =
  | Extract<Source, { readonly kind: 'folder' | 'git' }>
  | { readonly kind: 'file'; readonly file: string }

export interface FetchedCatalog extends Catalog {
  /** The commit of a git source. */
  readonly commit?: string
}

/** A source as a user types it. */
export function parseCatalogSource(text: string): CatalogSource {
  const file = text.startsWith('-') ? undefined : resolve(text)
  if (file?.endsWith('.json') && ifThere(() => statSync(file))?.isFile()) {
    return { kind: 'file', file }
  }
  if (/^https?:.*\.json$/i.test(text)) throw notACatalog(text, 'is a file on the web')
  const source = parsed(text)
  if (source.kind === 'folder' || source.kind === 'git') return source
  throw notACatalog(text, source.kind === 'catalog' ? 'is a plugin in a catalog' : 'is a package')
}

/** Other sources can be installed, but are not catalogs, so they are not suggested. */
function parsed(text: string): Source {
  try {
    return parseSource(text)
  } catch (error) {
    if (!(error instanceof PluginProblem) || error.hint !== FORMS) throw error
    throw new PluginProblem(error.code, error.message, KINDS)
  }
}

const KINDS =
  'A catalog is a folder (./x), a file (./x/catalog.json) or a git repository (https://…, ssh://…, git@host:…, x.git#ref).'

function notACatalog(text: string, what: string): PluginProblem {
  return new PluginProblem(
    'SOURCE_INVALID',
    `${visibleName(text.slice(0, 300))} ${what}, not a catalog`,
    KINDS,
  )
}

/** For messages: text that the user can type again. */
export function catalogSourceText(source: CatalogSource): string {
  switch (source.kind) {
    case 'folder':
      return source.folder
    case 'file':
      return source.file
    case 'git':
      return source.ref === undefined ? source.url : `${source.url}#${source.ref}`
  }
}

/** A name for a catalog that does not name itself. */
export function sourceName(source: CatalogSource): string {
  const text = source.kind === 'git' ? source.url : catalogSourceText(source)
  return basename(text.replace(/\/+$/, '')).replace(/\.(?:git|json)$/, '')
}

/** Uses the network only if the source is not on this machine. */
export async function fetchCatalog(source: CatalogSource): Promise<FetchedCatalog> {
  switch (source.kind) {
    case 'file':
      return readLoneFile(source.file)
    case 'folder':
      return readFolderCatalog(source.folder)
    case 'git':
      return withWorkFolder((work) => readGitCatalog(source, work))
  }
}

/** A file in the usual place is the catalog of its folder. Anywhere else it stands alone. */
function readLoneFile(file: string): Catalog {
  const root = CATALOG_FILES.map((name) => `/${name}`).find((end) => file.endsWith(end))
  const text = textIn(file)
  if (text === undefined) throw nothingAt(file, 'there is no such file')
  const folder = root === undefined ? undefined : file.slice(0, -root.length)
  return readCatalog(text, file, {
    isLocal: true,
    ...(folder !== undefined && { hasFolder: (path) => isFolderIn(folder, path) }),
  })
}

function readFolderCatalog(folder: string): Catalog {
  for (const name of CATALOG_FILES) {
    const file = join(folder, name)
    const text = textIn(file)
    if (text === undefined) continue
    return readCatalog(text, file, { isLocal: true, hasFolder: (path) => isFolderIn(folder, path) })
  }
  throw nothingAt(folder, `it has neither ${CATALOG_FILES.join(' nor ')}`)
}

/** Undefined if there is no such file. */
function textIn(file: string): string | undefined {
  const read = readIfThere(file, MOST_CATALOG_BYTES)
  if (!read || 'text' in read) return read?.text
  throw new PluginProblem('CATALOG_INVALID', `${visibleName(file)} ${read.problem}`)
}

type GitCatalog = Extract<CatalogSource, { readonly kind: 'git' }>

async function readGitCatalog(source: GitCatalog, work: string): Promise<FetchedCatalog> {
  const { openGit } = await import('../sources/git-source.js')
  const at = await openGit(source, work)
  for (const name of CATALOG_FILES) {
    const bytes = await at.file(name, MOST_CATALOG_BYTES)
    if (!bytes) continue
    const folders = await at.folders()
    const catalog = readCatalog(bytes.toString('utf8'), `${source.url} ${name}`, {
      isLocal: isAbsolute(source.url),
      hasFolder: (path) => folders.has(path),
    })
    return { ...catalog, commit: at.commit }
  }
  throw nothingAt(
    source.url,
    `at ${at.commit.slice(0, 12)} it has neither ${CATALOG_FILES.join(' nor ')} of at most ${MOST_CATALOG_BYTES / 1024 / 1024} MiB`,
  )
}

function nothingAt(place: string, why: string): PluginProblem {
  return new PluginProblem(
    'CATALOG_INVALID',
    `There is no catalog at ${visibleName(place)}: ${why}`,
    'To install a plugin without a catalog, run carabiner install SRC with the source of the plugin.',
  )
}
