// The words for an audit entry that every reader of the log shares: its verdict, how it is displayed, why a gate was missed.

import { localTime } from '../../core/base/time.js'
import { type ActionTone, actionRow, isAction } from '../../core/events/actions.js'
import type { KeptCall } from '../audit-calls.js'
import type { ChangeEntry, StoredEntry } from '../audit-log.js'
import { isRewritten } from './filter.js'

/** An entry with its call, if that is still kept. */
export type ShownEntry = StoredEntry & { readonly kept?: KeptCall }

/** An entry about an event that hooks heard. */
export type FireEntry = Extract<StoredEntry, { readonly kind: 'fire' | 'late' }>

export function isFire(entry: StoredEntry): entry is FireEntry {
  return entry.kind === 'fire' || entry.kind === 'late'
}

/** A rewritten call went on as another one, so it has the word of the hook that rewrote it. */
export function verdictOf(entry: FireEntry): string {
  return isRewritten(entry) ? 'modify' : entry.action
}

export function isUnguarded(entry: StoredEntry): boolean {
  return 'unguarded' in entry && Array.isArray(entry.unguarded) && entry.unguarded.length > 0
}

/** Why a gate did not judge. Other codes are shown as they are. */
const WHY: Readonly<Record<string, string>> = {
  disabled: 'switched off',
  matcher: 'its matcher has a mistake',
  stale: 'not shown the final call',
  failed: 'it failed',
  HOOK_TIMEOUT: 'it did not finish in time',
  HOOK_EXIT: 'its program ended with an error',
  HOOK_FAILED: 'it failed',
  ANSWER_INVALID: 'its answer was not valid',
  'unknown-event': 'the name of its event is misspelt',
  'config-invalid': 'the file cannot be read',
  'entry-invalid': 'an entry was left out',
  'entry-unsupported': 'an entry does not run here',
  'trust-unguarded': 'it is gone',
}

export function missedWords(why: string): string {
  return Object.hasOwn(WHY, why) ? (WHY[why] as string) : why
}

/** What nobody has answered yet. The reason of such an entry only says how to answer. */
export function askedWords({ action, approval }: FireEntry): string | undefined {
  if (action !== 'ask_user' || !approval) return undefined
  return approval.question.asks.map(({ hook, prompt }) => `${hook} asks: ${prompt}`).join('; ')
}

/** Who answered; of a question for several people, all of them. Another program may have written it. */
export function answererWords({ by, people }: { readonly by?: unknown; readonly people?: unknown }): string {
  const names = (Array.isArray(people) ? people : [by]).filter((one) => typeof one === 'string')
  return names.join(' and ') || 'nobody knows who'
}

/** `my-plugin by ann, until …`. */
export function changeWords({ hook, by, until }: ChangeEntry): string {
  return `${hook} by ${by}${until === undefined ? '' : `, until ${localTime(until)}`}`
}

/** Entries that are no verdict, or that have another word for it. */
const TONES: Readonly<Record<string, ActionTone>> = {
  gap: 'bad',
  aborted: 'open',
  bypass: 'open',
  recovered: 'open',
  pruned: 'open',
  revoked: 'open',
  change: 'open',
}

/** `bad`: refused, or let through without a gate. `open`: somebody should look. */
export function toneOf(entry: StoredEntry): 'bad' | 'open' | 'plain' {
  if (isUnguarded(entry)) return 'bad'
  const verdict = 'action' in entry ? entry.action : 'decision' in entry ? entry.decision : entry.kind
  const tones = [toneOfWord(verdict), toneOfWord(entry.kind)]
  if (tones.includes('bad')) return 'bad'
  return tones.includes('open') ? 'open' : 'plain'
}

function toneOfWord(word: string): ActionTone | undefined {
  return isAction(word) ? actionRow(word).tone : TONES[word]
}
