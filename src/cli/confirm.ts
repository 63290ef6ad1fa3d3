// Questions to the user at the terminal: yes or no, or a choice from a list.

import { constants, openSync, readSync } from 'node:fs'
import { isCode, type Output } from './output.js'
import { checkPerson } from './person.js'
import { isTerminal } from './print/terminal.js'

export function canAsk({ json }: Output): boolean {
  return !json && isTerminal(0) && isTerminal(1)
}

/** What a review did not show, and how to show all of it. */
export interface LeftOut {
  readonly text: string
  readonly showAll: () => Promise<void>
}

/** Throws in an agent's shell, which may have a terminal too. */
export async function agrees(question: string, output: Output, leftOut?: LeftOut): Promise<boolean> {
  const hidden = leftOut ? `${leftOut.text}; type a to see all. ` : ''
  const answer = (await answerTo(`${hidden}${question} [y/N] `, output)) ?? ''
  if (!leftOut || !/^a(?:ll)?$/i.test(answer)) return /^y(?:es)?$/i.test(answer)
  await leftOut.showAll()
  return agrees(question, output)
}

/** The line that the user types; undefined at the end of the input. Throws in an agent's shell. */
export async function answerTo(question: string, output: Output): Promise<string | undefined> {
  checkPerson('Answering')
  // What was typed before the question is no answer to it.
  forgetTyped()
  await output.prompt(question)
  return (await typedLine())?.trim()
}

/** `q`, as in a pager. */
export function isLeaving(typed: string): boolean {
  return /^(?:q|quit|exit)$/i.test(typed)
}

const STDIN = 0
const NEWLINE = 0x0a

/** Undefined at the end of the input. */
async function typedLine(): Promise<string | undefined> {
  const line: number[] = []
  const byte = Buffer.alloc(1)
  try {
    // Byte by byte: the next line answers another question.
    for (;;) {
      if (readSync(STDIN, byte) === 0) return undefined
      if (byte[0] === NEWLINE) break
      line.push(byte[0] as number)
    }
  } catch (error) {
    if (!isCode(error, 'EAGAIN')) return undefined
    return lineOfStream(Buffer.from(line))
  }
  return Buffer.from(line).toString()
}

/** Some other program made the terminal non-blocking, and only a stream can wait for it. */
async function lineOfStream(begun: Buffer): Promise<string | undefined> {
  let text = begun.toString()
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text.includes('\n') ? text.split('\n')[0] : undefined
}

/** More than a terminal buffers; somebody who keeps typing is not waited for. */
const MOST_TYPED = 64 * 1024

/**
 * Drops what was typed before the question. A terminal hands out an unfinished line only in raw mode. Without a terminal
 * nothing was typed.
 */
function forgetTyped(): void {
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

/** Opened again, so that no other program's terminal becomes non-blocking. Only Linux opens `/proc/self/fd/0` anew. */
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
