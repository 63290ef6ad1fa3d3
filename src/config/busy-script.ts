// A reviewed script that somebody holds open for writing: the system does not execute it, which must not open its gate.

import { isHookError, textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import type { HookContext, HookEvent, Run } from '../core/hooks/hook.js'

const BUSY = /\bETXTBSY\b|text file busy/i
/** Other reasons for exit code 126. A person who trusted a script without the right to run it was told. */
const NOT_ALLOWED = /\bEACCES\b|permission denied/i

export const BUSY_SCRIPT = 'A script or program of this hook cannot be executed while it is open for writing.'

/** Runs the hook. If its script was busy, `instead` answers. */
export async function unlessBusy(
  run: Run,
  event: HookEvent,
  context: HookContext,
  instead: () => unknown,
): Promise<unknown> {
  let said = ''
  const { session, outcome, note, onAbort, onFailure, lastWord, atDeadline } = context
  const listening: HookContext = {
    // Created on first use; most hooks never need it.
    get signal() {
      return context.signal
    },
    ...{ session, outcome, note, onAbort, onFailure, lastWord },
    ...(atDeadline && { atDeadline }),
    printed(output) {
      said = output.stderr ?? ''
      context.printed(output)
    },
  }
  try {
    const answer = await run(event, listening)
    // What follows in its command can hide the failure, but not a refusal.
    return BUSY.test(said) && !isRefusal(answer) ? await instead() : answer
  } catch (error) {
    if (!isBusy(error, said)) throw error
    return await instead()
  }
}

function isRefusal(answer: unknown): boolean {
  return isObject(answer) && answer.action === 'deny'
}

/** Whether it failed because of that. `said`: on standard error. */
export function isBusy(error: unknown, said = ''): boolean {
  if (!isHookError(error)) return false
  const text = `${error.message}\n${textOf(error.cause)}\n${said}`
  const cannotRun = error.code === 'HOOK_EXIT' && isObject(error.cause) && error.cause.exitCode === 126
  return BUSY.test(text) || (cannotRun && !NOT_ALLOWED.test(text))
}
