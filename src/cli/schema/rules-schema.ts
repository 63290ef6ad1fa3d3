// The schema of rules.json.

import { HOST_NAMES } from '../../hosts/hosts.js'
import { EFFECT_KINDS, type FieldType, fieldsOf } from '../../rules/effect-kinds.js'
import { MOST_RULES, PRESET_NAMES, RULE_FIELDS } from '../../rules/rule.js'
import { FLAG, REMARKS, type Schema, TEXT } from './shapes.js'

export function rulesSchema(): Schema {
  return {
    title: 'Rules',
    description: '.amplifier/rules.json: what agents may do, in terms of what their calls would do.',
    type: 'object',
    properties: {
      $schema: TEXT,
      preset: { description: 'The shipped rules that this file builds on.', enum: PRESET_NAMES },
      rules: {
        description: 'The order does not matter.',
        type: 'array',
        maxItems: MOST_RULES,
        items: ruleSchema(),
      },
    },
    patternProperties: REMARKS,
    additionalProperties: false,
  }
}

function ruleSchema(): Schema {
  const properties = Object.entries(RULE_FIELDS).map(([key, [, description, schema]]) => [
    key,
    { description, ...schema },
  ])
  return {
    type: 'object',
    properties: { ...Object.fromEntries(properties), where: whereSchema(), in: inSchema() },
    required: ['id'],
    // A rule of the preset is changed by its id; any other rule is complete.
    if: { properties: { id: { not: { pattern: '/' } } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { anyOf: [{ required: ['effects', 'then'] }, { required: ['redact'] }] },
    patternProperties: REMARKS,
    additionalProperties: false,
  }
}

function inSchema(): Schema {
  const names = (one: Schema) => ({ type: 'array', minItems: 1, items: one })
  return {
    description: RULE_FIELDS.in[1],
    type: 'object',
    properties: { modes: names(TEXT), agents: names({ enum: HOST_NAMES }) },
    minProperties: 1,
    additionalProperties: false,
  }
}

/** All fields of all effects. */
function whereSchema(): Schema {
  const properties: Record<string, Schema> = {}
  for (const kind of EFFECT_KINDS) {
    for (const [key, [type]] of Object.entries(fieldsOf(kind))) properties[key] = shapeOf(type)
  }
  const description = RULE_FIELDS.where[1]
  return { description, type: 'object', properties, additionalProperties: false }
}

function shapeOf(type: FieldType): Schema {
  if (type === 'flag') return FLAG
  const one = type === 'text' ? TEXT : { enum: type }
  return { anyOf: [one, { type: 'array', minItems: 1, items: one }] }
}
