// Codex's hooks.json, which it rejects as a whole if one thing in it is not as it should be.

import { isObject } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { type JsonPath, JsonText, under } from '../../files/json-text.js'
import { isStrict } from '../forms/json-switch.js'

export interface Rejection {
  readonly line: number
  readonly text: string
  readonly fix: string
}

const KEYS = ['description', 'hooks']
const TYPES = ['command', 'mcp_tool', 'prompt', 'agent']

/** Undefined if Codex reads the file. `events`: those that it knows, because it skips others unread. */
export function rejection(text: string, events: readonly string[]): Rejection | undefined {
  if (text.startsWith('\uFEFF'))
    return { line: 1, text: 'it begins with a byte order mark', fix: 'Save it as UTF-8 without one.' }
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed)
    return { line: parsed.line, text: `it is not valid JSON: ${parsed.problem}`, fix: 'Correct it.' }
  const at = (path: JsonPath, why: string, fix: string) => ({ line: json.lineOf(path), text: why, fix })
  if (!isStrict(text))
    return at(null, 'it has comments or trailing commas', 'Remove the comments and trailing commas.')
  if (!isObject(parsed.value)) return at(null, 'it is not an object', 'Write { "hooks": { … } }.')
  const [double] = json.doubleKeys()
  if (double)
    return { line: double.line, text: `${shown(double.key)} is there twice`, fix: 'Remove one of them.' }
  const odd = Object.keys(parsed.value).find((key) => !KEYS.includes(key))
  if (odd !== undefined)
    return at(under(null, odd), `it has the key ${shown(odd)}`, `Remove ${shown(odd)} from it.`)
  const { description, hooks } = parsed.value
  if (description !== undefined && description !== null && typeof description !== 'string')
    return at(under(null, 'description'), '"description" is not a string', 'Remove "description" from it.')
  const lists = under(null, 'hooks')
  if (hooks !== undefined && !isObject(hooks))
    return at(lists, '"hooks" is not an object', 'Write "hooks": { … }.')
  for (const event of events) {
    const list = isObject(hooks) ? hooks[event] : undefined
    const fault = list === undefined ? undefined : listFault(list)
    if (!fault) continue
    const path = fault.keys.reduce<JsonPath>(under, under(lists, event))
    return at(path, `${event}: ${fault.text}`, fault.fix)
  }
  return undefined
}

interface Fault {
  readonly keys: readonly (string | number)[]
  readonly text: string
  readonly fix: string
}

function listFault(list: unknown): Fault | undefined {
  if (!Array.isArray(list)) return { keys: [], text: 'it is not a list', fix: 'Write [ … ].' }
  for (const [i, group] of list.entries()) {
    if (!isObject(group)) return { keys: [i], text: 'an entry is not an object', fix: 'Remove the entry.' }
    const { hooks = [] } = group
    if (!Array.isArray(hooks))
      return { keys: [i, 'hooks'], text: '"hooks" is not a list', fix: 'Write "hooks": [ … ].' }
    for (const [j, handler] of hooks.entries()) {
      const fault = handlerFault(handler)
      if (fault) return { ...fault, keys: [i, 'hooks', j, ...fault.keys] }
    }
  }
  return undefined
}

function handlerFault(handler: unknown): Fault | undefined {
  if (!isObject(handler)) return { keys: [], text: 'a hook is not an object', fix: 'Remove it.' }
  const { type, command, timeout } = handler
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    const text = type === undefined ? 'a hook has no "type"' : `"type" is ${shown(type)}`
    return { keys: ['type'], text, fix: 'Write "type": "command", or remove the hook.' }
  }
  if (type === 'command' && typeof command !== 'string')
    return { keys: ['command'], text: 'a hook has no "command"', fix: 'Write "command": "…".' }
  if (timeout === undefined || timeout === null || (Number.isInteger(timeout) && Number(timeout) >= 0))
    return undefined
  return { keys: ['timeout'], text: `"timeout" is ${shown(timeout)}`, fix: 'Write whole seconds.' }
}
