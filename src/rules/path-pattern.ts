// Patterns for paths: `*` and `?` stay within a name, `**` stands for folders. Matching takes linear time.

import { posix } from 'node:path'
import type { Place } from '../effects/effect.js'
import { type TextTest, textPattern } from './text-pattern.js'

/** The folders that patterns start from. Absolute. */
export interface Roots {
  readonly project: string
  readonly home: string
}

/**
 * `may`: the place could be what the pattern means, or hold it. `must`: everything that the place stands for is meant.
 * A guard uses the first for what it forbids, and the second for what it permits.
 */
export type Certainty = 'may' | 'must'

export type PlaceTest = (place: Place, certainty: Certainty) => boolean

type Segment = { readonly any: 'folders' | 'rest' } | NameSegment

interface NameSegment {
  readonly any?: undefined
  readonly text: string
  readonly isPlain: boolean
  readonly test: TextTest
}

/**
 * A pattern without `/` or `~` at its beginning starts at the project. It means the path itself and everything below;
 * `folder/**` means only what is below.
 */
export function pathPattern(pattern: string, roots: Roots): PlaceTest {
  const segments = segmentsOf(pattern, roots)
  const own = ownSegments(pattern, segments)
  const start = plainStart(segments)
  const ending = simpleEnding(segments)
  return (place, certainty) => {
    if (!place.known) return certainty === 'may' && sharesName(own, place.path)
    if (!place.wild) {
      if (isElsewhere(start, place)) return false
      const { names, lower } = partsOf(place)
      // The place is at the plain start or below it, where a simple pattern needs no following.
      if (ending && certainty === 'may' && lower.length >= start.length) return ending(names, place.deep)
    }
    const reach = reachOf(segments, place, certainty)
    return reach === 'meant' || (certainty === 'may' && place.deep && reach === 'below')
  }
}

function segmentsOf(pattern: string, roots: Roots): readonly Segment[] {
  const names = absoluteOf(pattern, roots)
    .normalize('NFC')
    .split('/')
    .filter((name) => name !== '')
  return names.map((name, i): Segment => {
    if (name === '**') return { any: i === names.length - 1 ? 'rest' : 'folders' }
    return { text: name, isPlain: !/[*?]/.test(name), test: textPattern(name) }
  })
}

/**
 * What every path has that the pattern means: it is at the start or below it, and has the name below the start, if there
 * is one. A deep place may also be at the start or above it.
 */
export function pathOutline(
  pattern: string,
  roots: Roots,
): { readonly start: string; readonly name?: string } {
  // Most rules are never met, so their patterns are not read any further.
  const path = absoluteOf(pattern, roots).replace(/\/+$/, '')
  const first = path.search(/[*?]/)
  if (first < 0) return { start: path.toLowerCase() }
  const end = path.lastIndexOf('/', first)
  const start = path.slice(0, end).toLowerCase()
  const [name = '', next = '**'] = path.slice(end + 1).split('/', 2)
  const certain = name === '**' ? next : name
  return certain === '**' ? { start } : { start, name: certain }
}

function absoluteOf(pattern: string, { project, home }: Roots): string {
  if (pattern === '~') return home
  if (pattern.startsWith('~/')) return posix.join(home, pattern.slice(2))
  return pattern.startsWith('/') ? posix.normalize(pattern) : posix.join(project, pattern)
}

/**
 * Tells of a path that is at the plain start of the pattern or below it whether it is meant: `~/.ssh`, `build/**`,
 * `**\/*.pem`. Undefined for other patterns.
 */
function simpleEnding(
  segments: readonly Segment[],
): ((names: readonly string[], deep: boolean) => boolean) | undefined {
  const count = segments.findIndex((segment) => segment.any !== undefined || !segment.isPlain)
  const [first, second] = count < 0 ? [] : segments.slice(count)
  if (first === undefined) return () => true
  if (first.any === 'rest') return ({ length }, deep) => deep || length > count
  if (first.any !== 'folders' || second?.any !== undefined || segments.length !== count + 2) return undefined
  const { test } = second as NameSegment
  return (names) => names.some((name, i) => i >= count && test(name, true))
}

/** The folder that everything is in that the pattern means, in lower case. */
function plainStart(segments: readonly Segment[]): string {
  const end = segments.findIndex((segment) => segment.any !== undefined || !segment.isPlain)
  const names = segments.slice(0, end < 0 ? undefined : end).map((segment) => (segment as NameSegment).text)
  return names.map((name) => `/${name.toLowerCase()}`).join('')
}

/** Most places are, and this is much faster than following the pattern. */
function isElsewhere(start: string, place: Place): boolean {
  const { lower } = partsOf(place)
  if (lower.startsWith(start) && (lower.length === start.length || lower[start.length] === '/')) return false
  return !(place.deep && (lower === '/' || start.startsWith(`${lower}/`)))
}

export interface Parts {
  readonly path: string
  readonly names: readonly string[]
  readonly lower: string
}

