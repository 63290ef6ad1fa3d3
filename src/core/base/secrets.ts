// Redacts secrets from text for people and logs: everything that looks like a secret, and values known to be one.

import { callerNow, perCaller } from './caller.js'
import { plainText } from './text.js'

/** Replaces a secret. */
export const REDACTED = '[redacted]'

/** Only this much of a text is searched; the rest is not shown. */
const LONGEST_TEXT = 65_536
/** This much is cut off as well, so that a secret that starts in the shown part was searched in full, or nearly so. */
const MARGIN = 4096
const CUT = '… [cut]'

/** An upper bound that never matters: text that begins like a secret counts as one to its end. */
const REST = `,${LONGEST_TEXT}}`

/** Not within a word, but also after `\n` as JSON writes it, and after `%3D` in a URL. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-F]{2}))`
/** For forms that begin like a word: they must not follow another word and a hyphen or underscore. */
const ALONE = '(?<![_-])'
/** Ordinary words have no digit. */
const HAS_DIGIT = String.raw`(?=[A-Za-z_-]{0,64}\d)`

/**
 * The formats of well-known services' secrets. Each is long or distinctive enough not to be anything else. Beside it are
 * the words of which every such secret holds one, in lower case; none if they are too common.
 * Exported for its tests.
 */
export const FORMS: readonly (readonly [words: string, form: string])[] = [
  ['sk-', `${ALONE}sk-${HAS_DIGIT}[A-Za-z0-9_-]{16${REST}`], // OpenAI, Anthropic and others
  ['gho_ ghp_ ghr_ ghs_ ghu_', `gh[oprsu]_[A-Za-z0-9]{20${REST}`],
  ['github_pat_', `github_pat_[A-Za-z0-9_]{20${REST}`],
  ['', `${ALONE}gl[a-z]{2,5}-${HAS_DIGIT}[A-Za-z0-9_.-]{20${REST}`],
  ['xox', `xox[a-z]-[A-Za-z0-9-]{10${REST}`],
  ['xapp-', `xapp-${HAS_DIGIT}[A-Za-z0-9-]{20${REST}`],
  ['akia asia', '(?:AKIA|ASIA)[A-Z0-9]{16}'],
  ['aiza', `AIza[A-Za-z0-9_-]{30${REST}`],
  ['ya29.', String.raw`ya29\.[A-Za-z0-9_-]{20${REST}`],
  ['k_live_ k_test_', `(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10${REST}`],
  ['whsec_', `whsec_[A-Za-z0-9]{20${REST}`],
  ['sg.', String.raw`SG\.[A-Za-z0-9_-]{16${REST}\.[A-Za-z0-9_-]{16${REST}`],
  ['npm_', `npm_[A-Za-z0-9]{30${REST}`],
  ['pypi-', `pypi-${HAS_DIGIT}[A-Za-z0-9_-]{30${REST}`],
  ['hf_', `hf_[A-Za-z0-9]{20${REST}`],
  ['dop_v1_', `dop_v1_[a-f0-9]{40${REST}`],
  ['shpat_', `shpat_[a-f0-9]{20${REST}`],
  ['hvs. hvb.', String.raw`hv[bs]\.[A-Za-z0-9_-]{20${REST}`],
  ['.atlasv1.', String.raw`[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40${REST}`],
  ['dckr_pat_', `dckr_pat_[A-Za-z0-9_-]{20${REST}`],
  ['shpca_ shppa_ shpss_', `shp(?:ca|pa|ss)_[a-f0-9]{20${REST}`],
  [
    'glsa_ figd_ lin_api_ sbp_ rubygems_ ntn_ gsk_ r8_ tskey_ pul_ phc_ phx_ nvapi_ fo1_ sqp_ squ_',
    `(?:glsa|figd|lin_api|sbp|rubygems|ntn|gsk|r8|tskey|pul|phc|phx|nvapi|fo1|sqp|squ)_[A-Za-z0-9_-]{20${REST}`,
  ],
  [
    'xai- pplx- pmak- nrak- gocspx- tskey- dapi- key- sq0atp- sq0csp- nvapi- rnd- sntrys-',
    `${ALONE}(?:xai|pplx|PMAK|NRAK|GOCSPX|tskey|dapi|key|sq0atp|sq0csp|nvapi|rnd|sntrys)-${HAS_DIGIT}[A-Za-z0-9_-]{20${REST}`,
  ],
  ['tt3x', `AT[A-Z]TT3x[A-Za-z0-9_=-]{20${REST}`],
  ['dp.', String.raw`dp\.[a-z]{2,5}\.[A-Za-z0-9]{20${REST}`],
  ['secret_', `secret_${HAS_DIGIT}[A-Za-z0-9]{30${REST}`],
  ['', String.raw`pat[A-Za-z0-9]{14}\.[a-f0-9]{40${REST}`],
  ['pscale_', `pscale_[a-z]{2,8}_[A-Za-z0-9_.-]{20${REST}`],
  ['', `(?:dapi|SK)[a-f0-9]{32${REST}`],
  [':aa', String.raw`\d{8,12}:AA[A-Za-z0-9_-]{30${REST}`],
  ['age-secret-key-1', `AGE-SECRET-KEY-1[A-Z0-9]{20${REST}`],
  // A JSON web token. It may not begin within another one, or a row of beginnings would be read again from each of them.
  [
    'eyj',
    String.raw`${ALONE}eyJ[A-Za-z0-9_-]{8${REST}\.eyJ[A-Za-z0-9_-]{8${REST}(?:\.[A-Za-z0-9_-]{0${REST})?`,
  ],
]

