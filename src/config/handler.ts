// Checks hook entries field by field against the table of kinds. Nothing from a file is used before it passes here.

import { type Check, isFlag, isOneOf, isSeconds } from '../core/base/options.js'
import { nearest, shown } from '../core/base/text.js'
import type { HookMode } from '../core/hooks/hook.js'
import type { Fields } from '../runners/kind.js'
import { EVENT_KINDS, type HandlerType } from '../runners/kinds.js'
import { type Advice, changeOf } from './notes.js'

/** Fields that any handler may have, and that the engine itself reads. */
export interface CommonFields {
  readonly timeout?: number
  readonly if?: string
  readonly onFailure?: 'block' | 'continue'
  readonly once?: boolean
  readonly observe?: boolean
  readonly mode?: HookMode
}

export const COMMON: Fields<CommonFields> = {
  timeout: [
    isSeconds,
    'Seconds until the hook is stopped. Default 30 (agent 60, Claude Code command 600), capped by the setting max_timeout.',
  ],
  if: [
    [(value) => typeof value === 'string', 'a string'],
    'Run only for calls that match this rule, such as "Bash(git push *)" or "Edit(src/**)". Tool events only.',
  ],
  onFailure: [
    isOneOf('block', 'continue'),
    '"block" closes the gate when the hook fails; default "continue", and for modules what the event says.',
  ],
  once: [isFlag, 'Run once in a session. Works only in hooks of a skill.'],
  observe: [
    isFlag,
    'true for loggers: the hook is not a gate, and it does not see a call again after others rewrite it.',
  ],
  mode: [
    isOneOf('enforce', 'shadow'),
    '"shadow": the hook runs, and what it would have done is recorded, but nothing of it counts. Default "enforce".',
  ],
}

const TYPES = Object.keys(EVENT_KINDS).map((type) => `"${type}"`)

interface Known {
  readonly key: string
  readonly accepts: Check[0]
  readonly wanted: string
}

/** Lists of objects, because these are the fastest to walk, and every entry of every file walks them. */
const COMMON_KEYS = knownOf(COMMON)
const OWN_KEYS = Object.fromEntries(
  Object.entries(EVENT_KINDS).map(([type, { fields }]) => [type, knownOf(fields)]),
) as unknown as { readonly [T in HandlerType]: readonly Known[] }

function knownOf(fields: object): readonly Known[] {
  const entries = Object.entries(fields as Fields<Record<string, unknown>>)
  return entries.map(([key, [[accepts, wanted]]]) => ({ key, accepts, wanted }))
}

type Raw = { readonly [key: string]: unknown }

/** A valid entry. The fields of its type are kept apart from those that the engine reads. */
export interface ReadHandler {
  readonly type: HandlerType
  /** Keys follow the order of the table, so equal content yields equal text. */
  readonly fields: Raw
  readonly common: CommonFields
  /** Keys that have no meaning on this type. */
  readonly others: readonly string[]
  /** Values that were not used as written. */
  readonly remarks: readonly HandlerProblem[]
}

export interface HandlerProblem extends Advice {
  readonly problem: string
  readonly key?: string
}

export function readHandler(entry: Raw): ReadHandler | HandlerProblem {
  const { type } = entry
  if (!isHandlerType(type)) return typeProblem(type)
  const fields: Record<string, unknown> = {}
  const common: Record<string, unknown> = {}
  const { read, remarks } = withoutSlips(entry)
  const problem = wanting(read, type) ?? pick(read, OWN_KEYS[type], fields) ?? pick(read, COMMON_KEYS, common)
  return problem ?? { type, fields, common, others: others(entry, type), remarks }
}

/** A slip in one of these keys must neither remove a hook nor open its gate, so the strictest value is in force. */
const STRICTEST = { onFailure: 'block', mode: 'enforce' } as const
const STRICT_KEYS = Object.keys(STRICTEST) as readonly (keyof typeof STRICTEST)[]

