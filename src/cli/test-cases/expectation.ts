// What a case expects of an outcome, and the differences.

import { isObject, type Json } from '../../core/base/json.js'
import { VERDICTS, type Verdict } from '../../core/events/actions.js'
import type { Outcome, Trace } from '../../core/hooks/outcome.js'
import { hasBackReference, readPattern, runsAway } from '../../core/hooks/pattern.js'

/** What a field must be, in words, and whether a value is. */
export type Field = readonly [words: string, isRight: (value: unknown) => boolean]

export type Fields = Readonly<Record<string, Field>>

/** A text that is contained, or a pattern that is found. */
export type TextRule = string | { readonly matches: string }

/** Everything given must hold. Without `failed` no hook may fail: a hook that crashed decided nothing. */
export interface Expectation {
  readonly action?: Verdict
  /** Null: none. */
  readonly reason?: TextRule | null
  readonly permission?: 'allow' | null
  /** What the model is told; with a list, each item must be in it. Null: nothing. */
  readonly context?: TextRule | readonly TextRule[] | null
  /** What the user is told. */
  readonly messages?: TextRule | readonly TextRule[] | null
  /** Part of the data after every change, or whether anything was changed. */
  readonly modified?: { readonly [key: string]: Json } | boolean
  /** Part of the answer in place of the operation. */
  readonly response?: Json
  /** The names of all hooks that ran, in any order; a plugin's own name may be left out. */
  readonly ran?: readonly string[]
  /** The names of all hooks that failed. */
  readonly failed?: readonly string[]
}

/** A difference, in words. */
export interface Miss {
  readonly what: string
  readonly expected: string
  readonly received: string
}

// ---- what may be written --------------------------------------------------------------------------------------

/** Patterns search no more of a text, so that none takes long. */
const LONGEST_SEARCHED = 4096

const RULE = 'a text that is contained, or { "matches": "a regular expression" }'

