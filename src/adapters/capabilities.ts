// What an adapter can do inside its SDK, and how; docs/sdks.md is made from these tables.

export interface Capability {
  readonly works: boolean
  /** How to do it. */
  readonly how?: string
  /** What does not work, or works differently. */
  readonly limit?: string
}

/** What hooks can do in an agent. Each is a row of docs/sdks.md. */
export const SITUATIONS = {
  deny: 'a hook refuses a tool call, and the model is told why',
  rewrite: 'a hook changes the input of a tool, its result, a request or a response',
  inject: 'hooks add text for the model',
  ask: "a hook's question suspends the agent in the SDK's own way",
  respond: 'a hook answers instead of a tool or the model',
  streaming: 'nothing of a response is shown before hooks have judged it',
  parallel: 'each call in a response is judged separately',
  abort: 'an abort ends hooks and the call, and hooks see that it was interrupted',
  subagents: 'the calls of a subagent are judged as its own',
  errors: 'hooks and the model see the error of a tool',
} as const

export type Situation = keyof typeof SITUATIONS

/** One table an adapter. A scene of the contract that an adapter plays differently, or not at all, needs a `limit` in its row. */
export interface Capabilities extends Readonly<Record<Situation, Capability>> {
  /** The SDK's name, as people write it. */
  readonly sdk: string
  /** Its package on npm. */
  readonly package: string
  /** The versions that the contract suite ran with. */
  readonly versions: readonly string[]
}

export const WORKS: Capability = { works: true }
