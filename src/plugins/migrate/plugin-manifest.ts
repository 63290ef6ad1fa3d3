// plugin.json as Claude Code is to have it, once hooks.json went to where it looks by itself.

import { posix } from 'node:path'
import { JsonText, under } from '../../config/json-text.js'
import { isObject } from '../../core/base/json.js'
import { appended, edited, layoutOf, removed } from '../../hosts/json-edit.js'
import type { Fields } from './hook-file.js'

/** Undefined where there is none, or it cannot be understood, which whoever reads its hooks says. */
export function manifestValue(text: string | undefined): Fields | undefined {
  if (text === undefined) return undefined
  const parsed = new JsonText(text).parse()
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined
}

/** With a name, which Claude Code insists on, and without hooks.json, which is not there any more. */
export function manifestFor(text: string | undefined, name: string, said: Fields): string {
  if (text === undefined) return `${JSON.stringify({ name, ...said }, null, 2)}\n`
  return manifestValue(text) ? named(withoutMoved(text), name) : text
}

/** Whatever else it says of hooks stays. */
function withoutMoved(text: string): string {
  const json = new JsonText(text)
  const { hooks } = manifestValue(text) ?? {}
  const [root, spot] = [json.spotOf(null), json.spotOf(under(null, 'hooks'))]
  const parts: readonly unknown[] = Array.isArray(hooks) ? hooks : [hooks]
  const moved = parts.flatMap((part, i) => (isMoved(part) ? [i] : []))
  if (!root || !spot || moved.length === 0) return text
  if (moved.length === parts.length) return edited(json.text, removed(json.text, root, new Set([spot])))
  const gone = moved.flatMap((i) => spot.inside?.get(i) ?? [])
  return edited(json.text, removed(json.text, spot, new Set(gone)))
}

function isMoved(part: unknown): boolean {
  return typeof part === 'string' && posix.normalize(part) === 'hooks.json'
}

function named(text: string, name: string): string {
  const json = new JsonText(text)
  const value = manifestValue(text)
  const root = json.spotOf(null)
  if (!root || typeof value?.name === 'string') return text
  const wrong = root.inside?.get('name')
  const edits = wrong
    ? [{ at: wrong.at, end: wrong.end, text: JSON.stringify(name) }]
    : appended(json.text, root, [['name', name]], layoutOf(json.text, root))
  return edited(json.text, edits)
}