/** How the forms without words begin, in lower case. */
const WORDLESS = /gl[a-z]{2,5}-|pat[a-z\d]{14}\.|(?:dapi|sk)[a-f\d]{32}/

const KEY_NAME = '[A-Z ]{0,40}PRIVATE KEY'
const KEY_END = `-----END ${KEY_NAME}(?: BLOCK)?-----`
/** Stops at the next key, so that no text is read again for a row of beginnings. */
const KEY_BODY = `(?:[^-]|-(?!----BEGIN ${KEY_NAME})){0${REST}?`
/** How a line of a key looks: much base64, a header such as `Version: 1`, nothing, or the short last line. Numbers may precede it. */
const KEY_LINE = String.raw`[^\n]{0,32}?[A-Za-z0-9+/=]{32}[^\n]{0${REST}|[^A-Za-z\n]{0,12}(?:[A-Z][A-Za-z-]{2,20}: [^\n]{0,256}|[A-Za-z0-9+/=]{0,64}\r?(?=\n|$))`
const KEY_LINES = String.raw`(?:${KEY_LINE})(?:\n(?:${KEY_LINE})){0${REST}`

/** A private key, to its end, to the next one or to the end of the text. If all are far away, the lines that look like a key. */
const PRIVATE_KEY = `-----BEGIN ${KEY_NAME}(?: BLOCK)?-----(?:${KEY_BODY}(?:${KEY_END}|(?=-----BEGIN ${KEY_NAME})|$)|(?:${KEY_LINES})?)`

const PASSWORD = 'passw(?:or)?d|passphrase'
const LABEL = `${PASSWORD}|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization`
/** A quote, possibly escaped within a nested string. */
const QUOTE = String.raw`\\{0,3}["']`
const IS = String.raw`(?:${QUOTE})?\s{0,4}[:=]\s{0,4}`
const VALUE = String.raw`[^\s"',;&]`
/** References to a secret are not one: `$TOKEN`, `<TOKEN>`, `process.env.TOKEN`, `~/.token`, `read(…)`. */
const NO_VALUE = String.raw`(?!\$[A-Za-z_{(]|[<{]|https?:|(?:process|import\.meta)\.|os\.|env\.|~\/|\.{1,2}\/|\/(?:[a-z]{2,8}|Users)\/|[A-Z]:[\\/]|[A-Za-z_][\w.]{0,64}\()`
/** Only the first characters decide whether it is a word; a longer look would read them again for each label. */
const MIXED = String.raw`(?=[^\s"',;&\d]{0,64}\d)(?=[^\s"',;&A-Za-z]{0,64}[A-Za-z])`

/** Every label holds one of these. */
const LABEL_WORDS = 'passw passphrase secret token key credential authorization'

/** Secrets with a label before them, and words as in FORMS. The label stays, and the secret is removed. */
const LABELLED: readonly (readonly [words: string, form: string])[] = [
  ['://', String.raw`:\/\/[^\s/:@]{0,256}:)(?!\$|<)[^\s/@]{1${REST}(?=@)`], // https://user:password@host
  ['://', String.raw`:\/\/)(?=[^\s/:@\d]{0,64}\d)[^\s/:@]{20${REST}(?=@)`], // https://token@host
  [
    'authorization',
    String.raw`\bauthorization${IS}(?:${QUOTE})?(?:basic|bearer|token|digest|negotiate|apikey)\s{1,4})[A-Za-z0-9._~+/=-]{8${REST}`,
  ],
  [
    'hooks.slack.com/',
    String.raw`hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{20${REST}`,
  ],
  ['/api/webhooks/', String.raw`\/api\/webhooks\/\d{15,25}\/)[A-Za-z0-9_-]{30${REST}`], // Discord
  ['accountkey', `AccountKey=)[A-Za-z0-9+/]{40${REST}={0,2}`], // Azure
  ['ssws', String.raw`\bSSWS\s{1,4})[A-Za-z0-9_-]{16${REST}`],
  ['bearer', String.raw`\bbearer\s{1,4})(?=[A-Za-z._~+/=-]{0,64}\d)[A-Za-z0-9._~+/=-]{12${REST}`],
  [LABEL_WORDS, `(?:${LABEL})${IS}${QUOTE})${NO_VALUE}${VALUE}{8${REST}`],
  ['passw passphrase', String.raw`(?:${PASSWORD})${IS}")${NO_VALUE}[^"\r\n]{8${REST}`],
  ['passw passphrase', `(?:${PASSWORD})=)(?!undefined|required)${NO_VALUE}${VALUE}{8${REST}`],
  [LABEL_WORDS, `(?:${LABEL})${IS})${NO_VALUE}${MIXED}${VALUE}{12${REST}`],
]

