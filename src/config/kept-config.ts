// The configuration that a service loaded for an earlier call, as long as loading it again would lead to the same one.

import { Looks } from '../files/looks.js'
import type { ConfigSources } from './discovery.js'
import { type LoadedConfig, loadConfig } from './load.js'

/**
 * For one set of sources and one home, which do not change while a service runs. Everything else that a configuration
 * is made from are files and folders, those that are missing included: `Looks` has all of them.
 */
export class KeptConfig {
  readonly #sources: ConfigSources
  #kept: { readonly config: LoadedConfig; readonly looks: Looks } | undefined

  constructor(sources: ConfigSources) {
    this.#sources = sources
  }

  async load(): Promise<LoadedConfig> {
    if (this.#kept?.looks.hold()) return this.#kept.config
    const looks = new Looks()
    const config = await loadConfig(this.#sources, undefined, looks)
    this.#kept = { config, looks }
    return config
  }
}
