// A line that says what is waited for, once it takes longer than a second, where somebody looks at a terminal.

import type { Output } from './output.js'
import { isTerminal } from './terminal.js'

const QUIET_MS = 1000
/** Of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80

export async function withProgress<T>(what: string, output: Output, work: () => Promise<T>): Promise<T> {
  if (output.json || !isTerminal(2)) return work()
  const started = performance.now()
  let shown = false
  const timer = setInterval(() => {
    shown = true
    process.stderr.write(`\r${line(what, Math.round((performance.now() - started) / 1000))}`)
  }, QUIET_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (shown) process.stderr.write('\r\x1b[K')
  }
}

/** Only a line that is no longer than the terminal is wide can be written over. */
function line(what: string, seconds: number): string {
  const end = ` … ${seconds} s`
  const room = (process.stderr.columns || USUAL_COLUMNS) - 1 - end.length
  return (what.length > room ? `${what.slice(0, Math.max(0, room - 1))}…` : what) + end
}
