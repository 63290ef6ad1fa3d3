// Finds the places that may hold hooks: the company's files, the user's, the project's, and named ones, in configuration order.

import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { digest } from '../core/base/digest.js'
import { type DiagnosticCode, textOf } from '../core/base/errors.js'
import { shown } from '../core/base/text.js'
import { needsTrust } from '../core/hooks/hook.js'
import { callerPath } from '../files/caller.js'
import { type CompanyFolder, type CompanyPolicy, companyPolicies } from '../files/company-folder.js'
import { readableNames } from '../files/folder.js'
import { dataHome } from '../files/homes.js'
import { isThere, noteContent, noted, noteFailure } from '../files/looks.js'
import { isOwn } from '../files/project-folders.js'
import { ROOT_FOLDER } from '../files/root-owned.js'
import { jsonOfToml } from '../files/toml-text.js'
import { isBelow, isInProject, realOf } from '../files/within.js'
import { isAside, placeOf } from '../trust/set-aside.js'
import { type ConfigFiles, isLink, TO_RELINK } from './config-file.js'
import { formatOfPath, type HookDocument, hooksShape } from './hook-document.js'
import type { MergedSettings } from './merged-settings.js'
import type { Notes } from './notes.js'
import { cleanName, type Owner } from './owner.js'
import { type PluginSources, readPluginFolder } from './plugin-folder.js'
import { rulesDocument, rulesShape } from './rules-document.js'

export interface ConfigSources {
  /** Holds the company's policy, if this machine has one. */
  readonly company?: CompanyFolder
  /** Absolute; without it no project file is read. */
  readonly projectDir?: string
  /**
   * Folders around the project, and around the folders that the agent works in, nearest first. Their hooks run too, and
   * each folder is a project of its own. The list may hold the project itself, and a folder under several names.
   */
  readonly outerDirs?: readonly string[]
  /** The user's home; without it no user file is read. */
  readonly homeDir?: string
  /** Explicitly named plugin folders. They count as the project's. */
  readonly plugins?: readonly string[]
  /** Explicitly named hooks.json or settings.json files. They count as the project's. */
  readonly files?: readonly string[]
  /** The embedder's settings, which win over the user's files. */
  readonly settings?: Partial<MergedSettings>
  /** They may only tighten the user's. */
  readonly settingsTighten?: boolean
  /** Holds the data folders of plugins. Default: Carabiner's own data folder. */
  readonly dataDir?: string
}

interface Search {
  readonly sources: ConfigSources
  readonly files: ConfigFiles
  readonly notes: Notes
}

/** Every place that may hold hooks, in configuration order. A file or plugin that is both named and found counts once. */
export function discover(
  sources: ConfigSources,
  files: ConfigFiles,
  notes: Notes,
  policies: readonly CompanyPolicy[] = sources.company ? companyPolicies(sources.company) : [],
): readonly HookDocument[] {
  const search = { sources, files, notes }
  const { projectDir, homeDir } = sources
  const documents: HookDocument[] = []
  const look = (path: string, find: (path: string) => readonly HookDocument[]) =>
    documents.push(...attempt(path, notes, () => find(callerPath(path))))
  for (const policy of policies) look(policy.folder, () => ofCompany(policy, search))
  const home = typeof homeDir === 'string' && !isAbsolute(homeDir) ? noHome(homeDir, notes) : homeDir
  if (home !== undefined) look(home, (base) => inBase(base, 'user', search))
  if (projectDir !== undefined && !isSameFolder(projectDir, home)) {
    look(projectDir, (base) => inBase(base, 'project', search))
  }
  for (const folder of outerFolders(sources)) look(folder, (base) => inOuter(base, search))
  for (const file of sources.files ?? []) {
    look(file, (path) => (isKnownFile(documents, path) ? [] : explicitFile(path, search)))
  }
  for (const folder of sources.plugins ?? []) {
    look(folder, (root) => (isKnownPlugin(documents, root) ? [] : explicitPlugin(root, search)))
  }
  return documents
}