/** Every pattern of every rule looks at the same path, one after another. */
let last: Parts = { path: '', names: [], lower: '/' }

export function partsOf({ path }: Pick<Place, 'path'>): Parts {
  if (path === last.path) return last
  // Some file systems take both spellings of an accent for the same name.
  const names = path
    .normalize('NFC')
    .split('/')
    .filter((name) => name !== '' && name !== '.')
  last = { path, names, lower: `/${names.join('/').toLowerCase()}` }
  return last
}

/** `below`: the place is a folder in which the pattern means something. */
type Reach = 'meant' | 'below' | 'none'

/** Follows all ways through the pattern at once. */
function reachOf(segments: readonly Segment[], place: Place, certainty: Certainty): Reach {
  const { wild } = place
  const { names } = partsOf(place)
  let at = withSkips(segments, new Set([0]))
  for (const [i, name] of names.entries()) {
    if (at.has(segments.length)) return 'meant'
    if (at.size === 0) return 'none'
    if (wild && name === '**') {
      if (certainty === 'must') {
        at = withSkips(segments, new Set([...at].filter((one) => segments[one]?.any !== undefined)))
        continue
      }
      const rest = names.slice(i + 1)
      // Everything in the folder, or everything with a certain name.
      if (rest.every((one) => one === '*' || one === '**')) return isAnchored(segments, at) ? 'meant' : 'none'
      at = new Set([...at, segments.length - 1])
    } else at = step(segments, at, { name, wild, certainty })
  }
  if (at.has(segments.length)) return 'meant'
  return isAnchored(segments, at) ? 'below' : 'none'
}

/**
 * Whether the pattern goes on with a certain name in this very folder. `**\/.env` could be in every folder, so a folder
 * that is affected as a whole does not count.
 */
function isAnchored(segments: readonly Segment[], at: ReadonlySet<number>): boolean {
  const first = segments.findIndex(({ any }) => any === 'folders')
  return [...at].some((i) => first < 0 || i < first)
}

interface Name {
  readonly name: string
  readonly wild: boolean
  readonly certainty: Certainty
}

function step(segments: readonly Segment[], at: ReadonlySet<number>, name: Name): Set<number> {
  const next = new Set<number>()
  for (const i of at) {
    const segment = segments[i]
    if (!segment) continue
    if (segment.any === 'folders') next.add(i)
    else if (segment.any === 'rest' || isMeant(segment as NameSegment, name)) next.add(i + 1)
  }
  return withSkips(segments, next)
}

/** `**` in the middle may stand for no folder at all. */
function withSkips(segments: readonly Segment[], at: Set<number>): Set<number> {
  for (const i of at) if (segments[i]?.any === 'folders') at.add(i + 1)
  return at
}

/** Some file systems ignore case. */
function isMeant(segment: NameSegment, { name, wild, certainty }: Name): boolean {
  const isOpen = wild && /[*?[]/.test(name)
  if (!isOpen) return segment.test(name, certainty === 'may')
  if (certainty === 'must') return segment.text === '*' || segment.text === name
  // In a shell, a star does not stand for names that begin with a dot.
  if (segment.text.startsWith('.') && !name.startsWith('.')) return false
  return segment.isPlain ? textPattern(looser(name))(segment.text, true) : mayMeet(segment.text, name)
}

/** A class such as `[a-c]` may be any character. */
function looser(name: string): string {
  return name.replace(/\[[^\]]*\]/g, '?')
}

/** Whether two patterns can mean the same name, judged by how they begin and end. */
function mayMeet(one: string, other: string): boolean {
  const start = (text: string) => /^[^*?[]*/.exec(text)?.[0].toLowerCase() ?? ''
  const [a, b, c, d] = [start(one), start(other), certainEnd(one), certainEnd(other)]
  return (a.startsWith(b) || b.startsWith(a)) && (c.endsWith(d) || d.endsWith(c))
}

/** What comes after the last star. A regular expression would look for it from each letter on. */
function certainEnd(name: string): string {
  let at = name.length
  while (at > 0 && !'*?]'.includes(name[at - 1] as string)) at--
  return name.slice(at).toLowerCase()
}

/** The part that the author wrote, without the project's or home folder before it. */
function ownSegments(pattern: string, segments: readonly Segment[]): readonly Segment[] {
  const written = posix.normalize(pattern.replace(/^~\/?/, '')).split('/')
  const count = written.filter((name) => name !== '' && name !== '.' && name !== '..').length
  return count === 0 ? [] : segments.slice(-count)
}

/** For a path that only the running shell knows, such as `$DIR/.ssh`: whether the known names are those of the pattern. */
function sharesName(segments: readonly Segment[], path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.' && !/[$`*?[]/.test(name))
  return segments.some(
    (segment) =>
      segment.any === undefined &&
      /[^*?]/.test(segment.text) &&
      names.some((name) => segment.test(name, true)),
  )
}
