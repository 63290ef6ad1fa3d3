// Removes secrets from results and prompts: those of well-known formats, and values that look random after a label.
// Ordinary values must stay: an agent that reads a changed hash or file name goes wrong.

import { isObject, type Json } from '../core/base/json.js'
import { formsAt, knownAt, labelledAt, REDACTED, type Span } from '../core/base/secrets.js'

export interface Redacted {
  readonly value: Json
  /** What was removed. Never show it. */
  readonly secrets: readonly string[]
}

/** Returns the same value if it holds no secret. Not for cyclic data. */
export function withoutSecretsIn(value: Json): Redacted {
  const secrets: string[] = []
  const redacted = cleaned(value, secrets, '')
  return { value: secrets.length === 0 ? value : redacted, secrets }
}

function cleaned(value: Json, secrets: string[], label: string): Json {
  if (typeof value === 'string') return cleanedText(value, secrets, label)
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => cleaned(one, secrets, ''))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      cleanedText(key, secrets, ''),
      cleaned(one as Json, secrets, key.length <= LONGEST_LABEL ? key : ''),
    ]),
  )
}

const LONGEST_LABEL = 64

/** An image or another file. */
const ENCODED = /^[A-Za-z0-9+/]{256,}={0,2}$/

/** `label`: the key that the text is under. */
function cleanedText(text: string, secrets: string[], label: string): string {
  if (ENCODED.test(text)) return text
  const before = label === '' ? '' : `"${label}": "`
  const spans = secretsIn(before + withoutColours(text))
  let left = ''
  let at = 0
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const start = Math.max(span.start - before.length, at)
    const end = span.end - before.length
    if (end <= start) continue
    secrets.push(text.slice(start, end))
    left += text.slice(at, start) + REDACTED
    at = end
  }
  return at === 0 ? text : left + text.slice(at)
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]{0,32}[A-Za-z]`, 'g')

/** Of the same length. The letter at the end of a colour would hide that a secret begins after it. */
function withoutColours(text: string): string {
  return text.replace(COLOUR, (colour) => ' '.repeat(colour.length))
}

function secretsIn(text: string): readonly Span[] {
  return [
    ...knownAt(text),
    ...formsAt(text).filter(({ start, end }) => !isWithin(text, start) && !isWords(text.slice(start, end))),
    ...labelledAt(text).filter((span) => !isPlaceholder(text, span)),
  ]
}

/** It is the middle of a longer text without spaces, such as base64url. */
function isWithin(text: string, start: number): boolean {
  return text[start] !== '-' && text[start - 1] === '-' && /[A-Za-z0-9_]/.test(text[start - 2] ?? '')
}

/** `sk-cube-grid-item-12`, `key-rotation-2024-10-12`: it begins like a secret, but all its parts are words and numbers. */
function isWords(text: string): boolean {
  if (text.length > LONGEST_WORDS) return false
  const parts = text.split(/[-_.]/)
  return parts.length > 1 && parts.every((part) => WORD.test(part))
}

const LONGEST_WORDS = 128
const WORD = /^(?:[a-z]*|[A-Z]{0,12}|(?:[A-Z]?[a-z]{2,})+|[a-z]\d)\d{0,4}$/

// ---- labelled values ------------------------------------------------------------------------------------------

/** Labels of values that are no secrets, although they look like one: `"NextToken": "…"`. */
const HARMLESS =
  /(?:next|page|paging|continuation|sync|cancellation|design|resume)[_-]?token["'\s:=\\]{0,8}$/i
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SHORTEST = 16
/** Bits for each character. Words and repeated characters have less. */
const LEAST_ENTROPY = 3

/** A labelled value that is too plain for a secret, such as `password: "correct-horse"` in a test. */
function isPlaceholder(text: string, { start, end }: Span): boolean {
  const value = text.slice(start, end)
  if (HARMLESS.test(text.slice(Math.max(0, start - LONGEST_LABEL), start))) return true
  if (value.length < SHORTEST || UUID.test(value) || isWords(value)) return true
  return !/\d/.test(value) || !/[A-Za-z]/.test(value) || entropyOf(value.slice(0, 256)) < LEAST_ENTROPY
}

/** Shannon's, of the characters of a text. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
