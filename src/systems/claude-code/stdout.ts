// The stdout of a hook in Claude Code's format: nothing, plain text, the hook's own input, or an answer.

import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import { rankOf } from '../../core/events/actions.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { approvalTerms } from '../amplifier.js'
import { canClose, closingAmong, type Entry, entriesIn, type Found, readsLikeRefusal } from '../closing.js'
import { hasUnread, objectsIn, textAround } from '../json-lines.js'
import { type Answer, closingOn, decisionOf, NO_ANSWER, readAnswer, type Source } from './answer.js'
import { encode } from './encode.js'
import { canBlock, honouredOn } from './honoured.js'
import { misplacedIn, noteMisplaced } from './misplaced.js'

export type Stdout =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Looks like an answer or a refusal, but cannot be parsed. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The hook's own input, which is neither a decision nor context. */
  | { readonly kind: 'echo' }
  /** `{"async": true}`: the hook goes on working, and nothing it says decides. */
  | { readonly kind: 'async' }
  | { readonly kind: 'answer'; readonly answer: Answer }

/** Reports mistakes in how it was printed to the hook's author. */
export function readStdout(event: HookEvent, stdout: string, note: (d: Diagnostic) => void): Stdout {
  const text = readable(stdout).trim() // also removes a byte-order mark
  if (text === '') return { kind: 'nothing' }
  const isExact = text === stdout.trim() // text that had to be repaired can only close
  const parsed = text.startsWith('{') && text.endsWith('}') && isExact ? parse(text) : undefined
  if (parsed && 'source' in parsed) return readSource(event, parsed.source, entriesIn(text), note)
  const answer = closingAnswer(event, text, note)
  if (answer) return { kind: 'answer', answer }
  if (parsed) return { kind: 'broken', problem: parsed.problem }
  if (mayRefuse(event, text)) return { kind: 'broken', problem: UNREADABLE }
  if (!mayAnswer(event, text)) return { kind: 'text', text }
  if (holdsVerdict(text)) note({ code: 'answer-misplaced', text: NOT_ALONE })
  return { kind: 'text', text }
}

const NUL = String.fromCharCode(0)

/** Marks output that was decoded from another encoding. It can only close. */
export const NOT_UTF8 = NUL

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, 'g')
/** The byte-order mark of UTF-16, read as UTF-8. */
const FOREIGN_MARK = /^\uFFFD{1,2}/

/** Removes colours and the zero bytes of UTF-16. */
function readable(stdout: string): string {
  const text = stdout.includes(NUL) ? stdout.replaceAll(NUL, '').replace(FOREIGN_MARK, '') : stdout
  return text.replace(COLOURS, '')
}

/** The text inside a JSON string, for a program that encoded its answer twice. */
function unquoted(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"')) return text
  const parsed = parse(text)
  return 'source' in parsed ? String(parsed.source) : text
}

function parse(text: string): { readonly source: Source } | { readonly problem: string } {
  try {
    return { source: JSON.parse(text) as Source }
  } catch (error) {
    return {
      problem: `stdout looks like a JSON object but is not valid JSON: ${textOf(error).slice(0, 200)}`,
    }
  }
}

/** The closing answer among other text, or in unfinished output. It can only close. */
export function closingAnswer(
  event: HookEvent,
  text: string,
  note: (d: Diagnostic) => void,
): Answer | undefined {
  const sent = sentWith(event)
  let highest: { readonly closing: Found; readonly source: Source } | undefined
  for (const { text: one, value } of objectsIn(unquoted(readable(text).trim()))) {
    if (!Object.keys(value).some(canClose)) continue
    const source = withoutEcho(sent, value)
    const closing = closingOn(event, entriesLeft(entriesIn(one), source))
    if (closing && (!highest || rankOf(closing.means) > rankOf(highest.closing.means)))
      highest = { closing, source }
  }
  if (!highest) return undefined
  const { closing, source } = highest
  note({ code: 'answer-misplaced', text: `${closing.said} counts. ${ALONE}` })
  return { ...NO_ANSWER, closing, approval: approvalTerms([source], []) }
}

/** Plain text that is context may well be about hooks. */
function mayAnswer(event: HookEvent, text: string): boolean {
  return !honouredOn(event).plainContext || text.startsWith('{') || text.endsWith('}')
}

