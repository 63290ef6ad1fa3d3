// Options as people write them: an unknown name or an impossible value is refused, never ignored.

import { HookError } from './errors.js'
import { isObject } from './json.js'
import { didYouMean, shown } from './text.js'

/** Whether a value is acceptable, and a description of what is. An undefined option counts as not given. */
export type Check = readonly [accepts: (value: unknown) => boolean, wanted: string]

export type Checks<T> = { readonly [K in keyof Required<T>]: Check }

export const isFunction: Check = [(value) => typeof value === 'function', 'a function']
export const isFlag: Check = [(value) => typeof value === 'boolean', 'true or false']
export const isList: Check = [Array.isArray, 'a list']
const isOptions: Check = [isObject, 'an object']
export const isText: Check = [
  (value) => typeof value === 'string' && value !== '' && !value.includes('\u0000'),
  'a non-empty string',
]
export const isSeconds: Check = [
  (value) => Number.isFinite(value) && (value as number) > 0,
  'a number of seconds above 0',
]
export const isSignal: Check = [
  (value) =>
    isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function',
  'an AbortSignal',
]
export const anything: Check = [() => true, 'anything']

export function isOneOf(...words: readonly string[]): Check {
  return [(value) => words.includes(value as string), words.map((word) => `"${word}"`).join(' or ')]
}

/** Throws OPTIONS_INVALID unless the argument is acceptable. */
export function checkArgument(what: string, value: unknown, [accepts, wanted]: Check): void {
  if (!accepts(value)) throw refused(`${what} must be ${wanted}, got ${shown(value)}`)
}

/** Throws OPTIONS_INVALID and says what is wrong, where, and which options exist. */
export function checkOptions<T>(what: string, given: unknown, checks: Checks<T>): void {
  checkArgument(`${what}: the options`, given, isOptions)
  for (const [key, value] of Object.entries(given as object)) {
    const check = Object.hasOwn(checks, key) ? checks[key as keyof T] : undefined
    if (!check) {
      const known = Object.keys(checks)
      const meant = didYouMean(key, known)
      throw refused(
        `${what}: unknown option ${key}${meant ? `${meant} Choose` : '; choose'} from ${known.join(', ')}`,
      )
    }
    const [accepts, wanted] = check
    if (value !== undefined && !accepts(value)) {
      throw refused(`${what}: ${key} must be ${wanted}, got ${shown(value)}`)
    }
  }
}

function refused(message: string): HookError {
  return new HookError('OPTIONS_INVALID', message)
}
