// What the screen Audit shows: filters, figures of hooks over time, and whether the record is whole.

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
