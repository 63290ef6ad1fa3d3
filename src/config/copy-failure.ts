// What somebody must know about the failure of a hook that ran from its trusted copy: which file to mend, where it may write.

import { HookError, isHookError } from '../core/base/errors.js'
import type { HookContext, HookEvent, Run } from '../core/hooks/hook.js'

export interface Copied {
  readonly copy: string
  /** The folder that was copied. */
  readonly original: string
}

const READ_ONLY = /\bEACCES\b|\bEROFS\b|permission denied|read-only file system/i

/** What the program itself came to, and not the system that could not start it. */
const OF_PROGRAMS: ReadonlySet<string> = new Set(['HOOK_EXIT', 'HOOK_FAILED'])

/** Runs it; what it throws says more, where the copy has to do with it. */
export async function runFromCopy(
  run: Run,
  copied: Copied,
  event: HookEvent,
  context: HookContext,
): Promise<unknown> {
  let said = ''
  const { session, outcome, note, onAbort } = context
  try {
    return await run(event, {
      // Made when it is first asked for, which most never do.
      get signal() {
        return context.signal
      },
      onAbort,
      session,
      outcome,
      note,
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
  const isReadOnly = OF_PROGRAMS.has(error.code) && READ_ONLY.test(text)
  if (!isNamed && !isReadOnly) return error
  const place = isNamed ? ` (${copy} is the trusted copy of ${original})` : ''
  const hint = isReadOnly
    ? `It runs from a read-only copy of its folder: let it write to "$CLAUDE_PLUGIN_DATA", which is its own and stays. ${error.hint}`
    : error.hint
  return new HookError(error.code, `${error.message}${place}`, { hint, cause: error, outcome: error.outcome })
}
