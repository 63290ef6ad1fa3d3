// A call as it is kept: bounded, on one line, without control sequences, and without secrets wherever they stand.

import { callOf } from '../../core/base/digest.js'
import { isObject, type Json, sameJson } from '../../core/base/json.js'
import { formsAt, isSecretName, knownAt, type Span, withoutSecrets } from '../../core/base/secrets.js'
import { plainText } from '../../core/base/text.js'
import type { Trace } from '../../core/hooks/outcome.js'
import type { JudgedCall } from '../../core/session/audit-record.js'
import type { KeptCall } from '../audit-calls.js'

const REDACTED = '[redacted]'
const CUT = '…'

/** Characters. */
const ROOM = { call: 8192, changes: 4096, injections: 4096, failures: 4096, names: 1024 } as const
const LONGEST_TEXT = 4096
/** A secret that begins in what is kept of a text is seen as a whole: only so much is looked at. */
const LOOKED_AT = 60_000
/** Of any value, however short. */
const LEAST = 4
const DEEPEST = 32
const MOST_MEMBERS = 200
/** Bytes of a line. A longer one is kept without its call. */
const LONGEST_LINE = 64 * 1024

/** A line without its newline. */
export function keptLine(call: JudgedCall): string {
  const kept = keptCall(call)
  const line = JSON.stringify(kept)
  // A word in one field may say that the text of the next is a secret: look at them together.
  if (Buffer.byteLength(line) <= LONGEST_LINE && isClean(line)) return line
  const bare = { call: {}, changes: [], injections: [], failures: [] }
  return JSON.stringify({ ...(likeIt(withoutSecrets(line), kept) ?? { ...kept, ...bare }), exact: false })
}

/** The mark itself is long enough to be taken for a secret. */
function isClean(line: string): boolean {
  const text = line.replaceAll(REDACTED, '[]')
  return withoutSecrets(text) === text
}

/** A redacted line, if it is still a call, and the same one. */
function likeIt(line: string, { id }: KeptCall): KeptCall | undefined {
  if (Buffer.byteLength(line) > LONGEST_LINE) return undefined
  try {
    const parsed: unknown = JSON.parse(line)
    return isKeptCall(parsed) && parsed.id === id ? parsed : undefined
  } catch {
    return undefined
  }
}

