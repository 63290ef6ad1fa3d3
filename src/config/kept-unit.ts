// The last trusted version of a unit: its hooks, read from the kept copy or text.

import { basename, dirname, join, relative } from 'node:path'
import { JsonText } from '../files/json-text.js'
import { isBelow, realOf } from '../files/within.js'
import { keyOf } from '../store/trust-records.js'
import { placeOf } from '../trust/set-aside.js'
import type { Kept } from '../trust/trust-store.js'
import type { TrustRecord, Unit } from '../trust/unit.js'
import { type ConfigFile, ConfigFiles } from './config-file.js'
import type { ConfiguredHook } from './configured-hook.js'
import {
  type ConfigSources,
  hooksDirOf,
  pluginSources,
  rootFileOf,
  rulesFileOf,
  settingsFileOf,
} from './discovery.js'
import { formatOfPath, type HookDocument, hooksShape } from './hook-document.js'
import { type LoadedConfig, loadDocuments } from './load.js'
import { Notes } from './notes.js'
import { cleanName, type Owner } from './owner.js'
import { readPluginFolder } from './plugin-folder.js'

/** Returns only hooks in the record: nothing else was reviewed. */
export async function loadKept(
  record: TrustRecord,
  kept: Exclude<Kept, { readonly problem: string }>,
  sources: ConfigSources,
  config: LoadedConfig,
): Promise<readonly ConfiguredHook[]> {
  const documents = 'copy' in kept ? ofFolder(record, kept.copy, sources) : ofFile(record, kept.text)
  const reviewed = new Set(record.hooks.map(({ hash }) => hash))
  const specs = await loadDocuments(documents, sources, config)
  return specs.filter(({ hook }) => reviewed.has(hook.origin.hash ?? ''))
}

/** Whether these sources look for this unit. A file that was named once is expected only when it is named again. */
export function isPlaceOf(record: TrustRecord, { files = [], plugins = [] }: ConfigSources): boolean {
  const named = record.kind === 'folder' ? plugins : files
  return scopeOf(record) === 'project' || named.some((path) => isSamePlace(path, record.path))
}

function isSamePlace(a: string, b: string): boolean {
  return a === b || realOf(a) === realOf(b)
}

/** Everything that the user trusts in a project and around it. */
export class ExpectedUnits {
  readonly records: readonly TrustRecord[]
  readonly #keys: ReadonlySet<string>
  /** The nearest record of each place. Built on demand, because most units do not need it. */
  #places: ReadonlyMap<string, TrustRecord> | undefined

  constructor(records: readonly TrustRecord[] = []) {
    this.records = records
    this.#keys = new Set(records.map(keyOf))
  }

  /**
   * The unit with the path and project of its record. It may be reached through a link; and a unit that was named, or
   * that came with a skill, stays the same in whichever surrounding project the event happens.
   */
  asTrusted(unit: Unit): Unit {
    const path = placeOf(unit.path)
    if (this.records.length === 0 || this.#keys.has(keyOf({ ...unit, path }))) return unit
    this.#places ??= placesOf(this.records)
    const { kind } = unit
    const record = this.#places.get(`${kind} ${path}`) ?? this.#places.get(`${kind} ${realOf(path)}`)
    if (!record) return unit
    return { ...unit, path: record.path === path ? unit.path : record.path, projectDir: record.projectDir }
  }
}

function placesOf(records: readonly TrustRecord[]): ReadonlyMap<string, TrustRecord> {
  const places = new Map<string, TrustRecord>()
  // The nearest record wins.
  for (const record of records.toReversed())
    for (const path of [realOf(record.path), record.path]) places.set(`${record.kind} ${path}`, record)
  return places
}

/** Moves a hook that was found as part of `given` to the paths of `unit`. */
export function placeAt(
  spec: ConfiguredHook,
  given: Unit,
  unit: Unit,
  sources: ConfigSources,
): ConfiguredHook {
  if (unit === given) return spec
  const moved = (path: string) => {
    if (isBelow(path, given.path)) return unit.path + path.slice(given.path.length)
    return path === dirname(given.path) ? dirname(unit.path) : path
  }
  const { projectDir } = unit
  const { plugin, skillDir, hooksDir, ...place } = spec.place
  const data = plugin && pluginSources('project', { ...sources, projectDir }).dataDir
  return {
    ...spec,
    place: {
      ...place,
      projectDir,
      hooksDir: moved(hooksDir),
      ...(plugin && {
        plugin: { ...plugin, root: moved(plugin.root), dataDir: join(data ?? '', basename(plugin.dataDir)) },
      }),
      ...(skillDir !== undefined && { skillDir: moved(skillDir) }),
    },
  }
}

function scopeOf({ kind, path, projectDir }: TrustRecord): 'project' | 'named' {
  const isOwn =
    kind === 'folder'
      ? dirname(path) === hooksDirOf(projectDir)
      : [rootFileOf, settingsFileOf, rulesFileOf].some((fileOf) => path === fileOf(projectDir))
  return isOwn ? 'project' : 'named'
}

function ofFolder(record: TrustRecord, copy: string, sources: ConfigSources): readonly HookDocument[] {
  const { name, projectDir } = record
  const scope = scopeOf(record)
  const plugin = pluginSources(scope, { ...sources, projectDir })
  const notes = new Notes()
  const files = new ConfigFiles(new Map(), notes)
  const { documents } = readPluginFolder(copy, scope === 'project', plugin, files, notes)
  const dataDir = join(plugin.dataDir, name.replace(/[^A-Za-z0-9_-]/g, '-'))
  const owner: Owner = {
    scope,
    source: name,
    realm: `plugin ${copy}`,
    place: { projectDir, hooksDir: dirname(copy), plugin: { name, root: copy, dataDir } },
  }
  // Users know the file by its path in the project.
  const placed = (file: ConfigFile) => ({ ...file, path: join(record.path, relative(copy, file.path)) })
  return documents.map((document) => ({ ...document, owner, file: placed(document.file) }))
}

function ofFile(record: TrustRecord, text: string): readonly HookDocument[] {
  const { path, projectDir } = record
  const json = new JsonText(text)
  const parsed = json.parse()
  const isRules = basename(path) === 'rules.json'
  if ('problem' in parsed || (!isRules && hooksShape(parsed.value))) return []
  const scope = scopeOf(record)
  const own = scope === 'project'
  const owner: Owner = {
    scope,
    source: own ? scope : (cleanName(basename(path)) ?? 'file'),
    realm: 'settings',
    place: { projectDir, hooksDir: own ? hooksDirOf(projectDir) : dirname(path) },
  }
  const role = path === rootFileOf(projectDir) ? 'root' : own ? 'settings' : 'explicit'
  const file = { path, json, value: parsed.value }
  if (isRules) return [{ owner, role: 'rules', file, at: null }]
  return [{ owner, role, file, at: null, format: formatOfPath(path) }]
}
