// Matchers: which values of an event's matcher field a hook wants. Patterns come from strangers, so they match in linear time.

import { RE2JS } from 're2js'
import { FORMER_TOOL_NAMES } from './catalogue.js'
import { type Diagnostic, HookError, textOf } from './errors.js'
import { isObject } from './json.js'

/** As people write it: a list, a pattern, or BeamAgent's object form. */
export type MatcherSpec = string | { readonly tool_name?: string }

export interface Matcher {
  /** As written, for people. */
  readonly pattern: string
  readonly test: (value: string) => boolean
}

export interface MatcherOptions {
  /** `search` finds a pattern anywhere (Claude Code), `fullmatch` wants the whole value (Amplifier shell hooks). */
  readonly matching?: 'search' | 'fullmatch'
  /** FileChanged and StopFailure split on `|` only, and know fewer exact characters. */
  readonly narrow?: boolean
  readonly note?: (d: Diagnostic) => void
}

const EXACT = /^[A-Za-z0-9_\- ,|]+$/
const EXACT_NARROW = /^[A-Za-z0-9_|]+$/
const NATIVE_LIMIT = 256

/** Null matches everything. Throws MATCHER_INVALID for what is no pattern at all. */
export function compileMatcher(
  spec: MatcherSpec | null | undefined,
  options: MatcherOptions = {},
): Matcher | null {
  const pattern = isObject(spec) ? spec.tool_name : spec
  if (pattern === undefined || pattern === null || pattern === '' || pattern === '*') return null
  if (typeof pattern !== 'string') {
    throw new HookError('MATCHER_INVALID', `A matcher must be a string, got ${JSON.stringify(pattern)}`)
  }
  const exact = options.narrow ? EXACT_NARROW : EXACT
  if (options.matching !== 'fullmatch' && exact.test(pattern)) {
    return exactMatcher(pattern, options.narrow ? /\|/ : /[|,]/)
  }
  return patternMatcher(pattern, options)
}

/** What a pattern that is no valid expression becomes in a configuration file: compared as it stands. */
export function literalMatcher(pattern: string): Matcher {
  return { pattern, test: (value) => value === pattern }
}

function exactMatcher(pattern: string, separator: RegExp): Matcher {
  const names = new Set(pattern.split(separator).map((name) => name.trim()))
  return { pattern, test: (value) => namesOf(value).some((name) => names.has(name)) }
}

function patternMatcher(pattern: string, options: MatcherOptions): Matcher {
  const source = options.matching === 'fullmatch' ? `^(?:${pattern})$` : pattern
  let native: RegExp
  try {
    native = new RegExp(source)
  } catch (error) {
    throw new HookError(
      'MATCHER_INVALID',
      `The matcher ${JSON.stringify(pattern)} is not valid: ${textOf(error)}`,
    )
  }
  const linear = linearTest(source) ?? nativeTest(pattern, native, options.note)
  return { pattern, test: (value) => namesOf(value).some(linear) }
}

function linearTest(source: string): ((value: string) => boolean) | undefined {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
    return (value) => compiled.matcher(value).find()
  } catch {
    return undefined // the linear engine cannot express it; the caller decides what is safe
  }
}

/** Lookaround with few, not nested quantifiers cannot run away on short values. All else matches everything: more often, never less. */
function nativeTest(
  pattern: string,
  native: RegExp,
  note?: (d: Diagnostic) => void,
): (value: string) => boolean {
  const risky = /\\[1-9]|\\k</.test(pattern) || nestsQuantifiers(pattern) || countQuantifiers(pattern) > 3
  note?.({
    code: 'matcher-unsafe',
    text: risky
      ? `the matcher ${JSON.stringify(pattern)} cannot be matched in linear time, so the hook runs for every value`
      : `the matcher ${JSON.stringify(pattern)} is matched on at most ${NATIVE_LIMIT} characters; longer values match`,
  })
  if (risky) return () => true
  return (value) => value.length > NATIVE_LIMIT || native.test(value)
}

/** A quantifier on a group that holds a quantifier or an alternative, `(a+)+`. Errs on the side of yes. */
function nestsQuantifiers(pattern: string): boolean {
  const holds: boolean[] = [false]
  const text = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '(') {
      holds.push(false)
      if (text[i + 1] === '?') i++
    } else if (char === ')') {
      const inner = holds.pop() ?? false
      const quantified = /[*+{?]/.test(text[i + 1] ?? '')
      if (inner && quantified) return true
      if (inner || quantified) holds[holds.length - 1] = true
    } else if (char && /[*+{?|]/.test(char)) holds[holds.length - 1] = true
  }
  return false
}

/** Each unbounded repetition in sequence multiplies the work by the length of the value. */
function countQuantifiers(pattern: string): number {
  return pattern.replace(/\\./g, 'x').match(/[*+{]/g)?.length ?? 0
}

function namesOf(value: string): readonly string[] {
  const former = Object.hasOwn(FORMER_TOOL_NAMES, value) ? FORMER_TOOL_NAMES[value] : undefined
  return former ? [value, ...former] : [value]
}
