// Keys beside `hooks` that belong under it: events and settings that would be lost in silence.

import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import { knownEvent } from './event-name.js'
import { type Reading, say } from './hook-group.js'
import { type JsonPath, under } from './json-text.js'
import { looksLikeSetting } from './merged-settings.js'

type Fields = { readonly [key: string]: unknown }

/** Events beside `hooks` instead of under it. */
export function noteStrayEvents(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (name === 'hooks' || !Array.isArray(value) || !knownEvent(name) || !value.some(looksLikeGroup))
      continue
    const text = `${name} beside "hooks" was left out: events stand under "hooks"`
    say(reading, 'entry-invalid', text, under(at, name))
  }
}

/** Settings beside `hooks` instead of under it. */
export function noteStraySettings(reading: Reading, fields: Fields, at: JsonPath): void {
  for (const key of Object.keys(fields)) {
    const isServers = key === 'mcpServers' && isObject(fields[key])
    if (!isServers && !looksLikeSetting(key, fields[key])) continue
    const right = isServers ? 'mcp_servers' : key
    const text = `${shown(key)} beside "hooks" is ignored: settings stand under "hooks", as {"hooks": {"${right}": …}}`
    say(reading, 'unknown-key', text, under(at, key))
  }
}

/** Hooks that somebody may have switched off by a name such as `_PreToolUse`: whoever counts on them should know. */
export function holdsGroups(value: unknown): boolean {
  return Array.isArray(value) && value.some(looksLikeGroup)
}

function looksLikeGroup(value: unknown): boolean {
  return isObject(value) && (Object.hasOwn(value, 'hooks') || Object.hasOwn(value, 'command'))
}
