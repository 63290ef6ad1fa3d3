// A payload that would do, for somebody whose payload did not.

import type { FieldType } from '../../core/events/catalogue.js'
import type { EventKind } from '../../core/events/events.js'

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

/** What the tools of Claude Code are called with. */
const BY_TOOL: Readonly<Record<string, unknown>> = {
  Bash: BY_FIELD.tool_input,
  Read: { file_path: '/tmp/file.txt' },
  Write: { file_path: '/tmp/file.txt', content: 'Hello' },
  Edit: { file_path: '/tmp/file.txt', old_string: 'Hello', new_string: 'Bye' },
  WebFetch: { url: 'https://example.com/', prompt: 'Hello' },
}

/** Only what is required: the rest can be looked up. `tool`: the one that it is about, if that is known. */
export function examplePayload({ required }: EventKind, tool: unknown = 'Bash'): string {
  const input = { tool_input: Object.hasOwn(BY_TOOL, String(tool)) ? BY_TOOL[String(tool)] : {} }
  const fields = Object.entries(required).map(([field, type]) => [field, exampleOf(field, type)])
  const payload = Object.fromEntries(fields)
  return JSON.stringify('tool_input' in payload ? { ...payload, ...input } : payload)
}

function exampleOf(field: string, type: FieldType): unknown {
  return Object.hasOwn(BY_FIELD, field) ? BY_FIELD[field] : BY_TYPE[type]
}
