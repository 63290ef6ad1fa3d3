// Shapes of fields in an answer, and the check of a field against its shape.

import { type Data, isObject, type Json } from '../core/base/json.js'
import { shown } from '../core/base/text.js'

/** `texts` is a list of strings, `json` is anything except null, and a list of words means one of them. */
export type Shape = keyof Shaped | readonly string[]
export type Shapes = Readonly<Record<string, Shape>>

interface Shaped {
  text: string
  flag: boolean
  object: Data
  list: readonly Json[]
  texts: readonly string[]
  json: Json
}

type Value<S> = S extends keyof Shaped ? Shaped[S] : S extends readonly (infer Word)[] ? Word : never
export type Fields<S extends Shapes> = { readonly [K in keyof S]?: Value<S[K]> }

/** The well-formed fields of `source`. Each malformed one becomes a sentence in `problems`. Null never fits, as in Claude Code. */
export function pick<S extends Shapes>(
  source: object,
  shapes: S,
  where: string,
  problems: string[],
): Fields<S> {
  const fields: Record<string, unknown> = {}
  for (const [key, shape] of Object.entries(shapes)) {
    if (!Object.hasOwn(source, key)) continue
    const value: unknown = (source as Record<string, unknown>)[key]
    const must = misfit(shape, value)
    if (must === undefined) fields[key] = value
    else problems.push(`${where}${key} must be ${must}, got ${shown(value)}`)
  }
  return fields as Fields<S>
}

/** The shape in words if the value does not fit. */
function misfit(shape: Shape, value: unknown): string | undefined {
  switch (shape) {
    case 'text':
      return typeof value === 'string' ? undefined : 'a string'
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'object':
      return isObject(value) ? undefined : 'an object'
    case 'list':
      return Array.isArray(value) ? undefined : 'a list'
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? undefined
        : 'a list of strings'
    case 'json':
      return value === null ? 'something' : undefined
    default:
      return shape.some((word) => word === value)
        ? undefined
        : `one of ${shape.map((word) => JSON.stringify(word)).join(', ')}`
  }
}
