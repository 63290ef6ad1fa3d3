// A hook of the standard pack, and the context it gets besides the event.

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
  /** Other events that it answers. It ignores all the rest. */
  readonly also?: readonly (EventName | 'Unknown')[]
  /** Applies if it throws or its input cannot be read. Default `open`. A guard is `closed`: the call is blocked. */
  readonly onFailure?: 'open' | 'closed'
  /** It does nothing but remember, so registering it means that memory is wanted. */
  readonly remembers?: true
  /** A case that it cannot judge must become an answer that says so. Anything thrown counts as a failure. */
  run(input: HookInput, context: PackContext): HookResult | undefined | Promise<HookResult | undefined>
}
