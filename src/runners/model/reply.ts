// What a model's reply means: read strictly, but a no that can be recognised is never lost.

import { type Diagnostic, HookError } from '../../core/errors.js'
import { isObject } from '../../core/json.js'
import { byteLength, cutText, shown } from '../../core/text.js'

export type Reply =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason?: string; readonly impossible: boolean }

/** Characters. A verdict takes a line. */
export const REPLY_LIMIT = 64 * 1024
/** Bytes. */
const REASON_LIMIT = 8 * 1024

/** Throws ANSWER_INVALID or HOOK_OUTPUT for what is no verdict. */
export function readReply(text: string, note: (d: Diagnostic) => void): Reply {
  const kept = text.slice(0, REPLY_LIMIT)
  const tooLong = text.length > REPLY_LIMIT
  const said = unfenced(kept.replace(/^\uFEFF/, '').trim())
  const read = tooLong ? `it is longer than ${REPLY_LIMIT} characters` : verdict(said)
  if (typeof read !== 'string') return withNotes(read, note)
  const reply = recognisedNo(said)
  if (reply) {
    note({ code: 'malformed-field', text: `the reply is not valid (${read}); its "ok": false stands` })
    return reply
  }
  throw tooLong
    ? new HookError('HOOK_OUTPUT', `the reply of the model is not valid: ${read}`, { hint: HINT })
    : new HookError('ANSWER_INVALID', `the reply of the model is not valid: ${read}`, { hint: HINT })
}

const HINT =
  'Ask in the prompt for {"ok": true} or {"ok": false, "reason": "…"} alone, or use a model that keeps to it.'

/** One markdown fence around everything. */
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

/** In words what is wrong, where it is none. */
function verdict(said: string): Read | string {
  if (said === '') return 'it is empty'
  const word = inAWord(said)
  if (word !== undefined) {
    return { reply: word ? { ok: true } : { ok: false, impossible: false }, notes: [] }
  }
  const value = parsed(said)
  if (!isObject(value)) return `it is ${shown(said)}, and not one JSON object`
  return objectVerdict(value, entriesOf(said))
}

// ---- a word ---------------------------------------------------------------------------------------------------

/** The whole reply, but for quotes, emphasis and a full stop: in more words there may be an "if". */
const WORD = /^["'`*_]{0,4}([a-z]{2,8})["'`*_]{0,4}[.!]?["'`*_]{0,4}$/i
const YES: ReadonlySet<string> = new Set(['yes', 'ok', 'okay', 'allow', 'allowed', 'approve', 'approved'])
const NO: ReadonlySet<string> = new Set(
  'no deny denied block blocked reject rejected refuse refused false'.split(' '),
)

function inAWord(said: string): boolean | undefined {
  const word = WORD.exec(said)?.[1]?.toLowerCase() ?? ''
  if (YES.has(word)) return true
  return NO.has(word) ? false : undefined
}

// ---- an object ------------------------------------------------------------------------------------------------

/** `"decision": "block"`, as hooks of other kinds say it. */
const REFUSAL = /^"(?:block|den[yi]|reject|refuse|abort)/i
const KNOWN: ReadonlySet<string> = new Set(['ok', 'reason', 'impossible'])

function objectVerdict(value: { readonly [key: string]: unknown }, entries: readonly Entry[]): Read | string {
  const { ok, reason, impossible } = value
  const verdicts = entries.filter(({ key }) => key.toLowerCase() === 'ok')
  if (verdicts.length > 1) {
    // JSON.parse keeps the last, whatever the others said.
    if (verdicts.some(({ raw }) => /^"?false\b/i.test(raw))) return noTwice(value)
    return 'it has "ok" more than once'
  }
  if (typeof ok !== 'boolean') return `its "ok" is ${shown(ok)}, and not true or false`
  if (ok && entries.some(({ key, raw }) => !KNOWN.has(key) && REFUSAL.test(raw))) {
    return 'its "ok" is true, and another key refuses'
  }
  const problems = [
    !isAbsent(reason) && typeof reason !== 'string' && `its "reason" is ${shown(reason)}, and not a text`,
    !isAbsent(impossible) &&
      typeof impossible !== 'boolean' &&
      `its "impossible" is ${shown(impossible)}, and not true or false`,
  ].filter((problem) => problem !== false)
  if (ok && problems.length > 0) return problems.join('; ')
  const notes = [
    ...problems.map((problem) => malformed(problem)),
    ...unknownKeys(entries),
    ...(!ok && isAbsent(reason) ? [malformed('it has no "reason"')] : []),
  ]
  return { reply: ok ? { ok } : no(value), notes }
}

function noTwice(value: { readonly [key: string]: unknown }): Read {
  return { reply: no(value), notes: [malformed('it has "ok" more than once')] }
}

function no({ reason, impossible }: { readonly [key: string]: unknown }): Reply {
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
  return { code: 'malformed-field', text: `the reply of the model: ${problem}; its "ok": false stands` }
}

function unknownKeys(entries: readonly Entry[]): readonly Diagnostic[] {
  const unknown = entries.map(({ key }) => key).filter((key) => !KNOWN.has(key))
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

/** One key of an object and what follows it, as written. */
interface Entry {
  readonly key: string
  readonly raw: string
}

/** Of an object in valid JSON, every key of the first level, also one that is given twice. */
function entriesOf(text: string): readonly Entry[] {
  const entries: Entry[] = []
  let depth = 0
  let name = ''
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token !== ':') name = token
    else if (depth === 1) {
      entries.push({ key: String(JSON.parse(name)), raw: text.slice(index + 1, index + 32).trimStart() })
    }
  }
  return entries
}

// ---- a no in something that is no verdict -----------------------------------------------------------------------

const NO_ANYWHERE = /["'`]?\bok["'`]?\s{0,8}[:=]\s{0,8}["'`]?false\b/i
const REASON_AFTER = /["']reason["']\s{0,8}:\s{0,8}("(?:[^"\\\n]|\\.){1,8192}")/

/** Prose around it, half of it, two of them: a model that wrote `"ok": false` did not say yes. */
function recognisedNo(said: string): Reply | undefined {
  if (!NO_ANYWHERE.test(said)) return undefined
  const [, written] = REASON_AFTER.exec(said) ?? []
  return no({ reason: written === undefined ? undefined : parsed(written) })
}
