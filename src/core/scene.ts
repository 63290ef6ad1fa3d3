// Where an event happens: one session of one engine.

import type { Engine } from './engine.js'
import type { SessionInfo } from './hook.js'
import type { HookSet } from './hook-set.js'

export interface Scene {
  readonly engine: Engine
  readonly info: SessionInfo
  /** Key of the session's state in the store. */
  readonly key: string
  /** Fields of every payload. */
  readonly base: object
  hooks(): HookSet
}
