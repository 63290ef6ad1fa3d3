// Installing: fetch, check against what was promised, stage for the review; and, once somebody agreed, put it in its place.

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { loadConfig } from '../config/load.js'
import { unitsOf } from '../config/units.js'
import { visibleName } from '../core/base/visible.js'
import { isBelow, realOf } from '../files/within.js'
import { TrustStore } from '../trust/trust-store.js'
import type { Unit } from '../trust/unit.js'
import type { EntryManifest } from './catalog/entry.js'
import { forgetting } from './forget-plugin.js'
import { type LockEntry, readLock, writeLock } from './lock-file.js'
import { checkPlace, integrityAt, place, recover, type Step } from './placing.js'
import { checkIsPlugin, nameInManifest } from './plugin-content.js'
import { checkPluginName, pluginNameFrom } from './plugin-name.js'
import { PluginProblem } from './plugin-problem.js'
import { acceptSource } from './sources/accepted-source.js'
import { type Fetched, fetchTree } from './sources/fetch-source.js'
import type { Origin } from './sources/origin.js'
import { type FetchableSource, parseSource, type Source, sourceText } from './sources/source.js'
import { type StagedPlugin, stagePlugin } from './staged-plugin.js'
import { alone, checkTarget, lockPath, pluginsDir, type Target } from './target.js'

/** What a catalogue says of a name: where it is, and what it must turn out to be. */
export interface CatalogAnswer {
  readonly source: string | FetchableSource
  readonly path?: string
  readonly ref?: string
  readonly commit?: string
  /** Of the files as they are fetched. */
  readonly integrity?: string
  /** What the catalogue itself says of its hooks. */
  readonly manifest?: EntryManifest
}

export type ResolveCatalog = (name: string, catalog: string) => Promise<CatalogAnswer>

/** A source that can be fetched, and what was promised about it. */
export interface Resolved extends Pick<CatalogAnswer, 'commit' | 'integrity' | 'manifest'> {
  readonly source: FetchableSource
  /** `NAME@CATALOG`. */
  readonly catalog?: string
}

export interface PreparedPlugin {
  readonly name: string
  readonly fetched: Fetched
  readonly entry: LockEntry
  readonly staged: StagedPlugin
  /** It is a repository, and was taken as the folder that it is now: at no commit, which `#REF` would name. */
  readonly isUnpinned: boolean
}

