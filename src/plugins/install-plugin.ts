// Installing: fetch a plugin, check it against what was promised, stage it for review, and put it in place once the user agrees.

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ConfiguredHook } from '../config/configured-hook.js'
import { hooksDirOf } from '../config/discovery.js'
import { loadConfig } from '../config/load.js'
import { unitsOf } from '../config/units.js'
import type { Diagnostic } from '../core/base/errors.js'
import { isBelow, realOf } from '../files/within.js'
import { trustStore } from '../trust/trust-store.js'
import type { Unit } from '../trust/unit.js'
import { type Resolved, withManifest } from './catalog/resolve.js'
import { checkPromises, integrityAt } from './integrity.js'
import { type LockEntry, readLock, writeLock } from './lock-file.js'
import { changing, checkPlace, place, type Step } from './placing.js'
import { checkIsPlugin, nameInManifest } from './plugin-content.js'
import { checkPluginName, pluginNameFrom } from './plugin-name.js'
import { PluginProblem } from './plugin-problem.js'
import { acceptSource, type Origin } from './sources/accepted-source.js'
import { type Fetched, fetchTree } from './sources/fetch-source.js'
import type { FileTree } from './sources/file-tree.js'
import { writeTree } from './sources/folder-source.js'
import { sourceText } from './sources/source.js'
import { alone, checkTarget, lockPath, pluginsDir, type Target } from './target.js'
import { makeWorkFolder } from './work-folder.js'

export interface PreparedPlugin {
  readonly name: string
  readonly fetched: Fetched
  readonly entry: LockEntry
  readonly staged: StagedPlugin
  /** The source is a repository, but its folder was taken as it is now. `#REF` would pin a commit. */
  readonly isUnpinned: boolean
}

/** Throws unless it is a plugin with hooks and matches what was promised. The caller must call `staged.remove()`. */
export async function preparePlugin(
  resolved: Resolved,
  target: Target,
  asked?: string,
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
  return { ...fetched, tree: withManifest(fetched.tree, resolved.manifest) }
}

/** The last part of the source as it was typed. */
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

/** The origin as the lock file keeps it. */
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

/** A lock file is shared with people whose project is in another folder. */
function fromProject(source: string, { scope, base }: Target): string {
  const folder = resolve(base)
  return scope === 'project' && source !== folder && isBelow(source, folder)
    ? `.${source.slice(folder.length)}`
    : source
}

// ---- looking at it before it is installed ------------------------------------------------------------------------

export interface StagedPlugin {
  readonly unit: Unit
  readonly hooks: readonly ConfiguredHook[]
  /** The diagnostics that loading it will give. */
  readonly diagnostics: readonly Diagnostic[]
  /** Must be called after staging. */
  readonly remove: () => void
}

/** `projectDir` is the project that the plugin is for. Throws if the plugin has no hooks. */
export async function stagePlugin(
  tree: FileTree,
  name: string,
  projectDir: string | undefined,
): Promise<StagedPlugin> {
  const work = makeWorkFolder()
  const remove = () => rmSync(work, { recursive: true, force: true })
  try {
    const folder = join(hooksDirOf(work), name)
    mkdirSync(dirname(folder), { recursive: true })
    writeTree(tree, folder)
    const { specs, diagnostics } = await loadConfig({ projectDir: work })
    const [found] = [...unitsOf(specs)].filter(([unit]) => unit.path === folder)
    if (!found) throw noHooks(diagnostics)
    const [unit, hooks] = found
    // Commands may name paths in the project: those belong to the real project, not to this temporary one.
    return { unit: { ...unit, projectDir: projectDir ?? work }, hooks, diagnostics, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function noHooks(diagnostics: readonly Diagnostic[]): PluginProblem {
  const [first] = diagnostics
  return new PluginProblem(
    'NO_HOOKS',
    first === undefined ? 'This plugin has no hooks' : `This plugin has no hooks that can run: ${first.text}`,
    'Carabiner only runs hooks. Commands, agents and skills of a plugin are for the agent itself.',
  )
}

// ---- in its place ---------------------------------------------------------------------------------------------

/** Whether this exact content is already installed. Throws if something else is in its place. */
export function isInstalled({ name, entry }: PreparedPlugin, target: Target): boolean {
  const folder = pluginsDir(target)
  const isSame = readLock(lockPath(target)).get(name)?.integrity === entry.integrity
  if (isSame && integrityAt(join(folder, name)) === entry.integrity) return true
  checkPlace(folder, name, undefined)
  return false
}

/** Records a new source or pin for content that is already installed. Returns whether the lock file changed. */
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
  /** The integrity of the version it replaces, as it was shown. Undefined: the place must be empty. */
  readonly replaces?: string | undefined
  /**
   * The digest of the review that the user agreed to. If the old version is trusted, the new one is trusted before it
   * is put in place.
   */
  readonly agreed?: string | undefined
  readonly step?: Step
}

/** Puts the plugin in place and records its source as accepted for updates. */
export async function installPrepared(
  { name, fetched, entry, staged }: PreparedPlugin,
  target: Target,
  { replaces, agreed, step }: Installing = {},
): Promise<void> {
  await changing(target, () => {
    checkPlace(pluginsDir(target), name, replaces)
    if (agreed !== undefined && target.scope === 'project') {
      trustStore().trustNext(staged.unit, join(pluginsDir(target), name), agreed)
      step?.('agreed')
    }
    place(target, { name, tree: fetched.tree, entry, replaces }, step)
    acceptSource(target, name, entry)
    step?.('accepted')
  })
}

/**
 * Trusts the installed plugin if it matches the review, and throws otherwise. If a command names a file by the plugin's
 * folder, the installed plugin differs from the staged one and must be reviewed in place.
 */
export async function trustInstalled(name: string, target: Target, reviewed: string): Promise<void> {
  const unit = await unitInPlace(name, target)
  if (!unit) throw new PluginProblem('NO_HOOKS', `${name} is installed, but its hooks were not found`)
  trustStore().trust(unit, reviewed)
}

/** Whether this user trusts the plugin that is in place now. The user's own plugins need no trust. */
export async function isTrusted(name: string, target: Target): Promise<boolean> {
  if (target.scope === 'user') return true
  const unit = await unitInPlace(name, target)
  return unit !== undefined && trustStore().standingOf(unit).state === 'trusted'
}

async function unitInPlace(name: string, { base }: Target): Promise<Unit | undefined> {
  const path = realOf(`${pluginsDir({ scope: 'project', base })}/${name}`)
  const { specs } = await loadConfig({ projectDir: base })
  return [...unitsOf(specs).keys()].find((one) => one.kind === 'folder' && realOf(one.path) === path)
}