/** Without duplicates, the project and the home folder. */
function outerFolders({ projectDir, homeDir, outerDirs = [] }: ConfigSources): readonly string[] {
  const marked = outerDirs.filter((folder) => isOwn(folder, '.amplifier'))
  if (marked.length === 0) return []
  const places = new Map(marked.map((folder) => [realOf(folder), folder]))
  for (const folder of [projectDir, homeDir]) if (folder) places.delete(realOf(resolve(folder)))
  return [...places.values()]
}

/** One unreadable place must not affect the others. */
function attempt(path: string, notes: Notes, find: () => readonly HookDocument[]): readonly HookDocument[] {
  try {
    return find()
  } catch (error) {
    noteFailure(error)
    notes.add('config-invalid', `it cannot be read: ${textOf(error)}`, { path: String(path), line: 1 })
    return []
  }
}

function isKnownFile(documents: readonly HookDocument[], path: string): boolean {
  return documents.some(({ role, file }) => role !== 'plugin' && file.path === path)
}

function isKnownPlugin(documents: readonly HookDocument[], root: string): boolean {
  return documents.some(({ owner }) => owner.place.plugin?.root === root)
}

/** `HOME=` or `HOME=.` would turn the project's files into the user's, which need no trust. */
function noHome(homeDir: string, notes: Notes): undefined {
  const text = `the home folder ${shown(homeDir)} is not an absolute path, so the user’s hooks are not read`
  notes.add('config-invalid', text, { path: callerPath('.'), line: 1 })
}

function isSameFolder(a: string, b: string | undefined): boolean {
  if (b === undefined) return false
  try {
    if (resolve(a) === resolve(b)) return true
    const real = realIfThere(resolve(a))
    return real !== undefined && real === realIfThere(resolve(b))
  } catch {
    return false // not a path
  }
}

const realIfThere = noted((path): string | undefined => {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
})

// ---- .amplifier -----------------------------------------------------------------------------------------------

export function hooksDirOf(base: string): string {
  return join(resolve(base), '.amplifier', 'hooks')
}

export function rootFileOf(base: string): string {
  return join(hooksDirOf(base), 'hooks.json')
}

export function settingsFileOf(base: string): string {
  return join(resolve(base), '.amplifier', 'settings.json')
}

export function rulesFileOf(base: string): string {
  return join(resolve(base), '.amplifier', 'rules.json')
}

function inBase(base: string, scope: Owner['scope'], search: Search): readonly HookDocument[] {
  const place = { projectDir: projectDirOf(search.sources) ?? resolve(base), hooksDir: hooksDirOf(base) }
  const owner: Owner = { scope, source: scope, realm: 'settings', place }
  return inFolder(join(resolve(base), '.amplifier'), owner, search)
}

export function companyOwner({ folder, source, mode }: CompanyPolicy, sources: ConfigSources): Owner {
  const place = { projectDir: projectDirOf(sources) ?? folder, hooksDir: join(folder, 'hooks') }
  // A realm of its own: the same hook of a user, who may switch it off, must not stand for it.
  const realm = mode ? `company ${mode}` : 'company'
  return { scope: 'company', source, realm, place, ...(mode && { mode }) }
}

/** A policy that nobody can rely on counts as rules that cannot be read. */
function ofCompany(policy: CompanyPolicy, search: Search): readonly HookDocument[] {
  const { folder, warning, isEmpty } = policy
  const { problem, todo } = inProject(policy, search.sources) ?? policy
  const owner = companyOwner(policy, search.sources)
  const say = (code: DiagnosticCode, text: string) =>
    search.notes.add(code, text, { path: folder, line: 1 }, { todo })
  if (problem !== undefined) {
    say('config-invalid', `the company’s policy cannot be relied on: ${problem}`)
    return documentsOf(rulesDocument(owner, folder, 'broken'))
  }
  if (warning !== undefined) say('policy-expired', warning)
  return isEmpty ? [] : inFolder(folder, owner, search)
}

