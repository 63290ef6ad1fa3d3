// Timeouts of configured hooks, in seconds: as written in the file, the default, and the cap.

import { shown } from '../core/base/text.js'
import { LONGEST_TIMER_MS } from '../core/base/time.js'
import type { FileFormat } from '../runners/hook-spec.js'
import { type Kind, RAISE_LIMIT } from '../runners/kind.js'

/** The limits for the files of one format. */
export interface TimeLimits {
  /** For a hook without a timeout. If undefined, its kind and format decide. */
  readonly usual: number | undefined
  readonly most: number
}

/** For kinds without a default of their own. */
const USUAL = 30
/** No timer is longer. */
export const LONGEST = LONGEST_TIMER_MS / 1000

export interface Timeout {
  readonly seconds: number
  /** Why the timeout is shorter than the file asks for, and what to do. */
  readonly cappedBy?: string
  /** For the author of the file. */
  readonly remark?: Lowered
}

/** The timeout of a hook. `asked` is the file's value in seconds, if it has one. */
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
  // `migrate` writes Claude Code's default, which nobody asked for.
  const isRemarkable = asked !== undefined && asked !== kind.usualInClaudeCode
  return { seconds: cap, cappedBy, ...(isRemarkable && { remark: lowered(asked, cap) }) }
}

/** The timeout of a hook from another agent's file: the agent obeys the number, so it counts, however odd it looks. */
export function timeoutInAgent(
  asked: number | undefined,
  usualThere: number,
  { usual, most }: TimeLimits,
): Timeout {
  const wanted = asked ?? usual ?? usualThere
  if (wanted > most) {
    return {
      seconds: most,
      cappedBy: RAISE_LIMIT,
      ...(asked !== undefined && { remark: lowered(asked, most) }),
    }
  }
  if (asked === undefined || !looksLikeMilliseconds(asked)) return { seconds: wanted }
  const todo = `Write ${asked / 1000} in place of ${asked} if milliseconds were meant.`
  return { seconds: wanted, remark: { text: `${shown(asked)} seconds looks like milliseconds`, todo } }
}

/** The most seconds for a Claude Code hook when its timeout was probably meant as milliseconds. */
const LONGEST_GUESSED = 600

/** From this many seconds on, milliseconds were probably meant. */
export const LIKE_MILLISECONDS = 1000

/** True for a number that, as milliseconds, is whole seconds up to ten minutes. Nobody writes 16 minutes as 1000 seconds. */
function looksLikeMilliseconds(timeout: number): boolean {
  return timeout % LIKE_MILLISECONDS === 0 && timeout <= LONGEST_GUESSED * 1000
}

function secondsHint(timeout: number): string {
  return `Write its "timeout" in seconds: ${timeout / 1000}`
}

interface Lowered {
  readonly text: string
  readonly todo: string
}

/** The message for a timeout above the limit. */
export function lowered(seconds: number, most: number): Lowered {
  const text = `${shown(seconds)} seconds was lowered to ${most}`
  if (looksLikeMilliseconds(seconds)) {
    const todo = `Write ${seconds / 1000} in place of ${seconds}, because timeouts are in seconds.`
    return { text: `${text}; it looks like milliseconds, but timeouts are seconds`, todo }
  }
  const raise = `"max_timeout": ${seconds} under "hooks" in ~/.amplifier/settings.json`
  return { text, todo: `Write ${most} in place of ${seconds}, or ${raise}.` }
}
