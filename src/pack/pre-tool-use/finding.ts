// What the guard says about a call besides its rules: by lists of the settings, or because the rules are lost.

export interface Finding {
  readonly rule: 'allow-list' | 'deny-list' | 'settings-unreadable' | 'agent-not-skill'
  readonly verdict: 'deny' | 'ask'
  /** One or two sentences: what the call would do, and what to do instead. */
  readonly reason: string
}

export function denied(rule: Finding['rule'], reason: string): Finding {
  return { rule, verdict: 'deny', reason }
}

export function asked(rule: Finding['rule'], reason: string): Finding {
  return { rule, verdict: 'ask', reason }
}

/** The first deny, or else the first question. */
export function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ verdict }) => verdict === 'deny') ?? findings[0]
}
