// The words that hooks use to refuse, ask or stop, in every spelling. One table for all kinds of hooks.
// Closing is generous: a word of this table counts wherever its author could have meant it. Nothing here ever opens.

import { isObject } from '../core/base/json.js'
import { rankOf } from '../core/events/actions.js'
import { stringAt } from './json-lines.js'

/** The meaning of a closing word. */
export type Closing = 'deny' | 'ask_user' | 'abort_turn' | 'hard_abort'

/** Values of a verdict key, without case and separators. */
const VALUES: Readonly<Record<Closing, string>> = {
  deny: `deny denied denies denytool denycall block blocked blocks blocking blocktool blockcall reject rejected rejects
    refuse refused refuses forbid forbidden forbids disallow disallowed disallows veto vetoed prevent prevented decline
    declined cancel cancels cancelled canceled notallowed notapproved notok notsafe unapproved unauthorized unsafe no nope false`,
  ask_user: `ask asks asked askuser askpermission defer deferred confirm requireapproval requiresapproval needapproval
    needsapproval approvalrequired`,
  abort_turn: 'abort aborts aborted abortturn stop stops stopped halt halted endturn',
  hard_abort: 'hardabort hardstop kill killed exit shutdown terminate terminated',
}

/** Keys whose value is a word for the verdict. */
const VERDICT_KEYS = 'decision permissiondecision permission action verdict behavior behaviour'

/** More keys that models use for a verdict, because they answer in their own words. */
const SPOKEN_KEYS = 'answer result outcome status judgement judgment'

/** Keys that close if they are true. */
const REFUSING_KEYS: Readonly<Record<Closing, string>> = {
  deny: `deny denied block blocked reject rejected refuse refused forbid forbidden disallow disallowed veto unsafe
    cancel cancelled canceled`,
  ask_user: 'ask askuser requireapproval requiresapproval needsapproval approvalrequired',
  abort_turn: 'abort abortturn stop',
  hard_abort: 'hardabort',
}

/** Keys that close if they are false. */
const APPROVING_KEYS: Readonly<Record<Closing, string>> = {
  deny: 'ok okay allow allowed approve approved permit permitted accept accepted proceed safe',
  ask_user: '',
  abort_turn: 'continue',
  hard_abort: '',
}

const TRUE: ReadonlySet<string> = new Set(['true', 'yes', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'no', '0'])

type Words = ReadonlyMap<string, Closing>

function wordsOf(table: Readonly<Record<Closing, string>>): Words {
  const rows = Object.entries(table) as [Closing, string][]
  return new Map(rows.flatMap(([means, words]) => listOf(words).map((word) => [word, means] as const)))
}

function listOf(words: string): readonly string[] {
  return words.split(/\s+/).filter(Boolean)
}

const MEANINGS = wordsOf(VALUES)
const REFUSING = wordsOf(REFUSING_KEYS)
const APPROVING = wordsOf(APPROVING_KEYS)
const VERDICTS: ReadonlySet<string> = new Set(listOf(VERDICT_KEYS))
const SPOKEN: ReadonlySet<string> = new Set(listOf(SPOKEN_KEYS))

const LONGEST_WORD = 40

