// Where a text holds secrets, by their form, by their name, or by the command that takes them. For texts that go to disk.

import { formsAt, knownAt, labelledAt, REDACTED, type Span } from '../core/base/secrets.js'

/**
 * A text is read from left to right, and what was read as a value is not read again. Patterns that look ahead or behind
 * have bounds, so the time grows with the length of the text, whatever is in it.
 */
export function secretsAt(text: string, depth = 0): readonly Span[] {
  const seen = folded(text)
  return [
    ...knownAt(text),
    ...formsAt(seen),
    ...labelledAt(seen),
    ...[...ADDRESSES, ...PHRASES].flatMap((pattern) => groupsAt(seen, pattern)),
    ...loginsAt(seen),
    ...namedAt(seen),
    ...givenAt(seen),
    ...(depth < DEEPEST ? [...encodedAt(seen, depth), ...escapedAt(text, depth)] : []),
  ]
}

/** JSON in JSON in base64. */
const DEEPEST = 3

/** Wide letters (ｐａｓｓ) as ordinary ones, and marks as one word. The length stays. */
function folded(text: string): string {
  return text
    .replaceAll(REDACTED, MASK)
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
}

const MASK = '*'.repeat(REDACTED.length)

// ---- names ----------------------------------------------------------------------------------------------------

/** `strong`: the name alone says it. `weak`: `pass`, `auth`, `sig` also mean other things. */
export type Strength = 'strong' | 'weak'

/** A cheap look before the name is taken apart. */
const HINT =
  /pass|pwd|pw$|secret|token|key|cred|auth|otp|jwt|cookie|sig|pin$|bearer|dsn|pat$|psk|kennwort|contrase|connection/i

/** A name that ends so says something about a secret, and is none: `--password-stdin`, `token_url`, `secretName`. */
const ABOUT = new Set(
  'stdin file files filename path dir folder helper type types kind name names url uri endpoint host expires expiry expiration expire ttl age length len size count limit limits policy rotation rotate manager provider enabled disabled required optional env var variable version format prompt field label header jar id ids method mode scheme scope scopes service guard scanner authentication verification validation algorithm alg status state error errors usage budget per second minute store storage agent'.split(
    ' ',
  ),
)
/** A name that begins so is a switch or a number: `--no-password`, `max_tokens`. */
const SWITCHES = new Set(
  'no ask with use get show print list skip allow allowed has is needs max min num total count prompt input output completion cached reasoning require requires public disable enable'.split(
    ' ',
  ),
)
const STRONG =
  /(?:token|secret|credential|cookie)s?$|^passw|passwords?$|passwd$|passphrase$|passcode$|kennwort$|contrase|^(?:api|access|private|secret|signing|encryption|account|shared|sharedaccess|master|session|license|service|auth|client|ssh|webhook)keys?$|^secret.{0,16}key$|connectionstring$|^authorization$|^bearer$/
const KEYS =
  /(?:api|access|private|secret|signing|encryption|account|shared|master|session|auth|client|service|ssh|webhook)keys?$|connectionstring$|sharedaccesssignature$/
const WEAK =
  /^(?:pwd|pw|auth|oauth|otp|totp|jwt|pin|creds?|sig|signature|hmac|pat|dsn|psk|passkey)$|pass$|pwd$/
const NOT_PASS = /^(?:by|com|encom|tres|over|under|sur)pass$/
const LONGEST_NAME = 128

