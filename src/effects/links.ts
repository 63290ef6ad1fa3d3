// Links on the disk: an effect on a link is also one on the file that it leads to.

import { posix } from 'node:path'
import { isBelow, realOf } from '../files/within.js'
import type { Effect, Place } from './effect.js'
import { isLink } from './paths/on-disk.js'

const PATTERN = /[*?[]/

/** No system opens a longer path. */
const LONGEST = 4096

/** Looks at each folder once. */
export class Links {
  readonly #roots: { readonly projectDir: string; readonly home: string }
  readonly #known = new Map<string, string>()

  constructor(roots: { readonly projectDir: string; readonly home: string }) {
    this.#roots = roots
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
    const real = this.#realFolder(folder)
    if (at < 0 && follows && isLink(path)) return realOf(path)
    return real === folder ? path : posix.join(real, path.slice(end))
  }

  #realFolder(folder: string): string {
    const known = this.#known.get(folder)
    if (known !== undefined) return known
    const real = realOf(folder)
    this.#known.set(folder, real)
    return real
  }

  /** A folder that is itself behind a link keeps the name by which everybody knows it. */
  #asNamed(path: string, folder: string): string {
    const real = this.#realFolder(folder)
    return isBelow(path, real) ? folder + path.slice(real.length) : path
  }
}
