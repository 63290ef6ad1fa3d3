// What a call is about, on one line: for lists, where the call itself is too long.

import { type Data, isObject } from '../core/base/json.js'
import { withoutSecrets } from '../core/base/secrets.js'
import { visible } from '../core/base/text.js'

/** Fields that say most about a call, the first that is there. */
const TELLING = ['command', 'file_path', 'path', 'url', 'pattern', 'prompt'] as const
const LONGEST = 120

/** `deploy production`: the command, the file, otherwise all of its input. Empty where it has none. */
export function callLine(call: Data): string {
  const input = call.tool_input ?? call
  const telling = isObject(input) ? TELLING.map((key) => input[key]).find(isWritten) : input
  const text = isWritten(telling) ? telling : JSON.stringify(input ?? null)
  const line = visible(withoutSecrets(text).replace(/\s+/g, ' ').trim())
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}

function isWritten(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
