// Runs a hook from the copy of its folder, and explains failures that the copy causes.

import { HookError, isHookError } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import type { HookContext, HookEvent, Run } from '../core/hooks/hook.js'

export interface Copied {
  readonly copy: string
  /** The folder that was copied. */
  readonly original: string
}

const READ_ONLY = /\bEACCES\b|\bEROFS\b|permission denied|read-only file system/i

const THEN = 'Then accept the change: carabiner trust --mine'

/** Failures of the program itself, rather than failures to start it. */
const OF_PROGRAMS: ReadonlySet<string> = new Set(['HOOK_EXIT', 'HOOK_FAILED'])

/** Runs the hook, and explains a failure that has to do with the copy. */
export async function runFromCopy(
  run: Run,
  copied: Copied,
  event: HookEvent,
  context: HookContext,
): Promise<unknown> {
  let said = ''
  const { session, outcome, note, onAbort, onFailure, lastWord, atDeadline } = context
  try {
    return await run(event, {
      // Created on first use; most hooks never need it.
      get signal() {
        return context.signal
      },
      onAbort,
      session,
      outcome,
      note,
      lastWord,
      ...(atDeadline && { atDeadline }),
      onFailure,
      printed(output) {
        said = output.stderr ?? ''
        context.printed(output)
      },
    })
  } catch (error) {
    throw explained(error, said, copied)
  }
}

function explained(error: unknown, said: string, { copy, original }: Copied): unknown {
  if (!isHookError(error)) return error
  const text = `${error.message}\n${said}`
  const isNamed = text.includes(copy)
  const isStuck = error.code === 'HOOK_EXIT' && isObject(error.cause) && error.cause.exitCode === 126
  if (isStuck) return hinted(error, error.message, `${error.hint} ${THEN}`)
  const isReadOnly = OF_PROGRAMS.has(error.code) && READ_ONLY.test(text)
  if (!isNamed && !isReadOnly) return error
  const place = isNamed ? ` (${copy} is the trusted copy of ${original})` : ''
  const hint = isReadOnly
    ? `It runs from a read-only copy of its folder. Let it write to "$CLAUDE_PLUGIN_DATA", its own folder, which is kept. ${error.hint}`
    : error.code === 'HOOK_BROKEN'
      ? `${error.hint} ${THEN}`
      : error.hint
  return hinted(error, `${error.message}${place}`, hint)
}

function hinted(error: HookError, message: string, hint: string): HookError {
  return new HookError(error.code, message, { hint, cause: error, outcome: error.outcome })
}
