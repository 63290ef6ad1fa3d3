// What is in a delta of a model's stream: its text, and whether it can call a tool. Deltas have the forms of many SDKs.

import { isObject } from '../base/json.js'

/** Fields that hold a part of the answer, in the forms of the AI SDK, Anthropic, OpenAI, Gemini and LangChain. */
const PARTS = ['text', 'textDelta', 'delta', 'content', 'parts', 'choices', 'candidates', 'message'] as const

/** Deltas of these types are no text of the answer. */
const NO_TEXT = /reason|think|tool|function|arguments|input|json|signature|refusal|source|file/i

const MAX_DEPTH = 8

/** The texts of all deltas, joined. */
export function textOfDeltas(deltas: readonly unknown[]): string {
  return deltas.map((delta) => textIn(delta, 0)).join('')
}

function textIn(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (depth > MAX_DEPTH) return ''
  if (Array.isArray(value)) return value.map((item) => textIn(item, depth + 1)).join('')
  if (!isObject(value)) return ''
  const part = value as Readonly<Record<string, unknown>>
  if (typeof part.type === 'string' && NO_TEXT.test(part.type)) return ''
  const key = PARTS.find((name) => part[name] !== undefined && part[name] !== null)
  return key === undefined ? '' : textIn(part[key], depth + 1)
}

const TOOL = /tool|function/i

/** Whether a delta can be a part of a tool call. In doubt it can. */
export function mayCallTool(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > MAX_DEPTH) return true
  if (Array.isArray(value)) return value.some((item) => mayCallTool(item, depth + 1))
  return Object.entries(value).some(([key, item]) => {
    if (key === 'type' && typeof item === 'string' && TOOL.test(item)) return true
    if (TOOL.test(key) && !isEmpty(item)) return true
    return mayCallTool(item, depth + 1)
  })
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}
