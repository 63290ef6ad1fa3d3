// One plugin in a catalog: its description and its source. All of it is untrusted.

import { isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import { entryPath, INTEGRITY } from '../sources/file-tree.js'
import { ENTRY_NAME, type FetchableSource, parseSource } from '../sources/source.js'

export interface CatalogEntry {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly keywords: readonly string[]
  readonly where: Where
  /** The commit and integrity that the fetched content must have. */
  readonly commit?: string
  readonly integrity?: string
  /** Replaces or extends the plugin's own plugin.json. */
  readonly manifest?: EntryManifest
}

export type Where =
  /** `inside` is a folder in the catalog's own folder or repository. Empty means all of it. */
  { readonly inside: string } | { readonly source: FetchableSource }

export interface EntryManifest {
  readonly name: string
  readonly description?: string
  readonly version?: string
  /** As in Claude Code: if true, this adds to the parts that the plugin's own plugin.json names. */
  readonly strict: boolean
  /** The parts that the entry names. If it is not strict and names any, plugin.json may name none. */
  readonly parts?: readonly string[]
  /** A path, an object of hooks, or a list of both. */
  readonly hooks?: Json
}

/** Parts of a plugin that a plugin.json or an entry may name. */
export const PARTS = ['commands', 'agents', 'skills', 'hooks', 'mcpServers', 'lspServers', 'outputStyles']

/** Why an entry cannot be installed. */
export class EntryProblem extends Error {}

export function noSource(source: unknown): EntryProblem {
  return new EntryProblem(
    source === undefined
      ? 'it has no source'
      : `its source must be a string or an object, got ${shown(source)}`,
  )
}

/** A catalog's own origin limits what its entries may point to. */
export interface EntryOrigin {
  /** A catalog on this machine may name other places on it. */
  readonly isLocal: boolean
  /** Whether the catalog has such a folder. Undefined if the catalog is a single file. */
  readonly hasFolder?: ((path: string) => boolean) | undefined
}

export type Fields = { readonly [key: string]: unknown }

export function isFields(value: unknown): value is Fields {
  return isObject(value)
}

const LONGEST_DESCRIPTION = 1000
const LONGEST_WORD = 64
const MOST_WORDS = 50

/** The fields that all catalog formats share. */
export function entryFacts(
  fields: Fields,
): Pick<CatalogEntry, 'name' | 'description' | 'version' | 'keywords'> {
  const { name, description, version } = fields
  if (typeof name !== 'string' || !ENTRY_NAME.test(name))
    throw new EntryProblem(`${shown(name)} is not a valid name`)
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, LONGEST_DESCRIPTION) : '',
    ...(typeof version === 'string' && version !== '' && { version: version.slice(0, LONGEST_WORD) }),
    keywords: words(fields.keywords, fields.tags, fields.category),
  }
}

function words(...lists: readonly unknown[]): readonly string[] {
  const given = lists.flat().filter((word): word is string => typeof word === 'string' && word !== '')
  return [...new Set(given.slice(0, MOST_WORDS).map((word) => word.slice(0, LONGEST_WORD)))]
}

const COMMIT = /^[0-9a-f]{40}$/i

/** The commit and integrity that the content must have. An invalid promise makes the entry invalid: it is never ignored. */
export function promisesOf(
  where: Where,
  commit: unknown,
  integrity: unknown,
): Pick<CatalogEntry, 'commit' | 'integrity'> {
  if (commit !== undefined && !(typeof commit === 'string' && COMMIT.test(commit))) {
    throw new EntryProblem(`its commit ${shown(commit)} is not a full commit of 40 hex digits`)
  }
  if (commit !== undefined && !('source' in where && where.source.kind === 'git')) {
    throw new EntryProblem('it names a commit, but its source is not git')
  }
  if (integrity !== undefined && !(typeof integrity === 'string' && INTEGRITY.test(integrity))) {
    throw new EntryProblem(`its integrity ${shown(integrity)} is not "sha256-" followed by a base64 digest`)
  }
  return {
    ...(commit !== undefined && { commit: (commit as string).toLowerCase() }),
    ...(integrity !== undefined && { integrity: integrity as string }),
  }
}

