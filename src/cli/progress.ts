// A line that says what is waited for, once it takes longer than a second, where somebody looks at a terminal.

import { isTerminal } from './terminal.js'

const QUIET_MS = 1000

export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (!isTerminal(2)) return work()
  const started = performance.now()
  let shown = false
  const timer = setInterval(() => {
    shown = true
    process.stderr.write(`\r${what} … ${Math.round((performance.now() - started) / 1000)} s`)
  }, QUIET_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (shown) process.stderr.write('\r\x1b[K')
  }
}
