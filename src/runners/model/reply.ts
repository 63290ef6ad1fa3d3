// Reads a model's reply strictly, but never loses a recognisable no.

import { type Diagnostic, HookError } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { byteLength, cutText, shown } from '../../core/base/text.js'
import { type Entry, entriesIn, isSpokenVerdict, meaningOf, meaningOfWord } from '../../systems/closing.js'
import { folded, inWords, noInWords } from './prose.js'

export type Reply =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason?: string; readonly impossible: boolean }

/** Characters. A verdict takes a line. */
export const REPLY_LIMIT = 64 * 1024
const REASON_LIMIT = 8 * 1024

/** Throws ANSWER_INVALID or HOOK_OUTPUT for a reply that is not a verdict. */
export function readReply(text: string, note: (d: Diagnostic) => void): Reply {
  const kept = text.slice(0, REPLY_LIMIT)
  const tooLong = text.length > REPLY_LIMIT
  const said = unfenced(kept.replace(/^\uFEFF/, '').trim())
  const read = tooLong ? `it is longer than ${REPLY_LIMIT} characters` : verdict(said)
  if (typeof read !== 'string') return withNotes(read, note)
  const reply = recognisedNo(said)
  if (reply) {
    note({ code: 'malformed-field', text: `the reply is not valid (${read}); its no still counts` })
    return reply
  }
  throw tooLong
    ? new HookError('HOOK_OUTPUT', `the model's reply is not valid: ${read}`, { hint: HINT })
    : new HookError('ANSWER_INVALID', `the model's reply is not valid: ${read}`, { hint: HINT })
}

const HINT =
  'In the prompt, ask for nothing but {"ok": true} or {"ok": false, "reason": "…"}, or use a model that follows the format.'

/** Removes one markdown fence around everything. */
function unfenced(text: string): string {
  const [, inner] = /^```[a-z]{0,10}[ \t]*\r?\n(.*?)\r?\n?```$/is.exec(text) ?? []
  return inner === undefined ? text : inner.trim()
}

interface Read {
  readonly reply: Reply
  readonly notes: readonly Diagnostic[]
}

function withNotes({ reply, notes }: Read, note: (d: Diagnostic) => void): Reply {
  for (const one of notes) note(one)
  return reply
}

/** Returns what is wrong, in words, if it is not a verdict. */
function verdict(said: string): Read | string {
  if (said === '') return 'it is empty'
  const words = inWords(said)
  if (words) return { reply: words.ok ? words : (writtenNo(said) ?? no(words)), notes: [] }
  const value = parsed(said)
  if (!isObject(value)) return `it is ${shown(said)}, not one JSON object`
  return objectVerdict(value, entriesIn(said, { everywhere: true }))
}

// ---- an object ------------------------------------------------------------------------------------------------

/** A value that begins like a refusal. */
const REFUSAL = /^"?(?:block|den[yi]|reject|refuse|abort|no"|false\b)/i
const KNOWN: ReadonlySet<string> = new Set(['ok', 'reason', 'impossible'])

type Raw = { readonly [key: string]: unknown }

function objectVerdict(value: Raw, entries: readonly Entry[]): Read | string {
  const { ok, reason, impossible } = value
  const isTwice = entries.filter(({ key, depth }) => depth === 1 && plainKey(key) === 'ok').length > 1
  // JSON.parse keeps the last of two equal keys, and a yes next to a no is not a yes.
  if ((ok !== false || isTwice) && entries.some(saysNo)) return noAmong(value, entries)
  if (isTwice) return 'it has "ok" more than once'
  if (typeof ok !== 'boolean') return `its "ok" is ${shown(ok)}, not true or false`
  const others = entries.filter(({ key, depth }) => depth > 1 || !KNOWN.has(key))
  if (ok && others.some(refusesElsewhere)) {
    return 'its "ok" is true, but another key refuses'
  }
  const problems = [
    !isAbsent(reason) && typeof reason !== 'string' && `its "reason" is ${shown(reason)}, not a string`,
    !isAbsent(impossible) &&
      typeof impossible !== 'boolean' &&
      `its "impossible" is ${shown(impossible)}, not true or false`,
  ].filter((problem) => problem !== false)
  if (ok && problems.length > 0) return problems.join('; ')
  if (ok && entries.some(takesBack)) return noAmong(value, entries)
  const notes = [
    ...problems.map((problem) => malformed(problem)),
    ...unknownKeys(entries),
    ...(!ok && isAbsent(reason) ? [malformed('it has no "reason"')] : []),
  ]
  return { reply: ok ? { ok } : no(value), notes }
}

