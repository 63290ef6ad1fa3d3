// Calls an AI SDK LanguageModel: builds the request and checks the answer.

import { HookError } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { unlessAborted } from '../../core/base/promise.js'
import { shown } from '../../core/base/text.js'
import type { LanguageModel } from './model-source.js'

type Text = { readonly type: 'text'; readonly text: string }

/** A part of the model's answer that is sent back to it, with anything that its provider added. */
type Part = { readonly type: string; readonly [key: string]: unknown }

/** The AI SDK's messages. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly Text[] }
  | { readonly role: 'assistant'; readonly content: readonly Part[] }
  | { readonly role: 'tool'; readonly content: readonly Part[] }

export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly inputSchema: object
}

export interface ModelToolCall {
  readonly id: string
  readonly name: string
  /** JSON, as the model wrote it. */
  readonly input: string
}

export interface Generated {
  readonly text: string
  readonly toolCalls: readonly ModelToolCall[]
  /** The answer as a message, to continue with. */
  readonly message: ModelMessage
}

/** A verdict takes less, but a model that thinks first needs more than a line. */
const MAX_OUTPUT_TOKENS = 4096

/** Calls once and never retries, because the caller has a deadline. Rejects when the signal is aborted, whatever the model does. */
export async function generate(
  model: LanguageModel,
  prompt: readonly ModelMessage[],
  signal: AbortSignal,
  tools: readonly ModelTool[] = [],
): Promise<Generated> {
  const options = {
    prompt,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    abortSignal: signal,
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function', ...tool })),
      toolChoice: AUTO,
    }),
  }
  const result = await unlessAborted(Promise.resolve(model.doGenerate(options as never)), signal)
  return read(result)
}

const AUTO = { type: 'auto' } as const

function read(result: unknown): Generated {
  const content = isObject(result) ? result.content : undefined
  if (!Array.isArray(content)) {
    throw new HookError('ANSWER_INVALID', `the model answered ${shown(result)}, which has no content`)
  }
  const parts = content.filter(isObject)
  const calls = parts.filter(isToolCall)
  return {
    text: parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join(''),
    toolCalls: calls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    message: { role: 'assistant', content: parts.flatMap(sentBack) },
  }
}

interface ToolCallPart {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
}

type Raw = { readonly [key: string]: unknown }

/** Leaves out calls that the provider itself has already run. */
function isToolCall(part: Raw): part is Raw & ToolCallPart {
  const { type, toolCallId, toolName, input, providerExecuted } = part
  const written = [toolCallId, toolName, input].every((one) => typeof one === 'string')
  return type === 'tool-call' && written && providerExecuted !== true
}

/** Some providers refuse to continue without their own signed reasoning. */
function sentBack(part: Raw): readonly Part[] {
  const providerOptions = isObject(part.providerMetadata) ? { providerOptions: part.providerMetadata } : {}
  if ((part.type === 'text' && part.text !== '') || part.type === 'reasoning') {
    return [{ type: part.type, text: String(part.text), ...providerOptions }]
  }
  if (!isToolCall(part)) return []
  const { toolCallId, toolName, input } = part
  return [{ type: 'tool-call', toolCallId, toolName, input: inputObject(input), ...providerOptions }]
}

/** Undefined if it is not a JSON object. */
export function toolInput(input: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(input === '' ? '{}' : input)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function inputObject(input: string): Raw {
  return toolInput(input) ?? {}
}
