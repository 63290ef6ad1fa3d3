// What the server tells the page: plain data, and no imports, because browsers read this file, too.

export interface Row {
  readonly seq: number
  readonly time: string
  readonly kind: string
  readonly event: string
  readonly tool?: string
  readonly session?: string
  readonly turn?: string
  /** The agent, such as `codex`, if it is known. */
  readonly agent?: string
  /** One line of the call, or of what happened. */
  readonly gist: string
  /** `continue`, `deny`, `modify` … */
  readonly verdict: string
  /** The verdict in words: `went on`, `denied` … */
  readonly said: string
  readonly tone: 'bad' | 'open' | 'plain'
  readonly reason?: string
  /** Hooks that ran, and all that were considered. */
  readonly ran: number
  readonly of: number
  readonly failed: number
  readonly ms?: number
  /** Gates that did not judge the call, and why. */
  readonly missed: readonly string[]
  /** Names of hooks, for the search. */
  readonly hooks: readonly string[]
}

/** What a hook did, on the time axis of its event. */
export interface RanHook {
  readonly name: string
  readonly kind: string
  readonly source: string
  readonly at: number
  readonly ms: number
  readonly did: string
  readonly tone: 'bad' | 'open' | 'plain'
  readonly reason?: string
  readonly detail?: string
}

/** Hooks that did not run for the same reason. */
export interface NotRun {
  readonly why: string
  readonly hooks: readonly { readonly name: string; readonly detail?: string }[]
}

export interface Details extends Row {
  readonly ranHooks: readonly RanHook[]
  readonly notRun: readonly NotRun[]
  /** The call, one field a line; absent if it was not kept. */
  readonly call?: readonly { readonly name: string; readonly value: string }[]
  /** The input of the tool as JSON, unless it is long. */
  readonly input?: string
  /** False if secrets were removed or texts cut. */
  readonly exact?: boolean
  readonly changes: readonly {
    readonly hook: string
    readonly path: string
    readonly before?: string
    readonly after?: string
  }[]
  readonly injections: readonly { readonly source: string; readonly text: string; readonly bytes: number }[]
  readonly failures: readonly { readonly hook: string; readonly stderr: string }[]
  readonly notes: readonly string[]
  readonly asked: readonly string[]
  readonly answer?: string
  readonly digest?: string
  readonly hash: string
  readonly prev: string
}

// ---- rows, hooks, the record ----------------------------------------------------------------------------------

export interface Rows {
  /** The newest first. */
  readonly rows: readonly Row[]
  /** Whether older entries match, too. */
  readonly more: boolean
  /** Lines of the log that are not entries. */
  readonly damaged: number
}

/** The values that a filter can have. */
export interface FiltersView {
  readonly event: readonly string[]
  readonly decision: readonly string[]
  readonly kind: readonly string[]
}

/** A hook's figures in a part of the time. */
export interface HookPart {
  readonly runs: number
  readonly failures: number
  readonly denies: number
  readonly medianMs?: number | undefined
}

export interface HookView extends HookPart {
  readonly name: string
  readonly source: string
  readonly p95Ms?: number | undefined
  readonly parts: readonly HookPart[]
}

export interface HistoryView {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly hooks: readonly HookView[]
}

export interface VerifyView {
  readonly ok: boolean
  readonly records: number
  readonly last?: { readonly seq: number; readonly hash: string } | undefined
  readonly problems: readonly string[]
  /** Problems beyond those. */
  readonly more: number
  readonly notes: readonly string[]
}

/** A check takes a while: the part that is done, from 0 to 1, and at last what was found, or why it ended. */
export type VerifyPart =
  | { readonly part: number }
  | { readonly result: VerifyView }
  | { readonly problem: string }

export interface About {
  readonly project: string
  readonly folder: string
  readonly version: string
}

// ---- questions ------------------------------------------------------------------------------------------------

export interface QuestionView {
  readonly id: string
  readonly asks: readonly { readonly hook: string; readonly prompt: string; readonly reason?: string }[]
  readonly event: string
  readonly project: string
  readonly session: string
  readonly call: readonly { readonly name: string; readonly value: string }[]
  /** ISO-8601. */
  readonly expires: string
  /** The digest of the call that the answer is bound to. */
  readonly digest: string
  /** The commands that answer it. */
  readonly allow?: string
  readonly deny: string
}

