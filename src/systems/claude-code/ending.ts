// How a hook's program ended, in words.

import { HookError } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

export function ending({ code, signal }: Ended): string {
  if (code !== null) return `exited with ${code}`
  return signal ? `was ended by ${signal}` : 'ended without an exit code'
}

/** What a shell means by these is seldom what the command means. */
const HINTS: Readonly<Record<number, string>> = {
  126: 'Make the file executable (chmod +x), or start it with its interpreter; exit 0 to go on, 2 to block.',
  127: `Install the program, or correct its path (it is relative to the folder of the session; "\${CLAUDE_PLUGIN_ROOT}/…" is the plugin's); a script needs a first line such as #!/bin/sh that does not end in CR.`,
}

/** A code other than 0 and 2, or a signal, and no answer that counts. */
export function exitError(reply: Ended, because?: string): HookError {
  const line = firstLine(reply.stderr)
  const text = `${ending(reply)}${line && `: ${line}`}${because ? `; ${because}` : ''}`
  const hint = reply.code === null ? undefined : HINTS[reply.code]
  return new HookError('HOOK_EXIT', text, hint === undefined ? {} : { hint })
}

const LONGEST_LINE = 300

/** The line that says something, for a message; empty where none does. Most say it first, Python last. */
export function firstLine(text: string): string {
  const trimmed = text.trim()
  const line = trimmed.startsWith('Traceback (most recent call last):')
    ? trimmed.slice(trimmed.lastIndexOf('\n') + 1)
    : (/[^\r\n]*/.exec(trimmed)?.[0] ?? '')
  const plain = plainText(line.slice(0, 4 * LONGEST_LINE)).trim()
  return plain.length > LONGEST_LINE ? `${plain.slice(0, LONGEST_LINE)}…` : plain
}

const LONGEST_MESSAGE = 2000

/** All of it, within reason: the trace keeps the rest. */
export function forUser(text: string): string {
  const whole = text.trim()
  return whole.length > LONGEST_MESSAGE ? `${whole.slice(0, LONGEST_MESSAGE)}…` : whole
}
