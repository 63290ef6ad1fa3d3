// Why a command did not do what was asked: a message for people, a code and an exit code for programs.

import type { ErrorCode } from '../core/base/errors.js'
import type { REFUSAL_CODES } from './refusal-codes.js'

/** Each has an entry in docs/reference/errors.md. */
type RefusalCode = keyof typeof REFUSAL_CODES | ErrorCode

/** Exit codes of sysexits.h; `fire` has others. */
export const EXIT = { ok: 0, failed: 1, usage: 64, internal: 70, output: 74 } as const

export interface RefusalOptions {
  readonly hint?: string
  readonly exit?: number
  /** Whether the same may work later without anybody changing anything: a network, a server or a database is away. */
  readonly mayPass?: boolean
}

/** Not a bug: the message says what is wrong, and the hint what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly hint: string | undefined
  readonly exit: number
  readonly mayPass: boolean

  constructor(
    code: RefusalCode,
    message: string,
    { hint, exit = EXIT.failed, mayPass = false }: RefusalOptions = {},
  ) {
    super(message)
    this.code = code
    this.hint = hint
    this.exit = exit
    this.mayPass = mayPass
  }
}

/** The command line itself is wrong. */
export function usage(message: string, hint?: string): Refusal {
  return new Refusal('USAGE', message, { exit: EXIT.usage, ...(hint !== undefined && { hint }) })
}