/** Drops invisible characters and folds look-alikes: `ok` with a space or a foreign letter is meant to read as `ok`. */
function plainKey(key: string): string {
  return folded(key)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
}

/** Uses the table that all hooks share. A model may also use more than one word. */
function saysNo({ key, value }: Entry): boolean {
  const name = plainKey(key)
  if (meaningOf(name, value) !== undefined) return true
  if (typeof value !== 'string') return false
  if (isSpokenVerdict(name)) return meaningOfWord(value) === 'deny' || noInWords(value) !== undefined
  return meaningOf(name, false) !== undefined && noInWords(value) !== undefined
}

/** Words that take back a yes: "but", "must be blocked", "do not run", "needs approval". */
const TAKEN_BACK =
  /^\W*(?:but|however|actually|unless|except|only (?:if|after|when|with))\b|\bbut (?:actually )?no\b|\b(?:must|should|would|will|i|we)\s+(?:be\s+)?(?:block|den[yi]|reject|refus|object)\w*|\b(?:do|should|must) not (?:run|allow|approve|proceed|be (?:run|allowed|approved))\b|\bneeds?\s+(?:\w+\s+){0,3}(?:approval|confirmation|permission)\b|\bask (?:the user|a person|first)\b/i

function takesBack({ value }: Entry): boolean {
  return typeof value === 'string' && (TAKEN_BACK.test(folded(value)) || noInWords(value) !== undefined)
}

/** With such a key, a yes is not clear. */
function refusesElsewhere({ value }: Entry): boolean {
  const raw = value === undefined ? '' : JSON.stringify(value)
  return REFUSAL.test(raw) || NO_ANYWHERE.test(flat(raw))
}

function noAmong(value: Raw, entries: readonly Entry[]): Read {
  const found = entries.find((entry) => /reason$/i.test(entry.key) && typeof entry.value === 'string')
  const reason = typeof value.reason === 'string' ? value.reason : found?.value
  return {
    reply: no({ ...value, reason }),
    notes: [malformed('it does not say no with a single "ok": false')],
  }
}

function no({ reason, impossible }: Raw): Reply {
  const why = typeof reason === 'string' ? short(reason.trim()) : ''
  return { ok: false, ...(why && { reason: why }), impossible: impossible === true }
}

function short(reason: string): string {
  return byteLength(reason) > REASON_LIMIT ? cutText(reason, REASON_LIMIT, '…') : reason
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

function malformed(problem: string): Diagnostic {
  return { code: 'malformed-field', text: `the model's reply: ${problem}; its no still counts` }
}

function unknownKeys(entries: readonly Entry[]): readonly Diagnostic[] {
  const top = entries.filter(({ depth }) => depth === 1)
  const unknown = top.map(({ key }) => key).filter((key) => !KNOWN.has(key))
  return unknown
    .slice(0, 3)
    .map((key) => ({ code: 'unknown-answer-key', text: `no reply of a model has the key ${shown(key)}` }))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// ---- a no in something that is not a verdict --------------------------------------------------------------------

const NO_ANYWHERE =
  /\bok\s*(?:["'`]\s*)?[:=]\s*["'`]?(?:false\b|no(?=\s*(?:["'`,;.}\n]|$)))|\b(?:permission)?(?:decision|verdict|action)\s*(?:["'`]\s*)?[:=]\s*["'`]?(?:deny|denied|block|blocked|reject|rejected|refuse|refused)\b/i
const REASON_AFTER = /["']reason["']\s*:\s*("(?:[^"\\\n]|\\.){1,8192}")/

function recognisedNo(said: string): Reply | undefined {
  const words = noInWords(said)
  return writtenNo(said) ?? (words && no(words))
}

/** A model that wrote `"ok": false` did not say yes, even with prose around it, cut off, or written twice. */
function writtenNo(said: string): Reply | undefined {
  if (!NO_ANYWHERE.test(flat(said))) return undefined
  const [, written] = REASON_AFTER.exec(said) ?? []
  return no({ reason: written === undefined ? undefined : parsed(written) })
}

/** Removes JSON escapes, in case the JSON is inside a JSON string. */
function flat(text: string): string {
  const plain = text.replace(/\\{1,4}u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return folded(plain.replace(/\\{1,4}(["'`])/g, '$1'))
}
