// The decision of all hooks about an event, and how it was reached. Plain JSON.

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
  /** The reason of a refusal. Tighter limits do not silence it. */
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
  /** Set if it ran for an event other than the one fired, such as PermissionRequest while an ask was settled. */
  readonly event?: string
  /** Why it was skipped or failed. */
  readonly why?: SkipReason | DiagnosticCode
  readonly detail?: string
  readonly answer?: HookResult
  /** It ran in shadow mode, so nothing of it counts. */
  readonly mode?: 'shadow'
  /** In shadow mode: the answer that would have counted. */
  readonly would?: HookResult
  /** The final look: the hook had judged an older version of the call, and was shown the final one. Only a deny, an ask or an abort counts. */
  readonly finalLook?: true
  /** It judged an older version of the call, and has not seen the final one. */
  readonly stale?: true
  /** How its failure counts. */
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
  /** The winning answer's reason as the hook gave it, for the model. Redact secrets before you show or log it. */
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
  /** The trace of every candidate. One trace stands for very many untrusted hooks of a file or plugin; its name ends in `and N more`. */
  readonly hooks: readonly Trace[]
  /** Diagnostics for the user. */
  readonly diagnostics: readonly Diagnostic[]
}

// ---- the trace

/** `ended`: an earlier hook denied or aborted, so this one was not needed. `observe`: it only observes, and saw the call before a person edited it. */
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

/** `before` is absent if something was added, `after` if it was removed. */
export interface Change {
  /** The path within the data: `tools/1`, `tool_input/command`. */
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
  /** The session's directory, because the same command can mean something else elsewhere. */
  readonly cwd?: string
  /** Digest of the exact call. An answer counts for no other. */
  readonly digest: string
  /** Digest of the call, the agent, the session, the directory and the hooks' questions. An answer given elsewhere or later does not count. */
  readonly binding: string
  /**
   * `tool_name` and `tool_input`, and where they were sent `tool_use_id`, `agent_id`, `agent_type`, `host_tool_name`,
   * `mcp_server`, `channel` and `chat_id`. Neither `digest` nor `binding` depends on `tool_use_id`.
   */
  readonly call: Data
  readonly asks: readonly Ask[]
  /** An option that begins with the word "allow" allows. One of the options always denies. */
  readonly options: readonly string[]
  /** Seconds. */
  readonly timeout: number
  /** The answer on timeout or error. */
  readonly default: 'allow' | 'deny'
  /** How many different people must allow it, if more than one. One deny is always enough. */
  readonly people?: number
  /** ISO-8601. */
  readonly expires: string
}

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  /** The option that was chosen; absent if nobody chose (timeout, error, grant, hook). */
  readonly option?: string
  readonly reason?: string
  /** A person's name as the approver gives it, `person`, `grant`, `default`, `host`, or a hook's name. */
  readonly by: string
  /** Everybody who allowed it, if several people had to. */
  readonly people?: readonly string[]
  readonly at: string
  /** When the resulting grant ends. */
  readonly expires?: string
  /** The grants ("always") that answered some of the hooks: which ones, whose, and since when. */
  readonly grants?: readonly { readonly id: string; readonly by?: string; readonly since: string }[]
}

/** A question and its answer, if there is one. */
export interface Approval {
  readonly question: Question
  readonly answer?: ApprovalAnswer
}
