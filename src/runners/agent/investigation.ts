// The loop of an agent hook: the model asks for files until it answers.

import { HookError } from '../../core/base/errors.js'
import { messagesOf } from '../model/ask.js'
import { generate, type ModelMessage, type ModelToolCall } from '../model/language-model.js'
import type { LanguageModel } from '../model/model-source.js'
import type { Question } from '../model/question.js'
import { TOOLS, type ToolResult, type Tools } from './tools.js'

export const MOST_TURNS = 50
/** Of one answer; a model that wants more asks again. */
const MOST_CALLS = 16
/** Characters of all that the model said before its answer: all of it is sent again with every turn. */
const MOST_SAID = 512 * 1024

/** The text that the model ends with. */
export async function investigate(
  model: LanguageModel,
  question: Question,
  tools: Tools,
  signal: AbortSignal,
): Promise<string> {
  const messages: ModelMessage[] = messagesOf(question)
  let said = 0
  for (let turn = 1; turn <= MOST_TURNS; turn++) {
    const { text, toolCalls, message } = await generate(model, messages, signal, TOOLS)
    if (toolCalls.length === 0) return text
    said += JSON.stringify(message).length
    if (said > MOST_SAID) throw tooMuch()
    messages.push(message, { role: 'tool', content: await resultsOf(toolCalls, tools) })
  }
  throw new HookError('ANSWER_INVALID', `the model came to no answer in ${MOST_TURNS} turns`, {
    hint: 'Ask for less, or name in the prompt the files that matter.',
  })
}

/** One after another: they share what may be read. */
async function resultsOf(calls: readonly ModelToolCall[], tools: Tools) {
  const results = []
  for (const [i, call] of calls.entries()) {
    const output = i < MOST_CALLS ? await tools.use(call) : AT_ONCE
    results.push({ type: 'tool-result', toolCallId: call.id, toolName: call.name, output })
  }
  return results
}

const AT_ONCE: ToolResult = { type: 'error-text', value: `at most ${MOST_CALLS} calls at once` }

function tooMuch(): HookError {
  return new HookError(
    'HOOK_OUTPUT',
    `the model said more than ${MOST_SAID} characters and came to no answer`,
  )
}
