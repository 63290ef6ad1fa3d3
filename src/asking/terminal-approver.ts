// The approver for where a person sits at the terminal: one question after the other.

import { userInfo } from 'node:os'
import type { ReadStream, WriteStream } from 'node:tty'
import { textOf } from '../core/base/errors.js'
import { anything, checkOptions, isFlag } from '../core/base/options.js'
import { type Approver, denyOf, type Reply, type Unanswered } from '../core/verdict/approval.js'
import { openTerminal } from './terminal.js'
import { promptAt } from './terminal-prompt.js'

export interface TerminalApproverOptions {
  /** A terminal; default the one that controls this process, else standard input. What else reads from it should pause. */
  readonly input?: ReadStream
  /** A terminal; default the one that controls this process, else standard error. */
  readonly output?: WriteStream
  /** Default: unless NO_COLOR is set, or the terminal is dumb. */
  readonly color?: boolean
}

const CHECKS = { input: anything, output: anything, color: isFlag }

const NO_TERMINAL: Unanswered = {
  unanswered:
    'A person must approve this, and there is no terminal to ask at; run this in the foreground of a terminal, and try the same call again.',
}
const TOO_LATE: Unanswered = { unanswered: 'A person was not asked: nobody waits for the answer any more.' }

/** Of the terminal that controls this process there is one. */
const CONTROLLING = {}
/** The last question at each terminal. */
const turns = new WeakMap<object, Promise<unknown>>()

/**
 * Asks at the terminal, and waits. Where there is none, it says so at once. Whatever else reads from the terminal
 * meanwhile gets some of the keys: let it pause. A terminal that fails refuses the call, whatever hooks have as default.
 */
export function terminalApprover(options: TerminalApproverOptions = {}): Approver {
  checkOptions('terminalApprover', options, CHECKS)
  const { input, output, color = isColourful() } = options
  const streams = { ...(input && { input }), ...(output && { output }) }
  const place = input ?? output ?? CONTROLLING
  return (question, signal) => {
    const until = performance.now() + question.timeout * 1000
    return inTurn(place, async () => {
      if (signal.aborted) return TOO_LATE
      try {
        const terminal = openTerminal(streams)
        if (!terminal) return NO_TERMINAL
        return await promptAt(terminal, question, { signal, until, by: userName(), color })
      } catch (error) {
        return { option: denyOf(question), reason: `the terminal failed: ${textOf(error)}`, by: 'default' }
      }
    })
  }
}

/** It never rejects: then the next would not be asked. */
function inTurn(place: object, ask: () => Promise<Reply | Unanswered>): Promise<Reply | Unanswered> {
  const asked = (turns.get(place) ?? Promise.resolve()).then(ask)
  turns.set(place, asked)
  return asked
}

function isColourful(): boolean {
  return !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'person' // the system does not know this user
  }
}
