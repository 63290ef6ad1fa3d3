// Finds the rules whose `of` can mean a subject, by the plain text in their patterns, without asking each rule.

import type { EffectKind, Place } from '../effects/effect.js'
import { patternsOf, type Subject } from './effect-kinds.js'
import { partsOf, pathOutline, type Roots } from './path-pattern.js'
import { listOf, MOST_ALTERNATIVES, type Rule } from './rule.js'
import { patternForms, sharedPart } from './spellings.js'
import { alternatives } from './text-pattern.js'

/** The numbers of the rules that may be met, ascending. It may name more rules than are met, never fewer. */
export type Candidates = (subjects: readonly Subject[]) => readonly number[]

export function candidatesAmong(rules: readonly Rule[], kind: EffectKind, roots: Roots): Candidates {
  const all = rules.map((_, i) => i)
  /** Rules without `of` mean every subject. */
  const always = all.filter((i) => rules[i]?.of === undefined)
  const index = INDEXES[patternsOf(kind)](roots, kind)
  rules.forEach(({ of }, i) => {
    const patterns = listOf(of).flatMap((one) => alternatives(one, MOST_ALTERNATIVES) ?? [one])
    for (const pattern of patterns) index.add(pattern, i)
  })
  return (subjects) => {
    const found: number[] = []
    for (const subject of subjects) if (!index.find(subject, found)) return all
    return found.length === 0 ? always : merged(always, found)
  }
}

interface SubjectIndex {
  add(pattern: string, rule: number): void
  /** Adds the rules to `found`. Returns false if it cannot tell, so every rule counts. */
  find(subject: Subject, found: number[]): boolean
}

const INDEXES: Readonly<
  Record<ReturnType<typeof patternsOf>, (roots: Roots, kind: EffectKind) => SubjectIndex>
> = {
  paths: pathIndex,
  programs: commandIndex,
  hosts: nameIndex,
  branches: nameIndex,
  names: nameIndex,
  none: nameIndex,
}

/** Both ascending. `found` may have a rule several times. */
function merged(always: readonly number[], found: number[]): readonly number[] {
  found.sort((a, b) => a - b)
  const all: number[] = []
  let at = 0
  let last = -1
  for (const rule of found) {
    if (rule === last) continue
    while (at < always.length && (always[at] as number) < rule) all.push(always[at++] as number)
    all.push(rule)
    last = rule
  }
  while (at < always.length) all.push(always[at++] as number)
  return all
}

// ---- texts ------------------------------------------------------------------------------------------------------

/** Lower case of other letters depends on their neighbours. */
const ASCII = /^[\0-\x7f]*$/

type Buckets = Map<string, number[]>

function put(buckets: Buckets, key: string, rule: number): void {
  const rules = buckets.get(key)
  if (rules) rules.push(rule)
  else buckets.set(key, [rule])
}

function take(buckets: Buckets, key: string, found: number[]): void {
  const rules = buckets.get(key)
  if (rules) for (const rule of rules) found.push(rule)
}

/** Patterns by their whole text, by how they begin or by how they end. */
class TextIndex {
  readonly #whole: Buckets = new Map()
  /** By length. */
  readonly #starts = new Map<number, Buckets>()
  readonly #ends = new Map<number, Buckets>()
  readonly #others: number[] = []

  addWhole(text: string, rule: number): void {
    if (ASCII.test(text)) put(this.#whole, text, rule)
    else this.#others.push(rule)
  }

  addStart(text: string, rule: number): void {
    this.#addPart(this.#starts, text, rule)
  }

  /** A pattern for a text as a whole. */
  add(pattern: string, rule: number): void {
    const first = pattern.search(/[*?]/)
    if (first < 0) this.addWhole(pattern, rule)
    else if (first > 0) this.addStart(pattern.slice(0, first), rule)
    else this.#addPart(this.#ends, /[^*?]*$/.exec(pattern)?.[0] ?? '', rule)
  }

  #addPart(parts: Map<number, Buckets>, text: string, rule: number): void {
    if (text === '' || !ASCII.test(text)) {
      this.#others.push(rule)
      return
    }
    const buckets = parts.get(text.length) ?? new Map()
    parts.set(text.length, buckets)
    put(buckets, text, rule)
  }

