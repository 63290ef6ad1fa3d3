// The fields of answers to each method: their checks, and suggestions for unknown ones.

import type { Diagnostic } from '../../core/base/errors.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import { closingAmong, type Entry, entriesIn, entriesOf } from '../closing.js'
import { objectsIn } from '../json-lines.js'
import { type Fields, pick, type Shapes } from '../shape.js'
import { INTERCEPTS, type Intercept } from './protocol.js'
import { RESULT_FIELDS } from './tool-result.js'

export type Note = (d: Diagnostic) => void

/** These are sent and accepted back, but a hook cannot change them. */
const STANDING = { meta: 'object', channel: 'text', chat_id: 'text' } as const satisfies Shapes

export const REQUEST_FIELDS = {
  ...STANDING,
  model: 'text',
  messages: 'list',
  tools: 'list',
  options: 'object',
  graceful_terminal: 'flag',
} as const satisfies Shapes

export const CALL_FIELDS = { ...STANDING, tool: 'text', arguments: 'object' } as const satisfies Shapes

/** Hooks of current versions return everything they were sent, with the result inside. */
export const AFTER_TOOL_FIELDS = {
  ...CALL_FIELDS,
  result: 'object',
  duration: 'json',
} as const satisfies Shapes

export const AFTER_LLM_FIELDS = { ...STANDING, model: 'text', response: 'json' } as const satisfies Shapes

/** The objects in an answer to each method. `response` is the model's own and may have any field. */
const OBJECTS: Readonly<Record<Intercept, Readonly<Record<string, Shapes>>>> = {
  before_llm: { request: REQUEST_FIELDS },
  after_llm: { response: { content: 'json' } },
  before_tool: { call: CALL_FIELDS, result: RESULT_FIELDS },
  after_tool: { result: { ...RESULT_FIELDS, tool: 'text', arguments: 'object' } },
  approve_tool: {},
}

const PATHS = Object.fromEntries(
  Object.entries(OBJECTS).map(([intercept, objects]) => {
    const verdict = intercept === 'approve_tool' ? ['approved', 'reason'] : ['action', 'reason']
    const inner = Object.entries(objects).flatMap(([name, shapes]) =>
      Object.keys(shapes).map((key) => `${name}.${key}`),
    )
    return [intercept, [...verdict, ...Object.keys(objects), ...inner]]
  }),
) as unknown as Readonly<Record<Intercept, readonly string[]>>

/** One answer while it is read. */
export interface Reading {
  readonly intercept: Intercept
  readonly note: Note
  /** One sentence for each malformed field. */
  readonly problems: string[]
  /** Unknown keys, with suggestions. */
  readonly unknown: string[]
}

/** Returns and reports the top-level keys that an answer to this method does not have. */
export function noteUnknownTop(reading: Reading, source: object, beside: readonly string[] = []): string[] {
  const known = PATHS[reading.intercept].filter((path) => !path.includes('.'))
  const unknown = Object.keys(source).filter((key) => !known.includes(key) && !beside.includes(key))
  noteUnknown(reading, '', unknown)
  return unknown
}

/** An object inside the answer, without its malformed fields. */
export function innerObject<S extends Shapes>(
  reading: Reading,
  source: Data,
  path: string,
  shapes: S,
): (Fields<S> & Data) | undefined {
  const key = path.slice(path.lastIndexOf('.') + 1)
  const value = source[key]
  if (value === undefined) return undefined
  if (!isObject(value)) {
    reading.problems.push(`${path} must be an object, got ${told(value)}`)
    return undefined
  }
  const given = withoutNulls(value as Data)
  const unknown = Object.entries(given).filter(([one]) => !Object.hasOwn(shapes, one))
  noteUnknown(
    reading,
    path,
    unknown.map(([one]) => one),
  )
  return {
    ...Object.fromEntries(unknown),
    ...pick(given, shapes, `${path}.`, reading.problems),
  } as Fields<S> & Data
}

const MOST_SOUGHT = 20

/** JSON.parse keeps the last of two equal keys, but here the one that closes counts. `line` is the message with this result. */
export function withRepeated(result: Json, line: string): Json {
  if (isWrittenOnce(result, line)) return result
  const read = isObject(result) ? entriesOf(result) : []
  const keys = ['result', ...read.map(({ key }) => key)]
  const isRepeated = (key: string) => line.indexOf(`"${key}"`) !== line.lastIndexOf(`"${key}"`)
  // Beyond a few keys, parsing the line is faster than searching for each of them.
  const mayRepeat = keys.length > MOST_SOUGHT || keys.some(isRepeated)
  // A key may also be written with escapes.
  if (!mayRepeat && !line.includes('\\u00')) return result
  const found = closingAmong(entriesIn(line, { answerKey: 'result' }))
  if (!found || found.means === closingAmong(read)?.means) return result
  const { reason } = found
  const kept = isObject(result) ? (result as Data) : {}
  // At the top level it also counts, whatever is in its original place.
  return { ...kept, ...(reason !== undefined && { reason }), ...(JSON.parse(`{${found.said}}`) as Data) }
}

/** In a longer line, the result may be nested too deeply to be written. */
const SHORT_LINE = 4096