export interface QuestionsView {
  readonly questions: readonly QuestionView[]
  readonly passkeys: PasskeysView
}

/** A call that is always allowed. */
export interface GrantView {
  readonly id: string
  /** The tool, or else the event. */
  readonly what: string
  /** The beginning of the call's input, as JSON. */
  readonly about: string
  readonly hook: string
  readonly folder: string
  readonly by?: string
  /** ISO-8601. */
  readonly since: string
  readonly until?: string
}

export interface GrantsView {
  readonly grants: readonly GrantView[]
  /** Why others do not count. */
  readonly troubles: readonly string[]
}

/** What a person, or something in their place, said to a question; or that a grant was taken back. */
export interface AnswerView {
  readonly seq: number
  /** Of the entry that has the answer. */
  readonly kind: string
  readonly time: string
  /** `allowed once`, `denied` … */
  readonly said: string
  readonly tone: 'bad' | 'open' | 'plain'
  readonly by: string
  /** `with a passkey`, `in a terminal` … */
  readonly how: string
  readonly tool?: string
  readonly gist: string
  readonly asks: readonly { readonly hook: string; readonly prompt: string }[]
  readonly session?: string
  readonly reason?: string
  /** When the call was made that it is about. */
  readonly used?: string
}

export interface HistoryOfAnswers {
  /** The newest first. */
  readonly answers: readonly AnswerView[]
  /** Days that it goes back. */
  readonly days: number
}

/**
 * - `none`: nobody is on the list, so people allow by typing
 * - `ready`: a passkey of these people allows
 * - `broken`: the list cannot be used, so nothing is allowed
 */
export type PasskeysView =
  | { readonly state: 'none' }
  | { readonly state: 'ready'; readonly names: readonly string[] }
  | { readonly state: 'broken'; readonly why: string }

/** What a passkey has to sign. */
export interface ChallengeView {
  readonly challenge: string
  readonly nonce: string
  readonly option: string
  readonly host: string
  /** Ids of the passkeys that may sign. */
  readonly passkeys: readonly string[]
}

/** What a passkey has to sign, for an act that is not an answer. */
export interface ActChallengeView extends Omit<ChallengeView, 'option'> {
  /** ISO-8601. After that it does not count. */
  readonly expires: string
}

export interface ActDoneView {
  readonly by: string
  /** Why it is not on record, although it was done. */
  readonly problem?: string
}

// ---- plugins and rules ----------------------------------------------------------------------------------------

export interface PluginsView {
  readonly passkeys: PasskeysView
  readonly groups: readonly GroupView[]
}

/** A plugin, a file of hooks, or the hooks that an agent runs itself. */
export interface GroupView {
  readonly name: string
  /** `user`, `project`, `named`, or the agent that runs it. */
  readonly from: string
  /** Where it was installed from, and its version. */
  readonly origin: string
  readonly target?: TargetView
  readonly switched?: SwitchedView
  readonly hooks: readonly PluginHookView[]
}

export interface PluginHookView {
  readonly name: string
  readonly on: string
  readonly command: string
  readonly place: string
  readonly standing: string
  readonly tone: 'good' | 'bad' | 'open'
  /** Why it is not ready. */
  readonly why: string
  readonly target?: TargetView
  readonly switched?: SwitchedView
  readonly rules: readonly RuleView[]
}

/** What an act names, and the words of `carabiner disable`. */
export interface TargetView {
  readonly plugin: string
  readonly from: string
  readonly hook?: string
  readonly words: string
}

export interface SwitchedView {
  readonly where: 'here' | 'user'
  readonly text: string
  /** The command that undoes it. */
  readonly undo: string
  /** Undoing it can only refuse or ask more. */
  readonly onlyTightens: boolean
}

export interface RuleView {
  readonly id: string
  readonly place: string
  readonly about: string
  /** `deny`, `ask` … */
  readonly follows: string
  readonly state: 'in force' | 'in shadow mode' | 'ended' | 'off' | 'can only deny'
  readonly until: string
}

export interface ShadowsView {
  readonly results: readonly {
    readonly name: string
    readonly count: number
    readonly newest: readonly {
      readonly seq: number
      readonly time: string
      readonly tool: string
      readonly text: string
    }[]
  }[]
  /** Only the newest were counted. */
  readonly isCut: boolean
}

