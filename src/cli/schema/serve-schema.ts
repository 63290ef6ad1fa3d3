// The schemas of the messages of `carabiner serve`, and of an outcome.

import {
  APPROVE_RESULT,
  type Field,
  type Fields,
  fieldSchema,
  HOST_METHODS,
  METHODS,
  type MethodRow,
} from '../../service/stdio/protocol.js'
import { objectSchema, structureSchema, structuresIn } from '../../service/stdio/structures.js'
import type { Schema } from './shapes.js'

const VERSION = { description: 'The version of JSON-RPC.', const: '2.0' } as const
const ID = { description: 'The id of the request.', type: ['string', 'number'] } as const

export function outcomeSchema(): Schema {
  return {
    title: 'The outcome of an event',
    description: 'What hooks decided about an event, and how: what carabiner fire --json prints.',
    ...withStructures(structureSchema('outcome')),
  }
}

export function serveSchema(): Schema {
  const rows = Object.entries<MethodRow>(METHODS)
  const told = Object.entries<MethodRow>(HOST_METHODS)
  const defs = {
    ...Object.fromEntries(rows.map(([name, { params }]) => [`${name}.params`, fieldsSchema(params)])),
    ...Object.fromEntries(rows.map(([name, row]) => [`${name}.result`, resultSchema(row)])),
    ...Object.fromEntries(told.map(([name, { params }]) => [`host.${name}.params`, fieldsSchema(params)])),
    'host.approve.result': APPROVE_RESULT,
    error: errorSchema(),
  }
  const messages = [
    ...rows.map(([name, row]) => messageSchema(name, row, `${name}.params`, true)),
    messageSchema('cancel', METHODS.cancel, 'cancel.params', false),
    ...told.map(([name, row]) => messageSchema(name, row, `host.${name}.params`, name === 'approve')),
    replySchema([...rows.map(([name]) => `${name}.result`), 'host.approve.result']),
    failureSchema(),
  ]
  const whole = withStructures({ anyOf: messages, $defs: defs })
  return {
    title: 'Messages of carabiner serve',
    description:
      'One line of JSON-RPC 2.0, in either direction. $defs has the params and the result of each method.',
    ...whole,
  }
}

function fieldsSchema(fields: Fields): Schema {
  return objectSchema(
    Object.entries<Field>(fields).map(([key, field]) => ({
      key,
      schema: fieldSchema(field),
      means: field.means,
      optional: field.optional,
    })),
  )
}

function resultSchema({ result, statuses }: MethodRow): Schema {
  if (!statuses) return fieldsSchema(result ?? {})
  const variants = Object.entries(statuses).map(([status, fields]) => {
    const { required, properties, ...rest } = fieldsSchema(fields) as {
      readonly required?: readonly string[]
      readonly properties: object
    }
    return {
      ...rest,
      required: ['status', ...(required ?? [])],
      properties: { status: { description: 'What came of it.', const: status }, ...properties },
    }
  })
  return variants.length === 1 ? (variants[0] as Schema) : { anyOf: variants }
}

function messageSchema(method: string, row: MethodRow, params: string, isRequest: boolean): Schema {
  const isNeeded = Object.values(row.params).some(({ optional }) => !optional)
  return {
    description: row.does,
    type: 'object',
    required: ['method', ...(isRequest ? ['id'] : []), ...(isNeeded ? ['params'] : [])],
    properties: {
      jsonrpc: VERSION,
      ...(isRequest && { id: ID }),
      method: { description: 'The method.', const: method },
      params: { description: 'Its params.', $ref: `#/$defs/${params}` },
    },
    additionalProperties: false,
  }
}

function replySchema(results: readonly string[]): Schema {
  return {
    description: 'The answer to a request.',
    type: 'object',
    required: ['id', 'result'],
    properties: {
      jsonrpc: VERSION,
      id: ID,
      result: {
        description: 'What was asked for.',
        anyOf: results.map((name) => ({ $ref: `#/$defs/${name}` })),
      },
    },
    additionalProperties: false,
  }
}

function failureSchema(): Schema {
  return {
    description: 'The answer to a request that was not carried out.',
    type: 'object',
    required: ['id', 'error'],
    properties: {
      jsonrpc: VERSION,
      id: { ...ID, type: ['string', 'number', 'null'] },
      error: { description: 'Why.', $ref: '#/$defs/error' },
    },
    additionalProperties: false,
  }
}

function errorSchema(): Schema {
  return {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { description: "JSON-RPC's number.", type: 'integer' },
      message: { description: 'What happened.', type: 'string' },
      data: {
        description: 'More about it.',
        type: 'object',
        properties: {
          code: { description: 'A code of the page errors.', type: 'string' },
          hint: { description: 'What to do.', type: 'string' },
          field: { description: 'The field that is wrong.', type: 'string' },
          versions: {
            description: 'The versions that are spoken.',
            type: 'array',
            items: { type: 'integer' },
          },
          outcome: { description: 'What the hooks decided.', $ref: '#/$defs/outcome' },
        },
      },
    },
  }
}

/** With the structures that it refers to. */
function withStructures(schema: Schema): Schema {
  const structures = Object.fromEntries(structuresIn(schema).map((name) => [name, structureSchema(name)]))
  return { ...schema, $defs: { ...(schema.$defs as object | undefined), ...structures } }
}
