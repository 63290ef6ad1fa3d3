// The final look: a gate that judged an older version of the call is shown the final one before it happens.

import type { Diagnostic } from '../base/errors.js'
import { type Data, sameJson } from '../base/json.js'
import { isClosing } from '../events/actions.js'
import { type EventKind, matcherValue } from '../events/events.js'
import { CONTINUE, type HookResult } from '../events/result.js'
import { isGate } from '../hooks/gate.js'
import type { Hook, HookEvent, Origin } from '../hooks/hook.js'
import { matches } from '../hooks/hook-set.js'
import { isRefused } from '../run/plan.js'
import { type Ran, verdictOf } from '../run/trace.js'

/** Gates that match the final call and have not seen it, in the order in which they first ran. */
export function gatesBehind(kind: EventKind, final: HookEvent, ran: readonly Ran[]): readonly Hook[] {
  const value = matcherValue(kind, final.data)
  const behind: Hook[] = []
  for (const [hook, { left }] of lastRuns(ran)) {
    // Approvers come later, and only ever see the final call.
    if (hook.role === 'approve' || !isGate(kind, hook) || sameJson(left, final.data)) continue
    if ((kind.matcher === null || matches(hook, value)) && !isRefused(hook, final)) behind.push(hook)
  }
  return behind
}

/** A gate that failed has been asked too. */
function lastRuns(ran: readonly Ran[]): ReadonlyMap<Hook, Ran> {
  const asked = ran.filter(({ trace: { status } }) => status === 'ran' || status === 'failed')
  return new Map(asked.map((one) => [one.hook, one]))
}

/**
 * The runs of a final look that count: a deny, an ask or an abort, and an allow if the same hook had also allowed the older
 * version. A diagnostic names everything else that a hook answered.
 */
export function closingRuns(
  kind: EventKind,
  final: Data,
  before: readonly Ran[],
  look: readonly Ran[],
): { readonly ran: readonly Ran[]; readonly diagnostics: readonly Diagnostic[] } {
  const earlier = lastRuns(before)
  const diagnostics: Diagnostic[] = []
  const ran = look.map((one): Ran => {
    const { hook, effect, trace } = one
    const said = earlier.get(hook)?.effect
    const ignored = ignoredParts(kind, hook, final, effect, said)
    if (ignored.length > 0) {
      const text = `${hook.name} answered ${ignored.join(' and ')} when it was shown the final call; only a deny, an ask or an abort counts there`
      diagnostics.push({ code: 'verdict-ignored', text })
    }
    return { ...one, trace: { ...trace, finalLook: true }, effect: countingPart(kind, hook, effect, said) }
  })
  return { ran, diagnostics }
}

function countingPart(
  kind: EventKind,
  hook: Hook,
  answer: HookResult,
  said: HookResult | undefined,
): HookResult {
  const { data: _, contextInjection: __, permission, response: ___, ...closing } = answer
  if (isClosing(verdictOf(kind, hook, answer.action))) {
    const { userMessage, ...silent } = closing
    return userMessage === said?.userMessage ? silent : closing
  }
  if (permission !== 'allow' || said?.permission !== 'allow') return CONTINUE
  return { action: 'continue', permission, ...(answer.reason !== undefined && { reason: answer.reason }) }
}

/** Parts that repeat its earlier answer, or that already hold, are not ignored. */
function ignoredParts(
  kind: EventKind,
  hook: Hook,
  final: Data,
  answer: HookResult,
  said: HookResult | undefined,
): readonly string[] {
  const { data, contextInjection, action } = answer
  const changes = data && Object.keys(data).some((key) => !sameJson(data[key], final[key]))
  return [
    ...(changes ? ['a change'] : []),
    ...(contextInjection && contextInjection !== said?.contextInjection ? ['context'] : []),
    ...(verdictOf(kind, hook, action) === 'respond' && said?.action !== 'respond' ? ['a result'] : []),
  ]
}

// ---- allows

/** A project's hook cannot allow a call that the user's gate has not seen, nor can anybody's if the company's has not. */
const SCOPE_RANKS: Readonly<Record<Origin['scope'], number>> = {
  project: 0,
  named: 1,
  user: 2,
  session: 3,
  host: 3,
  global: 3,
  company: 4,
}

/** An allow counts if it was given for the final call, and every gate of a higher scope has seen that call. */
export function allowsFinal(final: Data, unseen: readonly Hook[]): (one: Ran) => boolean {
  const highest = Math.max(-1, ...unseen.map(({ origin }) => SCOPE_RANKS[origin.scope]))
  return ({ hook, left }) => SCOPE_RANKS[hook.origin.scope] >= highest && sameJson(left, final)
}
