// What a hook printed: nothing, plain text, its own input, or an answer.

import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { type Answer, readAnswer, type Source } from './answer.js'
import { honouredOn } from './honoured.js'
import { misplacedIn } from './misplaced.js'

export type Stdout =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Looks like an answer and cannot be read. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The hook's own input: neither a decision nor context. */
  | { readonly kind: 'echo' }
  /** `{"async": true}`: the hook works on, and nothing it says decides. */
  | { readonly kind: 'async' }
  | { readonly kind: 'answer'; readonly answer: Answer }

/** Says with `note` whatever an author should know about the way it was printed. */
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

/** A deny among log lines is lost in Claude Code; here it is lost, too, but not in silence. */
function holdsVerdict(event: HookEvent, text: string): boolean {
  if (!/"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/.test(text)) return false
  // Where text is context it may well speak about hooks.
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

/** JSON keeps the last of two equal keys; a verdict that is lost so must not be lost in silence. */
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

/** What a hook passed through from its stdin is not its answer; what it added is. */
function withoutEcho(event: HookEvent, printed: Source): Source {
  if (printed.hook_event_name !== event.name || !isObject(event.data)) return printed
  const sent = { hook_event_name: event.name, ...event.data }
  const added = Object.entries(printed).filter(([key, value]) => {
    return !Object.hasOwn(sent, key) || !sameJson(sent[key as keyof typeof sent], value as Json)
  })
  return Object.fromEntries(added)
}