export const EXPECTATION: Fields = {
  action: [`one of ${VERDICTS.join(', ')}`, (value) => (VERDICTS as readonly unknown[]).includes(value)],
  reason: [`${RULE}, or null for none`, (value) => value === null || isRule(value)],
  permission: ['"allow", or null for none', (value) => value === 'allow' || value === null],
  context: [`${RULE}, a list of them, or null for none`, isRules],
  messages: [`${RULE}, a list of them, or null for none`, isRules],
  modified: [
    'a part of the data, or true or false',
    (value) => isObject(value) || typeof value === 'boolean',
  ],
  response: ['JSON', () => true],
  ran: ['a list of names of hooks', isNames],
  failed: ['a list of names of hooks', isNames],
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isRules(value: unknown): boolean {
  return value === null || isRule(value) || (Array.isArray(value) && value.every(isRule))
}

function isRule(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (!isObject(value) || Object.keys(value).join() !== 'matches') return false
  return typeof value.matches === 'string' && isPattern(value.matches)
}

/** Refuses patterns without a bound on their time, and modifiers, which not every version of Node knows. */
function isPattern(written: string): boolean {
  try {
    const { plain, isModified } = readPattern(written)
    new RegExp(plain, 's')
    return !isModified && !hasBackReference(plain) && !runsAway(plain, LONGEST_SEARCHED)
  } catch {
    return false
  }
}

// ---- comparing ------------------------------------------------------------------------------------------------

/** Empty if everything is as expected. */
export function missesOf(expected: Expectation, outcome: Outcome): readonly Miss[] {
  const { action, permission, modified, response, ran, failed = [] } = expected
  const ranNow = outcome.hooks.filter(({ status }) => status === 'ran' || status === 'detached')
  const failedNow = outcome.hooks.filter(({ status }) => status === 'failed')
  return [
    ...(action === undefined || action === outcome.action
      ? []
      : [wordMiss('action', action, outcome.action)]),
    ...textMisses('reason', expected.reason, outcome.reason === undefined ? [] : [outcome.reason]),
    ...(permission === undefined || permission === (outcome.permission ?? null)
      ? []
      : [wordMiss('permission', permission, outcome.permission)]),
    ...textMisses(
      'context',
      expected.context,
      outcome.injections.map(({ text }) => text),
    ),
    ...textMisses(
      'messages',
      expected.messages,
      outcome.messages.map(({ text }) => text),
    ),
    ...modifiedMisses(modified, outcome),
    ...(response === undefined ? [] : partMisses('response', response, outcome.response)),
    ...(ran === undefined ? [] : nameMisses('ran', ran, ranNow)),
    ...nameMisses('failed', failed, failedNow),
  ]
}

function miss(what: string, expected: unknown, received: unknown): Miss {
  return { what, expected: inWords(expected), received: inWords(received) }
}

function inWords(value: unknown): string {
  return value === null || value === undefined ? 'none' : (JSON.stringify(value) ?? 'none')
}

function wordMiss(what: string, expected: string | null, received: string | undefined): Miss {
  return { what, expected: expected ?? 'none', received: received ?? 'none' }
}

function textMisses(
  what: string,
  rules: TextRule | readonly TextRule[] | null | undefined,
  texts: readonly string[],
): readonly Miss[] {
  if (rules === undefined) return []
  const list = rules === null ? [] : isList(rules) ? rules : [rules]
  const received = texts.length === 0 ? 'none' : texts.map((text) => JSON.stringify(text)).join(', ')
  if (list.length === 0) return texts.length === 0 ? [] : [{ what, expected: 'none', received }]
  return list
    .filter((rule) => !texts.some((text) => holds(rule, text)))
    .map((rule) => ({ what, expected: ruleText(rule), received }))
}

function isList(rules: TextRule | readonly TextRule[]): rules is readonly TextRule[] {
  return Array.isArray(rules)
}

function holds(rule: TextRule, text: string): boolean {
  if (typeof rule === 'string') return text.includes(rule)
  return new RegExp(readPattern(rule.matches).plain, 's').test(text.slice(0, LONGEST_SEARCHED))
}

function ruleText(rule: TextRule): string {
  return typeof rule === 'string' ? `a text with ${JSON.stringify(rule)}` : `a text like /${rule.matches}/`
}

function modifiedMisses(expected: Expectation['modified'], outcome: Outcome): readonly Miss[] {
  if (expected === undefined) return []
  if (typeof expected !== 'boolean') return partMisses('modified', expected, outcome.data)
  return expected === outcome.modified ? [] : [miss('modified', expected, outcome.modified)]
}

/** Objects may have more than expected, lists may not. */
function partMisses(what: string, expected: Json, received: Json | undefined): readonly Miss[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(received) || received.length !== expected.length)
      return [miss(what, expected, received)]
    return expected.flatMap((one: Json, i) => partMisses(`${what}[${i}]`, one, received[i] as Json))
  }
  if (isObject(expected)) {
    if (!isObject(received)) return [miss(what, expected, received)]
    return Object.entries(expected).flatMap(([key, one]) =>
      partMisses(
        `${what}.${key}`,
        one as Json,
        Object.hasOwn(received, key) ? (received[key] as Json) : undefined,
      ),
    )
  }
  return expected === received ? [] : [miss(what, expected, received)]
}

function nameMisses(what: string, expected: readonly string[], traces: readonly Trace[]): readonly Miss[] {
  const isCalled = (trace: Trace, name: string) =>
    trace.name === name || trace.name === `${trace.source}:${name}`
  // A process may have several hooks of one name, and two plugins may share a short name.
  const isSame =
    new Set(traces.map(({ name }) => name)).size === new Set(expected).size &&
    traces.every((trace) => expected.some((name) => isCalled(trace, name))) &&
    expected.every((name) => traces.some((trace) => isCalled(trace, name)))
  if (isSame) return []
  const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '))
  const received = traces.map(({ name, why }) => (what === 'failed' && why ? `${name} (${why})` : name))
  return [{ what, expected: listed(expected), received: listed(received) }]
}
