// On which terms one hook runs: whose it is, whether it may, when, how long, and what its failure means.

import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { EventKind } from '../../core/events/events.js'
import type { ListedHook } from '../../hooks.js'
import { oneLine } from '../print/lines.js'
import { closesOnFailure } from './forecast.js'

export interface Terms {
  readonly state: ListedHook['state']
  /** In words: `yours`, `trusted`, `switched off`. */
  readonly standing: string
  readonly matcher: string | null
  /** Its rule beyond the matcher. */
  readonly if?: string
  /** Seconds. */
  readonly timeout: number
  readonly onFailure: ListedHook['onFailure']
  /** Whether its failure counts as a deny. */
  readonly closes: boolean
  readonly async: boolean
  readonly command?: string
  /** Others that run the same: of these only the first does. */
  readonly sameAs?: readonly string[]
}

export function termsOf(
  listed: ListedHook,
  spec: ConfiguredHook | undefined,
  all: readonly ConfiguredHook[],
  kind: EventKind,
  trustAll: boolean,
): Terms {
  const rule = spec && 'common' in spec ? spec.common.if : undefined
  const same = all.filter(
    ({ hook }) =>
      spec?.hook.sameAs !== undefined &&
      hook !== spec.hook &&
      hook.sameAs === spec.hook.sameAs &&
      listens(hook, kind),
  )
  return {
    state: listed.state,
    standing: standingOf(listed, trustAll),
    matcher: listed.matcher,
    ...(rule !== undefined && { if: rule }),
    timeout: listed.timeout,
    onFailure: listed.onFailure,
    closes: kind.deny !== 'none' && closesOnFailure(listed.onFailure, kind),
    async: spec?.hook.detached ?? false,
    ...(listed.command !== undefined && { command: listed.command }),
    ...(same.length > 0 && { sameAs: same.map(({ hook }) => hook.name) }),
  }
}

function listens({ events }: ConfiguredHook['hook'], { name }: EventKind): boolean {
  return events === 'all' || events.has(name)
}

function standingOf({ state, scope }: ListedHook, trustAll: boolean): string {
  if (state !== 'ready') return state === 'disabled' ? 'switched off' : state
  if (scope === 'project' || scope === 'named') return trustAll ? '--trust-all' : 'trusted'
  return scope === 'user' ? 'yours' : "the program's own"
}

/** `trusted, for Bash, 30 s, a failure goes on`. */
export function termsText(terms: Terms, kind: EventKind): string {
  const { standing, matcher, timeout, closes, async, sameAs } = terms
  const parts = [
    standing,
    matcher === null || kind.matcher === null ? '' : `for ${oneLine(matcher, 60)}`,
    terms.if === undefined ? '' : `if ${oneLine(terms.if, 60)}`,
    async ? 'async' : '',
    `${timeout} s`,
    kind.deny === 'none' || async ? '' : closes ? 'a failure denies' : 'a failure goes on',
    sameAs ? `the same as ${sameAs.join(', ')}` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
