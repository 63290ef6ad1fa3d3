// loadConfig: every configured hook, the settings in force, and what the user should know. Never throws.

import { type Diagnostic, textOf } from '../core/errors.js'
import { ConfigFiles } from './config-file.js'
import { type ConfiguredHook, configure, type Making } from './configured-hook.js'
import { type ConfigSources, discover } from './discovery.js'
import { type Contents, type HookDocument, readDocument } from './hook-document.js'
import type { Entry, Shared } from './hook-group.js'
import { Matchers } from './matchers.js'
import { type GivenSetting, type MergedSettings, mergeSettings } from './merged-settings.js'
import { Names } from './names.js'
import { Notes } from './notes.js'

export type { ConfigSources }

export interface LoadedConfig {
  /** In configuration order: the user's, the project's, explicit files, explicit plugins. Disabled ones too. */
  readonly specs: readonly ConfiguredHook[]
  readonly settings: MergedSettings
  /** Each with file and line. */
  readonly diagnostics: readonly Diagnostic[]
  /** The text in force of every file, by path: what a later load falls back on. */
  readonly files: ReadonlyMap<string, string>
}

/** With `previous`, a file that was good and cannot be read now (but was not deleted) keeps what it said. */
export async function loadConfig(sources: ConfigSources, previous?: LoadedConfig): Promise<LoadedConfig> {
  const notes = new Notes()
  const names = new Names()
  const matchers = new Matchers()
  const files = new ConfigFiles(previous?.files ?? new Map(), notes)
  const entries: Entry[] = []
  const given: GivenSetting[] = []
  for (const document of discover(sources, files, notes)) {
    const contents = contentsOf(document, { notes, names, matchers })
    entries.push(...contents.entries)
    given.push(...contents.settings)
  }
  const userHasHooks = entries.some(({ owner }) => owner.scope === 'user')
  const merge = mergeSettings(given, sources.settings ?? {}, userHasHooks, notes)
  const specs = configureAll(entries, { merge, notes, names, lanes: new Map() })
  return { specs, settings: merge.settings, diagnostics: notes.all(), files: files.texts }
}

const NOTHING: Contents = { entries: [], settings: [] }

/** One file that defeats the reader must not take the others down. */
function contentsOf(document: HookDocument, shared: Shared): Contents {
  try {
    return readDocument(document, shared)
  } catch (error) {
    shared.notes.add('config-invalid', `the file cannot be understood: ${textOf(error)}`, document)
    return NOTHING
  }
}

function configureAll(entries: readonly Entry[], making: Making): readonly ConfiguredHook[] {
  const specs: ConfiguredHook[] = []
  for (const entry of entries) {
    try {
      specs.push(configure(entry, making))
    } catch (error) {
      making.notes.add('entry-invalid', `${entry.name} was left out: ${textOf(error)}`, entry)
    }
  }
  return specs
}
