// Output: text for people or one JSON document, written completely, and never anything that controls a terminal.

import { writeSync } from 'node:fs'
import { plainText, visible } from '../core/base/text.js'
import { isTerminal, type Paint, painter } from './print/terminal.js'

const STDOUT = 1
const STDERR = 2

/** Writes text to standard output or standard error. May throw. */
export type Write = (fd: 1 | 2, text: string) => Promise<void> | void

/** Where a command prints. With `json`, text for people goes to `complain` only. */
export class Output {
  readonly json: boolean
  /** Why the output could not be written, other than a closed pipe. */
  failure: Error | undefined

  readonly #write: Write

  constructor(json: boolean, write: Write = writeToProcess) {
    this.json = json
    this.#write = write
  }

  /** Lines for people, on standard output. */
  async print(lines: readonly string[]): Promise<void> {
    await this.#tryWrite(STDOUT, `${lines.join('\n')}\n`)
  }

  /** Through a pager, if a person looks, there are more lines than the terminal has, and `isAsked` about them. */
  async page(lines: readonly string[], isAsked = true): Promise<void> {
    const isLookedAt = isAsked && this.#write === writeToProcess && isTerminal(STDOUT) && isTerminal(0)
    if (!isLookedAt || !(await import('./print/pager.js')).paged(lines)) await this.print(lines)
  }

  /** What a command found: one document for a program, lines for people. Returns the exit code. */
  async result(
    document: unknown,
    lines: (paint: Paint) => readonly string[] | Promise<readonly string[]>,
    exit = 0,
  ): Promise<number> {
    await (this.json ? this.document(document) : this.print(await lines(painter(STDOUT))))
    return exit
  }

  /** A question without a line break, for the answer to follow. */
  async prompt(text: string): Promise<void> {
    await this.#tryWrite(STDOUT, text)
  }

  /** Indented on a terminal, on one line for a program. */
  async document(value: unknown): Promise<void> {
    const isLookedAt = this.#write === writeToProcess && isTerminal(STDOUT)
    await this.#tryWrite(STDOUT, `${jsonText(value, isLookedAt ? 2 : 0)}\n`)
  }

  /** Problems and warnings, on standard error. */
  async complain(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.#tryWrite(STDERR, `${lines.join('\n')}\n`)
  }

  async #tryWrite(fd: 1 | 2, text: string): Promise<void> {
    try {
      await this.#write(fd, text)
    } catch (error) {
      // A reader may stop early (`| head -1`); that is not a failure.
      if (fd === STDOUT && !isCode(error, 'EPIPE')) this.failure = error as Error
    }
  }
}

/** Synchronously where possible: a process that ends loses pending writes. */
async function writeToProcess(fd: 1 | 2, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (!isCode(error, 'EAGAIN')) throw error
      return writeLater(fd, bytes.subarray(at))
    }
  }
}

/** The pipe is full and non-blocking: only a stream can wait for it. */
function writeLater(fd: number, bytes: Buffer): Promise<void> {
  const stream = fd === STDOUT ? process.stdout : process.stderr
  return new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

export function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === code
}

/** JSON that is safe to display: characters that a terminal would obey or hide are escaped. */
function jsonText(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu, escaped)
}

/** Characters above U+FFFF are two units. */
function escaped(char: string): string {
  const units = char.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return units.map((unit) => `\\u${unit}`).join('')
}

/** A copy in which no text can control the terminal. */
export function plainData<T>(value: T): T {
  return plain(value) as T
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [plainText(key), field(key, item)]))
}

/** Paths keep every character, made visible: a shortened path would be another one. */
function field(key: string, value: unknown): unknown {
  const isPath = (key === 'file' || key === 'project') && typeof value === 'string'
  return isPath ? visible(value) : plain(value)
}
