// Links on the disk: an effect on a link is also one on the file that it leads to.

import { posix } from 'node:path'
import { isBelow, type RealPaths } from '../files/within.js'
import type { Effect, Place } from './effect.js'
import { isLink } from './paths/on-disk.js'

const PATTERN = /[*?[]/

/** No system opens a longer path. */
const LONGEST = 4096

export class Links {
  readonly #roots: { readonly projectDir: string; readonly home: string }
  readonly #real: RealPaths

  constructor(roots: { readonly projectDir: string; readonly home: string }, real: RealPaths) {
    this.#roots = roots
    this.#real = real
  }

  /** The same list if no effect is on a link. */
  followed(effects: readonly Effect[]): readonly Effect[] {
    let all: Effect[] | undefined
    for (let i = 0; i < effects.length; i++) {
      const effect = effects[i] as Effect
      const behind = this.#behind(effect)
      if (behind && !all) all = effects.slice(0, i)
      all?.push(effect)
      if (behind) all?.push(behind)
    }
    return all ?? effects
  }

  /** The same effect on the file that a link leads to. */
  #behind(effect: Effect): Effect | undefined {
    if (!('place' in effect) || !effect.place?.known || effect.place.path.length > LONGEST) return undefined
    const { kind, place } = effect
    // It would lead to the number of this process.
    if (place.path.startsWith('/proc/self/')) return undefined
    // A link that is deleted or moved leaves the file behind it as it is.
    const real = this.#realPath(place, kind !== 'delete' && kind !== 'move')
    if (real === place.path) return undefined
    const path = this.#asNamed(this.#asNamed(real, this.#roots.home), this.#roots.projectDir)
    return path === place.path ? undefined : ({ ...effect, place: { ...place, path } } as Effect)
  }

  #realPath({ path, wild }: Place, follows: boolean): string {
    const at = wild ? path.search(PATTERN) : -1
    const end = path.lastIndexOf('/', at < 0 ? undefined : at)
    if (end <= 0) return path
    const folder = path.slice(0, end)
    const real = this.#real.of(folder)
    if (at < 0 && follows && isLink(path)) return this.#real.of(path)
    return real === folder ? path : posix.join(real, path.slice(end))
  }

  /** A folder that is itself behind a link keeps the name by which everybody knows it. */
  #asNamed(path: string, folder: string): string {
    const real = this.#real.of(folder)
    return isBelow(path, real) ? folder + path.slice(real.length) : path
  }
}
