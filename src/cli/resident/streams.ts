// The standard streams of a program that speaks a protocol on them.

import { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { keepStdoutClean } from '../../author/hook-process.js'
import type { Output } from '../output.js'

const STDOUT = 1

interface Streams {
  readonly input: Readable
  readonly output: Writable
}

/** `stdin`: text in place of the standard input of the process. */
export function protocolStreams(stdin: string | undefined, output: Output): Streams {
  return stdin === undefined ? ofProcess() : inMemory(stdin, output)
}

/** Writing to `process.stdout` would stop the whole engine whenever the agent does not read. */
function ofProcess(): Streams {
  const output = asyncStdout()
  keepStdoutClean()
  return { input: process.stdin, output }
}

function asyncStdout(): Writable {
  try {
    return new Socket({ fd: STDOUT, readable: false, writable: true })
  } catch {
    return process.stdout // a file or a terminal, which does not block
  }
}

function inMemory(stdin: string, output: Output): Streams {
  return {
    input: Readable.from([Buffer.from(stdin)]),
    output: new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => void output.prompt(String(text)).then(() => done(), done),
    }),
  }
}
