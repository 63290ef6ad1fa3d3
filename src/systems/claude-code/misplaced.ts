// Misplaced words and unknown keys, reported with what the author probably meant.

import type { Diagnostic } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { shown, shownSome } from '../../core/base/text.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import { actionOf, isSaid, isTerm } from '../amplifier.js'
import { type Found, foldedWord, isClosingKey, meaningOfWord } from '../closing.js'
import { namesEvent, RULING_FIELDS, type Source, TOP_FIELDS, without } from './answer.js'
import { advised, honouredOn, howToAsk, howToBlock, specific, specificKeys } from './honoured.js'

/** A misplaced closing word counts, and its author is told where it belongs. */
export function noteMisplaced(event: HookEvent, found: Found, note: (d: Diagnostic) => void): void {
  const { said, path, isRepeated } = found
  const once = {
    text: `${shown(path)} is in its answer more than once; ${said} counts`,
    todo: 'Write it once.',
  }
  const slip = isRepeated ? once : advised(`${said} ${COUNTS[found.means]}`, instead(event, found))
  note({ code: 'answer-misplaced', ...slip })
}

const COUNTS: Readonly<Record<Found['means'], string>> = {
  deny: 'counts as a deny',
  ask_user: 'counts as an ask',
  abort_turn: 'counts as the end of the turn',
  hard_abort: 'counts as the end of the agent',
}

function instead(event: HookEvent, { means }: Found): string {
  if (means === 'deny') return howToBlock(event)
  if (means === 'ask_user') return howToAsk(event)
  return `to end it, print {"action":"${means}","reason":"…"}`
}

const TOP_KEYS: ReadonlySet<string> = new Set([...Object.keys(TOP_FIELDS), 'async', 'asyncTimeout'])
let spellings: ReadonlyMap<string, string> | undefined

/** Keys without case and separators. Only created when an unknown key turns up. */
function spelling(): ReadonlyMap<string, string> {
  spellings ??= new Map([...TOP_KEYS, ...specificKeys()].map((key) => [foldedWord(key), key]))
  return spellings
}

/** None of these is a failure by itself. */
export function misplacedIn(event: HookEvent, printed: Source): readonly Diagnostic[] {
  const action = actionOf(printed)
  // HookResult's words count, so they are not misplaced.
  const source = without(printed, (key) => !TOP_KEYS.has(key) && isSaid(key, action))
  const inner = isObject(source.hookSpecificOutput) ? without(source.hookSpecificOutput, isTerm) : {}
  const slips = [
    wrongName(event, source, inner),
    ...wrongWords(event, source, inner),
    belongsInside(event, source),
    belongsOutside(event, source, inner),
    onOtherEvents(event, source, inner),
    ...misspelled(source, inner),
    foreign(event, source, inner),
  ]
  const loud = slips
    .filter((slip) => slip !== undefined)
    .map((slip) => ({ code: 'answer-misplaced', ...slip }) as const)
  const unknown = unknownKeys(source, inner)
  if (unknown.length === 0) return loud
  return [...loud, { code: 'unknown-answer-key', text: `an answer has no field ${shownSome(unknown)}` }]
}

type Slip = Pick<Diagnostic, 'text' | 'todo'>

function wrongName(event: HookEvent, source: Source, inner: Source): Slip | undefined {
  if (!isObject(source.hookSpecificOutput) || namesEvent(event, inner)) return undefined
  const what = `hookSpecificOutput only counts with "hookEventName":${JSON.stringify(event.name)}`
  return advised(what, howToBlock(event))
}

/** `"deny"` instead of `"block"` and the like: the intention is clear, but it decides nothing. */
function wrongWords(event: HookEvent, source: Source, inner: Source): (Slip | undefined)[] {
  const { fields } = honouredOn(event)
  const ruling = isObject(inner.decision) ? inner.decision : {}
  return [
    wrongWord(event, 'decision', source, TOP_FIELDS.decision),
    wrongWord(event, 'permissionDecision', inner, fields?.permissionDecision),
    wrongWord(event, 'decision', inner, fields?.decision && []),
    wrongWord(event, 'behavior', ruling, fields?.decision && RULING_FIELDS.behavior),
    isObject(source.decision)
      ? advised('decision at the top level must not be an object', howToBlock(event))
      : undefined,
  ]
}

