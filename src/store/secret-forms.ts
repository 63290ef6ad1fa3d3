// Finds secrets in texts that go to disk, by their form, their name, or the command that takes them.

import { formsAt, knownAt, labelledAt, matchesIn, Search, type Span } from '../core/base/secrets.js'
import { givenAt } from './secret-arguments.js'
import { folded, namedAt } from './secret-names.js'
import { matchAt, REFERENCE } from './secret-values.js'

/**
 * Reads a text from left to right, and never reads a value twice. Patterns that look ahead or behind are bounded, so the
 * time is linear in the length of the text, whatever it contains.
 */
export function secretsAt(text: string, depth = 0): readonly Span[] {
  if (depth > 0) searchesInside++
  const known = knownAt(text)
  if (plainTexts.has(text)) return known
  const before = searchesInside
  const found = shapedAt(text, depth)
  const isPlain = known.length + found.length === 0 && depth === 0 && searchesInside === before
  if (isPlain && text.length <= LONGEST_PLAIN) rememberPlain(text)
  return [...known, ...found]
}

/**
 * Short texts that look like no secret, so that paths and names that many events repeat are searched once. Values that are
 * known to be secret are looked for each time. A text is not kept if one of them could be encoded in it.
 */
const plainTexts = new Set<string>()
const MOST_PLAIN = 1000
const LONGEST_PLAIN = 256
/** Counts searches of decoded texts. */
let searchesInside = 0

function rememberPlain(text: string): void {
  if (plainTexts.size >= MOST_PLAIN) plainTexts.clear()
  plainTexts.add(text)
}

function shapedAt(text: string, depth: number): readonly Span[] {
  const seen = folded(text)
  return [
    ...formsAt(seen),
    ...labelledAt(seen),
    ...PHRASES.flatMap((search) => groupsAt(seen, search)),
    ...loginsAt(seen),
    ...namedAt(seen),
    ...givenAt(seen),
    ...(depth < DEEPEST ? [...encodedAt(seen, depth), ...escapedAt(text, depth)] : []),
  ]
}

/** Enough for JSON in JSON in base64. */
const DEEPEST = 3

// ---- addresses and phrases ------------------------------------------------------------------------------------

