// An answer of another agent's hook, put in Claude Code's terms, so that one reader decides what it means.

import { isObject, type Json } from '../../core/base/json.js'
import type { Reply } from '../../systems/claude-code/decode.js'
import { closingAmong, entriesIn } from '../../systems/closing.js'
import type { Fields } from './layout.js'

/** The parts of an answer, whatever they are called. */
export interface Spoken {
  readonly verdict?: 'allow' | 'deny' | 'ask' | undefined
  /** For the model. */
  readonly reason?: string | undefined
  /** For the user. */
  readonly message?: string | undefined
  readonly context?: string | undefined
  readonly input?: unknown
  readonly output?: Json | undefined
  /** The turn ends. */
  readonly stops?: boolean | undefined
}

/** The JSON object that a text is, if it is one. */
export function objectIn(text: string): Fields | undefined {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(trimmed)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Every word for a verdict that agents use. */
export function verdictIn(word: unknown): Spoken['verdict'] {
  switch (word) {
    case 'allow':
    case 'approve':
      return 'allow'
    case 'deny':
    case 'block':
      return 'deny'
    case 'ask':
    case 'force_ask':
      return 'ask'
    default:
      return undefined
  }
}

/** The reply in Claude Code's terms. `rest` holds fields that were not translated: a word in them may still close. */
export function inClaudeTerms(event: string, said: Spoken, rest: Fields, reply: Reply): Reply {
  const { hookSpecificOutput: given, ...others } = rest
  const before = isObject(given) ? given : {}
  const stays = said.verdict === 'allow' && closes(before.permissionDecision)
  const specific = {
    ...before,
    ...specificOf(event, said),
    ...(stays && { permissionDecision: before.permissionDecision }),
  }
  const answer = {
    ...others,
    ...topOf(event, said),
    ...(Object.keys(specific).length > 0 && {
      hookSpecificOutput: { ...specific, hookEventName: event },
    }),
  }
  return { ...reply, stdout: Object.keys(answer).length > 0 ? JSON.stringify(answer) : '' }
}

/** Whether an allow beside it must not take its place. */
function closes(word: unknown): boolean {
  return word !== undefined && verdictIn(word) !== 'allow'
}

function specificOf(event: string, { verdict, reason, context, input, output }: Spoken): Fields {
  return {
    ...(event === 'PreToolUse' &&
      verdict && { permissionDecision: verdict, ...(reason && { permissionDecisionReason: reason }) }),
    ...(event === 'PermissionRequest' &&
      verdict &&
      verdict !== 'ask' && {
        decision: {
          behavior: verdict,
          ...(verdict === 'deny' && reason && { message: reason }),
        },
      }),
    ...(context && { additionalContext: context }),
    ...(isObject(input) && event === 'PreToolUse' && { updatedInput: input }),
    ...(output !== undefined && event === 'PostToolUse' && { updatedToolOutput: output }),
  }
}

function topOf(event: string, { verdict, reason, message, stops }: Spoken): Fields {
  const isSpecific = event === 'PreToolUse' || event === 'PermissionRequest'
  return {
    ...(message && { systemMessage: message }),
    ...(stops && { continue: false, ...(reason && { stopReason: reason }) }),
    ...(verdict === 'deny' && !isSpecific && { decision: 'block', reason: reason ?? message ?? 'Blocked' }),
    ...(verdict === 'ask' && !isSpecific && { action: 'ask_user', approvalPrompt: reason ?? message }),
  }
}

/** A reply that refuses by its exit code. The reason is the first text that there is. */
export function refused(reply: Reply, ...reasons: readonly (string | undefined)[]): Reply {
  const reason = reasons.map((text) => text?.trim()).find(Boolean) ?? ''
  return { ...reply, code: 2, stdout: objectIn(reply.stdout) ? reply.stdout : '', stderr: reason }
}

/** For agents that ignore what a hook prints: only an answer that closes is kept, so that no deny is lost. */
export function onlyClosing(reply: Reply): Reply {
  const { stdout } = reply
  const closes = objectIn(stdout) !== undefined && closingAmong(entriesIn(stdout.trim())) !== undefined
  return closes ? reply : { ...reply, stdout: '' }
}

/** The first of these fields that is a text. */
export function firstText(source: Fields, ...keys: readonly string[]): string | undefined {
  return keys
    .map((key) => source[key])
    .find((text): text is string => typeof text === 'string' && text !== '')
}

export function without(source: Fields, ...keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(source).filter(([key]) => !keys.includes(key)))
}
