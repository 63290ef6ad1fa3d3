// The input of a process, as the connection writes to it. That it broke is for the process to tell: replies that came before are still to be read.

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { Writable } from 'node:stream'

/** Node destroys `stdin` when the process ends, which may be before its last reply was read. `onBroken` is called when it reads no more. */
export function inputOf({ stdin }: ChildProcessWithoutNullStreams, onBroken: () => void): Writable {
  stdin.on('error', onBroken)
  return new Writable({
    decodeStrings: false,
    write(chunk: string, encoding, done) {
      stdin.write(chunk, encoding, (error) => {
        if (!error) done()
      })
    },
    final(done) {
      stdin.end(() => done())
    },
  })
}
