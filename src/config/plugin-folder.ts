// One plugin folder: Claude Code's layout (.claude-plugin/plugin.json, hooks/hooks.json, skills) and Amplifier's (hooks.json).

import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import { readableNames } from '../files/folder.js'
import { type JsonPath, under } from '../files/json-text.js'
import { hasName, isThere } from '../files/looks.js'
import type { FileFormat } from '../runners/hook-spec.js'
import type { ConfigFile, ConfigFiles, Found, Shape } from './config-file.js'
import { type HookDocument, hooksShape } from './hook-document.js'
import type { Notes } from './notes.js'
import { cleanName, type Owner } from './owner.js'
import { pluginRulesShape, rulesDocument } from './rules-document.js'
import { hooksInSkill } from './skill-hooks.js'

export interface PluginSources {
  readonly scope: Owner['scope']
  readonly projectDir: string | undefined
  /** Holds one data folder per plugin. */
  readonly dataDir: string
  /** The name of the policy in shadow mode that they belong to. */
  readonly shadowOf?: string | undefined
}

export interface PluginFolder {
  readonly documents: readonly HookDocument[]
  /** True if there was anything to read, even if it was broken. */
  readonly isPlugin: boolean
}

interface Open {
  readonly root: string
  readonly owner: Owner
  readonly files: ConfigFiles
  readonly notes: Notes
  readonly documents: HookDocument[]
}

const manifestShape: Shape = (value) =>
  isObject(value) ? undefined : { problem: `must be a JSON object, got ${shown(value)}` }

/**
 * With `beside`, hooks.json counts in addition to Claude Code's layout, as in .amplifier/hooks/NAME/. Otherwise it counts
 * only without that layout, because Claude Code does not read it and other agents use the name.
 */
export function readPluginFolder(
  root: string,
  beside: boolean,
  sources: PluginSources,
  files: ConfigFiles,
  notes: Notes,
): PluginFolder {
  const manifest = read(files, root, '.claude-plugin', 'plugin.json', manifestShape)
  const owner = ownerOf(root, typeof manifest === 'object' ? manifest.value : undefined, sources)
  const open: Open = { root, owner, files, notes, documents: [] }
  const named = typeof manifest === 'object' && readManifest(open, manifest)
  const standard = add(open, read(files, root, 'hooks', 'hooks.json', hooksShape))
  const own =
    (beside || (!named && !standard)) &&
    add(open, files.read(`${root}${sep}hooks.json`, hooksShape), 'amplifier')
  const rules = beside && addRules(open)
  const skills = readSkills(open, typeof manifest === 'object' ? manifest.value : undefined)
  return {
    documents: open.documents,
    isPlugin: named || standard || own || rules || skills || manifest === 'broken',
  }
}

/** Most plugins lack the folder, and checking for it is cheaper than failing to open a file. A file known from before is always tried. */
function read(files: ConfigFiles, root: string, folder: string, name: string, shape: Shape): Found {
  const path = root + sep + folder
  const file = path + sep + name
  return isThere(path) || files.knew(file) ? files.read(file, shape) : 'missing'
}

function ownerOf(root: string, manifest: unknown, sources: PluginSources): Owner {
  const { scope, projectDir, dataDir, shadowOf } = sources
  const name =
    cleanName(isObject(manifest) ? manifest.name : undefined) ?? cleanName(basename(root)) ?? 'plugin'
  const hooksDir = dirname(root)
  return {
    scope,
    source: shadowOf === undefined ? name : `${shadowOf}/${name}`,
    realm: `plugin ${root}`,
    ...(shadowOf !== undefined && { mode: 'shadow' as const }),
    place: {
      projectDir: projectDir ?? hooksDir,
      hooksDir,
      plugin: {
        name,
        root,
        dataDir: [dataDir, name.replace(/[^A-Za-z0-9_-]/g, '-')].join(sep),
      },
    },
  }
}

/** Returns false if there is no such file. */
function add(open: Open, file: Found, format: FileFormat = 'claude'): boolean {
  const { owner, documents } = open
  if (typeof file === 'object' && !documents.some((known) => known.file === file)) {
    const folder = dirname(file.path)
    const inside = folder === open.root ? '' : relative(open.root, folder).split(sep).join('/')
    documents.push({ owner, role: 'plugin', file, at: null, format, inside })
  }
  return file !== 'missing'
}

