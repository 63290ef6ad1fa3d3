// Readers for fields of stored JSON. Each returns the value, or throws an Error that names the field.

import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'

export type Reader<T> = (value: unknown, where: string) => T

export const text: Reader<string> = (value, where) => {
  if (typeof value === 'string') return value
  throw wrong(where, 'a string', value)
}

export const flag: Reader<boolean> = (value, where) => {
  if (typeof value === 'boolean') return value
  throw wrong(where, 'true or false', value)
}

export const count: Reader<number> = (value, where) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw wrong(where, 'a whole number, 0 or more', value)
}

const BASE64URL = /^[\w-]+$/

export const encoded: Reader<string> = (value, where) => {
  const read = text(value, where)
  // One key has one spelling: the last character may have bits that say nothing.
  if (BASE64URL.test(read) && Buffer.from(read, 'base64url').toString('base64url') === read) return read
  throw new Error(`${where} must be base64url`)
}

const LONGEST_NAME = 100
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u

/** Of somebody who may allow calls. */
export const personName: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (NAME.test(read) && read.length <= LONGEST_NAME) return read
  throw new Error(`${where} must be a name of at most ${LONGEST_NAME} letters, digits and . _ @ + -`)
}

export function oneOf<W extends string>(...words: readonly W[]): Reader<W> {
  return (value, where) => {
    if (words.includes(value as W)) return value as W
    throw wrong(where, words.join(' or '), value)
  }
}

export function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw wrong(where, 'a list', value)
    return value.map((one, i) => item(one, `${where}[${i}]`))
  }
}

export function optional<K extends string, T>(
  key: K,
  value: unknown,
  read: Reader<T>,
  where: string,
): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: read(value, `${where}.${key}`) } as { [P in K]: T })
}

export function fieldsOf(value: unknown, where: string): { readonly [key: string]: unknown } {
  if (isObject(value)) return value
  throw wrong(where, 'an object', value)
}

/** Reads only known keys. A missing one gets its default. */
export function readFields<T extends object>(
  value: unknown,
  where: string,
  readers: { readonly [K in keyof T]-?: Reader<T[K]> },
  defaults: T,
): T {
  const fields = fieldsOf(value, where)
  const read = { ...defaults }
  for (const key of Object.keys(readers) as (keyof T & string)[]) {
    if (Object.hasOwn(fields, key)) read[key] = readers[key](fields[key], `${where}.${key}`)
  }
  return read
}

function wrong(where: string, wanted: string, value: unknown): Error {
  return new Error(`is not valid: ${where} must be ${wanted}, got ${shown(value)}`)
}
