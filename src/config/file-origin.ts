// Where a configured hook stands: file and line, the line looked up when somebody asks.

import type { Origin } from '../core/hooks/hook.js'
import type { ConfigFile } from './config-file.js'
import type { JsonPath } from './json-text.js'
import type { Owner } from './owner.js'

/** Most hooks are never shown, and to find lines takes longer than to load. A copy (`{ ...origin }`, JSON) has the line too. */
export class FileOrigin implements Origin {
  readonly scope: Owner['scope']
  readonly source: string
  readonly file: string
  /** SHA-256 of what the entry says: it decides whether these very words were trusted. */
  readonly hash: string
  declare readonly line: number
  readonly #text: ConfigFile['json']
  readonly #at: JsonPath
  #line: number | undefined

  /** One getter for all: an object with a getter of its own takes three times as long to make. */
  static readonly #lineProperty: PropertyDescriptor & ThisType<FileOrigin> = {
    enumerable: true,
    get() {
      this.#line ??= this.#text.lineOf(this.#at)
      return this.#line
    },
  }

  constructor({ scope, source }: Owner, { path, json }: ConfigFile, at: JsonPath, hash: string) {
    this.scope = scope
    this.source = source
    this.file = path
    this.hash = hash
    this.#text = json
    this.#at = at
    Object.defineProperty(this, 'line', FileOrigin.#lineProperty)
  }
}