/** The entry as it is in force. */
export function withoutSlips(entry: Raw): {
  readonly read: Raw
  readonly remarks: readonly HandlerProblem[]
} {
  let read = entry
  let remarks: readonly HandlerProblem[] = NO_REMARKS
  for (const key of STRICT_KEYS) {
    const value = entry[key]
    const [[accepts, wanted]] = COMMON[key]
    if (value === undefined || accepts(value)) continue
    const problem = `"${key}" must be ${wanted}, got ${shown(value)}; "${STRICTEST[key]}" is in force`
    read = { ...read, [key]: STRICTEST[key] }
    remarks = [...remarks, { problem, key, ...changeOf(key, value, wanted) }]
  }
  return { read, remarks }
}

const NO_REMARKS: readonly HandlerProblem[] = []

function isHandlerType(type: unknown): type is HandlerType {
  return typeof type === 'string' && Object.hasOwn(EVENT_KINDS, type)
}

function typeProblem(type: unknown): HandlerProblem {
  const known = TYPES.join(', ')
  if (type === undefined) {
    const todo = `Add "type": "command" to it, or another of ${known}.`
    return { problem: `it has no "type"; the types are ${known}`, key: 'type', todo }
  }
  const meant = typeof type === 'string' ? nearest(type, Object.keys(EVENT_KINDS)) : undefined
  const guess = meant === undefined ? `; the types are ${known}` : `; did you mean ${meant}?`
  return {
    problem: `${shown(type)} is not a hook type${guess}`,
    key: 'type',
    todo: meant === undefined ? `Write one of ${known} in place of ${shown(type)}.` : `Write ${meant}.`,
  }
}

function wanting(entry: Raw, type: HandlerType): HandlerProblem | undefined {
  const key = EVENT_KINDS[type].required.find((required: string) => entry[required] === undefined)
  if (key === undefined) return undefined
  return { problem: `a hook of type ${type} needs "${key}"`, todo: `Add "${key}": "…" to the hook.` }
}

/** Copies valid fields to `target`; returns the first problem. */
function pick(
  entry: Raw,
  known: readonly Known[],
  target: Record<string, unknown>,
): HandlerProblem | undefined {
  for (let i = 0; i < known.length; i++) {
    const { key, accepts, wanted } = known[i] as Known
    const value = entry[key]
    if (value === undefined) continue
    if (!accepts(value)) return wrongValue(key, value, wanted)
    target[key] = value
  }
  return undefined
}

function wrongValue(key: string, value: unknown, wanted: string): HandlerProblem {
  const number = key === 'timeout' && typeof value === 'string' ? Number(value) : 0
  // A number in quotes only loses them.
  const right = number > 0 && Number.isFinite(number) ? String(number) : wanted
  return { problem: `"${key}" must be ${wanted}, got ${shown(value)}`, key, ...changeOf(key, value, right) }
}

const NONE: readonly string[] = []

function others(entry: Raw, type: HandlerType): readonly string[] {
  let found: string[] | undefined
  for (const key in entry) {
    if (isHandlerKey(key, type)) continue
    found ??= []
    found.push(key)
  }
  return found ?? NONE
}

/** The known key that differs only in case and separators: `onFailure` for `on_failure`. */
export function likelyKey(key: string, type: HandlerType): string | undefined {
  const plain = (text: string) => text.replace(/[_\s-]/g, '').toLowerCase()
  const wanted = plain(key)
  return keysOf(type).find((known) => plain(known) === wanted)
}

/** The known key that is only a few letters away. */
export function nearestKey(key: string, type: HandlerType): string | undefined {
  return nearest(key, keysOf(type))
}

function keysOf(type: HandlerType): readonly string[] {
  return [...COMMON_KEYS, ...OWN_KEYS[type]].map((known) => known.key)
}

/** True if the key has a meaning on a handler of this type; without a type, on any. */
export function isHandlerKey(key: string, type?: HandlerType): boolean {
  if (key === 'type' || Object.hasOwn(COMMON, key)) return true
  return type
    ? Object.hasOwn(EVENT_KINDS[type].fields, key)
    : Object.values(EVENT_KINDS).some(({ fields }) => Object.hasOwn(fields, key))
}
