// What the audit writes to disk: texts and plain data in which a mark stands in place of every secret.

import type { Json } from '../core/base/json.js'
import { FORMLESS, knownAt, REDACTED, type Span } from '../core/base/secrets.js'
import { plainText } from '../core/base/text.js'
import { secretsAt } from './secret-forms.js'
import { strengthOf } from './secret-names.js'

/** Stands for what was left out. */
const CUT = '…'
/** Only so much of a text is looked at, and only what was looked at is written. */
const LOOKED_AT = 60_000
/** Cut off with it: a secret that begins before the end of what is written was seen as a whole. */
const MARGIN = 4096
/** Of any value, however short. */
const LEAST = 4
const DEEPEST = 32

// ---- texts ----------------------------------------------------------------------------------------------------

/** Answers the same text if it holds no secret. Never throws. */
export function writtenText(text: string): string {
  if (FORMLESS.test(text)) return marked(text, knownAt(text))
  const whole = text.length <= LOOKED_AT
  const written = hidden(cleaned(text.slice(0, LOOKED_AT)))
  if (!whole)
    return `${written.slice(0, Math.min(written.length, LOOKED_AT) - MARGIN).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
  return written.includes(REDACTED) ? written : text
}

function hidden(text: string, more: readonly Span[] = []): string {
  try {
    return marked(text, [...secretsAt(text), ...more])
  } catch {
    return REDACTED
  }
}

/** The mark itself is no secret, nor are the quotes around it. */
const SAYS = /[^\s"'\\[\]]/

function marked(text: string, spans: readonly Span[]): string {
  let left = ''
  let at = 0
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at || !SAYS.test(text.slice(start, end).replaceAll(REDACTED, ''))) continue
    // One mark for secrets that overlap or follow each other.
    if (start > at || at === 0) left += `${text.slice(at, Math.max(at, start))}${REDACTED}`
    at = end
  }
  return at === 0 ? text : left + text.slice(at)
}

/** Without control sequences and what has no width: a secret with one inside would not be recognised. */
function cleaned(text: string): string {
  if (/^[\n\t -~]*$/.test(text)) return text
  return plainText(text).replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
}

// ---- data -----------------------------------------------------------------------------------------------------

/** Answers a copy. Not for data that holds itself. */
export function writtenData(data: Json): Json {
  return new WrittenCopy().of(data)
}

interface Bounds {
  /** Characters of all texts together. */
  readonly room?: number
  /** Characters of one text. */
  readonly text?: number
  /** Members of one list or object. */
  readonly members?: number
}

/** A copy of plain data, in which no text, however deep, holds a secret. Names and neighbours may say that one is. */
export class WrittenCopy {
  #left: number
  readonly #bounds: Bounds

  constructor(bounds: Bounds = {}) {
    this.#left = bounds.room ?? Infinity
    this.#bounds = bounds
  }

  get isFull(): boolean {
    return this.#left <= 0
  }

  of(value: Json | undefined, isSecret = false, depth = 0): Json {
    this.#left -= LEAST
    if (value === null || typeof value === 'boolean') return value
    if (typeof value === 'number') return isSecret ? REDACTED : value
    if (typeof value === 'string') return isSecret && value !== '' ? REDACTED : this.text(value)
    if (value === undefined || depth > DEEPEST || this.isFull) return CUT
    return Array.isArray(value)
      ? this.#list(value as readonly Json[], isSecret, depth)
      : this.#object(value as { readonly [key: string]: Json }, isSecret, depth)
  }

  /** `more`: secrets that only its neighbours show. */
  text(text: string, more: readonly Span[] = NONE): string {
    const { text: longest } = this.#bounds
    if (longest === undefined && more.length === 0) return writtenText(text)
    const seen = hidden(cleaned(text.slice(0, LOOKED_AT)), more)
    const room = Math.max(0, Math.min(longest ?? LOOKED_AT - MARGIN, this.#left))
    this.#left -= Math.min(seen.length, room)
    return seen.length <= room && text.length <= LOOKED_AT
      ? seen
      : `${seen.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
  }

  #list(list: readonly Json[], isSecret: boolean, depth: number): Json {
    const { members = Infinity } = this.#bounds
    const across = acrossAt(list, ' ')
    const copy: Json[] = []
    for (const [i, one] of list.entries()) {
      if (i >= members || this.isFull) return [...copy, CUT]
      // `["--token", "…"]`, `["Authorization", "…"]`
      const before = list[i - 1]
      const isNamed = typeof before === 'string' && namesSecret(before)
      copy.push(this.#member(one, isSecret || isNamed, depth, across.get(i)))
    }
    return copy
  }

  #object(object: { readonly [key: string]: Json }, isSecret: boolean, depth: number): Json {
    const { members = Infinity } = this.#bounds
    // `{ "name": "API_TOKEN", "value": "…" }`
    const isNamed = NAMING.some((key) => typeof object[key] === 'string' && namesSecret(object[key]))
    const across = acrossAt(Object.values(object), '\n')
    const copy: [string, Json][] = []
    for (const [i, [key, one]] of Object.entries(object).entries()) {
      if (i >= members || this.isFull) {
        copy.push([CUT, CUT])
        break
      }
      const isValue = isNamed && /^(?:value|val|content|data|text)$/i.test(key)
      const isHidden = isSecret || isValue || isSecretKey(key, one)
      const name = isSecret && !/^[A-Za-z_-]{1,24}$/.test(key) ? REDACTED : this.text(key)
      copy.push([name, this.#member(one, isHidden, depth, across.get(i))])
    }
    return Object.fromEntries(copy)
  }

  #member(value: Json, isSecret: boolean, depth: number, across: readonly Span[] = NONE): Json {
    if (typeof value !== 'string' || isSecret || across.length === 0)
      return this.of(value, isSecret, depth + 1)
    this.#left -= LEAST
    return this.text(value, across)
  }
}

