// What another process reports about a program that it runs for us, in the terms of Node's own spawn.

import { Readable } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import { FrameError } from '../../rpc/frames.js'
import type { Program } from './start.js'

/** Bytes. Output is read as it comes, beyond the limit of a hook too. */
const MOST_UNREAD = 16 * 1024 * 1024

export const NOTHING = Buffer.alloc(0)

/** A stream that somebody else fills. */
export class Incoming extends Readable {
  isComplete = false

  override _read(): void {}

  /** An empty piece is the end. Nothing counts after it. */
  fill(bytes: Buffer): void {
    if (this.isComplete || this.destroyed) return
    if (bytes.length > 0 && this.readableLength > MOST_UNREAD)
      throw new FrameError('output comes faster than it is read')
    this.isComplete = bytes.length === 0
    // A copy, because a small piece would keep the whole message alive.
    this.push(bytes.length === 0 ? null : Buffer.from(bytes))
  }
}

/** The error that Node's spawn would report. */
export function startFailure({ file, args }: Program, errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno)
  const path = file
  return Object.assign(new Error(`spawn ${file} ${code}`), {
    errno: -errno,
    code,
    syscall: `spawn ${file}`,
    path,
    spawnargs: [...args],
  })
}

/** Programs that start often load only the functions of node:os, and those late. */
const { constants } = process.getBuiltinModule('node:os')

const SIGNALS = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
)

/** Real-time signals have no name, and end a process like KILL does. */
export function signalName(number: number): NodeJS.Signals {
  return SIGNALS.get(number) ?? 'SIGKILL'
}