/** Whether it contains something like a refusal that could not be read. */
function mayRefuse(event: HookEvent, text: string): boolean {
  if (!canBlock(event)) return false
  if (mayAnswer(event, text) && readsLikeRefusal(textAround(text))) return true
  // Text around a refusal can make it too costly to read, also on events where plain text is context.
  const inner = unquoted(text)
  return hasUnread(inner) && readsLikeRefusal(textAround(inner))
}

/** Whether text holds an answer, but not on its own lines. */
function holdsVerdict(text: string): boolean {
  return /"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/.test(text)
}

const ALONE = 'Print one JSON object and nothing else; logs go to stderr'
const UNREADABLE = `stdout contains something like a refusal, but is not one JSON object from "{" to "}". ${ALONE}`
const NOT_ALONE = `stdout contains something like an answer, but is not one JSON object from "{" to "}", so it counts as plain text. ${ALONE}`

function readSource(
  event: HookEvent,
  printed: Source,
  entries: readonly Entry[],
  note: (d: Diagnostic) => void,
): Stdout {
  if (printed.async === true && !closingAmong(entries)) {
    const rest = Object.keys(printed).filter((key) => key !== 'async' && key !== 'asyncTimeout')
    if (rest.length > 0) {
      const text = 'it answered "async":true, so the rest of its answer does not count'
      note({ code: 'async-verdict-ignored', text })
    }
    return { kind: 'async' }
  }
  const source = withoutEcho(sentWith(event), printed)
  if (source !== printed) {
    note({
      code: 'unknown-answer-key',
      text: 'it printed its own input, which is neither a decision nor context',
    })
    if (Object.keys(source).length === 0) return { kind: 'echo' }
  }
  const answer = readAnswer(event, source, entriesLeft(entries, source))
  const misplaced = decisionOf(event, answer)?.misplaced
  if (misplaced) noteMisplaced(event, misplaced, note)
  else for (const d of misplacedIn(event, source)) note(d)
  return { kind: 'answer', answer }
}

/** Drops the fields that the answer no longer has. */
function entriesLeft(entries: readonly Entry[], source: Source): readonly Entry[] {
  let isLeft = true
  return entries.filter(({ key, depth }) => {
    if (depth === 1) isLeft = Object.hasOwn(source, key)
    return isLeft
  })
}

/**
 * Fields passed through from stdin are not part of the answer; fields that the hook added are. A field that can close is
 * always part of it, unless the hook only printed its input, because another hook may have put the field there.
 */
function withoutEcho({ event, input }: Sent, printed: Source): Source {
  if (printed.hook_event_name !== event.name || !isObject(event.data)) return printed
  if (sameJson(input(), printed as Json)) return {}
  const { data } = event
  const added = Object.entries(printed).filter(([key, value]) => {
    if (key === 'hook_event_name') return false
    return canClose(key) || !Object.hasOwn(data, key) || !sameJson(data[key], value as Json)
  })
  return Object.fromEntries(added)
}

interface Sent {
  readonly event: HookEvent
  /** The hook's input on stdin. Created once, because a hook may print it on every line. */
  readonly input: () => Json
}

function sentWith(event: HookEvent): Sent {
  let input: Json | undefined
  return {
    event,
    input: () => {
      input ??= JSON.parse(encode(event)) as Json
      return input
    },
  }
}

// ---- the first line of an asynchronous hook: {"async": true, "asyncTimeout": 60000} ------------------------------

/** An object with a closing word is not one, because the agent that is judged may have slipped `async` into it. */
export function isAsyncLine(line: string): boolean {
  return asyncLine(line) !== undefined
}

/** The timeout that it asks for, in milliseconds. */
export function asyncTimeout(line: string): number | undefined {
  const wanted = asyncLine(line)?.asyncTimeout
  return typeof wanted === 'number' && wanted > 0 ? wanted : undefined
}

/** The final answer: everything after that line, or the line itself if nothing follows. */
export function afterAsyncLine(stdout: string): string {
  const end = stdout.indexOf('\n')
  if (end < 0 || !isAsyncLine(stdout.slice(0, end))) return stdout
  const rest = stdout.slice(end + 1)
  return rest.trim() === '' ? stdout : rest
}

function asyncLine(line: string): { readonly asyncTimeout?: unknown } | undefined {
  const text = line.trim()
  if (!text.startsWith('{') || !text.endsWith('}') || !text.includes('"async"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || value.async !== true) return undefined
    return closingAmong(entriesIn(text)) ? undefined : value
  } catch {
    return undefined // not JSON: another kind of answer, or none
  }
}
