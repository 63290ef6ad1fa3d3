// What all hooks together decided about an event, and how: plain JSON.

import type { Diagnostic, DiagnosticCode } from '../base/errors.js'
import type { Data, Json } from '../base/json.js'
import type { Verdict } from '../events/actions.js'
import type { HookResult } from '../events/result.js'
import type { HookKind, HookRole } from './kinds.js'

export interface Injection {
  readonly text: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly ephemeral: boolean
  /** The hook's name. */
  readonly source: string
  readonly appendToLastToolResult?: true
}

export interface Message {
  readonly text: string
  readonly level: 'info' | 'warning' | 'error'
  readonly source: string
}

/** What one candidate did. */
export interface Trace {
  readonly name: string
  readonly kind: HookKind
  readonly source: string
  /** Where it does not intercept. */
  readonly role?: HookRole
  readonly status: 'ran' | 'skipped' | 'failed' | 'detached'
  readonly ms: number
  /** Where it ran for another event than the one fired: PermissionRequest, on the way of an ask. */
  readonly event?: string
  /** Why it was skipped or failed. */
  readonly why?: SkipReason | DiagnosticCode
  readonly detail?: string
  /** What it answered. */
  readonly answer?: HookResult
  /** What its failure counts as. */
  readonly countsAs?: 'deny' | 'continue'
  /** Keys of the event data that it changed. */
  readonly changed?: readonly string[]
  /** What it changed there, value by value, within bounds. */
  readonly changes?: readonly Change[]
  /** What it printed, within bounds, unless its answer suppresses it. */
  readonly stdout?: string
  readonly stderr?: string
}

/** What all hooks together decided: plain JSON. */
export interface Outcome {
  readonly action: Verdict
  /** Of the winning answer, as the hook gave it: for the model. Who shows or logs it takes secrets out. */
  readonly reason?: string
  /** A hook explicitly allowed and nothing higher won: the host need not ask. */
  readonly permission?: 'allow'
  /** After every modification. */
  readonly data: Data
  readonly modified: boolean
  /** In hook order, each with its own lifetime. */
  readonly injections: readonly Injection[]
  /** For the user. */
  readonly messages: readonly Message[]
  /** For `respond`; kept under `ask_user`. */
  readonly response?: Json
  /** What only the host can act on (sessionTitle, updatedPermissions, watchPaths, …). */
  readonly host?: Data
  /** What was asked, who answered, when. */
  readonly approval?: Approval
  /** The trace: every candidate. */
  readonly hooks: readonly Trace[]
  /** What the user should know. */
  readonly diagnostics: readonly Diagnostic[]
}

// ---- the trace

/** `ended`: an earlier hook denied or aborted, so that it was not needed. */
export type SkipReason =
  | 'matcher'
  | 'if'
  | 'disabled'
  | 'untrusted'
  | 'modified'
  | 'duplicate'
  | 'once'
  | 'ended'
  | 'failed'

/** `before` is missing where something was added, `after` where it was removed. */
export interface Change {
  /** Keys and places from the data down: `tools/1`, `tool_input/command`. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

// ---- approval

export interface Ask {
  /** The hook's name. */
  readonly hook: string
  readonly prompt: string
  readonly reason?: string
}

/** What a person is shown. */
export interface Question {
  readonly id: string
  readonly event: string
  readonly session: string
  /** Where the session works: the same command is another one elsewhere. */
  readonly cwd?: string
  /** Of the exact call: an answer counts for no other. */
  readonly digest: string
  /** Of call, session, directory and who asks what: an answer given elsewhere or later counts for nothing else. */
  readonly binding: string
  readonly call: Data
  readonly asks: readonly Ask[]
  /** An option allows if it begins with the word "allow". A deny is always among them. */
  readonly options: readonly string[]
  /** Seconds. */
  readonly timeout: number
  /** On time-out or error. */
  readonly default: 'allow' | 'deny'
  /** ISO-8601. */
  readonly expires: string
}

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  /** What was chosen; absent where nobody chose (time-out, error, grant, hook). */
  readonly option?: string
  readonly reason?: string
  /** A person's name as the approver gives it, `person`, `grant`, `default`, `host`, or a hook's name. */
  readonly by: string
  readonly at: string
  /** When a grant that it makes ends. */
  readonly expires?: string
}

/** What was asked and, where somebody answered, what. */
export interface Approval {
  readonly question: Question
  readonly answer?: ApprovalAnswer
}