// ---- where it is ----------------------------------------------------------------------------------------------

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]*\/(?!\.)[A-Za-z0-9._-]+$/

/** A source given as an object, in the forms of Claude Code's marketplaces. Both formats accept them. */
export function whereOf(source: Fields, origin: EntryOrigin): Where {
  const { path } = source
  switch (source.source) {
    case 'github':
      return gitAt(gitHub(source.repo), source, origin)
    case 'git':
    case 'url':
      return gitAt(addressOf(source.url), source, origin)
    case 'git-subdir':
      if (typeof path !== 'string') throw new EntryProblem('its source has no path')
      return gitAt(addressOf(source.url), source, origin)
    case 'npm':
      return npmPackage(source, origin)
    default:
      throw new EntryProblem(`its source has an unknown kind, ${shown(source.source)}`)
  }
}

function gitAt(url: string, { ref, path }: Fields, origin: EntryOrigin): Where {
  if (ref !== undefined && typeof ref !== 'string')
    throw new EntryProblem(`its ref ${shown(ref)} is not a string`)
  return sourceAt(url, { ref, path: path === undefined ? undefined : plainPath(path) }, origin)
}

function gitHub(repo: unknown): string {
  if (typeof repo === 'string' && REPOSITORY.test(repo)) {
    return `https://github.com/${repo.replace(/\.git$/, '')}.git`
  }
  throw new EntryProblem(`its repo ${shown(repo)} is not OWNER/NAME`)
}

function addressOf(url: unknown): string {
  if (typeof url !== 'string') throw new EntryProblem(`its url ${shown(url)} is not a string`)
  return REPOSITORY.test(url) ? gitHub(url) : url
}

function npmPackage({ package: name, version, registry }: Fields, origin: EntryOrigin): Where {
  if (registry !== undefined) {
    throw new EntryProblem('it names its own registry, but only the registry that npm is set up for is used')
  }
  if (typeof name !== 'string' || (version !== undefined && typeof version !== 'string')) {
    throw new EntryProblem(`its package ${shown(name)} ${shown(version)} is not an npm package and version`)
  }
  return sourceAt(version === undefined ? `npm:${name}` : `npm:${name}@${version}`, {}, origin)
}

/** A source given as text in our format: a path inside the catalog, or any address that `install` accepts. */
export function whereOfText(source: string, origin: EntryOrigin): Where {
  if (source === '.' || source.startsWith('./')) return insideOf(plainPath(source), origin)
  return sourceAt(source, {}, origin)
}

/** A bare word would be looked up in the current folder. */
const ADDRESS = /^(?:npm:|https:\/\/|ssh:\/\/|git@|file:\/\/\/)/

function sourceAt(
  text: string,
  options: { readonly ref?: string | undefined; readonly path?: string | undefined },
  { isLocal }: EntryOrigin,
): Where {
  if (!ADDRESS.test(text)) {
    throw new EntryProblem(`its source ${shown(text)} must begin with https://, ssh://, git@HOST: or npm:`)
  }
  // Checked before anything looks whether the place exists.
  if (text.startsWith('file:') && !isLocal) {
    throw new EntryProblem(`it names ${shown(text)} on this machine, but its catalog comes from elsewhere`)
  }
  try {
    const source = parseSource(text, options)
    if (source.kind !== 'catalog') return { source }
  } catch (error) {
    if (error instanceof PluginProblem) throw new EntryProblem(error.message)
    throw error
  }
  throw new EntryProblem(`its source ${shown(text)} names a plugin in another catalog`)
}

/** A path that stays below its folder. */
export function plainPath(value: unknown): string {
  if (typeof value !== 'string') throw new EntryProblem(`its path ${shown(value)} is not a string`)
  try {
    return entryPath(value.replace(/\/+$/, ''))
  } catch {
    throw new EntryProblem(`its path ${shown(value)} leads out of the folder`)
  }
}

export function insideOf(path: string, { hasFolder }: EntryOrigin): Where {
  if (!hasFolder)
    throw new EntryProblem('its path is relative to the catalog, but the catalog is a single file')
  if (path === '' || hasFolder(path)) return { inside: path }
  throw new EntryProblem(`there is no folder ${shown(path)} in the catalog`)
}
