// The hooks that come from files, kept up to date: made into hooks, admitted or refused, read again.

import type { ConfiguredHook } from './config/configured-hook.js'
import type { ConfigSources } from './config/discovery.js'
import type { Handlers, HandlerType } from './config/handler.js'
import { type LoadedConfig, loadConfig } from './config/load.js'
import type { MergedSettings } from './config/merged-settings.js'
import type { ConfigWatch } from './config/watch.js'
import type { Diagnostic } from './core/errors.js'
import type { Hook } from './core/hook.js'
import type { Message } from './core/outcome.js'
import type { Skip } from './core/plan.js'
import type { HookSpec, Surroundings } from './runners/hook-spec.js'

/** By type: how a specification becomes a hook. A type that is not here does not run. */
export type Makers = {
  readonly [T in HandlerType]?: (spec: HookSpec<Handlers[T]>, surroundings: Surroundings) => Hook
}

export interface ConfigurationOptions {
  readonly sources: ConfigSources
  /** `enforce` refuses what came with the project. */
  readonly trust: 'enforce' | 'all'
  readonly makers: Makers
  readonly display?: ((message: Message) => void) | undefined
}

/** What is in force after a load. */
interface InForce {
  readonly config: LoadedConfig
  readonly hooks: readonly Hook[]
  readonly diagnostics: readonly Diagnostic[]
}

export class Configuration {
  readonly #options: ConfigurationOptions
  #inForce: InForce
  #watch: ConfigWatch | undefined
  /** Also of hooks that a reload took away: an event under way may still come to them. */
  readonly #specs: Specs = new WeakMap()
  readonly #reported: Diagnostic[] = []

  private constructor(options: ConfigurationOptions, config: LoadedConfig) {
    this.#options = options
    this.#inForce = this.#made(config)
  }

  static async load(options: ConfigurationOptions): Promise<Configuration> {
    return new Configuration(options, await loadConfig(options.sources))
  }

  /** Reads every file again. A file that cannot be read any more keeps what it said. */
  async reload(): Promise<void> {
    const { sources } = this.#options
    this.#inForce = this.#made(await loadConfig(sources, this.#inForce.config))
  }

  /** Calls back after a file changed, until `close`. What changed before it began is not told. */
  async watch(onChange: () => void, note: (problem: Diagnostic) => void): Promise<void> {
    const { watchConfig } = await import('./config/watch.js')
    await this.#watch?.close()
    this.#watch = await watchConfig(this.#options.sources, onChange, note)
  }

  async close(): Promise<void> {
    await this.#watch?.close()
  }

  get hooks(): readonly Hook[] {
    return this.#inForce.hooks
  }

  get settings(): MergedSettings {
    return this.#inForce.config.settings
  }

  /** What is wrong with the files. */
  get problems(): readonly Diagnostic[] {
    return this.#inForce.diagnostics
  }

  /** Of the files, and the newest of what hooks left behind. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#inForce.diagnostics, ...this.#reported]
  }

  #made(config: LoadedConfig): InForce {
    const { makers, display } = this.#options
    return made(config, makers, this.#specs, { display, report: (d) => this.#report(d) })
  }

  #report(d: Diagnostic): void {
    this.#reported.push(d)
    if (this.#reported.length > MAX_REPORTED) this.#reported.shift()
  }

  /** What a hook runs, in the words of its file. */
  commandOf(hook: Hook): string | undefined {
    const spec = this.#specs.get(hook)
    if (spec?.type !== 'command') return undefined
    return [spec.handler.command, ...(spec.handler.args ?? [])].join(' ')
  }

  /** Why a hook of a file may not run; undefined if it may, or comes from elsewhere. */
  refusal(hook: Hook): Skip | undefined {
    const spec = this.#specs.get(hook)
    if (!spec) return undefined
    if (spec.disabled !== undefined)
      return { why: 'disabled', detail: `it is switched off: ${spec.disabled}` }
    if (this.#options.trust === 'all' || hook.origin.scope === 'user') return undefined
    return {
      why: 'untrusted',
      detail: `Look at ${placeOf(hook.origin)}, then pass --trust-all, or trust: 'all'.`,
    }
  }
}

const MAX_REPORTED = 100

function placeOf({ file, line, source }: Hook['origin']): string {
  return file === undefined ? source : `${file}:${line ?? 1}`
}

type Specs = WeakMap<Hook, ConfiguredHook>

function made(config: LoadedConfig, makers: Makers, specs: Specs, surroundings: Surroundings): InForce {
  const hooks: Hook[] = []
  const diagnostics = [...config.diagnostics]
  for (const given of config.specs) {
    const spec = config.settings.on_failure === 'block' ? closing(given) : given
    const make = makers[spec.type] as ((spec: unknown, surroundings: Surroundings) => Hook) | undefined
    if (!make) {
      diagnostics.push(unsupported(spec, Object.keys(makers)))
      continue
    }
    const hook = make(spec, surroundings)
    specs.set(hook, spec)
    hooks.push(hook)
  }
  return { config, hooks, diagnostics }
}

/** The setting closes every gate, whatever its hook says. */
function closing(spec: ConfiguredHook): ConfiguredHook {
  return { ...spec, hook: { ...spec.hook, onFailure: 'block' } }
}

function unsupported({ type, hook }: ConfiguredHook, supported: readonly string[]): Diagnostic {
  const { file, line } = hook.origin
  return {
    code: 'entry-unsupported',
    text: `${hook.name} does not run: hooks of type "${type}" are not supported; use ${supported.join(', ')}`,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}