/** Without case and separators: `permission_decision` is `permissiondecision`. */
export function foldedWord(word: string): string {
  if (word.length > LONGEST_WORD) return ''
  return /^[a-z0-9]*$/.test(word) ? word : word.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** The meaning of a word as the value of a verdict. */
export function meaningOfWord(word: string): Closing | undefined {
  return MEANINGS.get(foldedWord(word))
}

/** Whether a key can close an answer. */
export function isClosingKey(key: string): boolean {
  const word = foldedWord(key)
  return VERDICTS.has(word) || REFUSING.has(word) || APPROVING.has(word)
}

/** Whether a field can close an answer, by itself or by its contents. */
export function canClose(key: string): boolean {
  return isClosingKey(key) || PLACES.has(foldedWord(key))
}

/** The meaning of one field, such as `{"decision": "deny"}`; undefined if it closes nothing. */
export function meaningOf(key: string, value: unknown): Closing | undefined {
  if (typeof value === 'object') return undefined
  const name = foldedWord(key)
  const said = foldedWord(String(value))
  if (VERDICTS.has(name)) return MEANINGS.get(said)
  if (TRUE.has(said)) return REFUSING.get(name)
  return FALSE.has(said) ? APPROVING.get(name) : undefined
}

/** A field with a plain value, in JSON or in a JSON string. */
const FIELD = /["']([\w -]{1,40})\\?["']\s*:\s*\\?["']?([\w -]{1,40})/g

/** Whether a text that cannot be parsed contains a closing field. */
export function readsLikeRefusal(text: string): boolean {
  for (const [, key = '', value = ''] of text.matchAll(FIELD)) if (meaningOf(key, value)) return true
  return false
}

/** Whether models use this key for a verdict. */
export function isSpokenVerdict(key: string): boolean {
  const name = foldedWord(key)
  return VERDICTS.has(name) || SPOKEN.has(name)
}

// ---- one answer -----------------------------------------------------------------------------------------------

/** One field of a JSON object. */
export interface Entry {
  readonly key: string
  /** Undefined for an object or a list, whose own entries follow. An item of a list has the key of the list. */
  readonly value: unknown
  /** 1 in the outermost object. */
  readonly depth: number
  /** The path to its object, if closing words count there: '', `hookSpecificOutput.`, …; otherwise undefined. */
  readonly place: string | undefined
}

/** A closing word in an answer. */
export interface Found {
  readonly means: Closing
  /** `hookSpecificOutput.permissionDecision` */
  readonly path: string
  /** As it was written: `"decision":"deny"`. */
  readonly said: string
  readonly reason?: string
  /** The object has this key more than once. */
  readonly isRepeated: boolean
}

/** Objects in which closing words count, besides the answer itself. */
const PLACES: ReadonlySet<string> = new Set(['hookspecificoutput', 'decision', 'permission'])
const DEEPEST_PLACE = 2

function placeIn({ place, depth }: Pick<Entry, 'place' | 'depth'>, key: string): string | undefined {
  const counts = place !== undefined && depth <= DEEPEST_PLACE && PLACES.has(foldedWord(key))
  return counts ? `${place}${key}.` : undefined
}

/** Whether a closing word can act where it was said. */
export type Acts = (means: Closing, key: string) => boolean

/** The highest verdict that can act, the first among equals. */
export function closingAmong(entries: readonly Entry[], acts: Acts = () => true): Found | undefined {
  let found: { readonly entry: Entry; readonly means: Closing } | undefined
  for (const entry of entries) {
    const means = entry.place === undefined ? undefined : meaningOf(entry.key, entry.value)
    if (!means || (found && rankOf(means) <= rankOf(found.means)) || !acts(means, entry.key)) continue
    found = { entry, means }
  }
  if (!found) return undefined
  const { key, value, place } = found.entry
  const reason = reasonAmong(entries, place)
  return {
    means: found.means,
    path: `${place}${key}`,
    said: `${JSON.stringify(key)}:${JSON.stringify(value)}`,
    ...(reason !== undefined && { reason }),
    isRepeated: entries.filter((entry) => entry.place === place && entry.key === key).length > 1,
  }
}

/** Keys of a reason, the likeliest first. */
const REASONS = listOf(
  `permissiondecisionreason stopreason reason denyreason blockreason message agentmessage errormessage usermessage
   followupmessage explanation why error`,
)

/** Looks beside the word first, then in any place that counts. */
function reasonAmong(entries: readonly Entry[], beside: string | undefined): string | undefined {
  const texts = entries.filter(
    ({ place, value }) => place !== undefined && typeof value === 'string' && value.trim() !== '',
  )
  for (const group of [texts.filter(({ place }) => place === beside), texts]) {
    for (const name of REASONS) {
      const entry = group.find(({ key }) => foldedWord(key) === name)
      if (entry) return entry.value as string
    }
  }
  return undefined
}

// ---- its fields -----------------------------------------------------------------------------------------------

/** The fields of a parsed object, and of its inner objects where closing words count. */
export function entriesOf(object: object, place = '', depth = 1): readonly Entry[] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]): readonly Entry[] => {
    const entry = { key, value: typeof value === 'object' ? undefined : value, depth, place }
    const inner = isObject(value) ? placeIn(entry, key) : undefined
    return inner === undefined ? [entry] : [entry, ...entriesOf(value as object, inner, depth + 1)]
  })
}

interface EntriesOptions {
  /** The answer is not the whole text, but the value of this key. */
  readonly answerKey?: string
  /** Includes fields of objects and lists in which no closing word counts. */
  readonly everywhere?: boolean
}

/** The fields of a valid JSON text, including repeated ones, which JSON.parse drops. */
export function entriesIn(text: string, options: EntriesOptions = {}): readonly Entry[] {
  const { answerKey, everywhere = false } = options
  const above = answerKey === undefined ? 0 : 1
  const entries: Entry[] = []
  /** The objects and lists that are open, and the current key of each. */
  const open: { key: string; readonly place: string | undefined }[] = []
  let scalar = ''
  const add = (value: unknown): Entry | undefined => {
    const last = open.at(-1)
    if (!last) return undefined
    const entry = { key: last.key, place: last.place, value, depth: open.length - above }
    entries.push(entry)
    return entry
  }
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string
    const end = tokenEnd(text, at)
    if (char === '{' || char === '[') {
      const entry = add(undefined)
      const isAnswer = entry?.key === answerKey && open.length === above
      const inner = char === '[' ? undefined : isAnswer || !entry ? '' : placeIn(entry, entry.key)
      const isAround = open.length < above
      const place = isAround ? undefined : inner
      if (!everywhere && !isAround && place === undefined) {
        at = closeOf(text, at)
        continue
      }
      open.push({ key: entry?.key ?? '', place })
    } else if (char === ':') {
      const last = open.at(-1)
      if (last) last.key = String(scalarOf(scalar))
      scalar = ''
    } else if (char === '}' || char === ']' || char === ',') {
      if (scalar !== '') add(scalarOf(scalar))
      scalar = ''
      if (char !== ',') open.pop()
    } else if (!SPACE.includes(char)) scalar = text.slice(at, end)
    at = end
  }
  return entries
}

const SPACE = ' \n\r\t'
const PUNCTUATION = `${SPACE}{}[]:,`

function tokenEnd(text: string, at: number): number {
  const isScalar = (char: string) => !PUNCTUATION.includes(char)
  if (text[at] === '"') return stringAt(text, at).end
  let end = at + 1
  if (isScalar(text[at] as string)) while (end < text.length && isScalar(text[end] as string)) end++
  return end
}

/** The position after the bracket that closes the one at `at`. */
function closeOf(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; ) {
    const char = text[i]
    i = char === '"' ? stringAt(text, i).end : i + 1
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    if (depth === 0) return i
  }
  return text.length
}

function scalarOf(scalar: string): unknown {
  return scalar.startsWith('"') && !scalar.includes('\\') ? scalar.slice(1, -1) : JSON.parse(scalar)
}
