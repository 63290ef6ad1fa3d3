// Replies written by hand, and their decoding.

import type { Data, Diagnostic, HookEvent, HookResult } from 'carabiner/core'
import { HookError } from 'carabiner/core'
import { type Asker, decode, type Reply } from '../../../src/systems/claude-code/decode.js'

export function eventOf(name: string, data: object = {}): HookEvent {
  return { name, data: { hook_event_name: name, ...data } as Data, session: undefined }
}

export const BASH = eventOf('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })

export interface Decoded {
  /** Undefined if the hook failed. */
  readonly result: HookResult | undefined
  readonly error: HookError | undefined
  readonly notes: readonly Diagnostic[]
  /** The codes of the notes. */
  readonly codes: readonly string[]
}

export type Ending = Partial<Omit<Reply, 'stdout'>> & { readonly stdout?: string | object }

/** Stdout may be given as an object: it is printed as JSON. */
export function read(
  event: HookEvent | string,
  { stdout = '', ...reply }: Ending,
  onFailure: Asker['onFailure'] = 'continue',
): Decoded {
  const notes: Diagnostic[] = []
  const happened = typeof event === 'string' ? eventOf(event) : event
  const text = typeof stdout === 'string' ? stdout : JSON.stringify(stdout)
  const whole: Reply = { code: 0, signal: null, stderr: '', cut: false, ...reply, stdout: text }
  let result: HookResult | undefined
  let error: HookError | undefined
  try {
    result = decode(happened, whole, { name: 'guard', onFailure }, (d) => notes.push(d))
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown
    error = thrown
  }
  return { result, error, notes, codes: notes.map(({ code }) => code) }
}

/** hookSpecificOutput of this event, and fields beside it. */
export function specific(hookEventName: string, fields: object, beside: object = {}): object {
  return { ...beside, hookSpecificOutput: { hookEventName, ...fields } }
}
