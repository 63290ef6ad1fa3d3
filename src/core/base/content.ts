// The view that hooks get of a value that JSON cannot carry: its entries, getters, causes, bytes. It must show everything that a tool could read.

/** False for an Error, a Map or a Date: without fields of their own, they would look like an empty object. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function rendersItself(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}

/** Deep enough for data, and less deep than a copy may be. */
const MAX_DEPTH = 400
const MAX_VALUES = 1_000_000
const CIRCULAR = '[circular: shown above]'

export class Showing {
  readonly #mayBeEndless: boolean
  #left = MAX_VALUES
  /** The ancestors of the current object. */
  readonly #around = new Set<object>()

  /** Plain data that contains itself is an error, unless `mayBeEndless`. */
  constructor(mayBeEndless = false) {
    this.#mayBeEndless = mayBeEndless
  }

  /** Turns any value into plain data. A part that cannot be shown is replaced by a note. */
  show(value: unknown, depth = 0): unknown {
    if (typeof value === 'bigint') return value.toString()
    if (typeof value === 'function') return this.#functionFields(value, depth)
    if (typeof value !== 'object' || value === null) return value
    if (this.#around.has(value) && (this.#mayBeEndless || !isPlain(value))) return CIRCULAR
    if (depth > MAX_DEPTH || this.#left-- <= 0) throw new Error('it is nested too deeply or too large')
    this.#around.add(value)
    try {
      return this.#content(value, depth + 1)
    } catch (error) {
      // Plain data that cannot be read is an error. An object of a class may not be meant to be read.
      if (isPlain(value)) throw error
      return unshown(value)
    } finally {
      this.#around.delete(value)
    }
  }

  #functionFields(value: object, depth: number): unknown {
    const fields = fieldsOf(value)
    return Object.keys(fields).length > 0 ? this.show(fields, depth) : undefined
  }

  #content(value: object, depth: number): unknown {
    if (rendersItself(value)) return this.#rendered(value, depth)
    if (Array.isArray(value)) {
      const items = Array.from(value, (item) => this.show(item, depth))
      return together(this.#fields(extraFields(value), depth), items)
    }
    const content = isPlain(value) ? value : contentOf(value)
    return isObject(content) ? this.#fields(content, depth) : this.show(content, depth)
  }

  #fields(fields: object, depth: number): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, this.show(item, depth)]))
  }

  /** The value as it renders itself, plus its fields if they say more, because a tool can read them. */
  #rendered(value: object, depth: number): unknown {
    const { toJSON } = value as { readonly toJSON: () => unknown }
    const view = this.show(toJSON.call(value), depth)
    if (ArrayBuffer.isView(value)) return together(this.#fields(extraFields(value), depth), view)
    const { toJSON: _, ...own } = value as { readonly toJSON?: unknown }
    const fields = this.#fields(own, depth)
    const said = new Set(textsIn(view))
    const says = Object.values(fields).flatMap(textsIn)
    return says.every((text) => said.has(text)) ? view : together(fields, view)
  }
}

/** Every string and every key in finite plain data. */
function textsIn(view: unknown): readonly string[] {
  if (typeof view === 'string') return [view]
  if (Array.isArray(view)) return view.flatMap(textsIn)
  return isObject(view) ? Object.entries(view).flatMap(([key, item]) => [key, ...textsIn(item)]) : []
}

// ---- parts that cannot be shown -------------------------------------------------------------------------------

const NOT_SHOWN = ': its content cannot be shown]'

/** The note for a part that cannot be read synchronously. */
export function unshown(value: object): string {
  return `[${nameOf(value)}${NOT_SHOWN}`
}

/** Whether hooks see all of it. */
export function isWhole(view: unknown): boolean {
  return !textsIn(view).some((text) => text.endsWith(NOT_SHOWN))
}

function nameOf(value: object): string {
  try {
    const name: unknown = value.constructor?.name
    return typeof name === 'string' && name !== '' ? name : 'object'
  } catch {
    return 'object'
  }
}

// ---- objects of a class ---------------------------------------------------------------------------------------

/** The content of an object of a class. Its values may need showing in turn. Throws if a getter throws. */
function contentOf(value: object): unknown {
  if (ArrayBuffer.isView(value) || isBuffer(value)) return together(extraFields(value), base64(value))
  if (isBoxed(value)) return together(extraFields(value), value.valueOf())
  if (value instanceof RegExp) return together(fieldsOf(value), String(value))
  if (value instanceof Error) return errorContent(value)
  if (isCollection(value)) return together(fieldsOf(value), collected(value))
  const fields = { ...fieldsOf(value), ...gettersOf(value) }
  if (answersLater(value)) return { ...fields, content: unshown(value) }
  return Object.keys(fields).length > 0 ? fields : textForm(value)
}