/** A project that says where the user's folder is could bring a policy of its own. */
function inProject(
  { folder }: CompanyPolicy,
  { projectDir }: ConfigSources,
): Pick<CompanyPolicy, 'problem' | 'todo'> | undefined {
  if (projectDir === undefined || isBelow(folder, ROOT_FOLDER) || !isInProject(folder, projectDir))
    return undefined
  return {
    problem: `${folder} lies in the project ${projectDir}, which could have written it`,
    todo: 'Set CARABINER_HOME and XDG_DATA_HOME to folders outside it, or unset them.',
  }
}

/** `folder` is laid out like `.amplifier`. */
function inFolder(folder: string, owner: Owner, search: Search): readonly HookDocument[] {
  const { files, sources } = search
  const { hooksDir } = owner.place
  const documents: HookDocument[] = []
  const root = files.read(join(hooksDir, 'hooks.json'), hooksShape)
  if (typeof root === 'object') documents.push({ owner, role: 'root', file: root, at: null })
  const settings = files.read(join(folder, 'settings.json'), hooksShape)
  if (typeof settings === 'object') documents.push({ owner, role: 'settings', file: settings, at: null })
  const rules = join(folder, 'rules.json')
  documents.push(...documentsOf(rulesDocument(owner, rules, files.read(rules, rulesShape))))
  const names = pluginNames(hooksDir, search)
  if (names.length === 0) return documents
  const plugin = pluginSources(owner.scope, sources, owner)
  for (const name of names) {
    const path = hooksDir + sep + name
    const found = attempt(path, search.notes, () => foundPlugin(path, plugin, search))
    documents.push(
      ...(found.length > 0 || isThere(path) || isLink(path) ? found : movedPlugin(path, plugin, search)),
    )
  }
  return documents
}

function documentsOf(document: HookDocument | undefined): readonly HookDocument[] {
  return document ? [document] : []
}

/** Another project has its own data and variables. */
function inOuter(base: string, search: Search): readonly HookDocument[] {
  const documents = inBase(base, 'project', { ...search, sources: { ...search.sources, projectDir: base } })
  return documents.map((document) => ({ ...document, isOuter: true as const }))
}

/** The plugin vanished after the folder was listed: somebody may be replacing it. */
function movedPlugin(path: string, plugin: PluginSources, search: Search): readonly HookDocument[] {
  const place = placeOf(path)
  const hooksDir = dirname(place)
  for (let tries = 0; tries < MOST_MOVES; tries++) {
    const name = pluginNames(hooksDir, search).find((one) => placeOf(hooksDir + sep + one) === place)
    if (name === undefined) return []
    const now = hooksDir + sep + name
    const found = attempt(now, search.notes, () => foundPlugin(now, plugin, search))
    if (found.length > 0) return found
  }
  return []
}

/** An update moves a plugin aside, then moves its successor into place. */
const MOST_MOVES = 4

function foundPlugin(path: string, plugin: PluginSources, { files, notes }: Search): readonly HookDocument[] {
  const { documents, isPlugin } = readPluginFolder(path, true, plugin, files, notes)
  if (!isPlugin) for (const way of ['', 'hooks', '.claude-plugin']) checkLink(join(path, way), notes)
  return documents
}

function projectDirOf({ projectDir, homeDir }: ConfigSources): string | undefined {
  const dir = projectDir ?? homeDir
  return dir === undefined ? undefined : resolve(dir)
}

/** A project's plugin must not find the data of a plugin with the same name that belongs to the user or another project. */
export function pluginSources(
  scope: Owner['scope'],
  sources: ConfigSources,
  of?: Pick<Owner, 'mode' | 'source'>,
): PluginSources {
  const projectDir = projectDirOf(sources)
  const owner = needsTrust(scope) ? `project-${digest(projectDir ?? '').slice(0, 16)}` : scope
  const shadowOf = of?.mode && of.source
  const own = shadowOf === undefined ? owner : `${owner}-shadow`
  const dataDir = join(resolve(sources.dataDir ?? dataHome()), 'plugin-data', own)
  return { scope, projectDir, dataDir, ...(shadowOf !== undefined && { shadowOf }) }
}

