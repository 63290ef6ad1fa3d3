// The calls that one process works on: those that it leaves without an answer, and whether somebody else may be to blame.

import { type Caller, callerNow } from '../../core/base/caller.js'
import { HookError, textOf } from '../../core/base/errors.js'

interface SharedCall {
  /** Whether somebody else may be to blame if it gets no answer. */
  readonly isDisturbed: boolean
  /** It got its answer, or failed by itself. */
  end(): void
  /** It got no answer. Returns whether somebody else may be to blame. */
  lost(): boolean
}

export class SharedCalls {
  /** True for those that saw another one being lost. */
  readonly #calls = new Map<SharedCall, boolean>()
  /** Up to two that the process ever worked for: what it did for one can end it later. */
  readonly #callers = new Set<number>()
  readonly #isOurs: boolean

  /** `isOurs`: we started the process, so nobody but our callers can have brought it into its state. */
  constructor(isOurs = true) {
    this.#isOurs = isOurs
  }

  begin(): SharedCall {
    const [caller, calls, callers] = [callerNumber(), this.#calls, this.#callers]
    this.serve(caller)
    const call: SharedCall = {
      get isDisturbed() {
        return calls.get(call) === true || calls.size > 1 || [...callers].some((one) => one !== caller)
      },
      end: () => calls.delete(call),
      lost: () => {
        const { isDisturbed } = call
        calls.delete(call)
        this.disturb()
        return isDisturbed
      },
    }
    calls.set(call, false)
    return call
  }

  /** The process got something of this caller, such as an observation. */
  serve(caller: number): void {
    if (this.#isOurs && this.#callers.size < 2) this.#callers.add(caller)
  }

  /** The process may not answer any of them, through no fault of theirs. */
  disturb(): void {
    for (const call of this.#calls.keys()) this.#calls.set(call, true)
  }
}

const numbers = new WeakMap<Caller, number>()
let lastNumber = 0

/** Stands for the caller that the running code works for, without keeping it in memory. */
export function callerNumber(): number {
  const caller = callerNow()
  if (caller === undefined) return 0
  const number = numbers.get(caller) ?? ++lastNumber
  numbers.set(caller, number)
  return number
}

/** The error of a call that was lost through another one. */
export function interrupted(failure: unknown): HookError {
  const text = `judging was interrupted; try again (another call in the same process may be to blame: ${textOf(failure)})`
  return new HookError('HOOK_INTERRUPTED', text, { cause: failure })
}