function keptCall({ id, time, session, event, data, outcome, action }: JudgedCall): KeptCall {
  const original = callOf(data)
  const names = new Copy(ROOM.names)
  const call = new Copy(ROOM.call).of(original)
  const parts = {
    names: {
      session: names.text(session),
      event: names.text(event),
      ...(typeof data.cwd === 'string' && { cwd: names.text(data.cwd) }),
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

function isFailed({ status }: Trace): boolean {
  return status === 'failed'
}

/** Copies members until the room is full. */
function within<T, U>(room: number, list: readonly T[], copied: (copy: Copy, one: T) => U): readonly U[] {
  const copy = new Copy(room)
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
    const isSecret = isSecretPath(path, call) || (typeof earlier === 'string' && isOptionOrHeader(earlier))
    return {
      hook: copy.text(hook),
      path: copy.text(path),
      ...(before !== undefined && { before: copy.of(before, isSecret) }),
      ...(after !== undefined && { after: copy.of(after, isSecret) }),
    }
  })
}

/** Whether a name on the way says so, or the call has no value in this place any more. */
function isSecretPath(path: string, call: Json): boolean {
  const keys = path.split('/')
  if (keys.some((key) => isSecretName(key))) return true
  let at: unknown = call
  for (const key of keys) {
    if (at === REDACTED) return true
    at = isObject(at) || Array.isArray(at) ? (at as Readonly<Record<string, unknown>>)[key] : undefined
  }
  return at === REDACTED
}

// ---- one tree ---------------------------------------------------------------------------------------------------

/** A copy of plain data that takes at most so many characters of text. */
class Copy {
  #left: number

  constructor(room: number) {
    this.#left = room
  }

  get isFull(): boolean {
    return this.#left <= 0
  }

  of(value: Json | undefined, isSecret = false, depth = 0): Json {
    this.#left -= LEAST
    if (value === null || typeof value === 'boolean') return value
    if (typeof value === 'number') return isSecret ? REDACTED : value
    if (typeof value === 'string') return isSecret && value !== '' ? REDACTED : this.text(value)
    if (value === undefined || depth > DEEPEST || this.#left <= 0) return CUT
    return Array.isArray(value)
      ? this.#list(value as readonly Json[], isSecret, depth)
      : this.#object(value as { readonly [key: string]: Json }, isSecret, depth)
  }

  text(text: string): string {
    const seen = withoutNamed(withoutSecrets(cleaned(text.slice(0, LOOKED_AT))))
    const room = Math.max(0, Math.min(LONGEST_TEXT, this.#left))
    this.#left -= Math.min(seen.length, room)
    return seen.length <= room && text.length <= LOOKED_AT
      ? seen
      : `${seen.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
  }

  #list(list: readonly Json[], isSecret: boolean, depth: number): Json {
    const copy: Json[] = []
    for (const [i, one] of list.entries()) {
      if (i >= MOST_MEMBERS || this.#left <= 0) return [...copy, CUT]
      // `["--token", "…"]`, `["Authorization", "…"]`
      const before = list[i - 1]
      const isNamed = typeof before === 'string' && isOptionOrHeader(before)
      copy.push(this.of(one, isSecret || isNamed, depth + 1))
    }
    return copy
  }

  #object(object: { readonly [key: string]: Json }, isSecret: boolean, depth: number): Json {
    // `{ "name": "API_TOKEN", "value": "…" }`
    const isNamed = NAMING.some((key) => typeof object[key] === 'string' && isWholeName(object[key]))
    const copy: [string, Json][] = []
    for (const [key, one] of Object.entries(object)) {
      if (copy.length >= MOST_MEMBERS || this.#left <= 0) {
        copy.push([CUT, CUT])
        break
      }
      const isValue = isNamed && /^(?:value|val|content|data|text)$/i.test(key)
      copy.push([this.text(key), this.of(one, isSecret || isValue || isSecretName(key, one), depth + 1)])
    }
    return Object.fromEntries(copy)
  }
}

/** Without control sequences and what has no width: a secret with one inside would not be recognised. */
function cleaned(text: string): string {
  if (/^[\n\t -~]*$/.test(text)) return text
  return plainText(text).replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
}

/** Keys whose text names the value beside it. */
const NAMING = ['name', 'key', 'header', 'field', 'variable', 'id'] as const
const NAME = /^[\w.-]{1,64}$/

function isWholeName(text: string): boolean {
  return NAME.test(text) && isSecretName(text)
}

function isOptionOrHeader(text: string): boolean {
  return isWholeName(text.replace(/^-{1,2}/, '').replace(/[:=]$/, ''))
}

const VALUE = String.raw`(?![-$<])(?:"[^"]{0,4096}"|'[^']{0,4096}'|[^\s"';&|]{1,4096})`
/** `--password …`, `API_TOKEN=…`, `?key=…`, `password: …`, `"password": "…"` */
const NAMED: readonly RegExp[] = [
  new RegExp(String.raw`((?:^|\s)--?([\w-]{1,64})(?:\s{1,4}|=))${VALUE}`, 'g'),
  new RegExp(String.raw`(\b([A-Za-z_][\w-]{1,64})=)${VALUE}`, 'g'),
  new RegExp(String.raw`((?:^|[\s{,;])([A-Za-z_][\w-]{1,64}):\s{1,4})${VALUE}`, 'g'),
  /(\\{0,3}"([\w.-]{1,64})\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}")(?:[^"\\]|\\.){1,4096}/g,
]
const HEADER =
  /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:key|token|auth|secret))(["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]{1,4096}/gi
const LOGIN = /((?:^|\s)(?:-u\s{0,4}|--(?:proxy-)?user[= ])["']?[^\s:"']{1,64}:)[^\s"']{1,4096}/g

/** Values that only their name tells apart. Hiding too much of a call harms nobody: the record has its digest. */
function withoutNamed(text: string): string {
  let left = text.replace(HEADER, `$1$2${REDACTED}`).replace(LOGIN, `$1${REDACTED}`)
  for (const pattern of NAMED) {
    left = left.replace(pattern, (all, before: string, name: string) =>
      isSecretName(name) ? `${before}${REDACTED}` : all,
    )
  }
  return left
}

// ---- secrets over several fields ------------------------------------------------------------------------------

/** Hides every text that has a part of a secret: its pieces may stand in fields one after another. */
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

/** Of what may be the beginning of a secret, and of what follows it. */
const NEAR = 512
const MOST_PIECES = 8

/** A form counts only at the beginning of a word, and any piece may begin one. */
function formsIn(pieces: readonly Piece[]): readonly number[] {
  return pieces.flatMap(({ text }, i) => {
    const near = pieces
      .slice(i, i + MOST_PIECES)
      .map((piece) => ({ ...piece, text: piece.text.slice(0, NEAR) }))
    const first = text.slice(-NEAR)
    const row = [{ ...(pieces[i] as Piece), text: first }, ...near.slice(1)]
    const joined = row.map((piece) => piece.text).join('')
    const over = formsAt(joined).filter(({ start, end }) => start < first.length && end > first.length)
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

/** Anybody may have written the file. */
export function isKeptCall(value: unknown): value is KeptCall {
  if (!isObject(value)) return false
  const { id, time, session, event, cwd = '', action, call, exact, changes, injections, failures } = value
  return (
    [id, time, session, event, cwd, action].every((one) => typeof one === 'string') &&
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

/** The field that says most about the call of a tool. */
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

/** What a person recognises the call by. It may have several lines. */
export function gistOf({ call }: KeptCall): string {
  const input = isObject(call.tool_input) ? call.tool_input : call
  const telling = TELLING.map((key) => input[key]).find((value) => typeof value === 'string')
  return typeof telling === 'string' ? telling : JSON.stringify(input)
}
