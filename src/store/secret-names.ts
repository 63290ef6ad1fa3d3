// Names of secrets, and the values that follow them: `password=X`, `--token X`, `<secret>X</secret>`, "the password is X".

import { mayHave, REDACTED, type Span } from '../core/base/secrets.js'
import { BEHIND, matchAt, REFERENCE, valueAt } from './secret-values.js'

/** Replaces full-width letters (ｐａｓｓ) by ordinary ones, and redaction marks by one word. Keeps the length. */
export function folded(text: string): string {
  return text
    .replaceAll(REDACTED, MASK)
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
}

const MASK = '*'.repeat(REDACTED.length)

/** `strong`: the name alone is enough. `weak`: the name (`pass`, `auth`, `sig`) has other meanings, too. */
export type Strength = 'strong' | 'weak'

/** A cheap check before the name is parsed. */
const HINT =
  /pass|pwd|pw$|secret|token|key|cred|auth|otp|jwt|cookie|sig|pin$|bearer|dsn|pat$|psk|kennwort|contrase|connection/i

/** Every name that HINT or PARAMETER matches holds one of these. */
const NAME_WORDS =
  'pass pwd pw secret token key cred auth otp jwt cookie sig pin bearer dsn pat psk kennwort contrase connection code hmac access hash ticket assertion'.split(
    ' ',
  )

/** Last words of names that describe a secret without being one: `--password-stdin`, `token_url`, `secretName`. */
const ABOUT = new Set(
  'stdin file files filename path dir folder helper type types kind name names url uri endpoint host expires expiry expiration expire ttl age length len size count limit limits policy rotation rotate manager provider enabled disabled required optional env var variable version format prompt field label header jar id ids method mode scheme scope scopes service guard scanner authentication verification validation algorithm alg status state error errors usage budget per second minute store storage agent'.split(
    ' ',
  ),
)
/** First words of names that are switches or numbers: `--no-password`, `max_tokens`. */
const SWITCHES = new Set(
  'no ask with use get show print list skip allow allowed has is needs max min num total count prompt input output completion cached reasoning require requires public disable enable'.split(
    ' ',
  ),
)
/** Words that come before `key` in the names of secrets. */
const OF_KEY =
  'api|access|private|secret|signing|encryption|account|shared|master|session|service|auth|client|ssh|webhook'
/** Matches one word of the name. */
const STRONG = new RegExp(
  `(?:token|secret|credential|cookie)s?$|^passw|passwords?$|passwd$|passphrase$|passcode$|kennwort$|contrase|^(?:${OF_KEY}|sharedaccess|license)keys?$|^secret.{0,16}key$|connectionstring$|^authorization$|^bearer$`,
)
/** Matches all words of the name together. */
const KEYS = new RegExp(`(?:${OF_KEY})keys?$|connectionstring$|sharedaccesssignature$`)
const WEAK =
  /^(?:pwd|pw|auth|oauth|otp|totp|jwt|pin|creds?|sig|signature|hmac|pat|dsn|psk|passkey)$|pass$|pwd$/
const NOT_PASS = /^(?:by|com|encom|tres|over|under|sur)pass$/
const LONGEST_NAME = 128

/** `dbPassword`, `DB_PASSWORD`, `db-password` and `X-Db-Password` are one name. */
export function strengthOf(name: string): Strength | undefined {
  if (name.length > LONGEST_NAME) return undefined
  if (strengths.has(name)) return strengths.get(name)
  if (strengths.size >= MOST_NAMES) strengths.clear()
  const strength = newStrengthOf(name)
  strengths.set(name, strength)
  return strength
}

/** Records have the same few names again and again. */
const strengths = new Map<string, Strength | undefined>()
const MOST_NAMES = 1000

function newStrengthOf(name: string): Strength | undefined {
  if (!mayHave(folded(name), NAME_WORDS) || !HINT.test(folded(name))) return undefined
  const words = wordsOf(name)
  const last = words.at(-1)
  if (last === undefined) return undefined
  if (words.length > 1 && (ABOUT.has(last) || SWITCHES.has(words[0] as string))) return undefined
  if (words.some((word) => STRONG.test(word)) || KEYS.test(words.join(''))) return 'strong'
  if (last === 'key' && words.length > 1) return 'weak'
  return WEAK.test(last) && !NOT_PASS.test(last) ? 'weak' : undefined
}

function wordsOf(name: string): readonly string[] {
  return folded(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u00df-\u024f]+/)
    .filter(Boolean)
}

/** `max_tokens`, `token_count`: a number under such a name is a number. */
const COUNTED = /tokens?$|keys?$|cookies?$|sig(?:nature)?$|auth$/i

// ---- what counts as a value -----------------------------------------------------------------------------------

