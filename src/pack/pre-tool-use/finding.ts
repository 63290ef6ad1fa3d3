// What a rule of the guard says about a call.

export type RuleName =
  | 'allow-list'
  | 'deny-list'
  | 'destructive-delete'
  | 'unresolved-delete'
  | 'skipped-checks'
  | 'protected-branch'
  | 'disk'
  | 'fork-bomb'
  | 'self-protection'
  | 'settings-unreadable'
  | 'agent-not-skill'
  | 'not-understood'

export interface Finding {
  readonly rule: RuleName
  /** `ask` leaves the decision to a person, where the guard does not understand the call. */
  readonly verdict: 'deny' | 'ask'
  /** One or two sentences: what the call would do, and what to do instead. */
  readonly reason: string
}

export function denied(rule: RuleName, reason: string): Finding {
  return { rule, verdict: 'deny', reason }
}

export function asked(rule: RuleName, reason: string): Finding {
  return { rule, verdict: 'ask', reason }
}

/** The first deny, or else the first question. */
export function worstOf(findings: Iterable<Finding>): Finding | undefined {
  let worst: Finding | undefined
  for (const finding of findings) {
    if (finding.verdict === 'deny') return finding
    worst ??= finding
  }
  return worst
}
