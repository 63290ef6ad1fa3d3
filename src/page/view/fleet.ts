// What the gateway of a fleet tells its page.

import type { QuestionView } from './approvals.js'
import type { Details, Row } from './row.js'

export type RoleView = 'viewer' | 'approver' | 'admin'

/** Who is signed in. */
export interface MeView {
  readonly name: string
  readonly role: RoleView
  /** The organisation. */
  readonly org: string
}

/** What a passkey has to sign. Without passkeys, the person chooses one. */
export interface SignInView {
  readonly challenge: string
  readonly nonce: string
  readonly host: string
  readonly passkeys: readonly string[]
}

export interface FleetQuestionsView {
  readonly questions: readonly QuestionView[]
  /** Questions that are open, and not shown: too many, or not readable. */
  readonly hidden: number
}

export interface MachineView {
  readonly id: string
  readonly name: string
  /** ISO-8601. */
  readonly joined: string
  readonly seen: string
  /** When its newest record was shipped. */
  readonly shipped?: string
  readonly records: number
  /** What was noticed about its history, the newest first. */
  readonly evidence: readonly EvidenceView[]
  readonly leaving?: string
  readonly retired?: { readonly at: string; readonly by?: string }
}

export interface EvidenceView {
  readonly what: string
  readonly seq: number
  readonly at: string
}

export interface MachinesView {
  /** How many more there are, which are not listed. */
  readonly more: number
  readonly machines: readonly MachineView[]
}

/** An entry of one of many logs. */
export interface FleetRow extends Row {
  /** Leads to its details. */
  readonly id: string
  readonly machine: string
}

export interface FleetRows {
  /** The newest first. */
  readonly rows: readonly FleetRow[]
  /** Leads to older ones. */
  readonly next?: string
}

export interface FleetDetails extends Details {
  readonly machine: string
}

/** The fleet's policy, as the gateway has it. */
export interface PolicyView {
  /** Whether every machine enforces what it should. */
  readonly ok: boolean
  /** Why nobody can rely on the roll-out that is shown. */
  readonly doubt?: DoubtView
  /** Of the bundles, the newest first. */
  readonly versions: readonly number[]
  readonly groups: readonly { readonly name: string; readonly rings: readonly RingView[] }[]
  /** The worst first. */
  readonly machines: readonly MachineStateView[]
}

/** `unchecked`: nobody knows, because this gateway cannot check signatures. */
export interface DoubtView {
  readonly kind: 'wrong' | 'unchecked'
  /** A sentence. */
  readonly why: string
}

/** What policies in shadow mode would have done in the last days. */
export interface ShadowsView {
  /** How much versions were tried, the newest first. */
  readonly trials: readonly {
    readonly version: number
    readonly calls: number
    readonly machines: number
  }[]
  readonly shadows: readonly ShadowView[]
  readonly days: number
  /** ISO-8601: there were too many events, so that older ones were not looked at. */
  readonly cutAt?: string
}

export interface RingView {
  readonly name: string
  /** Patterns, a share, or the rest. */
  readonly who: string
  /** Versions of bundles. */
  readonly enforced?: number
  readonly shadow?: number
}

export interface MachineStateView {
  readonly id: string
  readonly name: string
  /** ISO-8601. */
  readonly seen: string
  readonly enforced?: number
  readonly shadow?: number
  readonly troubles: readonly { readonly kind: string; readonly text: string; readonly isBad: boolean }[]
}

/** What a rule or hook in shadow mode would have done. */
export interface ShadowView {
  readonly version: number
  readonly what: string
  /** What follows "would", before the number of calls. */
  readonly would: string
  readonly calls: number
  /** Calls that went on. */
  readonly changed: number
  readonly machines: number
  readonly examples: readonly { readonly machine: string; readonly time: string; readonly text: string }[]
}

export interface PolicyDiffView {
  readonly changes: readonly { readonly change: 'added' | 'removed' | 'changed'; readonly path: string }[]
}
