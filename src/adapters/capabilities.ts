// What an adapter can do inside its SDK, and how; docs/sdks.md is made of these tables.

export interface Capability {
  readonly works: boolean
  /** What is different here, or what to do instead. */
  readonly note?: string
}

/** One table an adapter. A scene of the contract that an adapter plays differently, or not at all, needs a note in its row. */
export interface Capabilities {
  /** The SDK's name, as people write it. */
  readonly sdk: string
  /** Its package on npm. */
  readonly package: string
  /** The versions that the contract suite ran with. */
  readonly versions: readonly string[]
  /** A tool call is refused, and the model is told why. */
  readonly deny: Capability
  /** The input of a tool, its result, a request and a response are changed. */
  readonly rewrite: Capability
  /** Text of hooks reaches the model. */
  readonly inject: Capability
  /** A question of a hook suspends the agent in the SDK's own way. */
  readonly ask: Capability
  /** A hook answers instead of a tool or the model. */
  readonly respond: Capability
  /** Nothing of a response is shown before hooks have judged it. */
  readonly streaming: Capability
  /** Calls of one response are judged each for itself. */
  readonly parallel: Capability
  /** An abort ends hooks and the call, and hooks see that it was interrupted. */
  readonly abort: Capability
  /** Calls of a subagent are judged as its own. */
  readonly subagents: Capability
  /** Hooks see the error of a tool, and so does the model. */
  readonly errors: Capability
}

export const WORKS: Capability = { works: true }
