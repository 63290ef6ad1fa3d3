// A hook that failed: whose error it was, and what the failure counts as.

import { HookError, isHookError, textOf } from '../base/errors.js'
import type { EventKind } from '../events/events.js'
import { CONTINUE, deny, type HookResult } from '../events/result.js'
import type { Hook } from '../hooks/hook.js'
import type { HookKind } from '../hooks/kinds.js'

/** What a hook threw, as a HookError that says whose it was. */
export function hookError(hook: Hook, thrown: unknown): HookError {
  if (isHookError(thrown)) return thrown
  const text = textOf(thrown)
  const mutated = /read only property|not extensible|Cannot (?:delete|redefine|add) property/.test(text)
  return new HookError('HOOK_FAILED', text, {
    cause: thrown,
    ...(mutated && { hint: `Event data is frozen; ${hook.name} must return modify({ … }) to change it.` }),
  })
}

/** Who was too slow is not always the hook itself. */
export function timeoutHint({ kind }: Hook): { readonly hint?: string } {
  const slow = SLOW[kind]
  return slow === undefined ? {} : { hint: `${slow}, or give the hook a larger "timeout" (seconds).` }
}

const SLOW: { readonly [K in HookKind]?: string } = {
  prompt: 'Use a faster model',
  agent: 'Use a faster model',
  http: 'Make its server faster',
  mcp_tool: 'Make the tool of its server faster',
}

/** What a failure counts as. Stop-like events never block on failure: an agent that cannot stop is no safer. */
export function answerOnFailure(
  kind: EventKind,
  hook: Hook,
  error: HookError,
  failClosed: boolean,
): HookResult {
  const byEvent = kind.onFailure === 'deny' ? 'block' : 'continue'
  const policy = hook.onFailure === 'byEvent' ? byEvent : hook.onFailure
  const closes = policy === 'block' || (failClosed && kind.deny === 'block')
  const canClose = (kind.deny === 'block' || kind.deny === 'tell') && !kind.denyOnlyClaudeFormat
  return closes && canClose ? deny(`hook crashed (fail-safe deny): ${hook.name}: ${error.message}`) : CONTINUE
}
