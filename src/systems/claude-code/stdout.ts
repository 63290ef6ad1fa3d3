// A Claude-format hook's stdout: nothing, plain text, the hook's own input, or an answer.

import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { type Answer, readAnswer, type Source } from './answer.js'
import { honouredOn } from './honoured.js'
import { misplacedIn } from './misplaced.js'

export type Stdout =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Looks like an answer but cannot be read. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The hook's own input, which is neither a decision nor context. */
  | { readonly kind: 'echo' }
  /** `{"async": true}`: the hook goes on working, and nothing it says decides. */
  | { readonly kind: 'async' }
  | { readonly kind: 'answer'; readonly answer: Answer }

/** Notes mistakes in the way it was printed, for the hook's author. */
export function readStdout(event: HookEvent, stdout: string, note: (d: Diagnostic) => void): Stdout {
  const text = stdout.trim() // takes a byte-order mark away, too
  if (text === '') return { kind: 'nothing' }
  if (!text.startsWith('{') || !text.endsWith('}')) {
    if (holdsVerdict(event, text)) note({ code: 'answer-misplaced', text: NOT_ALONE })
    return { kind: 'text', text }
  }
  const parsed = parse(text)
  if ('source' in parsed) for (const d of repeatedVerdicts(text, parsed.source)) note(d)
  return 'problem' in parsed ? { kind: 'broken', ...parsed } : readSource(event, parsed.source, note)
}

/** A deny among log lines is lost, as in Claude Code, but here it is reported. */
function holdsVerdict(event: HookEvent, text: string): boolean {
  if (!/"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/.test(text)) return false
  // Text that is context may well be about hooks.
  return !honouredOn(event).plainContext || text.startsWith('{') || text.endsWith('}')
}

const NOT_ALONE =
  'stdout holds what looks like an answer, but is not one JSON object from "{" to "}": it counts as plain text; print the JSON alone, and logs to stderr'

function parse(text: string): { readonly source: Source } | { readonly problem: string } {
  try {
    return { source: JSON.parse(text) as Source }
  } catch (error) {
    return {
      problem: `stdout looks like a JSON object but is not valid JSON: ${textOf(error).slice(0, 200)}`,
    }
  }
}

/** JSON keeps the last of two equal keys: report a verdict that is lost this way. */
function repeatedVerdicts(text: string, source: Source): readonly Diagnostic[] {
  return ['decision', 'permissionDecision', 'continue'].flatMap((key) => {
    const written = text.split(`"${key}"`).length - 1
    if (written < 2 || written <= JSON.stringify(source).split(`"${key}"`).length - 1) return []
    return [{ code: 'malformed-field', text: `"${key}" stands twice in its answer; the last one counts` }]
  })
}

function readSource(event: HookEvent, printed: Source, note: (d: Diagnostic) => void): Stdout {
  if (printed.async === true) {
    const rest = Object.keys(printed).filter((key) => key !== 'async' && key !== 'asyncTimeout')
    if (rest.length > 0) {
      const text = 'it answered "async":true, so that the rest of its answer does not count'
      note({ code: 'async-verdict-ignored', text })
    }
    return { kind: 'async' }
  }
  const source = withoutEcho(event, printed)
  if (source !== printed) {
    note({
      code: 'unknown-answer-key',
      text: 'it printed its own input, which is neither a decision nor context',
    })
    if (Object.keys(source).length === 0) return { kind: 'echo' }
  }
  for (const d of misplacedIn(event, source)) note(d)
  return { kind: 'answer', answer: readAnswer(event, source) }
}

/** Fields passed through from stdin are not part of the answer; fields that the hook added are. */
function withoutEcho(event: HookEvent, printed: Source): Source {
  if (printed.hook_event_name !== event.name || !isObject(event.data)) return printed
  const sent = { hook_event_name: event.name, ...event.data }
  const added = Object.entries(printed).filter(([key, value]) => {
    return !Object.hasOwn(sent, key) || !sameJson(sent[key as keyof typeof sent], value as Json)
  })
  return Object.fromEntries(added)
}

// ---- the first line of an asynchronous hook: {"async": true, "asyncTimeout": 60000} ------------------------------

export function isAsyncLine(line: string): boolean {
  return asyncLine(line) !== undefined
}

/** The milliseconds that it asks for. */
export function asyncTimeout(line: string): number | undefined {
  const wanted = asyncLine(line)?.asyncTimeout
  return typeof wanted === 'number' && wanted > 0 ? wanted : undefined
}

/** Without that line: the rest is the final answer. If there is no rest, the line itself is the answer. */
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
    return isObject(value) && value.async === true ? value : undefined
  } catch {
    return undefined // not JSON: another kind of answer, or none
  }
}
