// The standard output of a resident hook, kept for the protocol: what else is printed there goes to standard error.

import { Writable } from 'node:stream'

export interface ProtocolOutput {
  readonly output: Writable
  /** Gives standard output back to everybody. */
  readonly release: () => void
}

/**
 * One line that is no message, and an answer is lost. console.log, console.table and what libraries print all end in
 * process.stdout.write, so that is the one place to turn them away. A program that the hook starts is another matter.
 */
export function claimStdout(): ProtocolOutput {
  const { stdout, stderr } = process
  const write = stdout.write
  const output = new Writable({
    decodeStrings: false,
    write: (text, encoding, done) => void write.call(stdout, text, encoding, done),
  })
  stdout.write = stderr.write.bind(stderr)
  // Stays for good: an error that nobody listens to would end the process before its handlers are done.
  stdout.on('error', (error) => output.destroy(error))
  const release = () => {
    stdout.write = write
  }
  return { output, release }
}
