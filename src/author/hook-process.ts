// The process of a hook: its one answer on standard output, everything else on standard error, and its end.

import { writeSync } from 'node:fs'
import type { HostAnswer } from '../hosts/host.js'

const STDOUT = 1
const STDERR = 2
/** Milliseconds between two tries to write into a pipe that is full, and how many of them. */
const RETRY_MS = 5
const RETRIES = 1000

/**
 * What is printed by console.log or a library goes to standard error from here on. By way of getters: to touch the
 * streams themselves takes longer than the whole hook.
 */
export function keepStdoutClean(): void {
  const descriptor = { configurable: true, get: () => process.stderr }
  Object.defineProperty(process, 'stdout', descriptor)
  Object.defineProperty(console, '_stdout', descriptor)
}

/** A hook that owes an answer. */
export interface Unanswered {
  readonly isAnswered: boolean
  fail(why: unknown): void
}

/**
 * Has it answered before what would otherwise end the process with a stack and without a word: an error that nobody
 * caught, process.exit(), nothing left to wait for.
 */
export function beforeTheEnd(hook: Unanswered): void {
  process.on('uncaughtException', (error) => hook.fail(error))
  process.on('exit', () => {
    if (!hook.isAnswered) hook.fail(new Error('it ended before it answered'))
  })
}

/** Writes what the agent reads, then what people read. A reader that has gone away is no failure. */
export function leave(
  { stdout, stderr = '', exit }: HostAnswer,
  telemetry: string,
  isRefusal: boolean,
): void {
  const unwritten = tryWrite(STDOUT, stdout)
  const trouble = unwritten ? `The answer could not be written: ${unwritten}\n` : ''
  tryWrite(STDERR, `${stderr}${telemetry}${trouble}`)
  // A refusal that could not be told is one by its exit code.
  process.exitCode = unwritten && isRefusal ? REFUSED : exit
  // What a handler left open must not keep the agent waiting: one that loses patience drops the answer. To wait for
  // Node's own end would take longer, too.
  setImmediate(() => process.exit())
}

const REFUSED = 2

/** An error that came after the answer, which stands. */
export function tellLate(name: string, problem: string): void {
  tryWrite(STDERR, `Hook ${name} failed after it had answered: ${problem}\n`)
}

/** Why it was not written. */
function tryWrite(fd: number, text: string): string | undefined {
  const bytes = Buffer.from(text)
  let retries = RETRIES
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') return undefined
      if (code !== 'EAGAIN' || retries-- === 0) return code ?? 'write failed'
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
  return undefined
}