const NONE: readonly Span[] = []

/** Keys whose text names the value beside it. */
const NAMING = ['name', 'key', 'header', 'field', 'variable', 'id'] as const

/** `API_TOKEN`, `--token`, `Authorization:` */
export function namesSecret(text: string): boolean {
  const name = text.replace(/^-{1,2}/, '').replace(/[:=]$/, '')
  return /^[\w.-]{1,64}$/.test(name) && strengthOf(name) !== undefined
}

/** Whether the value of a key is hidden. Under `max_tokens` a number is a number. */
export function isSecretKey(key: string, value?: unknown): boolean {
  const strength = strengthOf(key)
  if (strength === undefined || typeof value === 'boolean') return false
  return typeof value === 'number' ? !/tokens?$|keys?$|count/i.test(key) : !isPlace(value)
}

/** `{ "pwd": "/home/me" }` */
function isPlace(value: unknown): boolean {
  return typeof value === 'string' && /^(?:~|\.{1,2})?\/[\w./-]{0,256}$/.test(value) && !/\d{3}/.test(value)
}

/** Secrets that the texts of a list or an object hold only together, by the number of the text: `["mysql", "-pX"]`. */
function acrossAt(values: readonly unknown[], glue: string): ReadonlyMap<number, readonly Span[]> {
  const found = new Map<number, Span[]>()
  const pieces: { readonly i: number; readonly start: number; readonly end: number }[] = []
  let joined = ''
  for (const [i, value] of values.entries()) {
    if (typeof value !== 'string') continue
    if (joined.length > LOOKED_AT) break
    const start = joined.length
    joined += cleaned(value.slice(0, LOOKED_AT - start))
    pieces.push({ i, start, end: joined.length })
    joined += glue
  }
  if (pieces.length < 2) return found
  for (const { start, end } of secretsAt(joined))
    for (const piece of pieces)
      if (start < piece.end && end > piece.start)
        found.set(piece.i, [
          ...(found.get(piece.i) ?? []),
          { start: Math.max(0, start - piece.start), end: Math.min(end, piece.end) - piece.start },
        ])
  return found
}
