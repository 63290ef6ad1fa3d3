// Matchers: which values of an event's matcher field a hook wants. Patterns come from strangers, so they match in linear time.

import { RE2JS } from 're2js'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { isObject, isPlain } from '../base/json.js'
import { shown } from '../base/text.js'
import { FORMER_TOOL_NAMES } from '../events/catalogue.js'

/** A matcher as people write it: a list, a pattern, or BeamAgent's object form. */
export type MatcherSpec = string | { readonly tool_name?: string }

export interface Matcher {
  /** The pattern as written, for people. */
  readonly pattern: string
  readonly test: (value: string) => boolean
}

export interface MatcherOptions {
  /** `search` finds a pattern anywhere (Claude Code), `fullmatch` wants the whole value (Amplifier shell hooks). */
  readonly matching?: 'search' | 'fullmatch'
  /** Splits on `|` only, and knows fewer exact characters: the event's `narrowMatcher`. */
  readonly narrow?: boolean | undefined
  readonly note?: (d: Diagnostic) => void
}

const EXACT = /^[A-Za-z0-9_\- ,|]+$/
const EXACT_NARROW = /^[A-Za-z0-9_|]+$/
/** A pattern that only backtracking can match is not tried on values longer than this. */
const NATIVE_LIMIT = 256
/** Compiling a longer pattern takes seconds, and no list of tools needs one: lists are no patterns. */
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

/** Refuses a misspelt key, which would otherwise match everything. */
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

/** An engine may give up (a pattern of a hundred thousand characters overflows its stack). The hook then runs: more often, never less. */
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

/** Undefined if the linear engine cannot express it; the caller decides what is safe. */
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

// ---- patterns as JavaScript reads them, for the linear engine

export function hasBackReference(source: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/.test(source)
}

const SPACE =
  '\\t\\n\\x0b\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_A_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** Undefined if the linear engine has no equivalent: lookaround, `[^\s\S]` and the like. */
function linearSource(source: string): string | undefined {
  let linear = ''
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string
    const rest = source.slice(i)
    if (char === '\\') {
      const escaped = linearEscape(rest, inClass)
      if (escaped === undefined) return undefined
      linear += escaped.linear
      i += escaped.length - 1
    } else if (inClass) {
      if (char === ']') inClass = false
      linear += char === '[' ? '\\[' : char
    } else if (char === '[') {
      if (/^\[\^?\]/.test(rest)) return undefined
      inClass = true
      linear += char
    } else if (/^\(\?(?:<?[=!])/.test(rest)) return undefined
    else if (rest.startsWith('(?<')) {
      linear += '(?P<'
      i += 2
    } else linear += char === '.' ? NOT_A_LINE_END : char
  }
  return linear
}

/** One escape in the linear engine's syntax, and how many characters it took. */
function linearEscape(rest: string, inClass: boolean): { linear: string; length: number } | undefined {
  const char = rest[1] ?? ''
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(rest)
  if (code) return { linear: `\\x{${code[1] ?? code[2]}}`, length: code[0].length }
  const control = /^\\c([A-Za-z])/.exec(rest)?.[1]
  if (control) return { linear: `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`, length: 3 }
  if (char === 's') return { linear: inClass ? SPACE : `[${SPACE}]`, length: 2 }
  if (char === 'S') return inClass ? undefined : { linear: `[^${SPACE}]`, length: 2 }
  if (char === 'b' && inClass) return { linear: '\\x08', length: 2 }
  if (char === '0') return { linear: '\\x00', length: 2 }
  // A letter that JavaScript gives no meaning stands for itself; the linear engine gives some of them another.
  const meant = /[dDwWbBtnrvf]/.test(char) || !/[A-Za-z]/.test(char)
  return { linear: meant ? `\\${char}` : char, length: 2 }
}

/**
 * Whether matching a value of at most `longest` characters can take too long. Errs on the side of yes: a quantified
 * group that itself has a choice, or too many choices in a row.
 */
export function runsAway(source: string, longest: number): boolean {
  const text = source
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
  const hasChoice = [false]
  const alternatives = [1]
  let ways = 1
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(text.slice(i))?.[0]
    if (char === '(') {
      hasChoice.push(false)
      alternatives.push(1)
    } else if (char === ')') {
      ways *= alternatives.pop() ?? 1
      const inner = hasChoice.pop() ?? false
      if (inner && /^[*+?{]/.test(text.slice(i + 1))) return true
      if (inner) hasChoice[hasChoice.length - 1] = true
    } else if (char === '|') {
      alternatives[alternatives.length - 1] = (alternatives.at(-1) ?? 1) + 1
      hasChoice[hasChoice.length - 1] = true
    } else if (quantifier) {
      ways *= Math.min(repetitions(quantifier), longest)
      hasChoice[hasChoice.length - 1] = true
      i += quantifier.length - 1
    }
  }
  return ways * (alternatives[0] ?? 1) > longest ** 2
}

function repetitions(quantifier: string): number {
  if (quantifier.startsWith('?')) return 2
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  if (least !== undefined && !comma) return 1
  return most ? Number(most) - Number(least) + 1 : Infinity
}

// ---- what people write in place of a tool ----------------------------------------------------------------------

/** Whether a matcher is a list of names, and not a pattern. */
export function isExactList(pattern: string): boolean {
  return EXACT.test(pattern)
}

/** `mcp__git`: a server of tools in place of a tool. */
export function isServerName(name: string): boolean {
  return /^mcp__(?:[A-Za-z0-9-]|_(?!_|$))+$/.test(name)
}

/** `Bash` of `Bash(git *)`: a rule in place of a tool. */
export function toolOfRule(pattern: string): string | undefined {
  return /^(\w+)\(.+\)$/s.exec(pattern)?.[1]
}
