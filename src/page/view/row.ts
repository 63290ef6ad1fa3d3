// An entry of the record: a row in a list, and everything about it.

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
  readonly prev: string
}

export interface Rows {
  /** The newest first. */
  readonly rows: readonly Row[]
  /** Whether older entries match, too. */
  readonly more: boolean
  /** Lines of the log that are not entries. */
  readonly damaged: number
}