/** Combines the fields of an object with its content. */
function together(fields: object, content: unknown): unknown {
  return Object.keys(fields).length > 0 ? { ...fields, content } : content
}

/** Own and inherited fields, not methods. */
function fieldsOf(value: object): Record<string, unknown> {
  const entries: [string, unknown][] = []
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key]
    if (!isMethod(field)) entries.push([key, field])
  }
  return Object.fromEntries(entries)
}

/** Fields beside the items of a list, a text or bytes. */
function extraFields(value: object): Record<string, unknown> {
  const length = Number((value as { readonly length?: unknown }).length ?? 0)
  const keys = Object.keys(value)
  if (keys.length <= length && !(Array.isArray(value) && isSparse(keys, value))) return {}
  const extra = keys.filter((key) => !/^\d+$/.test(key))
  return Object.fromEntries(extra.map((key) => [key, (value as unknown as Record<string, unknown>)[key]]))
}

function isSparse(keys: readonly string[], list: readonly unknown[]): boolean {
  return keys.length < list.length || keys.at(-1) !== String(list.length - 1)
}

/** The values of its classes' getters. If one throws, a note replaces it, and the others still show. */
function gettersOf(value: object): Record<string, unknown> {
  const entries: [string, unknown][] = []
  let proto: unknown = Object.getPrototypeOf(value)
  while (typeof proto === 'object' && proto !== null && proto !== Object.prototype) {
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
      if (get && key !== '__proto__') entries.push([key, got(value, get)])
    }
    proto = Object.getPrototypeOf(proto)
  }
  return Object.fromEntries(entries.reverse().filter(([, field]) => !isMethod(field)))
}

/** A function that holds nothing. */
function isMethod(value: unknown): boolean {
  return typeof value === 'function' && Object.keys(value).length === 0
}

function got(value: object, get: () => unknown): unknown {
  try {
    return get.call(value)
  } catch {
    return unshown(value)
  }
}

function isBuffer(value: object): value is ArrayBuffer {
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
}

function isBoxed(value: object): boolean {
  return (
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean ||
    value instanceof BigInt ||
    value instanceof Symbol
  )
}

/** The message and the cause of an error are not enumerable fields. */
function errorContent(error: Error): unknown {
  const { cause, errors } = error as Error & { readonly errors?: unknown }
  const more = {
    ...fieldsOf(error),
    ...(cause !== undefined && { cause }),
    ...(errors !== undefined && { errors }),
  }
  return together(more, `${error.name}: ${error.message}`)
}

/** Maps, sets, headers, forms and the like, which can be iterated more than once. */
function isCollection(value: object): value is Iterable<unknown> {
  const { entries, next, [Symbol.iterator]: items } = value as Partial<Record<string | symbol, unknown>>
  return typeof items === 'function' && typeof entries === 'function' && typeof next !== 'function'
}

const MOST_ITEMS = 1_000_000

/** Pairs of a name and a value become fields, unless a name is repeated. */
function collected(collection: Iterable<unknown>): unknown {
  const items: unknown[] = []
  for (const item of collection) {
    if (items.push(item) > MOST_ITEMS) throw new Error('it has too many entries')
  }
  if (collection instanceof Set || !items.every(isNamed)) return items
  const fields = Object.fromEntries(items)
  return Object.keys(fields).length === items.length ? fields : items
}

function isNamed(item: unknown): item is [string, unknown] {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'
}

/** Promises, streams, files, iterators and weak references: reading them takes time, or uses them up. */
function answersLater(value: object): boolean {
  const one = value as Partial<Record<string | symbol, unknown>>
  return ['then', 'next', 'arrayBuffer', 'deref', Symbol.asyncIterator].some(
    (key) => typeof one[key] === 'function',
  )
}

/** A number of arguments that every engine accepts. */
const CHUNK = 8192

function base64(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
  let text = ''
  for (let i = 0; i < view.length; i += CHUNK) text += String.fromCharCode(...view.subarray(i, i + CHUNK))
  return btoa(text)
}

/** A guard would let an empty object pass, so a value that shows nothing of itself becomes text. */
function textForm(value: object): string {
  const text = String(value)
  return /^\[object \w*\]$/.test(text) ? unshown(value) : text
}