/** Words that follow such names in code and sentences, and are not secrets. */
const WORDS = new Set(
  'string str number int integer boolean bool bytes object any unknown void char text varchar undefined null none nil true false yes no on off required optional missing invalid expired wrong failed denied empty set unset not the a an must should is was are has or and for from in to of with new old refused rejected rotated leaked found redacted hidden'.split(
    ' ',
  ),
)
const MIXED = /(?=[^\d]{0,64}\d)(?=[^A-Za-z]{0,64}[A-Za-z])/
const PLAIN_WORD = /^[A-Za-z][a-z]{0,40}(?:[-'][a-z]{1,40})?[.,:;!?]?$/

interface Said {
  readonly name: string
  readonly strength: Strength
  /** How the name and the value are joined. */
  readonly by: 'sign' | 'colon' | 'tight colon' | 'option' | 'sentence'
  /** True if the name comes first on its line, as in YAML. */
  readonly isFirst: boolean
}

function isSecret(value: string, isQuoted: boolean, { name, strength, by, isFirst }: Said): boolean {
  if (value === '' || REFERENCE.test(value)) return false
  if (/^[\d.,]{1,64}$/.test(value)) return value.length >= 4 && !COUNTED.test(name)
  if (!isQuoted && WORDS.has(value.replace(/[.,:;!?]+$/, '').toLowerCase())) return false
  if (by === 'option' || by === 'sign' || isQuoted) return strength === 'strong' || value.length > 2
  if (by === 'colon' && strength === 'strong' && isFirst) return true
  return value.length >= 4 && !PLAIN_WORD.test(value) && (by === 'colon' || MIXED.test(value))
}

// ---- a name before it -----------------------------------------------------------------------------------------

const NAME = /[A-Za-z_\u00c0-\u024f][\w\u00c0-\u024f.-]*/g
const QUOTE = String.raw`(?:\\{0,7}["'\`]|%22)?`
const SPACE = String.raw`[ \t]{0,64}`
const NEXT_LINE = String.raw`(?:\\?\r?\n[ \t]{1,32}(?![-#]))?`
const SIGN = new RegExp(
  String.raw`${QUOTE}[\])]?${SPACE}(=>|:=|={1,2}|:(?!:)|%3D|%3A)(${SPACE}${NEXT_LINE})`,
  'iy',
)
/** `--password X`, `--password \⏎ X`, `"--password", "X"` */
const OPTION = /\s{1,16}(?:\\\r?\n\s{0,32})?(?![-|&;<>])|\\{0,7}["']\s{0,4},\s{0,16}(?=\\{0,7}["'])/y
const LIST = /\\{0,7}["']\s{0,4},\s{0,16}(?=\\{0,7}["'])/y
const KEY_NEXT = /\\{0,7}["']?\s{0,4}:/y
/** `"name": "TOKEN", "value": "X"`, `key="password" value="X"`, `- name: TOKEN⏎  value: X` */
const BESIDE =
  /\\{0,7}["']?\s{0,32},?\s{0,32}\\{0,7}["']?(?:value|val|content|data|text|string)\\{0,7}["']?\s{0,4}[:=]\s{0,4}/iy
const PROPERTY = /<\/\w{1,16}>\s{0,32}<\w{1,16}>/y
const ELEMENT = /[^<>]{0,256}>/y
const SENTENCE =
  /\s{1,4}(?:(?:is|was|to)\s{1,4}|(?:for|of)\s{1,4}[^\s:]{1,64}\s{0,2}(?::|\bis\b)\s{0,4})(?=\S)/iy
/** `setx TOKEN X`, `aws configure set token X`, `git config --global x.token X` */
const SETS =
  /(?:^|[\s;&|("'])(?:set|setx|setenv|config|configure|export|env|arg|--arg|env:set|set-item)(?:\s+(?:set|--?[\w-]{1,32}(?:=[^\s]{0,32})?)){0,4}\s+["']?[^\s"'=]{0,80}$/i
/** `login me password X`, `machine host password X` */
const NETRC = /(?:^|\s)(?:login|user|username|machine|host|account|connect|ssid)\s+[^\s]{1,64}\s+$/i
const HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookies?2?$/i
const PROSE = /^(?!(?:basic|bearer|token|digest|negotiate|apikey) )[a-z]{1,20}(?: [a-z]{1,20}){1,12}[.!]?$/i
/** Counts only in an address. */
const PARAMETER = /^(?:key|code|sig|sign|hmac|access|password|hash|ticket|assertion)$/i

export function namedAt(text: string): readonly Span[] {
  if (!mayHave(text, NAME_WORDS)) return []
  const found: Span[] = []
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match; match = NAME.exec(text)) {
    // The n of an escaped newline (\n) in JSON is not part of the name.
    const start = match.index + (text[match.index - 1] === '\\' && /^[nrt]/.test(match[0]) ? 1 : 0)
    const name = text.slice(start, match.index + match[0].length).replace(/[.-]{1,8}$/, '')
    const isParameter = /[?&#]/.test(text[start - 1] ?? '') && PARAMETER.test(name)
    const strength = strengthOf(name) ?? (isParameter ? 'weak' : undefined)
    if (!strength) continue
    const end = start + name.length
    const span = secretOf(text, { name, strength, start, end })
    if (span) found.push(span)
    const next = Math.max(span?.end ?? 0, match.index + match[0].length)
    NAME.lastIndex = next
  }
  return found
}

interface Named extends Span {
  readonly name: string
  readonly strength: Strength
}

function secretOf(text: string, named: Named): Span | undefined {
  const { name, start, end } = named
  const isFirst = /(?:^|\n)[\s\-{"'\\,*]*$/.test(
    start <= BEHIND ? text.slice(0, start) : text.slice(start - BEHIND, start).replace(/^[^\n]*/, ' x'),
  )
  const said = (by: Said['by']): Said => ({ ...named, by, isFirst })
  const sign = matchAt(SIGN, text, end)
  if (sign) {
    const at = end + sign[0].length
    if (HEADER.test(name)) return headerAt(text, at)
    const isColon = sign[1] === ':'
    const isTight = isColon && sign[2] === '' && !/["'`]/.test(sign[0]) && !/["'`{[]/.test(text[at] ?? '')
    return taken(text, at, said(isTight ? 'tight colon' : isColon ? 'colon' : 'sign'))
  }
  return (
    elementAt(text, named) ??
    asOption(text, named, said('option')) ??
    besideAt(text, named, said('option')) ??
    sentenceAt(text, named, said('sentence'))
  )
}

function taken(text: string, at: number, said: Said): Span | undefined {
  const value = valueAt(text, at)
  if (!value) return undefined
  return isSecret(text.slice(value.start, value.end).trim(), value.isQuoted, said) ? value : undefined
}

/** Ends at an escaped newline of JSON, too. */
const LINE = /(?:[^"'`\r\n\\]|\\(?![nr]))+/y

/** Up to the end of the line or the quotes: `Bearer X`, `a=1; b=2`. */
function headerAt(text: string, at: number): Span | undefined {
  const start = at + (matchAt(/\\{0,7}["']?/y, text, at)?.[0].length ?? 0)
  const value = matchAt(LINE, text, start)?.[0].replace(/\\+$/, '') ?? ''
  const kept = value.trim()
  if (kept === '' || PROSE.test(kept) || REFERENCE.test(kept.replace(/^(?:bearer|basic|token) /i, '')))
    return undefined
  return { start, end: start + value.length }
}

/** `<password>X</password>`, `<key>password</key><string>X</string>` */
function elementAt(text: string, { start, end }: Named): Span | undefined {
  const opening = /[<:]/.test(text[start - 1] ?? '') ? ELEMENT : PROPERTY
  const match = matchAt(opening, text, end)
  if (!match) return undefined
  const from = end + match[0].length
  const to = text.indexOf('<', from)
  if (to <= from || text[to + 1] !== '/' || REFERENCE.test(text.slice(from, to).trim())) return undefined
  return { start: from, end: to }
}

function asOption(text: string, { start, end }: Named, said: Said): Span | undefined {
  const before = text[start - 1] ?? ''
  const isOption = before === '-' && /(?:^|[\s"'=,([])-{1,2}$/.test(text.slice(Math.max(0, start - 3), start))
  const behind = text.slice(Math.max(0, start - BEHIND), start)
  const isSet = !isOption && (SETS.test(behind) || (NETRC.test(behind) && /^passw/i.test(said.name)))
  const isListed = !isOption && !isSet && /["']/.test(before)
  const pattern = isOption || isSet ? OPTION : isListed ? LIST : undefined
  const match = pattern && matchAt(pattern, text, end)
  if (!match) return undefined
  const at = end + match[0].length
  const span = taken(text, at, said)
  // `"token", "command": …`: the next one is a key.
  return span && match[0].includes(',') && matchAt(KEY_NEXT, text, span.end) ? undefined : span
}

function besideAt(text: string, { end }: Named, said: Said): Span | undefined {
  const match = matchAt(BESIDE, text, end)
  return match ? taken(text, end + match[0].length, said) : undefined
}

function sentenceAt(text: string, { strength, end }: Named, said: Said): Span | undefined {
  const match = strength === 'strong' ? matchAt(SENTENCE, text, end) : null
  return match ? taken(text, end + match[0].length, said) : undefined
}