/** For secrets without a name or a sign. The secret is the only group. */
const PHRASES: readonly Search[] = [
  new Search(['/services/'], () => /\/services\/T\w{1,16}\/B\w{1,16}\/([\w-]{8,128})/g),
  new Search(['/api/webhooks/'], () => /\/api\/webhooks\/\d{5,24}\/([\w-]{16,256})/g),
  new Search(['bot'], () => /\bbot\d{5,16}:([\w-]{10,128})/g),
  new Search(
    ['/webhook', '/hook'],
    () => /\/(?:webhooks?|webhookb2|hooks?)\/(?=[^\s/]{0,64}\d)([\w-]{20,256})/g,
  ),
  new Search(
    ['identified'],
    () =>
      /\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,64}\s{1,4})?(?:BY|AS)\s{1,4}(?:PASSWORD\s{1,4})?["']([^"'\n]{1,256})["']/gi,
  ),
  new Search(['password'], () => /\bPASSWORD\s{1,4}["']([^"'\n]{1,256})["']/gi),
  new Search(
    ['convertto-securestring'],
    () => /\bConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?["']([^"'\n]{1,256})["']/gi,
  ),
  new Search(['net user '], () => /\bnet user [\w.-]{1,64} (?![/*])(\S{1,128})/gi),
  new Search(
    ['auth'],
    () => /\bauth\s{0,4}=\s{0,4}\(\s{0,4}["'][^"'\n]{0,128}["']\s{0,4},\s{0,4}["']([^"'\n]{1,256})["']/g,
  ),
  new Search(
    ['token', 'secret', 'passw', 'api_key', 'apikey'],
    () =>
      /(?:token|secret|password|passwd|api_?key)\w{0,16}["']?\s{0,4}[:=]\s{0,4}[^\n"'`|?]{1,120}(?:\|\||\?\?)\s{0,4}["'`]([^"'`\n]{8,256})/gi,
  ),
  new Search(
    ['password', 'token', 'secret', 'key'],
    () =>
      /\b(?:password|token|secret|api[ _-]?key)`?(?::?\*\*:?|\s{0,16}\|)\s{0,16}`?(?=[^\s|]{0,64}\d)([^\s|`*]{6,256})/gi,
  ),
  new Search(
    ['private-'],
    () => /\bPrivate-(?:Lines|MAC):\s{1,4}(?:\d{1,4}\r?\n)?([A-Za-z0-9+/=\r\n]{16,8192})/g,
  ),
]

function groupsAt(text: string, search: Search): readonly Span[] {
  return search.in(text).map(({ index, 0: all, 1: group = '' }) => {
    const start = index + all.lastIndexOf(group)
    return { start, end: start + group.length }
  })
}

const LOGIN = /:\/\/[^\s/:@"'<>]{0,256}:(?=[^\s"'<>`])/g
const ADDRESS = /[^\s"'<>`]+/y

/** `scheme://user:password@host`. The password may contain a slash or an @. */
function loginsAt(text: string): readonly Span[] {
  if (!text.includes('://')) return []
  const found: Span[] = []
  /** The end of the address, which may contain others, and its last @. */
  let last = { end: 0, at: -1 }
  LOGIN.lastIndex = 0
  for (let match = LOGIN.exec(text); match; match = LOGIN.exec(text)) {
    const start = match.index + match[0].length
    if (start >= last.end) {
      const rest = matchAt(ADDRESS, text, start)?.[0] ?? ''
      last = { end: start + rest.length, at: start + rest.lastIndexOf('@') }
    }
    const isPort = /^\d{1,5}(?:[/?#]|$)/.test(text.slice(start, Math.min(start + 6, last.end)))
    if (isPort || last.at <= start || REFERENCE.test(text.slice(start, Math.min(last.at, start + 256))))
      continue
    found.push({ start, end: last.at })
    LOGIN.lastIndex = last.end
  }
  return found
}

// ---- encoded --------------------------------------------------------------------------------------------------

const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g
const LONGEST_ENCODED = 16_384
const READABLE = /^[\t\r\n\x20-\x7e]+$/

/** Base64 of a text that contains a secret. */
function encodedAt(text: string, depth: number): readonly Span[] {
  return matchesIn(text, BASE64).flatMap(({ index, 0: encoded }) => {
    const decoded = decodedOf(encoded.slice(0, LONGEST_ENCODED))
    if (!READABLE.test(decoded) || secretsAt(decoded, depth + 1).length === 0) return []
    return [{ start: index, end: index + encoded.length }]
  })
}

/** Empty if it is not base64 after all. */
function decodedOf(encoded: string): string {
  const bare = encoded.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  try {
    return atob(bare.length % 4 === 1 ? bare.slice(0, -1) : bare)
  } catch {
    return ''
  }
}

/** JSON escapes. Colours and zero-width characters decode to nothing. */
const ESCAPE =
  /\\(?:u001b(?:\[[0-9;]{0,16}[A-Za-z])?|u200[b-f]|u([0-9a-f]{4})|(["\\/bfnrt]))|\[\d{1,3}(?:;\d{1,3}){0,5}m/gi
const MEANT: Readonly<Record<string, string>> = { b: ' ', f: '\n', n: '\n', r: '\r', t: '\t' }

/** Decodes a text inside JSON and searches it. */
function escapedAt(text: string, depth: number): readonly Span[] {
  if (!text.includes('\\') && !text.includes('[')) return []
  let plain = ''
  let at = 0
  /** The position in `text` of each character of `plain`. */
  const places: number[] = []
  const take = (part: string, from: number, step: number) => {
    for (let i = 0; i < part.length; i++) places.push(from + i * step)
    plain += part
  }
  for (const { index, 0: all, 1: code, 2: letter } of matchesIn(text, ESCAPE)) {
    take(text.slice(at, index), at, 1)
    if (code) take(String.fromCharCode(Number.parseInt(code, 16)), index, 0)
    else if (letter) take(MEANT[letter] ?? letter, index, 0)
    at = index + all.length
  }
  if (at === 0) return []
  take(text.slice(at), at, 1)
  places.push(text.length)
  return secretsAt(plain, depth + 1).map(({ start, end }) => ({
    start: places[start] as number,
    end: places[end] as number,
  }))
}
