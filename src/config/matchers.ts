// Compiles the matchers of configuration files, once per pattern. Never throws; comments on suspicious patterns.

import { type Diagnostic, textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import type { EventKind } from '../core/events/events.js'
import { compileMatcher, expandedLength, type Matcher } from '../core/hooks/matcher.js'
import { asRule, KNOWN_TOOLS, slipsOf } from './matcher-slips.js'

export type Matching = 'search' | 'fullmatch'

export interface CompiledMatcher {
  readonly matcher: Matcher | null
  readonly remarks: readonly Pick<Diagnostic, 'code' | 'text' | 'todo'>[]
}

/** So many characters of matchers, with their repeats expanded, are examined for slips. The check runs each on every known tool. */
const MOST_EXAMINED = 8_000

/** So many characters of different patterns may be in one file. No file of hooks needs a tenth of it. */
export const MOST_PATTERNS = 100_000

/** Caches patterns, because plugins often use the same ones. */
export class Matchers {
  #left = MOST_EXAMINED
  readonly #compiled = new Map<string, Map<string, CompiledMatcher>>()

  /** Returns a problem for anything that is not a matcher. An invalid pattern is compared literally. */
  compile(
    spec: unknown,
    kind: EventKind,
    matching: Matching,
  ): CompiledMatcher | { readonly problem: string; readonly todo: string } {
    if (spec === undefined) return NO_MATCHER
    if (typeof spec !== 'string') return fromObject(spec, kind, matching)
    const known = this.#ofEvent(kind, matching)
    let compiled = known.get(spec)
    if (!compiled) {
      this.#left -= expandedLength(spec)
      compiled = fromPattern(spec, kind, matching, this.#left >= 0)
      known.set(spec, compiled)
    }
    return compiled
  }

  #ofEvent({ name }: EventKind, matching: Matching): Map<string, CompiledMatcher> {
    const key = matching === 'search' ? name : `${matching} ${name}`
    let known = this.#compiled.get(key)
    if (!known) {
      known = new Map()
      this.#compiled.set(key, known)
    }
    return known
  }
}

const NO_MATCHER: CompiledMatcher = { matcher: null, remarks: [] }

/** What a pattern matches that may not be compiled: more, never less. */
export function matchingAll(pattern: string): Matcher {
  return { pattern, test: () => true }
}

function fromPattern(
  spec: string,
  kind: EventKind,
  matching: Matching,
  isExamined: boolean,
): CompiledMatcher {
  const remarks: Diagnostic[] = []
  try {
    const matcher = compileMatcher(spec, {
      matching,
      narrow: kind.narrowMatcher,
      note: (d) => remarks.push({ ...d, todo: simplerThan(spec) }),
    })
    if (matcher === null || remarks.length > 0 || !isExamined) return { matcher, remarks }
    const guess = kind.matcher === 'tool_name' ? suspicion(spec) : undefined
    if (guess) return { matcher, remarks: [{ code: 'matcher-invalid', ...guess }] }
    const slips = slipsOf(matcher, kind).slips.filter(({ mayBeFine }) => !mayBeFine)
    return { matcher, remarks: slips.map(({ text, fix }) => ({ code: 'matcher-never', text, todo: fix })) }
  } catch (error) {
    const text = `${textOf(error)}; it matches only a value that is exactly this text`
    return {
      matcher: { pattern: spec, test: (value) => value === spec },
      remarks: [{ code: 'matcher-invalid', text, todo: validFor(spec) }],
    }
  }
}

function simplerThan(pattern: string): string {
  return `Change "matcher" from ${shown(pattern)} to a list of names such as "Write|Edit", or a simpler pattern without \\1.`
}

/** The tool names in an invalid pattern, as a valid one. */
function validFor(pattern: string): string {
  const names = pattern.match(/\w+/g) ?? []
  const right =
    names.length > 0 && names.every((name) => KNOWN_TOOLS.includes(name))
      ? `"${names.join('|')}"`
      : 'a list of names such as "Write|Edit", or a valid regular expression'
  return asRule(pattern) ?? `Change "matcher" from ${shown(pattern)} to ${right}.`
}

/** Accepts BeamAgent's `{ tool_name }` and no other object. */
function fromObject(spec: unknown, kind: EventKind, matching: Matching): ReturnType<Matchers['compile']> {
  const wanted = 'the matcher must be a string such as "Write|Edit"'
  const todo = `Change "matcher" from ${shown(spec)} to a string such as "Write|Edit".`
  if (!isObject(spec)) return { problem: `${wanted}, got ${shown(spec)}`, todo }
  const { tool_name: pattern, ...others } = spec
  if (Object.keys(others).length > 0 || (pattern !== undefined && typeof pattern !== 'string')) {
    return { problem: `${wanted} or { "tool_name": … }, got ${shown(spec)}`, todo }
  }
  if (pattern === undefined) return NO_MATCHER
  return fromPattern(pattern as string, kind, matching, expandedLength(pattern as string) <= MOST_EXAMINED)
}

/** Looks for characters that no tool name has: such a pattern was meant as a rule or an expression, and never matches. */
function suspicion(pattern: string): Pick<Diagnostic, 'text' | 'todo'> | undefined {
  const outsideClasses = pattern.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '')
  if (!/[()*+?^$.=&"'/:]/.test(outsideClasses) || !/[\s/="'&]/.test(outsideClasses)) return undefined
  const rule = asRule(pattern)
  const hint = rule ? `name the tool here and put the rule in "if"` : 'write a list such as "Write|Edit"'
  const text = `the matcher ${shown(pattern)} does not look like a pattern for tool names, so it may never match; ${hint}`
  return { text, todo: rule ?? validFor(pattern) }
}
