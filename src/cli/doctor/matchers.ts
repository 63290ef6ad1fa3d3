// Matchers that can never match or match less than they seem to, and timeouts in the wrong unit.

import { slipsOf } from '../../config/matcher-slips.js'
import { LIKE_MILLISECONDS } from '../../config/timeout.js'
import { shown } from '../../core/base/text.js'
import { type EventKind, resolveEvent } from '../../core/events/events.js'
import type { Matcher } from '../../core/hooks/matcher.js'
import { counted, grouped, placeOf } from '../print/lines.js'
import { type Facts, matcherPlace, type Written, wanted } from './facts.js'
import type { Checked, Finding } from './finding.js'

export function matchers(facts: Facts): Checked {
  const those = wanted(facts)
  const withTimeout = those.filter(({ spec }) => 'common' in spec && spec.common.timeout !== undefined).length
  const withMatcher = those.filter(({ spec }) => spec.hook.matcher !== null)
  return {
    what: [
      counted(withMatcher.length, 'matcher'),
      ...(withTimeout > 0 ? [counted(withTimeout, 'timeout')] : []),
    ].join(', '),
    findings: [
      ...once(withMatcher.filter((one) => !isTold(one, facts)).flatMap(ofMatcher)),
      ...those.flatMap(likeMilliseconds),
    ],
  }
}

/** Reported while loading the file. */
function isTold({ spec: { hook } }: Written, { notices }: Facts): boolean {
  const pattern = shown(hook.matcher?.pattern)
  return notices.some(
    ({ code, file, text }) =>
      code === 'matcher-invalid' && file === hook.origin.file && text.includes(pattern),
  )
}

/** Hooks of a group share its matcher. */
function once(findings: readonly Finding[]): readonly Finding[] {
  return [...grouped(findings, ({ file, text }) => `${file}\0${text}`).values()].flatMap(
    ([first, ...rest]) => {
      if (!first) return []
      const more = rest.length === 0 ? '' : ` (and ${counted(rest.length, 'hook')} more with this matcher)`
      return [{ ...first, text: `${first.text}${more}` }]
    },
  )
}

function ofMatcher({ spec, where: { hook } }: Written): readonly Finding[] {
  const { matcher, events } = spec.hook
  const where = { hook, ...matcherPlace(spec) }
  const [event] = events === 'all' ? [] : events
  // A matcher of another agent has that agent's names of tools, and ours would break it there.
  if (!matcher || event === undefined || spec.hook.origin.writtenFor) return []
  const kind = resolveEvent(event)
  if (kind.matcher === null) return [ignored(matcher, kind, where)]
  return slipsOf(matcher, kind).slips.map(({ text, fix, isCertain }) => ({
    severity: isCertain ? 'broken' : 'warning',
    code: 'matcher-never',
    ...where,
    text,
    fix,
  }))
}

function ignored({ pattern }: Matcher, { name }: EventKind, where: Written['where']): Finding {
  return {
    severity: 'note',
    code: 'matcher-ignored',
    ...where,
    text: `its matcher ${shown(pattern)} has no effect: ${name} has nothing to match, and the hook runs every time`,
    fix: `Remove "matcher": ${shown(pattern)} at ${placeOf(where)}; the hook can read what ${name} is about from its input.`,
  }
}

// ---- timeouts ------------------------------------------------------------------------------------------------

/** Loading the file reports a timeout above the maximum. */
function likeMilliseconds({ spec, where }: Written): readonly Finding[] {
  const seconds = 'common' in spec ? spec.common.timeout : undefined
  if (seconds === undefined || seconds < LIKE_MILLISECONDS || seconds * 1000 > spec.longestMs) return []
  return [
    {
      severity: 'warning',
      code: 'timeout-unit',
      ...where,
      text: `its timeout of ${seconds} looks like milliseconds, but timeouts are seconds: an agent may wait ${Math.round(seconds / 60)} minutes for it`,
      fix: `Write "timeout": ${Math.max(1, Math.round(seconds / 1000))}, in seconds.`,
    },
  ]
}
