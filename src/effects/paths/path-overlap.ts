// Tells whether two paths with wildcards can be the same. Ignores case, because on many disks `.Claude` is `.claude`.

import { fits, piecesOf } from '../shell/patterns.js'

export type Parts = readonly string[]

/** The parts as the most lenient file system reads them: no case, no invisible characters, no trailing dots or streams. */
export function partsOf(path: string): Parts {
  if (PLAIN.test(path))
    return path
      .toLowerCase()
      .split('/')
      .filter((part) => part !== '')
  const text = path.normalize('NFKC').toLowerCase().replace(INVISIBLE, '')
  return text
    .split('/')
    .map((part) => (/^\.+$/.test(part) ? part : part.replace(/:.*$/, '').replace(/(?<![. ])[. ]{1,64}$/, '')))
    .filter((part) => part !== '' && part !== '.')
}

/** Only letters that every file system reads alike, and no name that ends with a dot. */
const PLAIN = /^(?:\.*[\w*?$@%+,~-]|\/)*$/

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** Whether a shell would expand it: `a*`, `!(a)`. */
export function isPattern(text: string): boolean {
  return /[*?[]|[@!+]\(/.test(text)
}

/** Whether it can match any name: `*`, `.*`, `[!.]*`, `?*`, `!(a)`. */
export function isAny(part: string): boolean {
  return isPattern(part) && simple(part).replace(/[.*]/g, '') === ''
}

/** Classes and `?` count as `*`, which matches more names, never fewer. */
function simple(part: string): string {
  return part
    .replace(/[@!+?*]\(.*\)/, '*')
    .replace(/\[[^\]]*\]|\?/g, '*')
    .replace(/\*+/g, '*')
}

/** `dots`: whether a star also matches a leading dot. In a shell it does not. */
export function canBe(part: string, name: string, wild: boolean, dots: boolean): boolean {
  if (part === name) return true
  const partIsWild = wild && isPattern(part)
  const nameIsWild = isPattern(name)
  if (partIsWild && nameIsWild) return true
  if (partIsWild) {
    if (name.startsWith('.') && !dots && /^[*?[]|^[!+]\(/.test(part)) return false
    return fits(piecesOf(simple(part)), name)
  }
  return nameIsWild && fits(piecesOf(simple(name)), part)
}

/** Whether the parts from `at` on can be these names. */
export function beginsAt(path: Parts, at: number, names: Parts, wild: boolean, dots: boolean): boolean {
  if (at < 0 || at + names.length > path.length) return false
  return names.every((name, i) => canBe(path[at + i] as string, name, wild, dots))
}
