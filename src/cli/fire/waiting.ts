// `fire --wait`: which question waits, how to answer it, and how long it waits; on standard error, never in the answer.

import { callLine } from '../../asking/question-text.js'
import { visible, visibleName } from '../../core/base/text.js'
import { countdown } from '../../core/base/time.js'
import type { Pending } from '../../store/approvals.js'
import { allowCommand } from '../allow-command.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { isTerminal } from '../print/terminal.js'

const STDERR = 2
const TICK_MS = 1000
const ERASE = '\r\x1b[K'

/** `until` is on the clock of performance.now(). Call the returned function when the wait is over. */
export async function showWaiting(pending: Pending, until: number, output: Output): Promise<() => void> {
  await output.complain(fitted(waitingLines(pending)))
  if (!isTerminal(STDERR)) return () => {}
  const draw = () => {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000))
    process.stderr.write(`${ERASE}  ${countdown(left)} left`)
  }
  draw()
  const ticks = setInterval(draw, TICK_MS)
  return () => {
    clearInterval(ticks)
    process.stderr.write(ERASE)
  }
}

function waitingLines({ id, question }: Pending): readonly string[] {
  const { event, call } = question
  const tool = typeof call.tool_name === 'string' ? call.tool_name : event
  return [
    `waiting for a person: ${id}  ${visibleName(tool)}  ${visible(callLine(call))}`,
    `  answer in another terminal: ${allowCommand(id)} (or carabiner approvals deny ${id} --reason "…")`,
  ]
}
