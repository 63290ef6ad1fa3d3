// A plugin's source as the user types it: a folder, git, npm, an archive, or a name in a catalog.

import { existsSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { visibleName } from '../../core/base/text.js'
import { callerFolder } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { ifThere } from '../../files/if-there.js'
import { PluginProblem } from '../plugin-problem.js'
import { entryPath } from './file-tree.js'

export type Source =
  | { readonly kind: 'folder'; readonly folder: string; readonly path?: string }
  /** `url` may be an absolute path. `ref` is a tag, a branch or a full commit. Without it, the default branch. */
  | { readonly kind: 'git'; readonly url: string; readonly ref?: string; readonly path?: string }
  /** `range` is what npm accepts: a version, a range or a tag. */
  | { readonly kind: 'npm'; readonly name: string; readonly range: string; readonly path?: string }
  /** An absolute path or an address. */
  | { readonly kind: 'archive'; readonly place: string; readonly path?: string }
  | { readonly kind: 'catalog'; readonly name: string; readonly catalog: string }

export type FetchableSource = Exclude<Source, { readonly kind: 'catalog' }>

interface SourceOptions {
  /** `--ref`. */
  readonly ref?: string | undefined
  /** `--path`: the folder of the plugin in the source. */
  readonly path?: string | undefined
  /** Relative paths start here. */
  readonly from?: string | undefined
}

/** The forms that a source may have. */
export const FORMS =
  'A source is a folder (./x), a git repository (https://…, ssh://…, git@host:…, x.git#ref), npm:NAME@VERSION, an archive (.tgz, .tar.gz, .tar) or NAME@CATALOG.'

/** Throws if it is not a source, or if git or npm could read it as something else. */
export function parseSource(text: string, options: SourceOptions = {}): Source {
  checkText(text)
  const source = sourceOf(text, options)
  if (source.kind === 'catalog') {
    if (options.ref !== undefined || options.path !== undefined)
      throw invalid(
        text,
        'comes from a catalog, which chooses the version and folder: leave out --ref and --path',
      )
    return source
  }
  return inFolder(source, options.path)
}

function checkText(text: string): void {
  if (text.trim() === '' || /\p{Cc}/u.test(text) || text.startsWith('-'))
    throw invalid(text, 'is not a valid source')
}

function inFolder(source: FetchableSource, path: string | undefined): FetchableSource {
  const folder = path === undefined ? '' : entryPath(path)
  return folder === '' ? source : { ...source, path: folder }
}

function sourceOf(text: string, { ref, from = callerFolder() }: SourceOptions): Source {
  if (text.startsWith('npm:')) return notGit(npmSource(text), ref)
  const [whole, fragment] = splitFragment(text, from)
  const asked = refOf(fragment, ref)
  if (ADDRESS.test(whole)) return addressSource(whole.replace(/^git\+/, ''), asked)
  if (SCP.test(whole)) return gitSource(whole, asked)
  // Catalog names come before folders: a folder in a project must not pass for a plugin of a catalog.
  const [, name, catalog] = CATALOG_NAME.exec(whole) ?? []
  if (name !== undefined && catalog !== undefined) {
    if (fragment !== undefined)
      throw invalid(
        text,
        'comes from a catalog, which chooses the version: leave out #…, or write ./ in front of a folder',
      )
    return notGit({ kind: 'catalog', name, catalog }, ref)
  }
  const local = localPath(whole, from)
  if (local !== undefined) return localSource(local, asked, text)
  throw invalid(text, existsLike(whole))
}

const ADDRESS = /^(?:git\+)?[a-z][a-z0-9+.-]*:\/\//i
const SCP = /^[\w.-]+@[\w.-]+:(?!\/\/)/
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
const CATALOG_NAME = new RegExp(`^(${NAME})@(${NAME})$`)
/** A plugin's name in a catalog. */
export const ENTRY_NAME = new RegExp(`^${NAME}$`)

export function isCatalogName(text: string): boolean {
  return CATALOG_NAME.test(text)
}

function existsLike(text: string): string {
  return /^[\w.-]+\/[\w.-]+$/.test(text) ? 'is neither a folder here nor an address' : 'is not a valid source'
}

/** Splits `x#ref`. A folder may have # in its name, unless the text can also be read as a ref. */
function splitFragment(text: string, from: string): readonly [whole: string, fragment: string | undefined] {
  const at = text.lastIndexOf('#')
  if (at < 0) return [text, undefined]
  const [whole, fragment] = [text.slice(0, at), text.slice(at + 1)]
  const isElsewhere = [ADDRESS, SCP, CATALOG_NAME].some((form) => form.test(whole))
  const isThere = !isElsewhere && existsSync(resolve(from, text))
  const isName = isThere && (!REF.test(fragment) || !existsSync(resolve(from, whole)))
  return isName ? [text, undefined] : [whole, fragment]
}

/** No characters with a meaning in a list of refs, and no leading dash. */
const REF = /^[A-Za-z0-9_][\w./@+-]{0,199}$/

function refOf(fragment: string | undefined, option: string | undefined): string | undefined {
  if (fragment !== undefined && option !== undefined && fragment !== option) {
    throw invalid(`#${fragment}`, `differs from --ref ${option}: give only one of them`)
  }
  const ref = option ?? fragment
  if (ref === undefined) return undefined
  if (
    !REF.test(ref) ||
    ref.includes('..') ||
    ref.includes('@{') ||
    ref.endsWith('.lock') ||
    /\/(?:\/|$)/.test(ref)
  ) {
    throw invalid(ref, 'is not a valid tag, branch or commit')
  }
  return ref
}

function notGit<S extends Source>(source: S, ref: string | undefined): S {
  if (ref === undefined) return source
  throw new PluginProblem(
    'SOURCE_INVALID',
    '--ref only works with git sources',
    source.kind === 'npm' ? 'Write the version as npm:NAME@VERSION.' : undefined,
  )
}

// ---- npm ------------------------------------------------------------------------------------------------------

const PACKAGE = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/i
/** No characters that make npm read a folder, an address or another package. */
const RANGE = /^[\w^~<>=*|.+ -]{1,100}$/

function npmSource(text: string): FetchableSource {
  const spec = text.slice('npm:'.length)
  const at = spec.indexOf('@', 1)
  const [name, range] = at < 0 ? [spec, 'latest'] : [spec.slice(0, at), spec.slice(at + 1)]
  if (!PACKAGE.test(name) || name.length > 214) throw invalid(text, 'does not name an npm package')
  if (!RANGE.test(range) || range.startsWith('-')) throw invalid(text, 'does not name a valid version')
  return { kind: 'npm', name, range }
}

// ---- addresses ------------------------------------------------------------------------------------------------

const ARCHIVE = /\.(?:tgz|tar\.gz|tar)$/i
const ZIP = /\.zip$/i

/** A hint for zip archives, which are not read: npm, git and catalogs all use tar. */
export const NO_ZIP = 'Unpack it and install the folder, or pack it as .tar.gz: zip is not supported.'

function refuseZip(path: string, text: string): void {
  if (!ZIP.test(path)) return
  throw new PluginProblem('SOURCE_INVALID', `${visibleName(text.slice(0, 300))} is a zip archive`, NO_ZIP)
}

/** Programs on this machine may serve without a certificate. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

function addressSource(given: string, ref: string | undefined): FetchableSource {
  // Programs disagree on which host an address with these characters means.
  if (!URL.canParse(given) || /[\\#]/.test(given)) throw invalid(given, 'is not a valid address')
  const url = new URL(given)
  // Escapes letters beyond ASCII, in host names too, so that lookalikes show.
  const text = /^[\x20-\x7e]*$/.test(given) ? given : url.href
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    throw new PluginProblem(
      'SOURCE_INVALID',
      `The address at ${visibleName(url.host)} contains a user name or password, which would end up in the lock file`,
      'Leave it out and let git use its credential helper, or use ssh.',
    )
  }
  if (url.protocol === 'file:') return localSource(pathOfUrl(text), ref, text)
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname))
  if (!isSafe && url.protocol !== 'ssh:') throw invalid(text, 'is neither https nor ssh')
  if (url.hostname === '' || url.hostname.startsWith('-') || url.username.startsWith('-'))
    throw invalid(text, 'does not name a host')
  refuseZip(url.pathname, text)
  if (isSafe && ARCHIVE.test(url.pathname)) return notGit({ kind: 'archive', place: text }, ref)
  return gitSource(text, ref)
}

function pathOfUrl(text: string): string {
  try {
    return fileURLToPath(text)
  } catch {
    throw invalid(text, 'is not a path on this machine')
  }
}

function gitSource(url: string, ref: string | undefined): FetchableSource {
  // `host:-x` would be an option for the program on the other side.
  if (/:-|^-/.test(url)) throw invalid(url, 'does not name a repository')
  return { kind: 'git', url, ...(ref !== undefined && { ref }) }
}

// ---- on this machine ------------------------------------------------------------------------------------------

/** Undefined if it neither looks like a path nor exists. */
function localPath(text: string, from: string): string | undefined {
  const path = pathOf(text, from)
  return isPathLike(text) || existsSync(path) ? path : undefined
}

function isPathLike(text: string): boolean {
  return isAbsolute(text) || /^(?:file:|~(?:\/|$)|\.\.?(?:\/|$))/.test(text)
}

function pathOf(text: string, from: string): string {
  if (text.startsWith('file://')) return pathOfUrl(text)
  if (text.startsWith('file:')) return resolve(from, text.slice('file:'.length))
  return text === '~' || text.startsWith('~/') ? join(userHome(), text.slice(1)) : resolve(from, text)
}

function localSource(path: string, ref: string | undefined, text: string): FetchableSource {
  const stats = ifThere(() => statSync(path))
  if (!stats) throw new PluginProblem('SOURCE_NOT_FOUND', `There is no ${visibleName(path)}`, FORMS)
  if (stats.isFile()) {
    refuseZip(path, text)
    if (!ARCHIVE.test(path)) throw invalid(text, 'is a file, but not an archive (.tgz, .tar.gz, .tar)')
    return notGit({ kind: 'archive', place: path }, ref)
  }
  if (!stats.isDirectory()) throw invalid(text, 'is neither a folder nor an archive')
  const isBare = existsSync(join(path, 'HEAD')) && existsSync(join(path, 'objects'))
  return isBare || ref !== undefined ? gitSource(path, ref) : { kind: 'folder', folder: path }
}

// ---- in a lock file -------------------------------------------------------------------------------------------

interface LockedSource {
  readonly source: string
  readonly kind: FetchableSource['kind']
  readonly ref?: string
  readonly path?: string
}

/** A lock file is untrusted. Its source is read as if somebody had typed it, without checking that it exists. */
export function lockedSource({ source: text, kind, ref, path }: LockedSource, from: string): FetchableSource {
  checkText(text)
  const found = lockedAs(kind, text, ref, from)
  if (found?.kind !== kind)
    throw invalid(text, `is not a source of the kind that the lock file gives, ${kind}`)
  return inFolder(found, path)
}

function lockedAs(
  kind: FetchableSource['kind'],
  text: string,
  given: string | undefined,
  from: string,
): FetchableSource | undefined {
  if (kind === 'npm') return text.startsWith('npm:') ? npmSource(`${text}@${given ?? 'latest'}`) : undefined
  const ref = kind === 'git' ? refOf(undefined, given) : undefined
  if (SCP.test(text)) return gitSource(text, ref)
  if (ADDRESS.test(text) && !/^file:/i.test(text)) return addressSource(text, ref)
  if (!isPathLike(text)) return undefined
  const place = pathOf(text, from)
  if (kind === 'git') return gitSource(place, ref)
  return kind === 'folder' ? { kind, folder: place } : { kind, place }
}

function invalid(text: string, what: string): PluginProblem {
  const name = visibleName(text.slice(0, 300))
  return new PluginProblem('SOURCE_INVALID', `${name.startsWith('"') ? name : `"${name}"`} ${what}`, FORMS)
}

/** The source as the user can type it again, without its ref, version or folder. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case 'folder':
      return source.folder
    case 'git':
      return source.url
    case 'npm':
      return `npm:${source.name}`
    case 'archive':
      return source.place
    case 'catalog':
      return `${source.name}@${source.catalog}`
  }
}
