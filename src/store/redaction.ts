// Prepares what the audit writes to disk: in texts and plain data, a mark replaces every secret.

import type { Json } from '../core/base/json.js'
import { FORMLESS, knownAt, REDACTED, type Span } from '../core/base/secrets.js'
import { plainText } from '../core/base/text.js'
import { secretsAt } from './secret-forms.js'
import { strengthOf } from './secret-names.js'

/** Stands for what was left out. */
const CUT = '…'
/** Only this much of a text is checked, and only the checked part is written. */
const LOOKED_AT = 60_000
/** Also cut off, so that a secret that begins near the end of the written part was checked as a whole. */
const MARGIN = 4096
/** Characters kept of any value, however little room is left. */
const LEAST = 4
const DEEPEST = 32

// ---- texts ----------------------------------------------------------------------------------------------------

/** Returns the same text if it holds no secret. Never throws. */
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

/** Excludes the mark's brackets and the quotes around it, which are not secret. */
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

/** Removes control sequences and zero-width characters, which would hide a secret that contains them. */
function cleaned(text: string): string {
  if (/^[\n\t -~]*$/.test(text)) return text
  return plainText(text).replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
}

// ---- data -----------------------------------------------------------------------------------------------------

/** Returns a copy. Not for cyclic data. */
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

/** Copies plain data so that no text, however deep, holds a secret. Names and neighbours can mark a text as one. */
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

  /** `more` are secrets that only the neighbours reveal. */
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

/** Whether to hide the value of a key. A number under `max_tokens` is just a number. */
export function isSecretKey(key: string, value?: unknown): boolean {
  const strength = strengthOf(key)
  if (strength === undefined || typeof value === 'boolean') return false
  return typeof value === 'number' ? !/tokens?$|keys?$|count/i.test(key) : !isPlace(value)
}

/** `{ "pwd": "/home/me" }` */
function isPlace(value: unknown): boolean {
  return typeof value === 'string' && /^(?:~|\.{1,2})?\/[\w./-]{0,256}$/.test(value) && !/\d{3}/.test(value)
}

/** Secrets that appear only when the texts of a list or object are read together, by index: `["mysql", "-pX"]`. */
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
