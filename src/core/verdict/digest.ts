// The digest of a call: what an approval, a grant and an audit record are bound to.

import { canonicalJson, type Data, isObject, type Json } from '../base/json.js'
import { sha256 } from '../base/sha256.js'

/** Input fields that describe a call without changing what it does. */
const INERT_INPUT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['description'],
  PowerShell: ['description'],
}

export function digest(value: Json): string {
  return sha256(canonicalJson(value))
}

/** Digest of the exact call that a question shows: any changed byte makes it another call. */
export function callDigest(event: string, data: Data): string {
  return digest({ event, call: callOf(data) })
}

/** Digest that a grant is bound to: the same, less the fields known to be inert for that tool. */
export function grantDigest(event: string, data: Data): string {
  const call = callOf(data)
  const tool = String(call.tool_name)
  const inert = Object.hasOwn(INERT_INPUT_FIELDS, tool) ? INERT_INPUT_FIELDS[tool] : undefined
  if (!inert || !isObject(call.tool_input)) return digest({ event, call })
  const input = Object.fromEntries(Object.entries(call.tool_input).filter(([key]) => !inert.includes(key)))
  return digest({ event, call: { ...call, tool_input: input as Data } })
}

/** The part of an event's data that is the operation itself, not the circumstances of it. */
export function callOf(data: Data): Data {
  if (typeof data.tool_name === 'string')
    return { tool_name: data.tool_name, tool_input: data.tool_input ?? null }
  const { timestamp: _, session_id: __, ...rest } = data
  return rest
}