/** `dbPassword`, `DB_PASSWORD`, `db-password` and `X-Db-Password` are one name. */
export function strengthOf(name: string): Strength | undefined {
  if (name.length > LONGEST_NAME || !HINT.test(folded(name))) return undefined
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

// ---- values ---------------------------------------------------------------------------------------------------

interface Value extends Span {
  readonly isQuoted: boolean
}

const PREFIX = /(?:[bfru]{1,2}(?=["']))?(\\{0,7})(["'`])/iy
/** To the end of a word; a backslash takes the next character with it. */
const BARE = /(?:\\[^\s"'`]|[^\s"'`;&|<>\\])+/y
const BLOCK = /[|>][+-]?[ \t]{0,8}\r?\n((?:[ \t][^\n]*\n?|\r?\n)+)/y

/** The value that begins here, if any. */
function valueAt(text: string, at: number): Value | undefined {
  const opening = text[at]
  if (opening === '{' || opening === '[') return bracketed(text, at)
  const quote = matchAt(PREFIX, text, at)
  if (quote) return quoted(text, at + quote[0].length, quote[1]?.length ?? 0, quote[2] as string)
  const block = matchAt(BLOCK, text, at)
  if (block) {
    const end = at + block[0].length
    return { start: end - (block[1] as string).length, end, isQuoted: true }
  }
  const bare = matchAt(BARE, text, at)?.[0].replace(/[),\]}]{1,8}$/, '')
  return bare ? { start: at, end: at + bare.length, isQuoted: false } : undefined
}

/** To the quote that closes it, or to the end of the text. `depth`: backslashes before each quote, in a text within a text. */
function quoted(text: string, start: number, depth: number, quote: string): Value {
  for (let at = start; at < text.length; at++) {
    if (text[at] !== quote) continue
    let slashes = 0
    while (at - slashes > start && text[at - 1 - slashes] === '\\') slashes++
    if (slashes > depth || (depth === 0 && slashes % 2 === 1)) continue
    reading.characters += at - start
    return { start, end: at - slashes, isQuoted: true }
  }
  reading.characters += text.length - start
  return { start, end: text.length, isQuoted: true }
}

/** A whole list or object, or the rest of the text if it does not end. */
function bracketed(text: string, start: number): Value | undefined {
  if (text.startsWith('{{', start)) return undefined
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) {
      reading.characters += at - start
      const isEmpty = text.slice(start + 1, Math.min(at, start + 64)).trim() === ''
      return isEmpty ? undefined : { start, end: at + 1, isQuoted: true }
    }
  }
  reading.characters += text.length - start
  return { start, end: text.length, isQuoted: true }
}

/** How much was read so far, for the test that it grows no faster than the text. */
export const reading = { characters: 0 }

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  const match = pattern.exec(text)
  reading.characters += 1 + (match?.[0].length ?? 0)
  return match
}

/** Says where the secret is, and is none: `$TOKEN`, `<TOKEN>`, `process.env.TOKEN`, `~/.token`, `read(…)`, `***`. */
const REFERENCE =
  /^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|[A-Za-z_]+:[A-Z_]+)$|\$\{|\$\(|`|<[^>]{1,64}>?$|\{\{|%\w{1,64}%$|https?:\/\/|(?:process|import\.meta|os|env|secrets|vars|config|settings|self|this)\.[A-Za-z_]|(?:~|\.{1,2})\/|\/(?:[a-z]{2,8}|Users)(?:\/[\w.@-]{1,64}){0,16}\/?$|[A-Za-z]:\\|@[\w./-]{1,64}$|(?:await )?[A-Za-z_][\w.]{0,64}\([^()]{0,200}\)|[*x.•…_-]{1,64}$)/i
/** What stands after such a name in code and in sentences. */
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
  /** The name stands first in its line, as in YAML. */
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
/** Only in an address. */
const PARAMETER = /^(?:key|code|sig|sign|hmac|access|password|hash|ticket|assertion)$/i
const BEHIND = 96

function namedAt(text: string): readonly Span[] {
  const found: Span[] = []
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match; match = NAME.exec(text)) {
    // The n of a new line, as JSON writes it, belongs to no name.
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

/** Also up to a new line as JSON writes it. */
const LINE = /(?:[^"'`\r\n\\]|\\(?![nr]))+/y

/** To the end of the line or of the quotes: `Bearer X`, `a=1; b=2`. */
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

// ---- addresses ------------------------------------------------------------------------------------------------

