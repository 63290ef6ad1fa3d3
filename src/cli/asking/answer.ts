// One line that somebody types at the terminal, after they were asked.

import { constants, openSync, readSync } from 'node:fs'
import { isCode } from '../output.js'

const STDIN = 0

/** Empty where nothing comes any more. */
export async function answerOf(): Promise<string> {
  const line: number[] = []
  const byte = Buffer.alloc(1)
  try {
    // Byte by byte: what is typed beyond this line answers another question.
    while (readSync(STDIN, byte) > 0 && byte[0] !== NEWLINE) line.push(byte[0] as number)
  } catch (error) {
    if (!isCode(error, 'EAGAIN')) return ''
    return lineOfStream(Buffer.from(line))
  }
  return Buffer.from(line).toString()
}

const NEWLINE = 0x0a

/** Somebody made the terminal non-blocking, and only a stream can wait for it. */
async function lineOfStream(begun: Buffer): Promise<string> {
  let text = begun.toString()
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text.split('\n')[0] ?? ''
}

/** More than a terminal holds back; who types on and on is not waited for. */
const MOST_TYPED = 64 * 1024

/**
 * Drops what was typed before anything was asked, also a line that is not ended: a terminal hands that out only while
 * it is raw. Where there is no terminal to speak of, nothing was typed.
 */
export function forgetTyped(): void {
  const fd = openTerminal()
  if (fd === undefined) return
  const { ReadStream } = process.getBuiltinModule('node:tty')
  const terminal = new ReadStream(fd)
  try {
    terminal.setRawMode(true)
    drain(fd)
  } finally {
    terminal.setRawMode(false)
    terminal.destroy()
  }
}

/** Opened anew, so that nobody else's becomes non-blocking; elsewhere than on Linux `/dev/fd/0` would be the same one. */
const TERMINALS = process.platform === 'linux' ? ['/proc/self/fd/0', '/dev/tty'] : ['/dev/tty']

function openTerminal(): number | undefined {
  for (const path of TERMINALS) {
    try {
      return openSync(path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY)
    } catch {
      // no such terminal, or not ours
    }
  }
  return undefined
}

function drain(fd: number): void {
  const bytes = Buffer.alloc(4096)
  try {
    for (let read = 1, all = 0; read > 0 && all < MOST_TYPED; all += read) read = readSync(fd, bytes)
  } catch (error) {
    // EAGAIN: nothing is left.
    if (!isCode(error, 'EAGAIN')) throw error
  }
}
