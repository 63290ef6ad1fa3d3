// The decision of all hooks about an event, and how they came to it: plain JSON.

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

/** An injection before the limits of its session are applied. */
export interface WantedInjection extends Injection {
  /** The reason of a refusal. Whoever tightens those limits does not silence it. */
  readonly isRefusal?: true
}

export interface Message {
  readonly text: string
  readonly level: 'info' | 'warning' | 'error'
  readonly source: string
}

/** One hook's part in an event. */
export interface Trace {
  readonly name: string
  readonly kind: HookKind
  readonly source: string
  /** Absent for interceptors. */
  readonly role?: HookRole
  readonly status: 'ran' | 'skipped' | 'failed' | 'detached'
  readonly ms: number
  /** Present if it ran for another event than the one fired: PermissionRequest, while an ask was settled. */
  readonly event?: string
  /** Why it was skipped or failed. */
  readonly why?: SkipReason | DiagnosticCode
  readonly detail?: string
  readonly answer?: HookResult
  /** The final look: it had judged an older version of the call, and was shown the final one. Only a verdict that closes counts. */
  readonly finalLook?: true
  /** It judged an older version of the call, and has not seen the final one. */
  readonly stale?: true
  /** The verdict that its failure counts as. */
  readonly countsAs?: 'deny' | 'continue'
  /** Keys of the event data that it changed. */
  readonly changed?: readonly string[]
  /** The changed values, within bounds. */
  readonly changes?: readonly Change[]
  /** Its output, within bounds, unless its answer suppresses it. */
  readonly stdout?: string
  readonly stderr?: string
}

export interface Outcome {
  readonly action: Verdict
  /** The winning answer's reason as the hook gave it, for the model. Code that shows or logs it takes secrets out. */
  readonly reason?: string
  /** A hook explicitly allowed and nothing higher won: the host need not ask. */
  readonly permission?: 'allow'
  /** The event data after every modification. */
  readonly data: Data
  readonly modified: boolean
  /** Injections in hook order, each with its own lifetime. */
  readonly injections: readonly Injection[]
  /** Messages for the user. */
  readonly messages: readonly Message[]
  /** The result that `respond` gave; kept under `ask_user`. */
  readonly response?: Json
  /** Fields that only the host can act on (sessionTitle, updatedPermissions, watchPaths, …). */
  readonly host?: Data
  /** The question, and who answered it when. */
  readonly approval?: Approval
  /** The trace of every candidate. */
  readonly hooks: readonly Trace[]
  /** Diagnostics for the user. */
  readonly diagnostics: readonly Diagnostic[]
}

// ---- the trace

/** `ended`: an earlier hook denied or aborted, so that it was not needed. `observe`: it only observes, and was shown the call before a person edited it. */
export type SkipReason =
  | 'matcher'
  | 'if'
  | 'disabled'
  | 'untrusted'
  | 'modified'
  | 'duplicate'
  | 'once'
  | 'observe'
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

/** The question as a person sees it. */
export interface Question {
  readonly id: string
  readonly event: string
  readonly session: string
  /** The session's directory: the same command means something else elsewhere. */
  readonly cwd?: string
  /** Digest of the exact call: an answer counts for no other. */
  readonly digest: string
  /** Digest of call, agent, session, directory and who asks what: an answer given elsewhere or later does not count. */
  readonly binding: string
  /**
   * `tool_name` and `tool_input`, and where they were sent `tool_use_id`, `agent_id`, `agent_type`, `host_tool_name`,
   * `mcp_server`, `channel` and `chat_id`. Neither `digest` nor `binding` depends on `tool_use_id`.
   */
  readonly call: Data
  readonly asks: readonly Ask[]
  /** An option allows if it begins with the word "allow". A deny is always among them. */
  readonly options: readonly string[]
  /** Seconds. */
  readonly timeout: number
  /** Counts on time-out or error. */
  readonly default: 'allow' | 'deny'
  /** ISO-8601. */
  readonly expires: string
}

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  /** The option that was chosen; absent if nobody chose (time-out, error, grant, hook). */
  readonly option?: string
  readonly reason?: string
  /** A person's name as the approver gives it, `person`, `grant`, `default`, `host`, or a hook's name. */
  readonly by: string
  readonly at: string
  /** When a grant that it makes ends. */
  readonly expires?: string
  /** Hooks that were not asked about, because somebody had said "always": which grants, whose, and since when. */
  readonly grants?: readonly { readonly id: string; readonly by?: string; readonly since: string }[]
}

/** A question and its answer, if there is one. */
export interface Approval {
  readonly question: Question
  readonly answer?: ApprovalAnswer
}
