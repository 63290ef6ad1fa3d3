// Where an event happens: one session of one engine.

import type { Diagnostic } from '../base/errors.js'
import type { MaybePromise } from '../base/promise.js'
import type { SessionInfo } from '../hooks/hook.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { Background, Engine } from './engine.js'
import type { GuardedStore, SessionState } from './session-store.js'
import type { Turns } from './turns.js'

export interface Scene {
  readonly engine: Engine
  readonly store: GuardedStore
  /** What runs on for this session. */
  readonly background: Background
  readonly info: SessionInfo
  readonly turns: Turns
  /** Key of the session's state in the store. */
  readonly key: string
  /** Fields of every payload. */
  readonly base: object
  /** Hooks with `once` that have begun to run here, by id: two calls at the same time must not both run them. */
  readonly claimed: Set<string>
  hooks(): HookSet
  /** Brings the hooks of skills up to what the state says is loaded. */
  useSkills(state: SessionState): MaybePromise<void>
  /** What is wrong with the hooks of files and skills, if this session was not told yet. */
  takeNews(): readonly Diagnostic[]
}
