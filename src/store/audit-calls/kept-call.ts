// A call as stored: limited in size, on one line, without control sequences, and without secrets anywhere in it.

import { callOf } from '../../core/base/digest.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import { formsAt, knownAt, REDACTED, type Span, withoutSecrets } from '../../core/base/secrets.js'
import type { Trace } from '../../core/hooks/outcome.js'
import type { JudgedCall } from '../../core/session/audit-record.js'
import type { KeptCall } from '../audit-calls.js'
import { isSecretKey, namesSecret, WrittenCopy } from '../redaction.js'

/** Characters. */
const ROOM = { call: 8192, changes: 4096, injections: 4096, failures: 4096, names: 1024 } as const
const LONGEST_TEXT = 4096
const MOST_MEMBERS = 200
/** Bytes of a line. A longer one is kept without its call. */
const LONGEST_LINE = 64 * 1024

/** A line without its newline. */
export function keptLine(call: JudgedCall): string {
  const kept = keptCall(call)
  const line = JSON.stringify(kept)
  // A word in one field may reveal that the next one is a secret, so check them together.
  if (Buffer.byteLength(line) <= LONGEST_LINE && isClean(line)) return line
  const bare = { call: {}, changes: [], injections: [], failures: [] }
  return JSON.stringify({ ...(likeIt(withoutSecrets(line), kept) ?? { ...kept, ...bare }), exact: false })
}

/** Ignores the redaction mark, which is long enough to look like a secret. */
function isClean(line: string): boolean {
  const text = line.replaceAll(REDACTED, '[]')
  return withoutSecrets(text) === text
}

/** The redacted line, if it is still a call, and the same one. */
function likeIt(line: string, { id }: KeptCall): KeptCall | undefined {
  if (Buffer.byteLength(line) > LONGEST_LINE) return undefined
  try {
    const parsed: unknown = JSON.parse(line)
    return isKeptCall(parsed) && parsed.id === id ? parsed : undefined
  } catch {
    return undefined
  }
}

function keptCall({ id, time, session, agent, event, data, outcome, action }: JudgedCall): KeptCall {
  const original = callOf(data)
  const names = copyOf(ROOM.names)
  const call = copyOf(ROOM.call).of(original)
  const parts = {
    names: {
      session: names.text(session),
      ...(agent !== undefined && { agent: names.text(agent) }),
      event: names.text(event),
      ...(typeof data.cwd === 'string' && { cwd: names.text(data.cwd) }),
      ...(typeof data.permission_mode === 'string' && { mode: names.text(data.permission_mode) }),
    },
    call,
    changes: changesOf(outcome.hooks, call),
    injections: within(ROOM.injections, outcome.injections, (copy, { source, text }) => ({
      source: copy.text(source),
      text: copy.text(text),
    })),
    failures: within(ROOM.failures, outcome.hooks.filter(isFailed), (copy, hook) => ({
      hook: copy.text(hook.name),
      why: hook.why ?? 'failed',
      stderr: copy.text(hook.stderr || hook.detail || ''),
    })),
  }
  const { names: named, ...rest } = withoutSplit(parts as unknown as Json) as unknown as typeof parts
  const kept = { id, time, ...named, action, exact: sameJson(rest.call, original), ...rest }
  return kept as unknown as KeptCall
}

function copyOf(room: number): WrittenCopy {
  return new WrittenCopy({ room, text: LONGEST_TEXT, members: MOST_MEMBERS })
}

function isFailed({ status }: Trace): boolean {
  return status === 'failed'
}

/** Copies members until the room is full. */
function within<T, U>(
  room: number,
  list: readonly T[],
  copied: (copy: WrittenCopy, one: T) => U,
): readonly U[] {
  const copy = copyOf(room)
  const kept: U[] = []
  for (const one of list) {
    if (copy.isFull) break
    kept.push(copied(copy, one))
  }
  return kept
}

function changesOf(hooks: readonly Trace[], call: Json): readonly unknown[] {
  const all = hooks.flatMap(({ name, changes = [] }) => changes.map((change) => ({ hook: name, change })))
  return within(ROOM.changes, all, (copy, { hook, change }) => {
    const { path, before, after } = change
    const earlier = all[all.findIndex((one) => one.change === change) - 1]?.change.before
    const isSecret = isSecretPath(path, call) || (typeof earlier === 'string' && namesSecret(earlier))
    return {
      hook: copy.text(hook),
      path: copy.text(path),
      ...(before !== undefined && { before: copy.of(before, isSecret) }),
      ...(after !== undefined && { after: copy.of(after, isSecret) }),
    }
  })
}

