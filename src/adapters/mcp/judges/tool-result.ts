// The result of an MCP tool: made from what a hook answered, and extended with what hooks tell the model.

import { isObject, type Json } from '../../../core/base/json.js'

interface Content {
  readonly [key: string]: Json
}

/** A result, a list of contents, a text, or any other value, as a result. */
export function toolResultOf(answer: Json): Json {
  if (isObject(answer) && Array.isArray(answer.content)) return answer
  if (isContents(answer)) return { content: answer }
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return {
    content: [textContent(text)],
    // Tools with an output schema must have it.
    ...(isObject(answer) && { structuredContent: answer as Json }),
  }
}

/** What the model gets instead of the tool's result. */
export function refusedResult(reason: string, told: readonly string[] = []): Json {
  return { content: [reason, ...told].map(textContent), isError: true }
}

/** The same result if there is nothing to tell. */
export function withTexts(result: Json, told: readonly string[]): Json {
  if (told.length === 0) return result
  const { content } = isObject(result) ? result : {}
  const before = Array.isArray(content) ? (content as Json[]) : []
  return { ...(isObject(result) ? (result as Content) : {}), content: [...before, ...told.map(textContent)] }
}

/** The texts of a result that says that the tool failed. Undefined if it did not. */
export function failureIn(result: Json): string | undefined {
  if (!isObject(result) || result.isError !== true) return undefined
  const contents = Array.isArray(result.content) ? (result.content as Json[]) : []
  const texts = contents.flatMap((one) => (isObject(one) && typeof one.text === 'string' ? [one.text] : []))
  return texts.join('\n') || 'The tool failed'
}

function isContents(value: Json): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isObject(one) && typeof one.type === 'string')
  )
}

function textContent(text: string): Content {
  return { type: 'text', text }
}
