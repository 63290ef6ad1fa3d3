// A yes or a no in plain words. A leading no always counts, a yes only if nothing around it could take it back.

import { meaningOfWord } from '../../systems/closing.js'

/** A clear yes or no. The words after a no are its reason. */
export type Words = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** Undefined if it is neither. */
export function inWords(said: string): Words | undefined {
  const word = inAWord(said)
  if (word !== undefined) return word ? { ok: true } : { ok: false, reason: '' }
  return noInWords(said) ?? (isYesInWords(said) ? { ok: true } : undefined)
}

// ---- a word ---------------------------------------------------------------------------------------------------

/** The whole reply is one word, apart from quotes, emphasis and a full stop. */
const WORD = /^["'`*_]{0,4}([a-z]{2,10})["'`*_]{0,4}[.!]?["'`*_]{0,4}$/i
const YES: ReadonlySet<string> = new Set(['yes', 'ok', 'okay', 'allow', 'allowed', 'approve', 'approved'])

function inAWord(said: string): boolean | undefined {
  const word = WORD.exec(said)?.[1]?.toLowerCase() ?? ''
  if (YES.has(word)) return true
  return meaningOfWord(word) === 'deny' ? false : undefined
}

// ---- more words -----------------------------------------------------------------------------------------------

/** A sentence that begins with another word of refusal may be about something else: "cancel buttons are fine". */
const REFUSALS =
  'deny|denied|block|blocked|reject|rejected|refuse|refused|disallow|disallowed|forbidden|unsafe'
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
  return leadingNo(said) ?? leadingNo(folded(said)) ?? objection(said)
}

function objection(said: string): Extract<Words, { ok: false }> | undefined {
  return OBJECTION.test(said) ? { ok: false, reason: said.trim() } : undefined
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
/** Words that leave a yes a yes. Any other may take it back, limit it or put it off. */
const HARMLESS: ReadonlySet<string> = new Set(
  `a an and are as at be by can everything fine for from good harmless here i in is it its just looks may me now ok okay
   of on permitted read safe seems so that the then there these they this to was we with yes you your
   acceptable agree ahead all allow allowed allows approve approved correct go holds pass passes passed please proceed
   right valid call change code command commands content contents directory edit file files folder folders git input ls
   message output project prompt request repository result results source status tests text tool
   checks displays formats greps lists looking opens prints reads reading runs searches shows views`.split(
    /\s+/,
  ),
)

function isYesInWords(said: string): boolean {
  if (said.length > LONGEST_YES || !LEADING_YES.test(said)) return false
  return (
    /^[^?{}[\]<>]*$/.test(said) &&
    (said.toLowerCase().match(/[a-z0-9]+/g) ?? []).every((word) => HARMLESS.has(word))
  )
}

/** "Yes, I object": the yes answers a different question. */
const OBJECTION =
  /^[*_]{0,2}(?:yes|ok|okay)\b[^\n]{0,60}?\b(?:(?:i|we)\s+(?:do\s+|must\s+|would\s+)?(?:object|disagree|oppose|protest|refuse|decline|veto|deny|reject|block)|(?:block|deny|reject|refuse|forbid|stop|prevent)\s+(?:it|this|that|the))\b/i

// ---- letters --------------------------------------------------------------------------------------------------

const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/gu
/** Letters of other alphabets that look like the letters of the words above. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  ['оo', 'Оo', 'οo', 'Οo', 'օo', 'кk', 'Кk', 'κk', 'Κk', 'Νn', 'ոn', 'аa', 'еe', 'сc', 'ѕs', 'іi', 'уy'].map(
    ([from = '', to = '']) => [from, to] as const,
  ),
)

/** Folds a text to what it looks like, so that full-width letters, look-alikes and zero-width characters hide nothing. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .replace(/\P{ASCII}/gu, (char) => LOOKALIKES.get(char) ?? char)
}
