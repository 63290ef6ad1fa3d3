// Secrets in what people and logs get to see: what looks like one, and values that were named as such, become a mark.

/** Stands in place of a secret. */
const REDACTED = '[redacted]'

/** Forms that services give their secrets; each is long enough, or marked enough, not to be anything else. */
const FORMS: readonly string[] = [
  'sk-[A-Za-z0-9_-]{16,}', // OpenAI, Anthropic and others
  'gh[oprsu]_[A-Za-z0-9]{20,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl[a-z]{2,5}-[A-Za-z0-9_-]{20,}',
  'xox[a-z]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{20,}',
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  'AIza[A-Za-z0-9_-]{30,}',
  String.raw`ya29\.[A-Za-z0-9_-]{20,}`,
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9]{20,}',
  String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[A-Za-z0-9_-]{30,}',
  'hf_[A-Za-z0-9]{20,}',
  'dop_v1_[a-f0-9]{40,}',
  'shpat_[a-f0-9]{20,}',
  String.raw`hvs\.[A-Za-z0-9_-]{20,}`,
  'dckr_pat_[A-Za-z0-9_-]{20,}',
  String.raw`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, // a JSON web token
]

/** A word before it says what it is: the word stays, the secret goes. */
const LABELLED: readonly string[] = [
  String.raw`(?<=:\/\/[^\s/:@]{0,64}:)[^\s/@]{1,256}(?=@)`, // https://user:password@host
  String.raw`(?<=\b(?:bearer|basic)\s{1,4})[A-Za-z0-9._~+/=-]{12,}`,
  String.raw`(?<=(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&]{6,}`,
]

/** To its end, or to the end of the text. Begins with no letter, so that no word begins there either. */
const PRIVATE_KEY = String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`

const SECRET = new RegExp([...FORMS.map((form) => `\\b${form}`), PRIVATE_KEY, ...LABELLED].join('|'), 'gi')
/** Hardly any text has one of these, and those that have none need no closer look. */
const HINT =
  /sk-|gh[oprsu]_|github_pat|gl[a-z]{2,5}-|xox|xapp-|AKIA|ASIA|AIza|ya29|_live_|_test_|whsec_|SG\.|npm_|pypi-|hf_|dop_|shpat_|hvs\.|dckr_|eyJ|PRIVATE KEY|:\/\/|bearer|basic|passw|secret|token|key|credential/i

/** Shorter ones would hide half of what is said: `true`, `1234`. */
const SHORTEST = 8
const values = new Set<string>()
let known: RegExp | undefined

/** Values that are never to be shown from now on, in this whole process: where they come from is the process's, too. */
export function keepSecret(secrets: Iterable<string>): void {
  const before = values.size
  for (const secret of secrets) if (secret.length >= SHORTEST) values.add(secret)
  if (values.size === before) return
  const longestFirst = [...values].sort((a, b) => b.length - a.length)
  known = new RegExp(longestFirst.map(escaped).join('|'), 'g')
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** For messages, the trace and the record. What the model or a tool gets is left alone: there a secret may be the work. */
export function withoutSecrets(text: string): string {
  const named = known ? text.replace(known, REDACTED) : text
  return HINT.test(named) ? named.replace(SECRET, REDACTED) : named
}

/** The same object where none of these texts holds a secret. */
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
