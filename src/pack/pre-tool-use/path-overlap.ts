// Whether two paths, each with wildcards, can be the same. Names are compared without case: on many disks `.Claude` is `.claude`.

import { fits, piecesOf } from '../../shell/patterns.js'

export type Parts = readonly string[]

/** As the most lenient of disks takes it: without case, without invisible characters, dots and streams at the end. */
export function partsOf(path: string): Parts {
  const text = path.normalize('NFKC').toLowerCase().replace(INVISIBLE, '')
  return text
    .split('/')
    .map((part) => (/^\.+$/.test(part) ? part : part.replace(/:.*$/, '').replace(/(?<![. ])[. ]{1,64}$/, '')))
    .filter((part) => part !== '' && part !== '.')
}

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** Whether a shell would look for names that fit: `a*`, `!(a)`. */
export function isPattern(text: string): boolean {
  return /[*?[]|[@!+]\(/.test(text)
}

/** What may stand for any name: `*`, `.*`, `[!.]*`, `?*`, `!(a)`. */
export function isAny(part: string): boolean {
  return isPattern(part) && simple(part).replace(/[.*]/g, '') === ''
}

/** Classes and `?` count as `*`: more names, never fewer. */
function simple(part: string): string {
  return part
    .replace(/[@!+?*]\(.*\)/, '*')
    .replace(/\[[^\]]*\]|\?/g, '*')
    .replace(/\*+/g, '*')
}

/** `dots`: whether a star stands for the dot that a name begins with; for a shell it does not. */
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

/** Whether the first parts can be these names, from `at` on. */
export function beginsAt(path: Parts, at: number, names: Parts, wild: boolean, dots: boolean): boolean {
  if (at < 0 || at + names.length > path.length) return false
  return names.every((name, i) => canBe(path[at + i] as string, name, wild, dots))
}
