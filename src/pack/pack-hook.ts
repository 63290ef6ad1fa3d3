// What a hook of the standard pack is, and what it is given besides the event.

import type { HookInput } from '../author/hook-input.js'
import type { EventName } from '../core/events/events.js'
import type { HookResult } from '../core/events/result.js'
import type { PackSettings } from './settings.js'
import type { PackState } from './state.js'

export interface PackContext {
  /** Absolute. Where the agent works on; the event's `cwd` may be a folder in it. */
  readonly projectDir: string
  /** Of the user. Absolute. */
  readonly home: string
  readonly settings: PackSettings
  readonly state: PackState
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** What was started as `carabiner hook`. */
  readonly program?: ThisProgram
}

export interface ThisProgram {
  /** The path of its script. */
  readonly script: string
  readonly version: string
}

export interface PackHook {
  /** As it is typed after `carabiner hook`. */
  readonly name: string
  /** What a payload without an event is read as. */
  readonly event: EventName
  /** Other events that it answers. What it does not answer goes on. */
  readonly also?: readonly (EventName | 'Unknown')[]
  /** What happens where it throws, or its input cannot be read; default `open`. A guard is `closed`: the call does not go on. */
  readonly onFailure?: 'open' | 'closed'
  /** What could not be judged or read must come back as an answer that says so; what is thrown is a failure. */
  run(input: HookInput, context: PackContext): HookResult | undefined | Promise<HookResult | undefined>
}
