// Putting together what a hook of the pack says: to the model, and to the user.

import { plainText } from '../core/base/text.js'
import { type HookResult, inject, proceed } from '../core/events/result.js'
import { bounded } from './fenced.js'

/** As much as somebody reads; a settings file of a stranger may have many faults. */
const MAX_MESSAGE = 2048

/** Undefined where there is nothing to say. */
export function saying(
  parts: readonly (string | undefined)[],
  messages: readonly (string | undefined)[] = [],
): HookResult | undefined {
  const text = parts.filter((part) => part !== undefined).join('\n\n')
  const told = messages.filter((message) => message !== undefined)
  const result = text === '' ? undefined : inject(text)
  return told.length === 0 ? result : withMessages(result, told)
}

/** Adds to what the user is told; a verdict stays what it is. */
export function withMessages(
  result: HookResult | undefined,
  messages: readonly string[],
): HookResult | undefined {
  if (messages.length === 0) return result
  const all = [...(result?.userMessage === undefined ? [] : [result.userMessage]), ...messages]
  return {
    ...(result ?? proceed()),
    userMessage: bounded(plainText(all.join('\n')), MAX_MESSAGE),
    userMessageLevel: 'warning',
  }
}
