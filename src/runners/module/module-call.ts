// The messages between the engine and the process that runs modules.

import type { Diagnostic } from '../../core/base/errors.js'
import type { Data } from '../../core/base/json.js'
import type { HookResult } from '../../core/events/result.js'
import type { HookContext, SessionInfo } from '../../core/hooks/hook.js'

export const CALL_METHOD = 'module.call'

/** The longest message, in bytes. A handler may rewrite the content of a large file. */
export const MOST_BYTES = 64 * 1024 * 1024

export interface ModuleCall {
  /** The absolute path of the module. */
  readonly module: string
  readonly event: string
  readonly data: Data
  readonly session?: SessionInfo
  readonly onFailure: HookContext['onFailure']
  readonly timeoutMs: number
  /** It is listed under its event, so it must have a handler for it. */
  readonly isExpected: boolean
}

export interface ModuleReply {
  readonly answer?: HookResult
  /** Replaces all data of the event: the `['ok', context]` of a hook() value. */
  readonly whole?: Data
  readonly failure?: ModuleFailure
  readonly notes: readonly Diagnostic[]
  /** The number of its process, as it was started with. */
  readonly launch: number
  /** Whether the process printed anything since its last reply. */
  readonly hasPrinted: boolean
}

export interface ModuleFailure {
  /** Absent: its handler threw. */
  readonly code?: 'ANSWER_INVALID' | 'HOOK_NOT_STARTED'
  readonly text: string
  readonly hint?: string
}
