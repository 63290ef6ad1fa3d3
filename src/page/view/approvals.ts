// What the screen Approvals shows: open questions, grants, and who answered.

import type { PasskeysView } from './passkeys.js'

export interface QuestionView {
  readonly id: string
  readonly asks: readonly { readonly hook: string; readonly prompt: string; readonly reason?: string }[]
  readonly event: string
  /** In a fleet. */
  readonly machine?: string
  /** What else to know before answering. */
  readonly note?: string
  readonly project: string
  readonly session: string
  readonly call: readonly { readonly name: string; readonly value: string }[]
  /** Long texts end before their end. `api/question` has them whole. */
  readonly isCut?: boolean
  /** ISO-8601. */
  readonly expires: string
  /** The digest of the call that the answer is bound to. */
  readonly digest: string
  /** The command that allows it; absent if the hooks offer no allow. */
  readonly allow?: string
}

/** How many questions of the project wait. */
export interface WaitingView {
  readonly count: number
}

/** Those of the project, the oldest first. */
export interface QuestionsView {
  readonly questions: readonly QuestionView[]
  /** How many of the project wait behind them. */
  readonly more: number
  /** How many wait in other projects. */
  readonly elsewhere: number
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
  /** Only the newest are here. */
  readonly isCut: boolean
  /** Days that it goes back. */
  readonly days: number
}
