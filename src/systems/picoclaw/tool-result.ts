// A tool's result on its way to a hook and back: the protocol's shape on the wire, the tool's own shape here.

import { type Data, isObject, type Json, sameJson } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Fields, Shapes } from '../shape.js'

export const RESULT_FIELDS = {
  for_llm: 'text',
  for_user: 'text',
  silent: 'flag',
  is_error: 'flag',
  async: 'flag',
  media: 'list',
  artifact_tags: 'texts',
  response_handled: 'flag',
} as const satisfies Shapes

export type ToolResult = Fields<typeof RESULT_FIELDS>

/** Whether it already has the protocol's shape. */
function isToolResult(value: Json | undefined): value is Data {
  return isObject(value) && typeof value.for_llm === 'string'
}

/** The result that a hook reads on PostToolUse or PostToolUseFailure. */
export function sentResult({ name, data }: HookEvent): Data {
  if (name === 'PostToolUseFailure') return { for_llm: inText(data.error), is_error: true }
  return wireResult(data.tool_response)
}

export function wireResult(result: Json | undefined): Data {
  return isToolResult(result) ? result : { for_llm: inText(result) }
}

function inText(value: Json | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Fields that only the protocol's own shape can carry. */
const CARRIED = ['is_error', 'async', 'response_handled', 'media', 'artifact_tags'] as const

/** The ones that are set. */
export function carriedFields(given: ToolResult): readonly string[] {
  return CARRIED.filter((key) => {
    const value = given[key]
    return Array.isArray(value) ? value.length > 0 : value === true
  })
}

/** The result as the tool would have given it; undefined if nothing changed. */
export function returnedResult(original: Json | undefined, given: ToolResult & Data): Json | undefined {
  if (isToolResult(original)) {
    const merged = { ...original, ...given }
    return sameJson(original, merged) ? undefined : merged
  }
  const sent = inText(original)
  if (carriedFields(given).length > 0) return { for_llm: sent, ...given }
  const { for_llm: text } = given
  if (text === undefined || text === sent) return undefined
  return typeof original === 'string' ? text : likeOriginal(original, text)
}

function likeOriginal(original: Json | undefined, text: string): Json {
  try {
    const parsed: Json = JSON.parse(text)
    return kindOf(parsed) === kindOf(original) ? parsed : text
  } catch {
    return text // not JSON: the hook replaced data with text
  }
}

export function kindOf(value: Json | undefined): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}