/** Whether a name on the path says so, or the call no longer has a value there. */
function isSecretPath(path: string, call: Json): boolean {
  const keys = path.split('/')
  if (keys.some((key) => isSecretKey(key))) return true
  let at: unknown = call
  for (const key of keys) {
    if (at === REDACTED) return true
    at = isObject(at) || Array.isArray(at) ? (at as Readonly<Record<string, unknown>>)[key] : undefined
  }
  return at === REDACTED
}

// ---- secrets over several fields ------------------------------------------------------------------------------

/** Hides every text that has a part of a secret, whose pieces may be spread over consecutive fields. */
function withoutSplit(tree: Json): Json {
  const texts: Piece[] = []
  visit(tree, (text, isKey) => {
    texts.push({ text, isKey, at: texts.length })
    return text
  })
  const values = texts.filter(({ isKey }) => !isKey)
  const hidden = new Set([texts, values].flatMap((pieces) => [...knownIn(pieces), ...formsIn(pieces)]))
  if (hidden.size === 0) return tree
  let at = 0
  return visit(tree, (text) => (hidden.has(at++) ? REDACTED : text))
}

interface Piece {
  readonly text: string
  readonly isKey: boolean
  readonly at: number
}

function knownIn(pieces: readonly Piece[]): readonly number[] {
  return touched(pieces, knownAt(pieces.map(({ text }) => text).join('')))
}

/** Characters on each side of a possible start of a secret. */
const NEAR = 512
const MOST_PIECES = 8

/** A form counts only at the start of a word, and any piece may start one. */
function formsIn(pieces: readonly Piece[]): readonly number[] {
  return pieces.flatMap(({ text }, i) => {
    const first = text.slice(-NEAR)
    const after = pieces.slice(i + 1, i + MOST_PIECES).map((piece) => piece.text.slice(0, NEAR))
    const joined = [first, ...after].join('')
    const over = formsAt(joined).filter(({ start, end }) => start < first.length && end > first.length)
    if (over.length === 0) return []
    const row = [first, ...after].map((part, n) => ({ ...(pieces[i + n] as Piece), text: part }))
    return touched(row, over)
  })
}

function touched(pieces: readonly Piece[], spans: readonly Span[]): readonly number[] {
  if (spans.length === 0) return []
  let to = 0
  return pieces.flatMap(({ text, at }) => {
    const from = to
    to += text.length
    return spans.some(({ start, end }) => from < end && to > start) ? [at] : []
  })
}

function visit(value: Json, change: (text: string, isKey: boolean) => string): Json {
  if (typeof value === 'string') return change(value, false)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => visit(one, change))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [change(key, true), visit(one as Json, change)]),
  )
}

// ---- read back --------------------------------------------------------------------------------------------------

/** Checks everything, because anybody may have written the file. */
export function isKeptCall(value: unknown): value is KeptCall {
  if (!isObject(value)) return false
  const { id, time, session, agent = '', event, cwd = '', mode = '', action } = value
  const { call, exact, changes, injections, failures } = value
  return (
    [id, time, session, agent, event, cwd, mode, action].every((one) => typeof one === 'string') &&
    isObject(call) &&
    typeof exact === 'boolean' &&
    isListOf(changes, ['hook', 'path']) &&
    isListOf(injections, ['source', 'text']) &&
    isListOf(failures, ['hook', 'why', 'stderr'])
  )
}

function isListOf(list: unknown, texts: readonly string[]): boolean {
  return (
    Array.isArray(list) &&
    list.every((one) => isObject(one) && texts.every((key) => typeof one[key] === 'string'))
  )
}

/** The fields that say most about a tool call. */
const TELLING = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'url',
  'pattern',
  'query',
  'prompt',
  'user_prompt',
]

/** The text by which a person recognises the call. It may have several lines. */
export function gistOf({ call }: KeptCall): string {
  const input = isObject(call.tool_input) ? call.tool_input : call
  const telling = TELLING.map((key) => input[key]).find((value) => typeof value === 'string')
  return typeof telling === 'string' ? telling : JSON.stringify(input)
}
