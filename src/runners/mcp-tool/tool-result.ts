// Reads a tool's result like a command's output: its text is the stdout of exit code 0, an error is a failure.

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { HookError, isHookError, textOf } from '../../core/base/errors.js'
import { type Data, frozenCopy, isObject, type Json, sameJson } from '../../core/base/json.js'
import { byteLength } from '../../core/base/text.js'
import { isClosing, rankOf, type Verdict } from '../../core/events/actions.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookContext, HookEvent } from '../../core/hooks/hook.js'
import { boundedText } from '../../rpc/problem.js'
import { actionOf } from '../../systems/amplifier.js'
import { TOP_FIELDS } from '../../systems/claude-code/answer.js'
import { type Asker, decode, decodeUnfinished } from '../../systems/claude-code/decode.js'
import { isAsyncLine } from '../../systems/claude-code/stdout.js'
import { closingAmong, entriesOf } from '../../systems/closing.js'

interface ToolAsker extends Asker {
  readonly tool: string
}

interface Case {
  readonly event: HookEvent
  readonly asker: ToolAsker
  readonly note: HookContext['note']
}

/** The same limit as for a command. */
const MOST_BYTES = 1024 * 1024
const LONGEST_REASON = 500

/** Throws HookError for a failure: HOOK_FAILED for an error of the tool, ANSWER_INVALID, HOOK_OUTPUT. */
export function readToolResult(
  event: HookEvent,
  result: CallToolResult,
  asker: ToolAsker,
  note: HookContext['note'],
): HookResult {
  const one: Case = { event, asker, note }
  const texts = textsOf(result, one)
  if (isTooLong(texts)) {
    const read = texts.join('\n').slice(0, MOST_BYTES)
    return decodeUnfinished(event, { ...PRINTED, stdout: read }, asker, note) ?? tooLong()
  }
  const answers = answersIn(texts, result.structuredContent)
  const read = answers.map((text) => attempt(() => decoded(one, text, result.isError === true)))
  // An answer that closes the gate counts wherever it is, even if other parts are wrong.
  const closed = closingAmongAll([...read, ...embeddedAnswers(result, one)])
  if (closed) {
    if (answers.length > 1) ignored(one, `it answered more than once; its ${closed.action} was used`)
    else if (!read.some((outcome) => 'result' in outcome && outcome.result === closed))
      ignored(one, `the ${closed.action} in the text of its resource was used anyway`)
    return closed
  }
  if (result.isError) throw toolError(asker, texts.join('\n'))
  const failed = read.find((outcome) => 'error' in outcome)
  if (failed && 'error' in failed) throw failed.error
  if (answers.length > 1) throw twice(asker, answers.length)
  const [only] = read
  if (only && 'result' in only) {
    if (answers[0] !== texts.join('\n').trim() && texts.some((text) => !answers.includes(text.trim())))
      ignored(one, 'the text next to its answer was ignored')
    return only.result
  }
  if (result.content.some(isNoText) && texts.join('').trim() === '') throw unreadable(asker)
  return decoded(one, texts.join('\n'), false)
}

// ---- its parts -------------------------------------------------------------------------------------------------

function textsOf({ content }: CallToolResult, one: Case): readonly string[] {
  const others = new Set(content.filter(isNoText).map(({ type }) => type))
  if (others.size > 0)
    ignored(one, `its content of type ${[...others].join(', ')} was ignored: a hook's answer is text`)
  return content.flatMap((item) => (item.type === 'text' ? [item.text] : []))
}

function isTooLong(texts: readonly string[]): boolean {
  return texts.reduce((sum, text) => sum + byteLength(text), 0) > MOST_BYTES
}

const PRINTED = { code: 0, signal: null, stderr: '', cut: true }

function tooLong(): never {
  throw new HookError('HOOK_OUTPUT', `the tool answered with more than ${MOST_BYTES} bytes of text`, {
    hint: 'The tool should answer with nothing but the decision.',
  })
}

function isNoText({ type }: CallToolResult['content'][number]): boolean {
  return type !== 'text'
}

/** Texts of resources are documents, not answers. Only an answer in them that closes the gate counts. Nothing else is reported. */
function embeddedAnswers({ content, isError }: CallToolResult, { event, asker }: Case): readonly Outcome[] {
  const silent: Case = { event, asker, note: () => {} }
  return content.flatMap((item) => {
    if (item.type !== 'resource' || !('text' in item.resource)) return []
    const text = item.resource.text.trim()
    return looksLikeObject(text) ? [attempt(() => decoded(silent, text, isError === true))] : []
  })
}

