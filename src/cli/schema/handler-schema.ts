// The schema of an event's value: groups, and hooks of each type.

import { COMMON } from '../../config/handler.js'
import { knownEvents } from '../../core/events/events.js'
import type { Field } from '../../runners/kind.js'
import { EVENT_KINDS, type HandlerType } from '../../runners/kinds.js'
import { FLAG, propertiesOf, type Schema, TEXT } from './shapes.js'

const TYPES = Object.keys(EVENT_KINDS) as readonly HandlerType[]

/** For `$defs`. */
export function handlerDefinitions(): Readonly<Record<string, Schema>> {
  return {
    groups: {
      description: 'A list of groups, or a single group.',
      anyOf: [{ type: 'array', items: { $ref: '#/$defs/group' } }, { $ref: '#/$defs/group' }],
    },
    group: {
      type: 'object',
      required: ['hooks'],
      properties: {
        matcher: {
          description:
            'When to run: "" or "*" always; "Write|Edit" a list of names; anything else a regular expression.',
          anyOf: [TEXT, { type: 'object', properties: { tool_name: TEXT }, additionalProperties: false }],
        },
        sequential: {
          description: 'Run the hooks one after another, each with the changes of those before it.',
          ...FLAG,
        },
        description: { description: 'For people.' },
        hooks: { description: 'What to run.', type: 'array', items: { $ref: '#/$defs/hook' } },
      },
    },
    hook: {
      type: 'object',
      required: ['type'],
      properties: { type: { description: typeWords(), enum: TYPES } },
      allOf: TYPES.map((type) => ({
        if: { properties: { type: { const: type } } },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { $ref: `#/$defs/${type}` },
      })),
    },
    ...Object.fromEntries(TYPES.map((type) => [type, handlerSchema(type)])),
  }
}

function typeWords(): string {
  return TYPES.map((type) => `${type}: ${EVENT_KINDS[type].summary}`).join(' ')
}

function handlerSchema(type: HandlerType): Schema {
  const { summary, required, fields } = EVENT_KINDS[type]
  return {
    description: summary,
    required,
    properties: { ...fieldProperties(fields), ...fieldProperties(COMMON) },
  }
}

/** A property for each field of an entry, in the order of the table. */
export function fieldProperties(fields: object): Readonly<Record<string, Schema>> {
  const entries = Object.entries(fields as Readonly<Record<string, Field>>)
  const column = <T>(pick: (field: Field) => T) =>
    Object.fromEntries(entries.map(([key, field]) => [key, pick(field)]))
  const shapes = Object.fromEntries(entries.flatMap(([key, [, , schema]]) => (schema ? [[key, schema]] : [])))
  return propertiesOf(
    column(([[, wanted]]) => wanted),
    column(([, description]) => description),
    shapes,
  )
}

// ---- events ---------------------------------------------------------------------------------------------------

const GROUPS = { $ref: '#/$defs/groups' }

/** Canonical names, which editors suggest. */
export function eventProperties(): Readonly<Record<string, Schema>> {
  const entries = knownEvents().map(({ name, when, matcher, deny, denyMeans }) => {
    const matched = matcher === null ? 'Its matcher is ignored.' : `The matcher is compared with ${matcher}.`
    const denied = deny === 'none' ? 'Nothing can be denied.' : `A deny: ${denyMeans}.`
    return [name, { description: `${capital(when)}. ${matched} ${denied}`, ...GROUPS }] as const
  })
  return Object.fromEntries(entries)
}

/** Aliases from other systems: accepted, not suggested. */
export function aliasPatterns(): Readonly<Record<string, Schema>> {
  const aliases = knownEvents().flatMap(({ name, aliases: others }) => [...others, ...spellings(name)])
  return { [`^(?:${[...new Set(aliases)].sort().join('|')})$`]: GROUPS }
}

/** `pre_tool_use` and `preToolUse`. */
function spellings(name: string): readonly string[] {
  const snake = name.replace(
    /[A-Z]/g,
    (letter, at: number) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`,
  )
  return [snake, name.charAt(0).toLowerCase() + name.slice(1)]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
