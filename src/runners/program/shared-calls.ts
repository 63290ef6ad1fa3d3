// The calls that one process works on: those that it leaves without an answer, and whether another call may be to blame.

import { HookError, textOf } from '../../core/base/errors.js'

interface SharedCall {
  /** It got its answer, or failed by itself. */
  end(): void
  /** It got no answer. Returns whether another call may be to blame. */
  lost(): boolean
}

export class SharedCalls {
  /** True for those that saw another one being lost. */
  readonly #calls = new Map<SharedCall, boolean>()

  begin(): SharedCall {
    const call: SharedCall = {
      end: () => this.#calls.delete(call),
      lost: () => {
        const isDisturbed = this.#calls.get(call) === true || this.#calls.size > 1
        this.#calls.delete(call)
        this.disturb()
        return isDisturbed
      },
    }
    this.#calls.set(call, false)
    return call
  }

  /** The process may not answer any of them, through no fault of theirs. */
  disturb(): void {
    for (const call of this.#calls.keys()) this.#calls.set(call, true)
  }
}

/** The error of a call that was lost through another one. */
export function interrupted(failure: unknown): HookError {
  const text = `judging was interrupted; try again (during another call in the same process: ${textOf(failure)})`
  return new HookError('HOOK_INTERRUPTED', text, { cause: failure })
}
