// A unit as it was trusted last: its hooks, read from what was kept of it.

import { basename, dirname, join, relative } from 'node:path'
import type { Kept } from '../trust/trust-store.js'
import type { TrustRecord } from '../trust/unit.js'
import { type ConfigFile, ConfigFiles } from './config-file.js'
import type { ConfiguredHook } from './configured-hook.js'
import { type ConfigSources, hooksDirOf, pluginSources, rootFileOf, settingsFileOf } from './discovery.js'
import { formatOfPath, type HookDocument, hooksShape } from './hook-document.js'
import { JsonText } from './json-text.js'
import { type LoadedConfig, loadDocuments } from './load.js'
import { Notes } from './notes.js'
import { cleanName, type Owner } from './owner.js'
import { readPluginFolder } from './plugin-folder.js'

/** Only hooks that the record has: anything else was not reviewed. */
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

/** Whether hooks of this unit are looked for here: a file that was named once is not expected without its name. */
export function isPlaceOf(record: TrustRecord, { files = [], plugins = [] }: ConfigSources): boolean {
  const named = record.kind === 'folder' ? plugins : files
  return scopeOf(record) === 'project' || named.includes(record.path)
}

function scopeOf({ kind, path, projectDir }: TrustRecord): 'project' | 'named' {
  const isOwn =
    kind === 'folder'
      ? dirname(path) === hooksDirOf(projectDir)
      : path === rootFileOf(projectDir) || path === settingsFileOf(projectDir)
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
  // People know the file by its place in the project.
  const placed = (file: ConfigFile) => ({ ...file, path: join(record.path, relative(copy, file.path)) })
  return documents.map((document) => ({ ...document, owner, file: placed(document.file) }))
}

function ofFile(record: TrustRecord, text: string): readonly HookDocument[] {
  const { path, projectDir } = record
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed || hooksShape(parsed.value)) return []
  const scope = scopeOf(record)
  const own = scope === 'project'
  const owner: Owner = {
    scope,
    source: own ? scope : (cleanName(basename(path)) ?? 'file'),
    realm: 'settings',
    place: { projectDir, hooksDir: own ? hooksDirOf(projectDir) : dirname(path) },
  }
  const role = path === rootFileOf(projectDir) ? 'root' : own ? 'settings' : 'explicit'
  return [{ owner, role, file: { path, json, value: parsed.value }, at: null, format: formatOfPath(path) }]
}