/** Per folder. A repository must not make every event take minutes. */
const MOST_PLUGINS = 1000

/** Names without a leading dot, sorted by code units so that every machine agrees. Not all are plugins. */
function pluginNames(hooksDir: string, search: Search): readonly string[] {
  noteContent(hooksDir)
  try {
    const all = readdirSync(hooksDir)
    const plain = all.filter((name) => !name.startsWith('.') && name !== 'hooks.json')
    const names = [...plain, ...setAside(hooksDir, all)]
    if (names.length > MOST_PLUGINS) {
      const text = `there are ${names.length} plugins here; only the first ${MOST_PLUGINS} are read`
      search.notes.add('config-invalid', text, { path: hooksDir, line: 1 })
    }
    return names.sort().slice(0, MOST_PLUGINS)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    noteFailure(error)
    const text = `the folder cannot be read: ${textOf(error)}`
    search.notes.add('config-invalid', text, { path: hooksDir, line: 1 })
    return formerNames(hooksDir, search.files)
  }
}

/** Plugins that an interrupted update set aside: their gates must stay until somebody finishes the update. */
function setAside(hooksDir: string, all: readonly string[]): readonly string[] {
  return all.filter(isAside).flatMap((folder) => {
    const names = readableNames(join(hooksDir, folder))
    return names.filter((name) => !all.includes(name)).map((name) => folder + sep + name)
  })
}

/** Reports a plugin, or its part with the hooks, that is a broken link. */
function checkLink(path: string, notes: Notes): void {
  if (isThere(path) || !isLink(path)) return
  const text = 'the link is broken, so no hooks are read'
  notes.add('config-invalid', text, { path, line: 1 }, { todo: TO_RELINK })
}

/** Plugins from the last time the folder could be read. Their hooks stay in force. */
function formerNames(hooksDir: string, files: ConfigFiles): readonly string[] {
  const names = new Set<string>()
  for (const path of files.previousPaths) {
    const [name, ...rest] = relative(hooksDir, path).split(sep)
    if (name && name !== '..' && rest.length > 0) names.add(name)
  }
  return [...names].sort()
}

// ---- named on the command line or by the embedder -------------------------------------------------------------

function explicitFile(path: string, { sources, files, notes }: Search): readonly HookDocument[] {
  const isRules = basename(path) === 'rules.json'
  const file = isRules
    ? files.read(path, rulesShape)
    : path.endsWith('.toml')
      ? files.read(path, hooksShape, jsonOfToml)
      : files.read(path, hooksShape)
  if (file === 'missing') {
    const todo = 'Name another file, or write this one.'
    notes.add('config-invalid', 'the file does not exist', { path, line: 1 }, { todo })
  }
  if (typeof file !== 'object' && !isRules) return []
  const hooksDir = dirname(path)
  const place = { projectDir: projectDirOf(sources) ?? hooksDir, hooksDir }
  const owner: Owner = {
    scope: 'named',
    source: cleanName(basename(path)) ?? 'file',
    realm: 'settings',
    place,
  }
  if (typeof file !== 'object' || isRules) return documentsOf(rulesDocument(owner, path, file))
  return [{ owner, role: 'explicit', file, at: null, format: formatOfPath(path) }]
}

function explicitPlugin(root: string, { sources, files, notes }: Search): readonly HookDocument[] {
  const plugin = readPluginFolder(root, false, pluginSources('named', sources), files, notes)
  if (!plugin.isPlugin) {
    const expected = 'hooks/hooks.json, hooks.json or a file that .claude-plugin/plugin.json names'
    const text = `no plugin with hooks was found here: expected ${expected}`
    const todo = 'Name the folder of a plugin, or put a hooks.json into this one.'
    notes.add('config-invalid', text, { path: root, line: 1 }, { todo })
  }
  return plugin.documents
}