/** The secret is the only group. */
const ADDRESSES: readonly RegExp[] = [
  /\/services\/T\w{1,16}\/B\w{1,16}\/([\w-]{8,128})/g,
  /\/api\/webhooks\/\d{5,24}\/([\w-]{16,256})/g,
  /\bbot\d{5,16}:([\w-]{10,128})/g,
  /\/(?:webhooks?|webhookb2|hooks?)\/(?=[^\s/]{0,64}\d)([\w-]{20,256})/g,
]

/** What says so otherwise than with a name and a sign. The secret is the only group. */
const PHRASES: readonly RegExp[] = [
  /\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,64}\s{1,4})?(?:BY|AS)\s{1,4}(?:PASSWORD\s{1,4})?["']([^"'\n]{1,256})["']/gi,
  /\bPASSWORD\s{1,4}["']([^"'\n]{1,256})["']/gi,
  /\bConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?["']([^"'\n]{1,256})["']/gi,
  /\bnet user [\w.-]{1,64} (?![/*])(\S{1,128})/gi,
  /\bauth\s{0,4}=\s{0,4}\(\s{0,4}["'][^"'\n]{0,128}["']\s{0,4},\s{0,4}["']([^"'\n]{1,256})["']/g,
  /(?:token|secret|password|passwd|api_?key)\w{0,16}["']?\s{0,4}[:=]\s{0,4}[^\n"'`|?]{1,120}(?:\|\||\?\?)\s{0,4}["'`]([^"'`\n]{8,256})/gi,
  /\b(?:password|token|secret|api[ _-]?key)`?(?::?\*\*:?|\s{0,16}\|)\s{0,16}`?(?=[^\s|]{0,64}\d)([^\s|`*]{6,256})/gi,
  /\bPrivate-(?:Lines|MAC):\s{1,4}(?:\d{1,4}\r?\n)?([A-Za-z0-9+/=\r\n]{16,8192})/g,
]

function groupsAt(text: string, pattern: RegExp): readonly Span[] {
  return [...text.matchAll(pattern)].map(({ index, 0: all, 1: group = '' }) => {
    const start = index + all.lastIndexOf(group)
    return { start, end: start + group.length }
  })
}

const LOGIN = /:\/\/[^\s/:@"'<>]{0,256}:(?=[^\s"'<>`])/g
const ADDRESS = /[^\s"'<>`]+/y

/** `scheme://user:password@host`. The password may hold a slash or an @. */
function loginsAt(text: string): readonly Span[] {
  const found: Span[] = []
  /** The end of the address, which may hold others, and its last @. */
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

// ---- commands -------------------------------------------------------------------------------------------------

/** How a program takes a secret that no word names. */
interface Taking {
  readonly programs: string
  /** A word that must stand before. */
  readonly after?: string
  /** The next word is one. */
  readonly next?: string
  /** The rest of the word is one. */
  readonly attached?: string
  /** The next word has one behind this character. */
  readonly login?: string
  readonly divider?: string
  /** `NAME=secret` */
  readonly pairs?: RegExp
  /** The word with this number is one; options do not count. */
  readonly position?: number
}

const TAKING: readonly Taking[] = [
  { programs: 'sshpass', next: '-p', attached: '-p' },
  {
    programs: 'mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlsh mariadb mariadb-dump',
    attached: '-p',
  },
  { programs: 'docker podman nerdctl buildah skopeo helm oras crane az cf oc', after: 'login', next: '-p' },
  { programs: 'vault', after: 'login', position: 2 },
  { programs: 'vault', after: 'put', pairs: /^[^=]+=/ },
  { programs: 'vault', after: 'write', pairs: /^[^=]+=/ },
  { programs: 'fly flyctl heroku railway', after: 'set', pairs: /^[A-Z_0-9]+=/ },
  { programs: 'kubectl oc', after: 'secret', pairs: /^--from-literal=[^=]+=/ },
  { programs: 'kubectl oc', after: 'secret', next: '--from-literal', divider: '=' },
  { programs: 'gh', after: 'secret', next: '-b --body', attached: '-b' },
  { programs: 'curl wget http https xh', login: '-u -U -a --user --proxy-user --auth', divider: ':' },
  { programs: 'curl', attached: '-u', divider: ':' },
  { programs: 'curl wget http https xh', attached: '--user=', divider: ':' },
  { programs: 'curl', attached: '--proxy-user=', divider: ':' },
  { programs: 'twine', next: '-p' },
  { programs: 'cargo', after: 'login', position: 2 },
  { programs: 'nuget', after: 'push', next: '-k' },
  { programs: 'aws', after: 'put-parameter', next: '--value' },
  { programs: 'snmpwalk snmpget snmpset snmpbulkwalk', next: '-c -A -X' },
  { programs: 'curl', next: '-b --cookie', divider: '=' },
  { programs: 'redis-cli', next: '-a' },
  { programs: 'mongo mongosh mongodump mongorestore mongoexport mongoimport', next: '-p' },
  { programs: 'sqlcmd bcp ipmitool zip unzip', next: '-P', attached: '-P' },
  { programs: 'ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami', next: '-w' },
  { programs: '7z 7za 7zz rar unrar', attached: '-p' },
  { programs: 'useradd usermod', next: '-p' },
  { programs: 'plink pscp psftp putty winscp', next: '-pw' },
  { programs: 'security', next: '-w' },
  { programs: 'smbclient rpcclient', login: '-U', divider: '%' },
  { programs: 'lftp', login: '-u', divider: ',' },
  { programs: 'xfreerdp wfreerdp', attached: '/p:' },
  { programs: 'openssl', attached: 'pass:', next: '-k -K' },
  { programs: 'htpasswd', after: '-b', position: 3 },
  { programs: 'htpasswd', after: '-nb', position: 2 },
  { programs: 'htpasswd', after: '-bc', position: 3 },
  { programs: 'wpa_passphrase', position: 2 },
]

const ROWS = new Map<string, readonly Taking[]>()
for (const row of TAKING)
  for (const program of row.programs.split(' ')) ROWS.set(program, [...(ROWS.get(program) ?? []), row])

/** Reads the secret of the command before it: `echo X | docker login --password-stdin`. */
const FROM_INPUT = /^(?:--password-stdin|--with-token|--stdin|chpasswd|kinit|--passphrase-fd)$/
const WORD = /[^\s"'`,()[\]{};|&<>\\]+/g
/** A cheap look before the words are taken apart. */
const PROGRAM = new RegExp([...ROWS.keys(), '-stdin', '--with-token', 'chpasswd', 'kinit', '-fd'].join('|'))

/** One command: its rows, the words that were seen, and how many of them are no options. */
interface Command {
  rows: readonly Taking[]
  readonly words: Set<string>
  plain: number
  /** Words that it prints. */
  printed: Span | undefined
}

const NO_COMMAND = (): Command => ({ rows: [], words: new Set(), plain: 0, printed: undefined })

function givenAt(text: string): readonly Span[] {
  if (!PROGRAM.test(text)) return []
  const found: Span[] = []
  let command = NO_COMMAND()
  let before: Command | undefined
  let at = 0
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match; match = WORD.exec(text)) {
    const gap = text.slice(at, Math.min(match.index, at + BEHIND))
    if (/[;&|\n]/.test(gap.replace(/\\\r?\n/g, ' '))) {
      before = /(?:^|[^|])\|(?:[^|]|$)/.test(gap) ? command : undefined
      command = NO_COMMAND()
    }
    const word = match[0].replace(/[.:!?]{1,8}$/, '')
    const end = match.index + match[0].length
    const span = givenBy(text, { start: match.index, end, word }, command, before)
    if (span) found.push(span)
    at = Math.max(end, span?.end ?? 0)
    WORD.lastIndex = at
  }
  return found
}

interface Word extends Span {
  readonly word: string
}

function givenBy(text: string, one: Word, command: Command, before: Command | undefined): Span | undefined {
  const { word, end } = one
  if (FROM_INPUT.test(word)) return before?.printed ?? hereString(text, end)
  const program = word.slice(word.lastIndexOf('/') + 1)
  const rows = ROWS.get(program)
  if (rows) command.rows = rows
  else if (program === 'echo' || program === 'printf') command.printed = { start: end, end }
  else if (command.printed) command.printed = { start: command.printed.start, end }
  if (rows) command.plain = 0
  else if (!word.startsWith('-')) command.plain++
  const span = givenTo(text, one, command)
  command.words.add(word)
  return span
}

function isAfter({ after }: Taking, words: ReadonlySet<string>): boolean {
  return after === undefined || words.has(after)
}

function hereString(text: string, at: number): Span | undefined {
  const match = matchAt(/\s{0,16}<<<\s{0,16}/y, text, at)
  return match ? given(text, at + match[0].length, undefined) : undefined
}

const TO_NEXT = /\\{0,7}["']?(?:[ \t]{1,16}|[ \t]{0,16}\\\r?\n[ \t]{0,32}|\s{0,4},\s{0,16})/y

function givenTo(
  text: string,
  { start, end, word }: Word,
  { rows, words, plain }: Command,
): Span | undefined {
  for (const row of rows) {
    if (!isAfter(row, words)) continue
    const pair = row.pairs?.exec(word)
    if (pair) return given(text, start + pair[0].length, undefined)
    if (listed(row.next, word) || listed(row.login, word)) {
      const gap = matchAt(TO_NEXT, text, end)
      if (gap) return given(text, end + gap[0].length, row.divider)
    }
    if (row.position === plain && !word.startsWith('-')) return given(text, start, undefined)
    const { attached } = row
    if (
      attached &&
      word.startsWith(attached) &&
      (word.length > attached.length || /["']/.test(text[end] ?? ''))
    )
      return given(text, start + attached.length, row.divider)
  }
  return undefined
}

function listed(words: string | undefined, word: string): boolean {
  return words?.split(' ').includes(word) ?? false
}

/** What is given there; only what follows the divider, if there is one. */
function given(text: string, at: number, divider: string | undefined): Span | undefined {
  const value = valueAt(text, at)
  if (!value) return undefined
  const whole = text.slice(value.start, value.end)
  if (whole.startsWith('-')) return undefined
  const cut = divider === undefined ? -1 : whole.indexOf(divider)
  if (divider !== undefined && cut < 0) return undefined
  // `curl -u TOKEN:`
  const from = cut === whole.length - 1 ? 0 : cut + 1
  const secret = whole.slice(from)
  return REFERENCE.test(secret) ? undefined : { start: value.start + from, end: value.end }
}

// ---- encoded --------------------------------------------------------------------------------------------------

const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g
const LONGEST_ENCODED = 16_384
const READABLE = /^[\t\r\n\x20-\x7e]+$/

/** Base64 of a text that holds a secret. */
function encodedAt(text: string, depth: number): readonly Span[] {
  return [...text.matchAll(BASE64)].flatMap(({ index, 0: encoded }) => {
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

/** As JSON writes what a text cannot show; colours and what has no width are nothing. */
const ESCAPE =
  /\\(?:u001b(?:\[[0-9;]{0,16}[A-Za-z])?|u200[b-f]|u([0-9a-f]{4})|(["\\/bfnrt]))|\[\d{1,3}(?:;\d{1,3}){0,5}m/gi
const MEANT: Readonly<Record<string, string>> = { b: ' ', f: '\n', n: '\n', r: '\r', t: '\t' }

/** A text within JSON, read as it was before. */
function escapedAt(text: string, depth: number): readonly Span[] {
  let plain = ''
  let at = 0
  /** Where each character of `plain` stands in `text`. */
  const places: number[] = []
  const take = (part: string, from: number, step: number) => {
    for (let i = 0; i < part.length; i++) places.push(from + i * step)
    plain += part
  }
  for (const { index, 0: all, 1: code, 2: letter } of text.matchAll(ESCAPE)) {
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