/**
 * A pattern for texts with one of its words. A program that starts for one event spends longer on compiling the patterns
 * than on reading its texts, and most texts have none of the words.
 */
export class Search {
  readonly #words: readonly string[]
  readonly #make: () => RegExp
  readonly #wordless: RegExp | undefined
  #made: RegExp | undefined

  /** Every match holds one of the words, or what `wordless` finds, both in lower case. */
  constructor(words: readonly string[], make: () => RegExp, wordless?: RegExp) {
    this.#words = words
    this.#make = make
    this.#wordless = wordless
  }

  get pattern(): RegExp {
    this.#made ??= this.#make()
    return this.#made
  }

  mayMatch(text: string): boolean {
    return mayHave(text, this.#words) || this.#wordless?.test(text.toLowerCase()) === true
  }

  in(text: string): readonly RegExpExecArray[] {
    return this.mayMatch(text) ? matchesIn(text, this.pattern) : []
  }
}

/** In longer texts a pattern is as fast as its words. */
const LONGEST_FOR_WORDS = 1024

export function mayHave(text: string, words: readonly string[]): boolean {
  if (text.length > LONGEST_FOR_WORDS) return true
  const lower = text.toLowerCase()
  return words.some((word) => lower.includes(word))
}

/** Each pattern runs in linear time: its quantifiers are bounded, and no part of a failed match is read again. */
export const SEARCHES: {
  /** These need no label. */
  readonly forms: readonly Search[]
  /** The first group is the label. */
  readonly labelled: readonly Search[]
} = {
  forms: [
    new Search(['-----begin '], () => new RegExp(`()(?:${PRIVATE_KEY})`, 'g')),
    new Search(
      FORMS.flatMap(([words]) => (words === '' ? [] : words.split(' '))),
      () => new RegExp(`()${START}(?:${FORMS.map(([, form]) => form).join('|')})`, 'g'),
      WORDLESS,
    ),
  ],
  labelled: LABELLED.map(([words, form]) => new Search(words.split(' '), () => new RegExp(`(${form}`, 'gi'))),
}

/** Shorter values (`true`, `1234`) would redact ordinary text. */
const SHORTEST = 8
/** A longer value is also searched piece by piece, because a text may have been cut within it. */
const PIECE = 1024
/** The oldest are forgotten first. */
const MOST = 1024
/** `production`, `read-only`, `128000000`: redacting these everywhere would garble messages and reveal the value. */
const ORDINARY = /^(?:(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_. ](?:[A-Z]?[a-z]+|[A-Z]+)){0,3}|\d+)$/
const LONGEST_ORDINARY = 20

interface Kept {
  readonly values: Set<string>
  longestFirst: readonly string[]
}

const ofProcess = nothingKept()
const ofCaller = perCaller(nothingKept)

function nothingKept(): Kept {
  return { values: new Set(), longestFirst: [] }
}

/** The values to redact: those of the process, and those of the caller. */
function known(): readonly string[] {
  if (!callerNow()) return ofProcess.longestFirst
  const [shared, own] = [ofProcess.longestFirst, ofCaller().longestFirst]
  return shared.length === 0 ? own : [...shared, ...own].sort(longerFirst)
}

const longerFirst = (a: string, b: string) => b.length - a.length

/** Redacts these values from now on: in the whole process, or, if it serves callers, for the caller whose secrets they are. */
export function keepSecret(secrets: Iterable<string>): void {
  const kept = callerNow() ? ofCaller() : ofProcess
  const { values } = kept
  for (const secret of secrets) {
    const value = secret.trim()
    if (value.length < SHORTEST || (value.length < LONGEST_ORDINARY && ORDINARY.test(value))) continue
    for (const form of [...pieces(value), value, plainText(value), JSON.stringify(value).slice(1, -1)]) {
      if (form.length < SHORTEST || form.length > LONGEST_TEXT) continue
      values.delete(form)
      values.add(form)
    }
  }
  for (const value of values) {
    if (values.size <= MOST) break
    values.delete(value)
  }
  kept.longestFirst = [...values].sort(longerFirst)
}

