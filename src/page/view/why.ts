// What the screen Why not shows.

export interface WhyView {
  readonly event: string
  /** The call of the record that was asked about. */
  readonly record?: {
    readonly seq: number
    readonly tool: string
    /** JSON; empty if it is long, or was not kept. */
    readonly input: string
    readonly isKept: boolean
    /** Whether hooks see what they saw then. */
    readonly isExact: boolean
  }
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
