// Matchers: which values of an event's matcher field a hook wants. Patterns come from strangers, so they match in linear time.

import { RE2JS } from 're2js'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { isObject, isPlain } from '../base/json.js'
import { shown } from '../base/text.js'
import { FORMER_TOOL_NAMES } from '../events/catalogue.js'
import { hasBackReference, linearSource, runsAway } from './pattern.js'

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
/** A pattern that only backtracking can match is not tried on values longer than this. */
const NATIVE_LIMIT = 256
/** To compile a longer pattern takes seconds, and no list of tools needs one: lists are no patterns. */
const PATTERN_LIMIT = 2000
/** `[a-z]{1,1000}` is written out by the linear engine, and inside another repeat that many times over. */
const REPEAT_LIMIT = 300

/** Null matches everything. Throws MATCHER_INVALID for what is no pattern at all. */
export function compileMatcher(
  spec: MatcherSpec | null | undefined,
  options: MatcherOptions = {},
): Matcher | null {
  const pattern = isObject(spec) && isPlain(spec) ? toolNameOf(spec) : spec
  if (pattern === undefined || pattern === null || pattern === '' || pattern === '*') return null
  if (typeof pattern !== 'string') {
    throw new HookError(
      'MATCHER_INVALID',
      `A matcher must be a string or { tool_name }, got ${shown(pattern)}`,
    )
  }
  const exact = options.narrow ? EXACT_NARROW : EXACT
  if (options.matching !== 'fullmatch' && exact.test(pattern)) {
    return exactMatcher(pattern, options.narrow ? /\|/ : /[|,]/)
  }
  return patternMatcher(pattern, options)
}

/** A misspelt key would otherwise match everything. */
function toolNameOf(spec: { readonly tool_name?: unknown }): unknown {
  const unknown = Object.keys(spec).filter((key) => key !== 'tool_name')
  if (unknown.length > 0) {
    throw new HookError(
      'MATCHER_INVALID',
      `A matcher object has tool_name and nothing else, got ${shown(unknown.join(', '))}`,
    )
  }
  return spec.tool_name
}

function exactMatcher(pattern: string, separator: RegExp): Matcher {
  const names = new Set(pattern.split(separator).map((name) => name.trim()))
  return { pattern, test: (value) => namesOf(value).some((name) => names.has(name)) }
}

function patternMatcher(pattern: string, { matching, note }: MatcherOptions): Matcher {
  if (pattern.length > PATTERN_LIMIT || repeats(pattern) > REPEAT_LIMIT) {
    const text = `the matcher ${shown(pattern)} is too large a pattern, so the hook runs for every value`
    note?.({ code: 'matcher-unsafe', text })
    return { pattern, test: () => true }
  }
  const native = compileNative(pattern, matching === 'fullmatch')
  const linear = hasBackReference(pattern) ? undefined : compileLinear(native.source)
  if (linear) return { pattern, test: (value) => finds(value, (name) => linear.matcher(name).find()) }
  if (hasBackReference(pattern) || runsAway(pattern, NATIVE_LIMIT)) {
    const text = `the matcher ${shown(pattern)} cannot be matched in linear time, so the hook runs for every value`
    note?.({ code: 'matcher-unsafe', text })
    return { pattern, test: () => true }
  }
  const text = `the matcher ${shown(pattern)} is matched on at most ${NATIVE_LIMIT} characters; longer values match`
  note?.({ code: 'matcher-unsafe', text })
  return {
    pattern,
    test: (value) => value.length > NATIVE_LIMIT || finds(value, (name) => native.test(name)),
  }
}

/** How often the counted repeats of a pattern write something out, at most. */
function repeats(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
  return counts.reduce((product, [, least, most]) => product * Math.max(1, Number(most || least)), 1)
}

/** An engine that gives up (a pattern of a hundred thousand characters overflows its stack) has found nothing out: more often, never less. */
function finds(value: string, test: (name: string) => boolean): boolean {
  try {
    return namesOf(value).some(test)
  } catch {
    return true
  }
}

/** The pattern must be valid by itself: `a)|(b` is not, although `^(?:a)|(b)$` would be. */
function compileNative(pattern: string, whole: boolean): RegExp {
  try {
    const native = new RegExp(pattern)
    return whole ? new RegExp(`^(?:${pattern})$`) : native
  } catch (error) {
    throw new HookError('MATCHER_INVALID', `The matcher ${shown(pattern)} is not valid: ${textOf(error)}`)
  }
}

/** Undefined where the linear engine cannot express it; the caller decides what is safe. */
function compileLinear(source: string): RE2JS | undefined {
  try {
    const linear = linearSource(source)
    return linear === undefined ? undefined : RE2JS.compile(linear)
  } catch {
    return undefined
  }
}

function namesOf(value: string): readonly string[] {
  const former = Object.hasOwn(FORMER_TOOL_NAMES, value) ? FORMER_TOOL_NAMES[value] : undefined
  return former ? [value, ...former] : [value]
}