/** A file that cannot be read has been reported. It may be another program's. */
function addRules({ root, owner, files, documents }: Open): boolean {
  const path = `${root}${sep}rules.json`
  // Most plugins have none, and looking is cheaper than failing to open it.
  if (!hasName(path) && !files.knew(path)) return false
  const found = files.read(path, pluginRulesShape)
  const document = typeof found === 'object' ? rulesDocument(owner, path, found) : undefined
  if (document) documents.push(document)
  return document !== undefined
}

function addDocument({ documents, owner }: Open, file: ConfigFile, at: JsonPath): undefined {
  documents.push({ owner, role: 'plugin', file, at, format: 'claude' })
}

const HOOKS = under(null, 'hooks')

/** Reads "hooks" of plugin.json: a path, an object of hooks, or a list of both. Returns false if it has none. */
function readManifest(open: Open, manifest: ConfigFile): boolean {
  const { hooks } = manifest.value as { readonly hooks?: unknown }
  if (hooks === undefined) return false
  const parts: readonly (readonly [unknown, JsonPath])[] = Array.isArray(hooks)
    ? hooks.map((part, i) => [part, under(HOOKS, i)])
    : [[hooks, HOOKS]]
  for (const [part, at] of parts) {
    const problem = isObject(part) ? addDocument(open, manifest, at) : addNamed(open, part)
    if (problem) open.notes.add('config-invalid', `"hooks" ${problem}`, { file: manifest, at })
  }
  return true
}

/** Adds the file that plugin.json names, or returns the problem with it. */
function addNamed(open: Open, path: unknown): string | undefined {
  if (typeof path !== 'string') return `must be a path or an object, got ${shown(path)}`
  const absolute = resolve(open.root, path)
  if (isAbsolute(path) || !isInside(open.root, absolute)) {
    return `names ${shown(path)}, which is outside the plugin’s folder; it is not read`
  }
  return add(open, open.files.read(absolute, hooksShape))
    ? undefined
    : `names ${shown(path)}, which does not exist`
}

// ---- hooks of its skills --------------------------------------------------------------------------------------

/** Per plugin. */
const MOST_SKILLS = 500

/**
 * Claude Code runs them once the skill has been used. No agent tells us when that happens, so they run from the start:
 * a gate that runs too often is better than one that never runs.
 */
function readSkills(open: Open, manifest: unknown): boolean {
  const { root, files, notes, owner, documents } = open
  const before = documents.length
  const skills = skillFolders(root, manifest)
  if (skills.length > MOST_SKILLS) {
    const text = `there are ${skills.length} skills here; only the hooks of the first ${MOST_SKILLS} are read`
    notes.add('config-invalid', text, { path: root, line: 1 })
  }
  for (const skillDir of skills.slice(0, MOST_SKILLS)) {
    const file = files.read(`${skillDir}${sep}SKILL.md`, hooksShape, hooksInSkill)
    if (typeof file !== 'object') continue
    const ofSkill = { ...owner, place: { ...owner.place, skillDir } }
    documents.push({ owner: ofSkill, role: 'plugin', file, at: null, format: 'claude' })
  }
  return documents.length > before
}

/** The plugin's `skills` folder, and those that its plugin.json names. Each is a skill or a folder of skills. */
function skillFolders(root: string, manifest: unknown): readonly string[] {
  const said: unknown = isObject(manifest) ? manifest.skills : undefined
  const named = [said].flat().filter((path): path is string => typeof path === 'string' && !isAbsolute(path))
  // Most plugins have none.
  if (named.length === 0 && !isThere(`${root}${sep}skills`)) return []
  const folders = ['skills', ...named].map((path) => resolve(root, path))
  const inside = [...new Set(folders)].filter((path) => path === root || isInside(root, path)).filter(isThere)
  return [
    ...new Set(inside.flatMap((path) => [path, ...readableNames(path).map((name) => path + sep + name)])),
  ].filter((path) => isThere(`${path}${sep}SKILL.md`))
}

function isInside(root: string, path: string): boolean {
  const below = relative(root, path)
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
