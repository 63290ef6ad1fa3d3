// Turns tables of fields and their checks into JSON Schema.

export type Schema = { readonly [key: string]: unknown }

/** A table's fields, each with the words that say what it must be. */
export type Wanted = Readonly<Record<string, string>>

export const TEXT = { type: 'string' } as const
/** A non-empty string. */
export const WRITTEN = { type: 'string', pattern: '\\S' } as const
export const FLAG = { type: 'boolean' } as const
export const TEXTS = { type: 'array', items: TEXT } as const
export const TEXT_MAP = { type: 'object', additionalProperties: TEXT } as const
export const OBJECT = { type: 'object' } as const
export const SECONDS = { type: 'number', exclusiveMinimum: 0 } as const
const COUNT = { type: 'integer', minimum: 0 } as const
export const URL_TEXT = { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://.' } as const

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}

/** The words that several tables share. */
const BY_WORDS: Readonly<Record<string, Schema>> = {
  'a string': TEXT,
  'a text': TEXT,
  'a non-empty string': WRITTEN,
  'a text that is not empty': WRITTEN,
  'a list of strings': TEXTS,
  'an object of strings': TEXT_MAP,
  'an object': OBJECT,
  'true or false': FLAG,
  'a number': { type: 'number' },
  'a number of seconds above 0': SECONDS,
  'a whole number': COUNT,
  'a number of bytes, or null': orNull(COUNT),
  'a number of tokens, or null': orNull(COUNT),
  'a URL that begins with http:// or https://': URL_TEXT,
}

const CHOICE = /^"[^"]*"(?: or "[^"]*")*$/

function byWords(words: string): Schema | undefined {
  if (Object.hasOwn(BY_WORDS, words)) return BY_WORDS[words]
  return CHOICE.test(words) ? { enum: words.split(' or ').map((word) => word.slice(1, -1)) } : undefined
}

/**
 * Makes a property for each field, in order. `shapes` define fields whose words say too little. Throws for a field that
 * neither defines.
 */
export function propertiesOf(
  wanted: Wanted,
  descriptions: Readonly<Record<string, string>>,
  shapes: Readonly<Record<string, Schema>> = {},
): Readonly<Record<string, Schema>> {
  const properties = Object.entries(wanted).map(([key, words]) => {
    const shape = shapes[key] ?? byWords(words)
    const description = descriptions[key]
    if (!shape) throw new Error(`there is no shape for "${key}", which must be ${words}`)
    if (description === undefined) throw new Error(`there is no description of "${key}"`)
    return [key, { description, ...shape }] as const
  })
  return Object.fromEntries(properties)
}

/** Takes the words from a table of `[accepts, words]`. */
export function wantedOf(checks: object): Wanted {
  const entries = Object.entries(checks as Readonly<Record<string, readonly [unknown, string]>>)
  return Object.fromEntries(entries.map(([key, [, words]]) => [key, words]))
}

/** Keys that are comments for people. */
export const REMARKS: Schema = { '^(?://|[#_$])': {} }
