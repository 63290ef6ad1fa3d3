// Keys of an object that differ only in case. Many programs, such as those in Go, cannot tell them apart: hooks could judge one of
// them, and the server could read the other.

import { HookError } from '../../../core/base/errors.js'
import { isObject } from '../../../core/base/json.js'
import { shown } from '../../../core/base/text.js'

/** Throws if there are two, at any depth. The value is known not to be too deep. */
export function checkKeys(value: unknown): void {
  const twin = twinIn(value)
  if (twin === undefined) return
  const text = `two arguments differ only in case: ${shown(twin)}`
  throw new HookError('PAYLOAD_INVALID', text, { hint: 'Give them different names.' })
}

function twinIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const own = isObject(value) ? twinOf(Object.keys(value)) : undefined
  if (own !== undefined) return own
  for (const part of Object.values(value)) {
    const twin = twinIn(part)
    if (twin !== undefined) return twin
  }
  return undefined
}

function twinOf(keys: readonly string[]): string | undefined {
  if (keys.length < 2) return undefined
  const known = new Set<string>()
  return keys.find((key) => {
    const folded = key.normalize('NFKC').toLowerCase()
    return known.size === known.add(folded).size
  })
}
