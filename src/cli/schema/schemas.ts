// The JSON Schemas of the files that people write and of the data that programs exchange, and their published text.

import { HOOKS_SCHEMA } from './address.js'
import { casesSchema } from './cases-schema.js'
import { catalogSchema } from './catalog-schema.js'
import { hooksSchema, settingsSchema } from './hooks-schema.js'
import { packSchema } from './pack-schema.js'
import { rulesSchema } from './rules-schema.js'
import { outcomeSchema, serveSchema } from './serve-schema.js'
import type { Schema } from './shapes.js'

interface Published {
  readonly make: () => Schema
  /** Where users have such data. */
  readonly where: string
}

export const SCHEMAS = {
  hooks: { make: hooksSchema, where: '.amplifier/hooks/hooks.json, hooks.json of a plugin' },
  rules: { make: rulesSchema, where: '.amplifier/rules.json, rules.json of a plugin' },
  settings: { make: settingsSchema, where: '.amplifier/settings.json' },
  'hooks.test': { make: casesSchema, where: 'hooks.test.json beside the hooks' },
  pack: { make: packSchema, where: '.amplifier/pack.json' },
  catalog: { make: catalogSchema, where: 'catalog.json of a catalog' },
  outcome: { make: outcomeSchema, where: 'what carabiner fire --json prints' },
  serve: { make: serveSchema, where: 'the messages of carabiner serve' },
} as const satisfies Readonly<Record<string, Published>>

export type SchemaName = keyof typeof SCHEMAS

export const SCHEMA_NAMES = Object.keys(SCHEMAS) as readonly SchemaName[]

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

export function addressOf(name: SchemaName): string {
  return new URL(`${name}.json`, HOOKS_SCHEMA).href
}

export function schemaOf(name: SchemaName): Schema {
  return { $schema: DIALECT, $id: addressOf(name), ...SCHEMAS[name].make() }
}

/** Its path and text in the package. */
export function schemaFile(name: SchemaName): { readonly path: string; readonly text: string } {
  return { path: `schema/${name}.json`, text: `${laidOut(schemaOf(name), '')}\n` }
}

const WIDTH = 110

/** Prints JSON as the project's formatter does. */
function laidOut(value: unknown, indent: string, room = WIDTH): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isFlat = value.every((item) => typeof item !== 'object' || item === null)
    if (isFlat && line.length <= room) return line
    return `[\n${value.map((item) => `${inner}${laidOut(item, inner, WIDTH - inner.length - 1)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value).map(([key, item], i, all) => {
    const start = `${inner}${JSON.stringify(key)}: `
    const comma = i < all.length - 1 ? 1 : 0
    return start + laidOut(item, inner, WIDTH - start.length - comma)
  })
  return entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n${indent}}`
}
