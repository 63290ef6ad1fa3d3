// What the screen Agents shows.

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
