// One line that somebody types at the terminal.

import { readSync } from 'node:fs'
import { isCode } from './output.js'

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