/** Whether the line ends with this result, written as most programs write JSON, and has no other. That is quick to see. */
function isWrittenOnce(result: Json, line: string): boolean {
  if (line.length > SHORT_LINE) return false
  const written = `"result":${JSON.stringify(result)}}`
  return (
    line.endsWith(written) &&
    line.indexOf('"result"') === line.length - written.length &&
    !line.includes('\\u00')
  )
}

/** Closing replies in a text that is not a plain result: in an error or its data, in a list, or over several lines. */
export function refusalsIn(text: string): readonly { readonly id: unknown; readonly result: Data }[] {
  return [...objectsIn(text)].flatMap(({ value }) => {
    const { id, result, error } = value
    const data = isObject(error) ? error.data : undefined
    const found = closingAmong([result, error, data].flatMap(entriesOfAny))
    if (!found) return []
    const { reason, said } = found
    return [{ id, result: { ...(reason !== undefined && { reason }), ...(JSON.parse(`{${said}}`) as Data) } }]
  })
}

/** Takes an object, or a string that contains one. */
function entriesOfAny(value: unknown): readonly Entry[] {
  if (typeof value === 'string') return [...objectsIn(value)].flatMap(({ text }) => entriesIn(text))
  return isObject(value) ? entriesOf(value) : []
}

/** Go writes null for an absent field. */
export function withoutNulls(source: Data): Data {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== null))
}

/** Enough to find the place in a program. */
const MOST = 5

function noteUnknown({ intercept, note, unknown }: Reading, where: string, keys: readonly string[]): void {
  if (keys.length === 0) return
  const more = keys.length > MOST ? `; and ${keys.length - MOST} more` : ''
  const named = keys.slice(0, MOST).map((key) => `${told(key)}${meant(intercept, key)}`)
  unknown.push(...named)
  const place = where === '' ? `an answer to ${INTERCEPTS[intercept].method}` : `the ${where} of an answer`
  note({ code: 'unknown-answer-key', text: `${place} has no field ${named.join(', ')}${more}` })
}

/** ` (did you mean …?)`, or nothing. */
export function meant(intercept: Intercept, key: string): string {
  const path = likely(key, PATHS[intercept])
  return path === undefined ? '' : ` (did you mean ${path}?)`
}

/** A third-party value for a message: shortened, and harmless in a terminal. */
export function told(value: unknown): string {
  return plainText(shown(value))
}

export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

// ---- what an author most likely meant -------------------------------------------------------------------------

/** Synonyms. The first path that the method's answer has is the one that was meant. */
const HABITS: readonly (readonly [words: readonly string[], paths: readonly string[]])[] = [
  [
    [
      'decision',
      'verdict',
      'type',
      'status',
      'permission',
      'permissiondecision',
      'behavior',
      'deny',
      'denied',
      'block',
      'blocked',
      'allow',
      'allowed',
      'approve',
      'approved',
      'accept',
      'accepted',
      'permit',
      'ok',
    ],
    ['approved', 'action'],
  ],
  [
    ['message', 'msg', 'why', 'error', 'explanation', 'stopreason', 'permissiondecisionreason', 'denyreason'],
    ['reason'],
  ],
  [
    ['args', 'params', 'parameters', 'input', 'toolinput', 'updatedinput', 'toolargs'],
    ['call.arguments', 'result.arguments'],
  ],
  [
    ['name', 'toolname', 'function'],
    ['call.tool', 'result.tool'],
  ],
  [
    ['output', 'response', 'content', 'text', 'toolresponse', 'toolresult', 'result', 'stdout'],
    ['result.for_llm', 'response.content'],
  ],
  [['usermessage', 'systemmessage', 'display'], ['result.for_user']],
  [['iserror', 'failed'], ['result.is_error']],
  [
    ['data', 'payload', 'changes', 'modifications', 'modified', 'call', 'request'],
    ['call', 'request', 'response', 'result'],
  ],
]

const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map(
  HABITS.flatMap(([words, paths]) => words.map((word) => [word, paths] as const)),
)

/** The most likely of `paths`, which are those of an answer to the method. */
function likely(key: string, paths: readonly string[]): string | undefined {
  if (key.length > 40) return undefined
  const word = folded(key)
  const spelled = paths.find((path) => folded(path.slice(path.lastIndexOf('.') + 1)) === word)
  return spelled ?? MEANINGS.get(word)?.find((path) => paths.includes(path))
}

/** Beginnings of words for an action that opens. Closing words have a table of their own, and count. */
const ACTION_STEMS: readonly (readonly [RegExp, string])[] = [
  [/^(cont|allow|approv|pass|proceed|accept|permit|ok$|noop|none|skip)/, 'continue'],
  [/^(mod|change|updat|rewrit|patch|replac|edit|transform)/, 'modify'],
  [/^(resp|answer|repl(y|ied)|return|mock|result)/, 'respond'],
  [/^(inject|context|addcontext)/, 'inject_context'],
]

export function likelyAction(word: string): string | undefined {
  const start = folded(word.slice(0, 40))
  return ACTION_STEMS.find(([stem]) => stem.test(start))?.[1]
}

function folded(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}
