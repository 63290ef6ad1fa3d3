// Watches configuration files, including ones that do not exist yet. Reports that something changed, but not what.

import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { FSWatcher, watch } from 'chokidar'
import { type Diagnostic, textOf } from '../core/base/errors.js'
import { expiryOf } from '../files/company-folder.js'
import { readyForPolicies } from '../files/fleet-files.js'
import { inForcePath } from '../files/fleet-places.js'
import { ConfigFiles } from './config-file.js'
import { type ConfigSources, discover } from './discovery.js'
import { Notes } from './notes.js'

export interface ConfigWatch {
  /** No calls come after this. */
  close(): Promise<void>
}

/**
 * Calls back some time after a file was added, changed or removed. Watching has begun when the promise resolves, so
 * load after that to miss nothing. Never throws; `note` receives what cannot be watched.
 */
export async function watchConfig(
  sources: ConfigSources,
  onChange: () => void,
  note: (problem: Diagnostic) => void = () => {},
): Promise<ConfigWatch> {
  try {
    const { watch } = await import('chokidar')
    const watching = new Watching(watch, sources, onChange, note)
    await watching.begin()
    return watching
  } catch (error) {
    note(problemOf(error))
    return { close: async () => {} }
  }
}

function problemOf(error: unknown): Diagnostic {
  return { code: 'host-failed', text: `changed files may go unnoticed until reload(): ${textOf(error)}` }
}

/** An editor writes a file in several steps; they count as one. */
const QUIET_MS = 50
/** Timers stand still while a machine sleeps, and none is longer than 24.8 days. */
const LONGEST_LOOK_MS = 3_600_000
/** A watcher that fails to start must not hold up the rest. */
const LONGEST_START_MS = 5000

class Watching implements ConfigWatch {
  readonly #start: typeof watch
  readonly #sources: ConfigSources
  readonly #onChange: () => void
  readonly #note: (problem: Diagnostic) => void
  readonly #territory: Territory
  readonly #watchers: FSWatcher[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(
    start: typeof watch,
    sources: ConfigSources,
    onChange: () => void,
    note: (problem: Diagnostic) => void,
  ) {
    this.#start = start
    this.#sources = sources
    this.#onChange = onChange
    this.#note = note
    this.#territory = new Territory(sources)
  }

  async begin(): Promise<void> {
    this.#territory.extend(await pathsOf(this.#sources))
    await this.#watch([...this.#territory.roots])
    this.#awaitExpiry()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#expiry)
    await Promise.all(this.#watchers.map((watcher) => watcher.close()))
  }

  /** Resolves when changes are seen. */
  async #watch(roots: string[]): Promise<void> {
    const watcher = this.#start(roots, {
      ignored: (path) => !this.#territory.includes(resolve(path)),
      ignoreInitial: true,
      // A forgotten close() must not keep a program running. On Windows, the watcher of a removed folder fails, and only
      // persistent watchers handle that error.
      persistent: process.platform === 'win32',
    })
    this.#watchers.push(watcher)
    watcher.on('all', () => this.#stir())
    watcher.on('error', (error) => this.#note(problemOf(error)))
    let late: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((done) => {
      watcher.once('ready', done)
      late = setTimeout(done, LONGEST_START_MS)
    })
    clearTimeout(late)
  }

  /** Nothing changes on disk when the fleet's policy expires. */
  #awaitExpiry(): void {
    clearTimeout(this.#expiry)
    const { company } = this.#sources
    const end = company ? expiryOf(company) : Number.POSITIVE_INFINITY
    if (this.#closed || end === Number.POSITIVE_INFINITY) return
    const look = () => (Date.now() < end ? this.#awaitExpiry() : this.#stir())
    this.#expiry = setTimeout(look, Math.min(end - Date.now(), LONGEST_LOOK_MS)).unref()
  }

  #stir(): void {
    clearTimeout(this.#timer)
    if (!this.#closed) this.#timer = setTimeout(() => void this.#tell(), QUIET_MS).unref()
  }

  /** Watches new paths before calling back, so that the next load misses nothing. */
  async #tell(): Promise<void> {
    try {
      const roots = this.#territory.extend(await pathsOf(this.#sources))
      if (this.#closed) return
      if (roots.length > 0) await this.#watch(roots)
      this.#awaitExpiry()
      if (!this.#closed) this.#onChange()
    } catch (error) {
      this.#note(problemOf(error))
    }
  }
}

/** Every path that a load would look at, existing or not, including those that a plugin.json names. */
async function pathsOf(sources: ConfigSources): Promise<readonly string[]> {
  await readyForPolicies(sources.company?.fleet)
  const notes = new Notes()
  const files = new ConfigFiles(new Map(), notes)
  discover(sources, files, notes)
  return files.paths
}

/** The watched paths: files that would be read, and the folders on the way to them. */
class Territory {
  /** Existing folders, from which all other paths can be seen to appear. */
  readonly roots = new Set<string>()
  readonly #paths = new Set<string>()
  readonly #hooksDirs: readonly string[]

  constructor({ company, homeDir, projectDir, files = [], plugins = [] }: ConfigSources) {
    const bases = [homeDir, projectDir].filter((base) => base !== undefined).map((base) => resolve(base))
    const folders = bases.map((base) => [join(base, '.amplifier'), base] as const)
    if (company) folders.push([company.path, dirname(company.path)])
    for (const { folder } of company?.fleet ?? []) this.#take(inForcePath(folder), dirname(folder))
    this.#hooksDirs = folders.map(([folder]) => join(folder, 'hooks'))
    for (const [folder, from] of folders)
      for (const name of WATCHED_FILES) this.#take(join(folder, name), from)
    for (const file of files.map((path) => resolve(path))) this.#take(file, dirname(file))
    for (const root of plugins.map((path) => resolve(path))) {
      for (const file of PLUGIN_FILES) this.#take(join(root, file), dirname(root))
    }
  }

  includes(path: string): boolean {
    return (
      this.#paths.has(path) || this.roots.has(path) || this.#hooksDirs.some((dir) => isPlugins(dir, path))
    )
  }

  /** Returns the folders to watch for paths that were out of sight so far. */
  extend(paths: readonly string[]): string[] {
    const fresh = paths.filter((path) => !this.includes(path))
    return [...new Set(fresh.map((path) => this.#take(path, dirname(path))))]
  }

  #take(path: string, from: string): string {
    const root = existing(from)
    this.roots.add(root)
    for (let at = path; at !== root; at = dirname(at)) this.#paths.add(at)
    return root
  }
}

/** In a folder that is laid out like `.amplifier`. */
const WATCHED_FILES = [join('hooks', 'hooks.json'), 'settings.json', 'rules.json']

const PLUGIN_FILES = [
  'hooks.json',
  'rules.json',
  join('hooks', 'hooks.json'),
  join('.claude-plugin', 'plugin.json'),
]
const PLUGIN_PATHS = new Set([...PLUGIN_FILES, 'hooks', '.claude-plugin'])

/** True for a plugin's folder, or a place in it that may hold hooks. */
function isPlugins(hooksDir: string, path: string): boolean {
  if (!path.startsWith(hooksDir + sep)) return false
  const [, ...inside] = relative(hooksDir, path).split(sep)
  return inside.length === 0 || PLUGIN_PATHS.has(inside.join(sep))
}

/** The folder, or the nearest existing one above it. */
function existing(folder: string): string {
  const above = dirname(folder)
  return above === folder || existsSync(folder) ? folder : existing(above)
}
