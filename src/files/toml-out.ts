// Values as TOML, and a hook file of them: tables for events, and a list of tables for their entries.

import { isObject } from '../core/base/json.js'

/** For data that hook files hold: texts, numbers, switches, lists and objects of them. */
export function tomlOf(file: Readonly<Record<string, unknown>>): string {
  const { hooks, ...head } = file
  const lines = Object.entries(head).map(([key, value]) => tomlPair(key, tomlValue(value)))
  const entries = Array.isArray(hooks) ? hooks.filter(isObject) : []
  const tables = entries.map((entry) =>
    ['[[hooks]]', ...Object.entries(entry).map(([key, value]) => tomlPair(key, tomlValue(value)))].join('\n'),
  )
  return `${[...(lines.length > 0 ? [lines.join('\n')] : []), ...tables].join('\n\n')}\n`
}

export function tomlPair(key: string, value: string): string {
  return `${keyText(key)} = ${value}`
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : textText(key)
}

/** On one line. */
export function tomlValue(value: unknown): string {
  if (typeof value === 'string') return textText(value)
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`
  if (isObject(value)) {
    return `{ ${Object.entries(value)
      .map(([key, one]) => tomlPair(key, tomlValue(one)))
      .join(', ')} }`
  }
  return String(value)
}

/** JSON escapes what TOML's basic strings escape, apart from DEL. */
function textText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f').replaceAll('\\/', '/')
}
