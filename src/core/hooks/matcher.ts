// Matchers: which values of an event's matcher field a hook wants. Patterns are third-party text, so they match in linear time.

import { RE2JS } from 're2js'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { isObject, isPlain } from '../base/json.js'
import { shown } from '../base/text.js'
import { formerNamesOf } from '../events/catalogue.js'
import { hasBackReference, linearSource, readPattern, runsAway } from './pattern.js'

/** A matcher as people write it: a list, a pattern, or BeamAgent's object form. */
export type MatcherSpec = string | { readonly tool_name?: string }

export interface Matcher {
  /** The pattern as written, for people. */
  readonly pattern: string
  readonly test: (value: string) => boolean
}

export interface MatcherOptions {
  /** `search` finds a pattern anywhere (Claude Code); `fullmatch` must match the whole value (Amplifier shell hooks). */
  readonly matching?: 'search' | 'fullmatch'
  /** The event's `narrowMatcher`: splits on `|` only, and treats fewer characters as part of an exact list. */
  readonly narrow?: boolean | undefined
  readonly note?: (d: Diagnostic) => void
}

const EXACT = /^[A-Za-z0-9_\- ,|]+$/
const EXACT_NARROW = /^[A-Za-z0-9_|]+$/
/** A pattern that needs backtracking is not tried on values longer than this. */
const NATIVE_LIMIT = 256
/** Compiling a longer pattern takes seconds. A list of tools can be longer, because lists are not patterns. */
const PATTERN_LIMIT = 2000
/** The linear engine expands `[a-z]{1,1000}`, and nested repeats multiply. */
const REPEAT_LIMIT = 300

/** Null matches everything. Throws MATCHER_INVALID for an invalid pattern. */
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
      spec instanceof RegExp ? { hint: `Write its source as a string: ${shown(spec.source)}.` } : {},
    )
  }
  const exact = options.narrow ? EXACT_NARROW : EXACT
  if (options.matching !== 'fullmatch' && exact.test(pattern)) {
    return exactMatcher(pattern, options.narrow ? /\|/ : /[|,]/)
  }
  return patternMatcher(pattern, options)
}

/** Refuses a misspelt key, which would otherwise match everything. */
function toolNameOf(spec: { readonly tool_name?: unknown }): unknown {
  const unknown = Object.keys(spec).filter((key) => key !== 'tool_name')
  if (unknown.length > 0) {
    throw new HookError(
      'MATCHER_INVALID',
      `A matcher object may only have tool_name, got ${shown(unknown.join(', '))}`,
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
  const { native, linear } = read(pattern, matching === 'fullmatch')
  if (linear !== undefined) return linearMatcher(pattern, linear, native)
  if (!native || runsAway(native.source, NATIVE_LIMIT)) {
    const text = `the matcher ${shown(pattern)} cannot be matched in linear time, so the hook runs for every value`
    note?.({ code: 'matcher-unsafe', text })
    return { pattern, test: () => true }
  }
  const text = `the matcher ${shown(pattern)} is only tried on values of up to ${NATIVE_LIMIT} characters; longer values always match`
  note?.({ code: 'matcher-unsafe', text })
  return {
    pattern,
    test: (value) => value.length > NATIVE_LIMIT || finds(value, (name) => native.test(name)),
  }
}

/** Compiles on the first test: it takes milliseconds, and most patterns of a file are never asked. */
function linearMatcher(pattern: string, source: string, native: RegExp | undefined): Matcher {
  let test: ((name: string) => boolean) | undefined
  const compile = () => {
    const linear = compileLinear(source)
    if (linear) return (name: string) => linear.matcher(name).find()
    const isSlow = !native || runsAway(native.source, NATIVE_LIMIT)
    return (name: string) => isSlow || name.length > NATIVE_LIMIT || native.test(name)
  }
  return {
    pattern,
    test: (value) => {
      test ??= compile()
      return finds(value, test)
    },
  }
}

/** An upper bound for the characters that a pattern has after the linear engine has expanded it. */
export function expandedLength(pattern: string): number {
  return isExactList(pattern) ? pattern.length : pattern.length * repeats(pattern)
}

/** An upper bound for how often the counted repeats of a pattern are expanded. */
function repeats(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
  return counts.reduce((product, [, least, most]) => product * Math.max(1, Number(most || least)), 1)
}

/** An engine may give up; a pattern of a hundred thousand characters overflows its stack. The hook then runs, because running too often is safe. */
function finds(value: string, test: (name: string) => boolean): boolean {
  try {
    return namesOf(value).some(test)
  } catch {
    return true
  }
}

interface ReadPattern {
  /** Undefined if the pattern must match every value to be safe: it has a back reference, or a modifier that not every version of Node knows. */
  readonly native: RegExp | undefined
  /** Its source for the linear engine. Undefined if that engine cannot express it. */
  readonly linear: string | undefined
}

function read(pattern: string, whole: boolean): ReadPattern {
  const around = (source: string) => (whole ? `^(?:${source})$` : source)
  try {
    const { source, plain, isModified } = readPattern(pattern)
    // The pattern must be valid by itself: `a)|(b` is not, although `^(?:a)|(b)$` would be.
    new RegExp(plain)
    if (hasBackReference(source)) return { native: undefined, linear: undefined }
    const native = isModified ? undefined : new RegExp(around(plain))
    return { native, linear: linearSource(around(source)) }
  } catch (error) {
    throw new HookError('MATCHER_INVALID', `The matcher ${shown(pattern)} is not valid: ${textOf(error)}`)
  }
}

function compileLinear(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}

function namesOf(value: string): readonly string[] {
  return [value, ...formerNamesOf(value)]
}

// ---- what people write instead of a tool's name ----------------------------------------------------------------

/** Whether a matcher is a list of names, and not a pattern. */
export function isExactList(pattern: string): boolean {
  return EXACT.test(pattern)
}

/** `mcp__git`: a server instead of a tool. */
export function isServerName(name: string): boolean {
  return /^mcp__(?:[A-Za-z0-9-]|_(?!_|$))+$/.test(name)
}

/** `Bash` from `Bash(git *)`: a rule instead of a tool. */
export function toolOfRule(pattern: string): string | undefined {
  return /^(\w+)\(.+\)$/s.exec(pattern)?.[1]
}
