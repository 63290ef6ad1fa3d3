// A payload that would do, for somebody whose payload did not.

import type { FieldType } from '../../core/catalogue.js'
import type { EventKind } from '../../core/events.js'

const BY_TYPE: Readonly<Record<FieldType, unknown>> = {
  string: '…',
  number: 0,
  boolean: true,
  object: {},
  list: [],
  json: 'ok',
}

const BY_FIELD: Readonly<Record<string, unknown>> = {
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: { stdout: 'ok' },
  prompt: 'Hello',
  source: 'startup',
  file_path: '/tmp/file.txt',
}

/** Only what is required: the rest can be looked up. */
export function examplePayload({ required }: EventKind): string {
  const fields = Object.entries(required).map(([field, type]) => [field, exampleOf(field, type)])
  return JSON.stringify(Object.fromEntries(fields))
}

function exampleOf(field: string, type: FieldType): unknown {
  return Object.hasOwn(BY_FIELD, field) ? BY_FIELD[field] : BY_TYPE[type]
}