export interface UpdatesView {
  readonly passkeys: PasskeysView
  readonly plugins: readonly UpdateView[]
}

export interface UpdateView {
  readonly name: string
  readonly where: 'here' | 'user'
  readonly state: string
  /** `from 1.0.0 to 1.1.0`, or why it could not be fetched. */
  readonly text: string
  readonly digest?: string
  readonly risks: UnitView['risks']
  readonly differences: UnitView['differences']
  readonly command: string
}

// ---- playground -----------------------------------------------------------------------------------------------

/** What the editor has to know about an event. */
export interface EventHelpView {
  readonly when: string
  /** What a deny does. */
  readonly deny: string
  /** Whether it is about a call of a tool. */
  readonly hasTool: boolean
  readonly fields: readonly {
    readonly name: string
    readonly type: string
    readonly isRequired: boolean
    /** Values that agents send. */
    readonly values: readonly string[]
  }[]
  /** Tools with an example of their own. */
  readonly tools: readonly string[]
  /** A payload to begin with, as JSON. */
  readonly example: string
}

export interface PayloadProblemView {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

export interface PlayedView {
  readonly details: Details
  /** What the copy of the project lacks, and what differs there. */
  readonly notes: readonly string[]
}

// ---- agents ---------------------------------------------------------------------------------------------------

export interface AgentView {
  readonly name: string
  readonly title: string
  /** Its program, if it is in PATH. */
  readonly program?: string
  /** What it asks Carabiner for, by the file that says so. */
  readonly asks: readonly {
    readonly file: string
    readonly isProject: boolean
    readonly what: readonly string[]
  }[]
  readonly problems: readonly {
    /** It keeps the agent from asking. */
    readonly isBroken: boolean
    readonly text: string
    readonly place?: string
    readonly fix?: string
  }[]
  readonly proof?:
    | {
        readonly at: string
        readonly ok: boolean
        readonly quick: boolean
        readonly held: number
        readonly version?: string
        /** What changed since. */
        readonly stale: readonly string[]
      }
    | undefined
  /** The command to type next. */
  readonly next?: string
}

// ---- doctor, why, trust ---------------------------------------------------------------------------------------

export interface FindingView {
  readonly id: string
  /** What a button says that fixes it; absent where only a person should. */
  readonly button?: string
  readonly severity: 'broken' | 'warning' | 'note'
  readonly code: string
  readonly place: string
  readonly text: string
  readonly fix: string
}

export interface DoctorView {
  readonly ok: boolean
  readonly families: readonly {
    readonly name: string
    readonly what: string
    readonly findings: readonly FindingView[]
  }[]
}

export interface WhyView {
  readonly event: string
  readonly hooks: readonly {
    readonly name: string
    readonly runs: boolean
    /** The first reason why it would not run. */
    readonly reason: string
    readonly terms: string
    readonly place: string
  }[]
  readonly forecast: readonly string[]
}

export interface WhyHookView {
  readonly text: string
  /** What would have to differ, or what to type. */
  readonly next: readonly string[]
}

export interface UnitView {
  /** What an act names it by. */
  readonly id: string
  readonly name: string
  readonly path: string
  readonly state: string
  readonly why: string
  readonly digest?: string
  readonly hooks: readonly { readonly name: string; readonly on: string; readonly command: string }[]
  readonly risks: readonly { readonly where: string; readonly text: string }[]
  /** Lines of a diff begin with `+`, `-` or a space. */
  readonly differences: readonly { readonly text: string; readonly diff: readonly string[] }[]
  readonly programs: readonly string[]
  readonly problems: readonly string[]
  /** False if something keeps it from being trusted. */
  readonly canTrust: boolean
}

/** Everything that a trust would cover, to read before it. */
export interface UnitFilesView {
  readonly files: readonly { readonly path: string; readonly text?: string; readonly size: number }[]
}

export interface TrustView {
  readonly passkeys: PasskeysView
  readonly trusted: number
  /** The worst first. */
  readonly waiting: readonly UnitView[]
  /** What was trusted and is not there as expected. */
  readonly gone: readonly { readonly why: string; readonly repair: string }[]
}