function wrongWord(event: HookEvent, key: string, source: Source, words: unknown): Slip | undefined {
  const given = source[key]
  if (!Array.isArray(words) || typeof given !== 'string' || words.includes(given)) return undefined
  const how = meaningOfWord(given) === 'ask_user' ? howToAsk(event) : howToBlock(event)
  return advised(`${key} ${shown(given)} decides nothing`, how)
}

function belongsInside(event: HookEvent, source: Source): Slip | undefined {
  const { fields } = honouredOn(event)
  const keys = Object.keys(source).filter(
    (key) => !TOP_KEYS.has(key) && fields !== null && Object.hasOwn(fields, key),
  )
  if (keys.length === 0) return undefined
  const right = specific(event, keys.map((key) => `${JSON.stringify(key)}:${brief(source[key])}`).join(','))
  return advised(`${shownSome(keys)} at the top level does not count`, `print ${right}`)
}

function belongsOutside(event: HookEvent, source: Source, inner: Source): Slip | undefined {
  const { fields } = honouredOn(event)
  const keys = Object.keys(inner).filter((key) => TOP_KEYS.has(key) && !Object.hasOwn(fields ?? {}, key))
  if (keys.length === 0) return undefined
  const verdict = keys.includes('decision') && !Object.hasOwn(source, 'decision')
  const text = `${shownSome(keys)} in hookSpecificOutput does not count: it belongs at the top level`
  return verdict
    ? advised(text, howToBlock(event))
    : { text, todo: `Move ${shownSome(keys)} to the top level.` }
}

/** A field of hookSpecificOutput, at either level, that this event does not have. */
function onOtherEvents(event: HookEvent, source: Source, inner: Source): Slip | undefined {
  const { fields } = honouredOn(event)
  const keys = [...Object.keys(source), ...Object.keys(inner)].filter(
    (key) =>
      specificKeys().has(key) &&
      !TOP_KEYS.has(key) &&
      key !== 'hookEventName' &&
      !Object.hasOwn(fields ?? {}, key),
  )
  return keys.length === 0 ? undefined : advised(`${event.name} has no ${shownSome(keys)}`, howToBlock(event))
}

function misspelled(source: Source, inner: Source): Slip[] {
  return [...Object.keys(source), ...Object.keys(inner)]
    .filter((key) => kindOf(key) === 'misspelled')
    .slice(0, MOST)
    .map((key) => {
      const right = spelling().get(foldedWord(key))
      const text = `${shown(key)} does not count: it is spelled ${right}`
      return { text, todo: `Write ${right} in place of ${shown(key)}.` }
    })
}

function foreign(event: HookEvent, source: Source, inner: Source): Slip | undefined {
  const keys = [...Object.keys(source), ...Object.keys(inner)].filter((key) => kindOf(key) === 'foreign')
  return keys.length === 0 ? undefined : advised(`${shownSome(keys)} decides nothing`, howToBlock(event))
}

function unknownKeys(source: Source, inner: Source): string[] {
  const keys = [...Object.keys(source), ...Object.keys(inner)].filter((key) => kindOf(key) === 'unknown')
  const ruling = isObject(inner.decision) ? Object.keys(inner.decision) : []
  return [...keys, ...ruling.filter((key) => !Object.hasOwn(RULING_FIELDS, key))]
}

/** A foreign key is one that decides in another system. */
function kindOf(key: string): 'known' | 'misspelled' | 'foreign' | 'unknown' {
  if (TOP_KEYS.has(key) || specificKeys().has(key)) return 'known'
  if (spelling().has(foldedWord(key))) return 'misspelled'
  return isClosingKey(key) ? 'foreign' : 'unknown'
}

/** Enough to find the place in a script. */
const MOST = 5

function brief(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'boolean' ? JSON.stringify(value) : '…'
  return text.length > 60 ? '"…"' : text
}
