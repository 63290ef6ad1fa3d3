// The fields an answer may have, and the objects inside it: which belong to which method, and the check that they fit.

import type { Diagnostic } from '../../core/base/errors.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import { type Fields, pick, type Shapes } from '../shape.js'
import { likely } from './likely.js'
import { INTERCEPTS, type Intercept } from './methods.js'
import { RESULT_FIELDS } from './tool-result.js'

export type Note = (d: Diagnostic) => void

/** Sent along, and accepted back; nobody changes where an event stands. */
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

/** Current versions of the protocol return the whole of what they were sent, with the result inside. */
export const AFTER_TOOL_FIELDS = {
  ...CALL_FIELDS,
  result: 'object',
  duration: 'json',
} as const satisfies Shapes

export const AFTER_LLM_FIELDS = { ...STANDING, model: 'text', response: 'json' } as const satisfies Shapes

/** By path: what an answer to each method may have. `response` is the model's own, and has any fields. */
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
  /** What is malformed, in words. */
  readonly problems: string[]
  /** Keys that no answer has, in words. */
  readonly unknown: string[]
}

/** Keys at the top that no answer to this method has. Each is said, with what its author probably meant. */
export function noteUnknownTop(reading: Reading, source: object, beside: readonly string[] = []): string[] {
  const known = PATHS[reading.intercept].filter((path) => !path.includes('.'))
  const unknown = Object.keys(source).filter((key) => !known.includes(key) && !beside.includes(key))
  noteUnknown(reading, '', unknown)
  return unknown
}

/** An object inside the answer, less its known fields that are not what they should be; undefined where there is none. */
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

/** Go writes null for what is not there. */
export function withoutNulls(source: Data): Data {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== null))
}

/** Enough to find the line in a program. */
const MOST = 5

function noteUnknown({ intercept, note, unknown }: Reading, where: string, keys: readonly string[]): void {
  if (keys.length === 0) return
  const more = keys.length > MOST ? `; and ${keys.length - MOST} more` : ''
  const named = keys.slice(0, MOST).map((key) => `${told(key)}${meant(intercept, key)}`)
  unknown.push(...named)
  const place = where === '' ? `no answer to ${INTERCEPTS[intercept].method}` : `no ${where} of an answer`
  note({ code: 'unknown-answer-key', text: `${place} has ${named.join(', ')}${more}` })
}

/** ` (did you mean …?)`, or nothing. */
export function meant(intercept: Intercept, key: string): string {
  const path = likely(key, PATHS[intercept])
  return path === undefined ? '' : ` (did you mean ${path}?)`
}

/** A value of a stranger's, for a message: bounded, and harmless in a terminal. */
export function told(value: unknown): string {
  return plainText(shown(value))
}

export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
