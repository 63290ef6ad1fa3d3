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
