// Answers of the pack's hooks: context for the model, messages to the user.

import { byteLength, cleanText, cutText, plainText } from '../core/base/text.js'
import { type HookResult, inject, proceed } from '../core/events/result.js'
import { renderInjection } from '../core/session/injection.js'

/** About as much as a person reads. A project's settings file may have any number of problems. */
const MAX_MESSAGE = 2048

/** `parts` are for the model, `messages` for the user. Undefined if there is nothing to say. */
export function saying(
  parts: readonly (string | undefined)[],
  messages: readonly (string | undefined)[] = [],
): HookResult | undefined {
  const text = parts.filter((part) => part !== undefined).join('\n\n')
  const told = messages.filter((message) => message !== undefined)
  return withMessages(text === '' ? undefined : inject(text), told)
}

/** A message to the user alone. */
export function telling(message: string): HookResult | undefined {
  return withMessages(undefined, [message])
}

/** Adds messages to the user without changing the verdict. */
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

// ---- third-party text: cleaned, cut to size, and fenced so that it cannot break out -----------------------------

const CUT = '\n[cut: larger than the limit]'

export function bounded(text: string, maxBytes: number): string {
  const clean = cleanText(text).trim()
  return byteLength(clean) <= maxBytes ? clean : cutText(clean, maxBytes, CUT)
}

/** Undefined if nothing is left to say. */
export function fenced(source: string, text: string, maxBytes: number): string | undefined {
  const said = bounded(text, maxBytes)
  if (said === '' || maxBytes <= 0) return undefined
  return renderInjection({ source, text: said, role: 'system', ephemeral: false })
}

/** On one line and quoted, because the name of a file or a branch may contain anything. */
export function inline(text: string, maxBytes = 120): string {
  return JSON.stringify(bounded(text.replace(/\s+/g, ' '), maxBytes))
}