  findWhole(text: string, found: number[]): void {
    take(this.#whole, text, found)
  }

  findParts(text: string, found: number[]): void {
    for (const [length, buckets] of this.#starts)
      if (length <= text.length) take(buckets, text.slice(0, length), found)
    for (const [length, buckets] of this.#ends)
      if (length <= text.length) take(buckets, text.slice(text.length - length), found)
    for (const rule of this.#others) found.push(rule)
  }

  find(text: string, found: number[]): void {
    this.findWhole(text, found)
    this.findParts(text, found)
  }
}

/** Ignores case. */
function nameIndex(_: Roots, kind: EffectKind): SubjectIndex {
  const texts = new TextIndex()
  const shared = (name: string) => sharedPart(name, kind).toLowerCase()
  return {
    add: (pattern, rule) => {
      for (const form of patternForms(pattern, kind)) texts.add(shared(form), rule)
    },
    find: (subject, found) => {
      if ('place' in subject || 'begins' in subject) return false
      // Without a text, no pattern is met, unless any may be.
      if (subject.text === undefined) return !('any' in subject)
      texts.find(shared(subject.text), found)
      for (const name of subject.also ?? []) texts.find(shared(name), found)
      for (const name of subject.maybe ?? []) texts.find(shared(name), found)
      return true
    },
  }
}

function commandIndex(): SubjectIndex {
  const texts = new TextIndex()
  let longest = 0
  const findIn = (command: string, found: number[]) => {
    // A pattern without stars ends where a word of the command does.
    for (let end = command.indexOf(' '); end >= 0 && end <= longest; end = command.indexOf(' ', end + 1))
      texts.findWhole(command.slice(0, end), found)
    if (command.length <= longest) texts.findWhole(command, found)
    texts.findParts(command, found)
  }
  return {
    add: (pattern, rule) => {
      longest = Math.max(longest, pattern.length)
      const first = pattern.search(/[*?]/)
      if (first < 0) texts.addWhole(pattern, rule)
      else texts.addStart(pattern.slice(0, first), rule)
    },
    find: (subject, found) => {
      if ('place' in subject || 'begins' in subject || subject.text === undefined) return false
      const { text } = subject
      findIn(text, found)
      const end = text.indexOf(' ')
      const slash = text.lastIndexOf('/', end < 0 ? undefined : end)
      if (slash >= 0) findIn(text.slice(slash + 1), found)
      return true
    },
  }
}

// ---- paths ------------------------------------------------------------------------------------------------------

/** By the folder that a pattern starts at, and if a name with stars follows, by that name. */
function pathIndex(roots: Roots): SubjectIndex {
  const names = new TextIndex()
  const byStart: Buckets = new Map()
  const starts: (readonly [start: string, rule: number])[] = []
  let isSorted = true
  let hasNames = false
  let longest = 0
  const findDeep = (lower: string, found: number[]) => {
    if (!isSorted) starts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    isSorted = true
    const folder = lower === '/' ? '/' : `${lower}/`
    for (let i = firstFrom(starts, lower === '/' ? '' : lower); i < starts.length; i++) {
      const [start, rule] = starts[i] as readonly [string, number]
      if (start === lower || start === '' || start.startsWith(folder)) found.push(rule)
      // Names such as `a-b` come between `a` and `a/b`.
      else if (!start.startsWith(lower)) break
    }
  }
  const findAbove = (lower: string, found: number[]) => {
    take(byStart, '', found)
    for (let end = lower.indexOf('/', 1); end >= 0 && end <= longest; end = lower.indexOf('/', end + 1))
      take(byStart, lower.slice(0, end), found)
    if (lower.length <= longest) take(byStart, lower, found)
  }
  return {
    add: (pattern, rule) => {
      const { start, name } = pathOutline(pattern, roots)
      longest = Math.max(longest, start.length)
      starts.push([start, rule])
      isSorted = false
      if (name === undefined || !isTelling(name)) put(byStart, start, rule)
      else {
        names.add(name.toLowerCase(), rule)
        hasNames = true
      }
    },
    find: (subject, found) => {
      if (!('place' in subject)) return !('any' in subject || 'begins' in subject)
      const { place } = subject
      if (!isPlain(place)) return false
      const parts = partsOf(place)
      findAbove(parts.lower, found)
      if (hasNames) for (const name of parts.names) names.find(name.toLowerCase(), found)
      if (place.deep) findDeep(parts.lower, found)
      return true
    },
  }
}

/** Whether few names begin or end like this pattern. Otherwise the folder says more about a path. */
function isTelling(name: string): boolean {
  return /^[^*?]|[^*?]{2}$/.test(name)
}

/** Whether it is one path. The text of others says little about what they mean. */
function isPlain({ known, wild }: Place): boolean {
  return known && !wild
}

/** Where the starts from this one on begin, in a sorted list. */
function firstFrom(starts: readonly (readonly [string, number])[], start: string): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle]?.[0] ?? '') < start) low = middle + 1
    else high = middle
  }
  return low
}
