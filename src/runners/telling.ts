// Messages to people besides a hook's answer: that it runs, and a limited part of what it printed.

import { textOf } from '../core/base/errors.js'
import { isPromise } from '../core/base/promise.js'
import { byteLength, cutText, plainText } from '../core/base/text.js'
import type { HookContext } from '../core/hooks/hook.js'
import type { HookSpec, Surroundings } from './hook-spec.js'

/** Shows the status message of a hook that starts. If the display fails, a note says so and the hook still runs. */
export function announce(
  { hook, handler: { statusMessage } }: HookSpec<{ readonly statusMessage?: string }>,
  { display }: Surroundings,
  note: HookContext['note'],
): void {
  if (!display || !statusMessage) return
  const failed = (error: unknown) => note({ code: 'host-failed', text: `display failed: ${textOf(error)}` })
  try {
    const shown: unknown = display({ text: plainText(statusMessage), level: 'info', source: hook.name })
    if (isPromise(shown)) void shown.then(undefined, failed)
  } catch (error) {
    failed(error)
  }
}

/** Bytes of each stream that the trace keeps. */
const PRINTED_LIMIT = 4096

export function bounded(text: string): string {
  return byteLength(text) > PRINTED_LIMIT ? cutText(text, PRINTED_LIMIT, '…') : text
}
