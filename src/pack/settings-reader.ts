// Reads one file of the pack's settings, or a section of it. A value of the wrong type is reported and ignored.

import { textOf } from '../core/base/errors.js'
import { breakOf, isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import { lstatIfThere } from '../files/if-there.js'
import { JsonText } from '../files/json-text.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'

const MAX_BYTES = 256 * 1024
/** Far more than anyone writes by hand, and few enough to check on every call. */
const MOST_ITEMS = 1000

type Fields = { readonly [key: string]: unknown }

export interface Told {
  readonly problems: string[]
  /** The first problem because of which a rule of the guard is lost. */
  unreadable: string | undefined
}

/** Settings that hold rules of the guard. Losing one would let more through. */
const RULES: readonly string[] = ['bash', 'allow', 'deny', 'protectedBranches', 'protect']

/** A value of the wrong type is reported and counts as absent. Null counts as absent without a report. */
export class Reader {
  readonly #where: string
  readonly #fields: Fields
  readonly #told: Told

  constructor(path: string, told: Told, fields?: Fields) {
    this.#where = path
    this.#told = told
    this.#fields = fields ?? this.#read(path)
  }

  get isEmpty(): boolean {
    return Object.keys(this.#fields).length === 0
  }

  tell(problem: string): void {
    this.#told.problems.push(`${this.#where}: ${problem}`)
  }

  /** For a value that is ignored, all or in part. */
  #lose(problem: string, isRule: boolean): void {
    this.tell(problem)
    if (isRule) this.#told.unreadable ??= this.#told.problems.at(-1)
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#fields, key) && this.#fields[key] !== null
  }

  section(key: string): Reader {
    const value = this.#value(key, isObject, 'an object')
    return new Reader(`${this.#where}: ${key}`, this.#told, value ?? {})
  }

  flag(key: string): boolean | undefined {
    return this.#value(key, (value) => typeof value === 'boolean', 'true or false')
  }

  /** Only `true` has an effect; `false` is reported. */
  switchedOn(key: string): boolean {
    const value = this.flag(key)
    if (value === false)
      this.tell(`${key}: false has no effect in a project: only the user may switch it off`)
    return value === true
  }

  text(key: string): string | undefined {
    return this.#value(key, (value) => typeof value === 'string', 'a string')
  }

  count(key: string, least: number, most: number): number | undefined {
    const fits = (value: unknown): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    return this.#value(key, fits, `a whole number from ${least} to ${most}`)
  }

  /** Items that are not strings are reported and left out. The rest still guards. */
  texts(key: string): readonly string[] | undefined {
    const list = this.#value<readonly unknown[]>(key, Array.isArray, 'a list of strings')
    if (list === undefined) return undefined
    const isRule = RULES.includes(key)
    const good = list.filter((one): one is string => typeof one === 'string' && one.trim() !== '')
    if (good.length < list.length)
      this.#lose(`${key}: items that are empty or not strings were ignored`, isRule)
    if (good.length > MOST_ITEMS)
      this.#lose(`${key}: only the first ${MOST_ITEMS} of ${good.length} items are used`, isRule)
    return good.slice(0, MOST_ITEMS)
  }

  /** At most one list. An unreadable list allows nothing, because its author did not mean to allow everything. */
  allowLists(): readonly (readonly string[])[] {
    if (!this.has('allow')) return []
    return [this.texts('allow') ?? []]
  }

  tellUnknown(known: Readonly<Record<string, readonly string[]>>): void {
    for (const [key, value] of Object.entries(this.#fields)) {
      const inner = Object.hasOwn(known, key) ? known[key] : undefined
      if (!inner) this.#tellOdd('there is', key, value, Object.keys(known))
      else if (inner.length > 0 && isObject(value)) {
        const odd = Object.entries(value).filter(([name]) => !inner.includes(name))
        for (const [name, one] of odd) this.#tellOdd(`${key} has`, name, one, inner)
      }
    }
  }

  /** An unknown key counts as lost rules if its name resembles a rule's, or if it is a list, as all rules are. */
  #tellOdd(where: string, key: string, value: unknown, known: readonly string[]): void {
    const meant = nearest(key, known)
    const isRule = Array.isArray(value) || (meant !== undefined && RULES.includes(meant))
    const hint = meant === undefined ? `the settings are ${known.join(', ')}` : `did you mean ${meant}?`
    this.#lose(`${where} no setting ${shown(key)}; ${hint}`, isRule)
  }

  #value<T>(key: string, fits: (value: unknown) => value is T, wanted: string): T | undefined
  #value<T>(key: string, fits: (value: unknown) => boolean, wanted: string): T | undefined
  #value<T>(key: string, fits: (value: unknown) => boolean, wanted: string): T | undefined {
    if (!this.has(key)) return undefined
    const value = this.#fields[key]
    if (fits(value)) return value as T
    this.#lose(`${key} must be ${wanted}, got ${shown(value)}`, RULES.includes(key))
    return undefined
  }

  #read(path: string): Fields {
    try {
      // Most folders have no such file, and an exception would cost more time.
      if (!lstatIfThere(path)) return {}
      const found = readPlain(realOf(path), MAX_BYTES)
      if ('problem' in found) throw new Error(`the file ${found.problem}`)
      const text = found.text.replace(/^\uFEFF/, '')
      const value = valueIn(text)
      for (const { key, line } of new JsonText(text).doubleKeys())
        if (!/^(?:\/\/|[#_$])/.test(key)) this.#lose(`${shown(key)} appears twice (line ${line})`, true)
      if (isObject(value)) return value
      throw new Error('the file must contain a JSON object')
    } catch (error) {
      this.#lose(`${textOf(error)}; all of it was ignored`, true)
      return {}
    }
  }
}

/** Leaves out the parser's own message, which quotes the file. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`the file is not valid JSON (line ${brokenLine(text)})`)
  }
}

/** The line where a text stops being JSON, counted from 1. The last line if all of it is JSON. */
export function brokenLine(text: string): number {
  return text.slice(0, breakOf(text).at).split('\n').length
}
