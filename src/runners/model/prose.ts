// A yes or a no in plain words: a leading no always counts, a yes only if nothing takes it back.

/** A clear yes or no; the words after a no are its reason. */
export type Words = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** Undefined if it is neither. */
export function inWords(said: string): Words | undefined {
  const word = inAWord(said)
  if (word !== undefined) return word ? { ok: true } : { ok: false, reason: '' }
  return noInWords(said) ?? (isYesInWords(said) ? { ok: true } : undefined)
}

// ---- a word ---------------------------------------------------------------------------------------------------

/** The whole reply, but for quotes, emphasis and a full stop. */
const WORD = /^["'`*_]{0,4}([a-z]{2,10})["'`*_]{0,4}[.!]?["'`*_]{0,4}$/i
const YES: ReadonlySet<string> = new Set(['yes', 'ok', 'okay', 'allow', 'allowed', 'approve', 'approved'])
const REFUSALS =
  'deny|denied|block|blocked|reject|rejected|refuse|refused|disallow|disallowed|forbidden|unsafe'
const NO: ReadonlySet<string> = new Set(['no', 'nope', 'false', ...REFUSALS.split('|')])

function inAWord(said: string): boolean | undefined {
  const word = WORD.exec(said)?.[1]?.toLowerCase() ?? ''
  if (YES.has(word)) return true
  return NO.has(word) ? false : undefined
}

// ---- more words -----------------------------------------------------------------------------------------------

const OPENING = `^["'\`*_#>\\s]*(?:(?:answer|decision|verdict|result)["'\`*_\\s]*[:=]["'\`*_\\s]*)?`
const LEADING_REFUSAL = new RegExp(
  `${OPENING}(?:${REFUSALS}|not\\s+(?:ok|okay|allowed|approved|safe))(?![\\p{L}\\p{N}_]|['’-][\\p{L}\\p{N}])`,
  'iu',
)
/** "no" must begin a sentence: "no problem", "no such file" and "no-op" mean something else. */
const LEADING_NO = new RegExp(
  `${OPENING}no(?:pe)?(?=\\s*$|\\s*\\n|\\s*[^\\p{L}\\p{N}\\s_'’-]|\\s*[*_]|\\s*-(?!\\p{L})|\\s+(?:because|since|as|this|that|it|the|you|do|don|never|not|way)\\b)`,
  'iu',
)

/** The reason is the text that follows, or empty. */
export function noInWords(said: string): Extract<Words, { ok: false }> | undefined {
  return leadingNo(said) ?? leadingNo(folded(said))
}

function leadingNo(text: string): Extract<Words, { ok: false }> | undefined {
  const [led] = LEADING_REFUSAL.exec(text) ?? LEADING_NO.exec(text) ?? []
  if (led === undefined) return undefined
  return {
    ok: false,
    reason: text
      .slice(led.length)
      .replace(/^[^\p{L}\p{N}$/({[<]+/u, '')
      .trim(),
  }
}

/** A longer text argues, and is not a clear yes. */
const LONGEST_YES = 300
/** "OK, let me look" is not a verdict, and text beyond plain English may say anything. */
const LEADING_YES =
  /^[*_]{0,2}(?:yes|allow|allowed|approve|approved)[*_]{0,2} ?(?:[,.;:!–—]|-(?![a-z]))[\x20-\x7e\n’–—]*$/i
/** Words that take a yes back, limit it, put it off, or ask. */
const TAKEN_BACK = new RegExp(
  `[?{}[\\]<>]|n['’]t\\b|\\b(?:${[
    'no|nope|not|none|nor|never|neither|nothing|cannot|without|false|nil|null|0|n|x|wrong|unknown|unsure|unclear',
    'but|however|unless|except\\w*|although|though|yet|if|when|while|once|until|only|long|provid\\w*|assum\\w*',
    'depend\\w*|otherwise|instead|rather|maybe|perhaps|might|could|should|must|would|after|before|first|wait|stop',
    'den(?:y|ied|ies)|block\\w*|reject\\w*|refus\\w*|disallow\\w*|forbid\\w*|prohibit\\w*|abort\\w*|cancel\\w*',
    'unsafe|insecure|unauthori\\w*|danger\\w*|risk\\w*|harm|harmful|malicious|suspicio\\w*|destr\\w*|delet\\w*',
    'overwrit\\w*|irrevers\\w*|leak\\w*|exfiltrat\\w*|attack\\w*|caution\\w*|careful\\w*|warn\\w*|concern\\w*',
    'problem\\w*|issue\\w*|violat\\w*|fail\\w*|sorry|unfortunately|ignor\\w*',
  ].join('|')})\\b`,
  'i',
)

function isYesInWords(said: string): boolean {
  return said.length <= LONGEST_YES && LEADING_YES.test(said) && !TAKEN_BACK.test(said)
}

// ---- letters --------------------------------------------------------------------------------------------------

const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/gu
/** Letters of other alphabets that look like those of the words above. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  ['оo', 'Оo', 'οo', 'Οo', 'օo', 'кk', 'Кk', 'κk', 'Κk', 'Νn', 'ոn', 'аa', 'еe', 'сc', 'ѕs', 'іi', 'уy'].map(
    ([from = '', to = '']) => [from, to] as const,
  ),
)

/** Folds a text to what it looks like: full-width letters, look-alikes and zero-width characters hide nothing. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .replace(/\P{ASCII}/gu, (char) => LOOKALIKES.get(char) ?? char)
}