// These two match names in lower case: patterns that ignore case take far longer to compile.

const SECRET_NAME =
  /token|secret|passw|credential|api_?key|access_?key|private_?key|cookie|connection_string|_(?:key|pat|auth|dsn)$/

/** `/home/me/key`, `~/key`, `./key`: a secret that begins with a slash rarely continues like a folder name. */
const PATH_VALUE =
  /^(?:(?:~|\.{1,2})\/|\/(?:[a-z][a-z0-9_.-]{0,64}|Users|Library|Volumes)(?:\/|$)|[A-Za-z]:\\)/

/** The values of variables with names like secrets. A path is not a secret: SSH_PRIVATE_KEY=/home/… only says where one is. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && SECRET_NAME.test(name.toLowerCase()) && !PATH_VALUE.test(value) ? [value] : [],
  )
}

/** Pieces of about the same length, so that none is too short to be distinctive. No more than a text can show. */
function pieces(value: string): readonly string[] {
  const length = Math.min(value.length, 2 * LONGEST_TEXT)
  const count = Math.ceil(length / PIECE)
  const size = Math.ceil(length / count)
  return Array.from({ length: count }, (_, i) => value.slice(i * size, (i + 1) * size))
}

/** Redacts messages, the trace and the record. Text for the model or a tool is left alone: a secret may be part of the work. Never throws. */
export function withoutSecrets(text: string): string {
  try {
    if (text.length <= LONGEST_TEXT) return shown(text)
    const seen = shown(text.slice(0, LONGEST_TEXT))
    return `${seen.slice(0, -MARGIN).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
  } catch {
    return REDACTED
  }
}

/** A word, a number, an id or a `turn-1` cannot contain a secret. This avoids compiling the patterns, which is slow the first time. */
export const FORMLESS = /^(?:[A-Za-z]{0,19}|[A-Za-z]{1,15}-\d{1,6}|[0-9a-f-]{0,64})$/

function shown(text: string): string {
  let left = text
  for (const value of known()) left = left.replaceAll(value, REDACTED)
  if (FORMLESS.test(left)) return left
  for (const search of [...SEARCHES.forms, ...SEARCHES.labelled])
    if (search.mayMatch(left)) left = left.replace(search.pattern, `$1${REDACTED}`)
  return left
}

/** Returns the same object if none of these texts holds a secret. */
export function redacted<T extends object>(value: T, texts: readonly (keyof T)[]): T {
  let copy: T | undefined
  for (const key of texts) {
    const text = value[key]
    const shown = typeof text === 'string' ? withoutSecrets(text) : text
    if (shown === text) continue
    copy ??= { ...value }
    copy[key] = shown as T[keyof T]
  }
  return copy ?? value
}

const SECRET_KEY = new RegExp(`(?:${LABEL})$`)

export interface Span {
  readonly start: number
  readonly end: number
}

/** The positions of known values in a text. */
export function knownAt(text: string): readonly Span[] {
  const found: Span[] = []
  for (const value of known()) {
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
      found.push({ start: at, end: at + value.length })
  }
  return found
}

/** Like `text.matchAll(pattern)`, but without its copy of the pattern, which takes longer than most searches. */
export function matchesIn(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const found: RegExpExecArray[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    found.push(match)
    if (match[0] === '') pattern.lastIndex++
  }
  return found
}

/** The positions of secrets of a known form, which need no label. */
export function formsAt(text: string): readonly Span[] {
  return SEARCHES.forms
    .flatMap((search) => search.in(text))
    .map(({ index, 0: match }) => ({ start: index, end: index + match.length }))
}

/** The positions of secrets that follow a label. */
export function labelledAt(text: string): readonly Span[] {
  return SEARCHES.labelled
    .flatMap((search) => search.in(text))
    .map(({ index, 0: match, 1: label = '' }) => ({ start: index + label.length, end: index + match.length }))
}

/** A copy of plain data with every secret redacted, at any depth. A key can also be the label of its text. */
export function redactedData<T>(data: T): T {
  return copied(data, false) as T
}

function copied(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string')
    return isSecret && value.length >= SHORTEST ? REDACTED : withoutSecrets(value)
  if (Array.isArray(value)) return value.map((one) => copied(one, isSecret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, copied(one, SECRET_KEY.test(key.toLowerCase()))]),
  )
}