/** The JSON objects among the texts, or all texts as one, and the structured content if it differs. */
function answersIn(texts: readonly string[], structured: unknown): readonly string[] {
  const whole = texts.join('\n').trim()
  const single = texts.length > 1 && parsed(whole) === undefined ? texts.map((text) => text.trim()) : [whole]
  const answers = single.filter(looksLikeObject)
  if (structured === undefined) return answers
  const data = copied(structured)
  if (answers.some((text) => sameJson(parsed(text), data))) return answers
  // Many tools return data next to text. It is only an answer if it looks like one.
  const closes = isObject(data) && closingAmong(entriesOf(data)) !== undefined
  const speaks =
    isObject(data) && (closes || actionOf(data) !== undefined || Object.keys(data).some(isTopField))
  return speaks || whole === '' ? [...answers, JSON.stringify(data)] : answers
}

function isTopField(key: string): boolean {
  return Object.hasOwn(TOP_FIELDS, key)
}

function looksLikeObject(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}')
}

function parsed(text: string): Data | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? (value as Data) : undefined
  } catch {
    return undefined // The decoder reports it.
  }
}

/** Limits nesting, so that every walk through it ends. */
function copied(structured: unknown): Json {
  try {
    return frozenCopy(structured, 'structuredContent')
  } catch (error) {
    throw new HookError('ANSWER_INVALID', textOf(error), { cause: error })
  }
}

// ---- its meaning -----------------------------------------------------------------------------------------------

type Outcome = { readonly result: HookResult } | { readonly error: unknown }

function attempt(read: () => HookResult): Outcome {
  try {
    return { result: read() }
  } catch (error) {
    return { error }
  }
}

/** A tool's error is like exit code 1: an answer next to it only counts if it closes the gate. */
function decoded({ event, asker, note }: Case, stdout: string, isError: boolean): HookResult {
  if (!isError && isAsyncLine(stdout)) {
    throw new HookError(
      'ANSWER_INVALID',
      'it answered "async": true, but a tool cannot continue after its answer',
      {
        hint: 'The tool must answer once it has decided.',
      },
    )
  }
  const reply = { code: isError ? 1 : 0, signal: null, stdout, stderr: isError ? stdout : '', cut: false }
  try {
    return decode(event, reply, asker, note)
  } catch (error) {
    // The decoder's messages are about programs.
    if (!isHookError(error, 'ANSWER_INVALID')) throw error
    throw new HookError('ANSWER_INVALID', error.message.replace(/^stdout /, "the tool's text "), {
      hint: error.hint.replace(/^Print /, 'Answer with '),
      cause: error,
    })
  }
}

/** The strongest answer, or the first of several equal ones. */
function closingAmongAll(read: readonly Outcome[]): HookResult | undefined {
  const [highest] = read
    .flatMap((outcome) => ('result' in outcome ? [outcome.result] : []))
    .filter(({ action }) => isClosing(action))
    .sort((a, b) => rankOf(b.action as Verdict) - rankOf(a.action as Verdict))
  return highest
}

function toolError({ tool }: ToolAsker, text: string): HookError {
  const said = boundedText(text, LONGEST_REASON).trim()
  return new HookError(
    'HOOK_FAILED',
    `the tool ${JSON.stringify(tool)} answered with an error${said && `: ${said}`}`,
    {
      hint: "Call the tool by hand with the same input. The message is the tool's own.",
    },
  )
}

function unreadable({ tool }: ToolAsker): HookError {
  const text = `the tool ${JSON.stringify(tool)} answered with content that is not text, so its answer cannot be read`
  return new HookError('ANSWER_INVALID', text, {
    hint: 'The tool must answer with a JSON object as text, or with an empty list if it has no objection.',
  })
}

function twice({ tool }: ToolAsker, count: number): HookError {
  const text = `the tool ${JSON.stringify(tool)} gave ${count} different answers, and none of them blocks`
  return new HookError('ANSWER_INVALID', text, { hint: 'The tool must answer with one JSON object.' })
}

function ignored({ note }: Case, text: string): void {
  note({ code: 'content-ignored', text })
}
