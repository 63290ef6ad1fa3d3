// Timeouts of configured hooks, in seconds: what a file says, what a hook gets where it says nothing, and what caps it.

import { shown } from '../core/base/text.js'
import { LONGEST_TIMER_MS } from '../core/base/time.js'
import type { FileFormat } from '../runners/hook-spec.js'
import { type Kind, RAISE_LIMIT } from '../runners/kind.js'

/** The limits for the files of one format. */
export interface TimeLimits {
  /** For a hook that names none. Undefined: what its kind has in this format. */
  readonly usual: number | undefined
  readonly most: number
}

/** For kinds that do not have their own. */
const USUAL = 30
/** No timer is longer. */
export const LONGEST = LONGEST_TIMER_MS / 1000

export interface Timeout {
  readonly seconds: number
  /** Why it is less than what the file asks for, and what to do. */
  readonly cappedBy?: string
  /** For the author of the file. */
  readonly remark?: string
}

/** The timeout of a hook whose file asks for this many seconds, or says nothing. */
export function timeoutOf(
  asked: number | undefined,
  kind: Pick<Kind, 'usualTimeout' | 'usualInClaudeCode'>,
  format: FileFormat,
  { usual, most }: TimeLimits,
): Timeout {
  const inFormat = format === 'claude' ? kind.usualInClaudeCode : undefined
  const wanted = asked ?? Math.max(kind.usualTimeout ?? 0, usual ?? inFormat ?? USUAL)
  const isGuess = asked !== undefined && format === 'claude' && looksLikeMilliseconds(asked)
  const cap = isGuess ? Math.min(LONGEST_GUESSED, most) : most
  if (wanted <= cap) return { seconds: wanted }
  const cappedBy = isGuess ? secondsHint(wanted) : RAISE_LIMIT
  // `migrate` writes the usual time of Claude Code: nobody asked for it.
  const isRemarkable = asked !== undefined && asked !== kind.usualInClaudeCode
  return { seconds: cap, cappedBy, ...(isRemarkable && { remark: loweredText(asked, cap) }) }
}

/** Seconds for a hook of Claude Code whose timeout most likely means milliseconds. */
const LONGEST_GUESSED = 600

/** So many seconds were most likely meant as milliseconds. */
export const LIKE_MILLISECONDS = 1000

/** Whole seconds up to ten minutes, had they been milliseconds. Nobody writes 16 minutes as 1000 seconds. */
function looksLikeMilliseconds(timeout: number): boolean {
  return timeout % LIKE_MILLISECONDS === 0 && timeout <= LONGEST_GUESSED * 1000
}

function secondsHint(timeout: number): string {
  return `Write its "timeout" in seconds: ${timeout / 1000}`
}

/** Text for a timeout that exceeds the limit. */
export function loweredText(seconds: number, most: number): string {
  const guess = looksLikeMilliseconds(seconds) ? '; it looks like milliseconds, but timeouts are seconds' : ''
  return `${shown(seconds)} seconds was lowered to ${most}${guess}`
}
