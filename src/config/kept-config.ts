// A configuration that was loaded before, as long as loading it again would lead to the same one.

import { callerNow } from '../core/base/caller.js'
import { dataHome } from '../files/homes.js'
import { Looks } from '../files/looks.js'
import type { ConfigSources } from './discovery.js'
import { type LoadedConfig, loadConfig } from './load.js'

/**
 * For one set of sources. A configuration also depends on the home of our own data and, in a process that works for
 * itself, on its working folder. Everything else that it depends on is a file or a folder, there or missing: `Looks` has
 * all of them.
 */
export class KeptConfig {
  readonly #sources: ConfigSources
  #kept:
    | { readonly config: LoadedConfig; readonly looks: Looks; readonly from: string | undefined }
    | undefined

  constructor(sources: ConfigSources) {
    this.#sources = sources
  }

  /** With `previous`, a file that cannot be read now keeps its last good text. */
  async load(previous?: LoadedConfig): Promise<LoadedConfig> {
    const from = surroundings()
    if (from !== undefined && this.#kept?.from === from && this.#kept.looks.hold()) return this.#kept.config
    const looks = new Looks()
    const config = await loadConfig(this.#sources, previous, looks)
    this.#kept = { config, looks, from }
    return config
  }
}

/** Callers of a service name absolute paths. Undefined if the working folder is gone. */
function surroundings(): string | undefined {
  try {
    return callerNow() ? dataHome() : `${dataHome()}\0${process.cwd()}`
  } catch {
    return undefined
  }
}
