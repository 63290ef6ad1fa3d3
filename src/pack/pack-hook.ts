// A hook of the standard pack, and what it is given besides the event.

import type { HookInput } from '../author/hook-input.js'
import type { EventName } from '../core/events/events.js'
import type { HookResult } from '../core/events/result.js'
import type { PackSettings } from './settings.js'
import type { PackState } from './state.js'

export interface PackContext {
  /** Absolute. The event's `cwd` may be a folder in it. */
  readonly projectDir: string
  /** The user's, absolute. */
  readonly home: string
  readonly settings: PackSettings
  readonly state: PackState
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The program that runs as `carabiner hook`. */
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
  /** The event of a payload that names none. */
  readonly event: EventName
  /** Other events that it answers. All others go on. */
  readonly also?: readonly (EventName | 'Unknown')[]
  /** If it throws or its input cannot be read; default `open`. A guard is `closed`: the call does not go on. */
  readonly onFailure?: 'open' | 'closed'
  /** All it does is remember: whoever registers it wants that. */
  readonly remembers?: true
  /** A case that it cannot judge must become an answer that says so; anything thrown is a failure. */
  run(input: HookInput, context: PackContext): HookResult | undefined | Promise<HookResult | undefined>
}
