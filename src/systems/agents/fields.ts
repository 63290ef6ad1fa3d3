// Names of a tool's fields: Claude Code's in an agent's own words, and back.

import { type Data, isObject } from '../../core/base/json.js'

type Names = Readonly<Record<string, string>>

/** Anthropic's editor: `path`, `file_text`, `old_str`, `new_str`. */
export const EDITOR: Names = {
  file_path: 'path',
  content: 'file_text',
  old_string: 'old_str',
  new_string: 'new_str',
}

export function theirs(input: unknown, names: Names = {}): Data {
  return renamed(input, names)
}

export function ours(input: unknown, names: Names = {}): Data {
  return renamed(input, Object.fromEntries(Object.entries(names).map(([our, their]) => [their, our])))
}

function renamed(input: unknown, names: Names): Data {
  if (!isObject(input)) return {}
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value]),
  ) as Data
}