export async function resolveSource(
  source: Source,
  resolveCatalog: ResolveCatalog | undefined,
): Promise<Resolved> {
  if (source.kind !== 'catalog') return { source }
  const catalog = `${source.name}@${source.catalog}`
  if (!resolveCatalog)
    throw new PluginProblem(
      'SOURCE_NOT_FOUND',
      `${visibleName(catalog)} names a catalogue, and none is known`,
    )
  const { commit, integrity, manifest, ...answer } = await resolveCatalog(source.name, source.catalog)
  const found = typeof answer.source === 'string' ? parseSource(answer.source, answer) : answer.source
  if (found.kind === 'catalog')
    throw new PluginProblem('SOURCE_INVALID', `${visibleName(catalog)} leads to another catalogue`)
  // Without a ref the commit itself is asked for, and not whatever is newest by now.
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

/** Throws unless it is a plugin with hooks, and what was promised. Whoever gets it calls `staged.remove()`. */
export async function preparePlugin(
  resolved: Resolved,
  target: Target,
  asked: string | undefined,
): Promise<PreparedPlugin> {
  checkTarget(target)
  const name = asked === undefined ? undefined : checkPluginName(asked)
  const fetched = await fetchPromised(resolved)
  checkIsPlugin(fetched.tree)
  const chosen = name ?? pluginNameFrom(nameInManifest(fetched.tree) ?? nameOfSource(resolved))
  const staged = await stagePlugin(fetched.tree, chosen, target.scope === 'project' ? target.base : undefined)
  const { source, catalog } = resolved
  const isUnpinned =
    source.kind === 'folder' && catalog === undefined && existsSync(join(source.folder, '.git'))
  return { name: chosen, fetched, entry: entryFor(resolved, fetched, target), staged, isUnpinned }
}

async function fetchPromised(resolved: Resolved): Promise<Fetched> {
  const fetched = await fetchTree(resolved.source)
  checkPromises(resolved, fetched)
  if (!resolved.manifest) return fetched
  const { withManifest } = await import('./catalog/resolve.js')
  return { ...fetched, tree: withManifest(fetched.tree, resolved.manifest) }
}

/** A catalogue that says one thing and leads to another is refused, whoever of the two lies. */
function checkPromises(
  { commit, integrity, catalog = 'The source' }: Resolved,
  { tree, ...fetched }: Fetched,
): void {
  const who = visibleName(catalog)
  if (commit !== undefined && fetched.commit !== commit) {
    throw new PluginProblem(
      'MISMATCH',
      `${who} says commit ${visibleName(commit)}, but it is ${fetched.commit ?? 'no git'}; nothing was installed`,
      MISMATCH,
    )
  }
  if (integrity === undefined) return
  const found = tree.integrity()
  if (found === integrity) return
  throw new PluginProblem(
    'MISMATCH',
    `${who} says ${visibleName(integrity)}, but its files are ${found}; nothing was installed`,
    MISMATCH,
  )
}

const MISMATCH =
  'Bring the catalogue up to date with carabiner catalog update; if it stays so, ask whoever keeps it.'

/** The last part of what was typed. */
function nameOfSource({ source, catalog }: Resolved): string {
  if (catalog !== undefined) return catalog.split('@')[0] as string
  if (source.path !== undefined) return basename(source.path)
  if (source.kind === 'npm') return source.name
  const last =
    sourceText(source)
      .replace(/[/\\]+$/, '')
      .split(/[/\\:]/)
      .at(-1) ?? ''
  return last.replace(/[?#].*$/, '').replace(/\.(?:git|tgz|tar\.gz|tar)$/i, '')
}

/** As the lock file has it. */
export function originFor({ source, catalog }: Resolved, target: Target): Origin {
  const ref = source.kind === 'git' ? source.ref : source.kind === 'npm' ? source.range : undefined
  return {
    source: fromProject(sourceText(source), target),
    kind: source.kind,
    ...(ref !== undefined && { ref }),
    ...(source.path !== undefined && { path: source.path }),
    ...(catalog !== undefined && { catalog }),
  }
}

function entryFor(resolved: Resolved, { tree, commit, isTag, version }: Fetched, target: Target): LockEntry {
  return {
    ...originFor(resolved, target),
    ...(commit !== undefined && { commit }),
    ...(isTag && { tag: true }),
    ...(version !== undefined && { version }),
    integrity: tree.integrity(),
    installed: new Date().toISOString(),
  }
}

/** A lock file is shared with others, for whom the project lies elsewhere. */
function fromProject(source: string, { scope, base }: Target): string {
  const folder = resolve(base)
  return scope === 'project' && source !== folder && isBelow(source, folder)
    ? `.${source.slice(folder.length)}`
    : source
}

/** Whether it is installed already, just so; throws where its place is taken by something else. */
export function isInstalled({ name, entry }: PreparedPlugin, target: Target): boolean {
  const folder = pluginsDir(target)
  const isSame = readLock(lockPath(target)).get(name)?.integrity === entry.integrity
  if (isSame && integrityAt(join(folder, name)) === entry.integrity) return true
  checkPlace(folder, name, undefined)
  return false
}

/** The same content from elsewhere, or pinned otherwise: the lock file says so from now on. Answers whether it did not. */
export async function pinInstalled({ name, entry }: PreparedPlugin, target: Target): Promise<boolean> {
  const path = lockPath(target)
  const isSame = (a: LockEntry) => isDeepStrictEqual({ ...a, installed: '' }, { ...entry, installed: '' })
  return alone(target, () => {
    const lock = readLock(path)
    const before = lock.get(name)
    acceptSource(target, name, entry)
    if (before === undefined || isSame(before)) return false
    writeLock(path, new Map([...lock, [name, { ...entry, installed: before.installed }]]))
    return true
  })
}

export interface Installing {
  /** As in `Placing`. */
  readonly replaces?: string | undefined
  /** The digest of the review that somebody agreed to. If what is replaced is trusted, so is this, before it comes there. */
  readonly agreed?: string | undefined
  readonly step?: Step
}

/** Puts it in its place, from where it is updated from now on. */
export async function installPrepared(
  { name, fetched, entry, staged }: PreparedPlugin,
  target: Target,
  { replaces, agreed, step }: Installing = {},
): Promise<void> {
  await alone(target, () => {
    recover(target, forgetting(target))
    checkPlace(pluginsDir(target), name, replaces)
    if (agreed !== undefined && target.scope === 'project') {
      new TrustStore().trustNext(staged.unit, join(pluginsDir(target), name), agreed)
      step?.('agreed')
    }
    place(target, { name, tree: fetched.tree, entry, replaces }, step)
    acceptSource(target, name, entry)
    step?.('accepted')
  })
}

/**
 * Trusts what is in its place now if it is what was reviewed; throws otherwise. A command may name a file by where the
 * plugin lies: then it is another one in its place, and is to be looked at there.
 */
export async function trustInstalled(name: string, target: Target, reviewed: string): Promise<void> {
  const unit = await unitInPlace(name, target)
  if (!unit) throw new PluginProblem('NO_HOOKS', `The hooks of ${name} are not found in their place`)
  new TrustStore().trust(unit, reviewed)
}

/** Whether this user trusts what is in its place now. What is their own needs no trust. */
export async function isTrusted(name: string, target: Target): Promise<boolean> {
  if (target.scope === 'user') return true
  const unit = await unitInPlace(name, target)
  return unit !== undefined && new TrustStore().standingOf(unit).state === 'trusted'
}

async function unitInPlace(name: string, { base }: Target): Promise<Unit | undefined> {
  const path = realOf(`${pluginsDir({ scope: 'project', base })}/${name}`)
  const { specs } = await loadConfig({ projectDir: base })
  return [...unitsOf(specs).keys()].find((one) => one.kind === 'folder' && realOf(one.path) === path)
}
