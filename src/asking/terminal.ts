// A terminal to ask at: the controlling one or the given streams. Writing never blocks, and its mode is always restored.

import { closeSync, constants, openSync, writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import { isInForeground } from '../files/process.js'

export interface Terminal {
  columns(): number
  /** Settles when the terminal has taken the text; rejects when the terminal is gone. */
  write(text: string): Promise<void>
  /** Writes as much as the terminal accepts at once; the rest is lost. Never throws. */
  lastWords(text: string): void
  /** Starts passing on keys, including those typed before. */
  begin(listener: TerminalListener): void
  /** Restores its mode. */
  end(): void
}

export interface TerminalListener {
  onKeys(bytes: Buffer): void
  onResize(): void
  /** The terminal went away. */
  onGone(): void
}

/** The writing half of a terminal. */
interface Screen {
  columns(): number
  write(text: string): Promise<void>
  lastWords(text: string): void
  onResize(callback: () => void): () => void
  end(): void
}

const CONTROLLING = '/dev/tty'
const DEFAULT_COLUMNS = 80
const RETRY_MS = 50

/** Undefined if there is none, or if another program is in the foreground. Throws if it goes away during the call. */
export function openTerminal(given: {
  readonly input?: ReadStream
  readonly output?: WriteStream
}): Terminal | undefined {
  const { input, output } = given
  if (input || output) return givenTerminal(input ?? process.stdin, output ?? process.stderr)
  const paths = terminalPaths()
  return paths && ownTerminal(paths.input, paths.output)
}

function ownTerminal(input: string, output: string): Terminal {
  const { ReadStream } = process.getBuiltinModule('node:tty')
  const screen = new OwnScreen(output)
  try {
    const keys = new ReadStream(openSync(input, constants.O_RDWR | constants.O_NOCTTY))
    return terminalOf(keys, screen, () => keys.destroy())
  } catch (error) {
    screen.end()
    throw error
  }
}

function givenTerminal(input: ReadStream, output: WriteStream): Terminal | undefined {
  if (!input.isTTY || !output.isTTY) return undefined
  const wasFlowing = input.readableFlowing === true
  return terminalOf(input, new GivenScreen(output), () => {
    if (!wasFlowing) input.pause()
  })
}

/** Opened again by path, so that the modes of other programs' descriptors do not change. */
function terminalPaths(): { readonly input: string; readonly output: string } | undefined {
  try {
    closeSync(openSync(CONTROLLING, constants.O_RDWR | constants.O_NOCTTY))
    return isInForeground() ? { input: CONTROLLING, output: CONTROLLING } : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENXIO' && code !== 'ENOENT' && code !== 'ENODEV') return undefined
  }
  const { isatty } = process.getBuiltinModule('node:tty')
  return isatty(0) && isatty(2) ? { input: '/dev/fd/0', output: '/dev/fd/2' } : undefined
}

function terminalOf(keys: ReadStream, screen: Screen, release: () => void): Terminal {
  const wasRaw = keys.isRaw
  let stop = () => {}
  return {
    columns: () => screen.columns(),
    write: (text) => screen.write(text),
    lastWords: (text) => screen.lastWords(text),
    begin: (listener) => {
      stop = listen(keys, screen, listener)
      keys.setRawMode(true)
      keys.resume()
    },
    end: () => {
      stop()
      keys.on('error', ignore)
      if (!keys.destroyed) keys.setRawMode(wasRaw)
      release()
      if (!keys.destroyed) keys.off('error', ignore)
      screen.end()
    },
  }
}

/** Errors after the end do not matter. */
function ignore(): void {}

function listen(
  keys: ReadStream,
  screen: Screen,
  { onKeys, onGone, onResize }: TerminalListener,
): () => void {
  const onData = (chunk: Buffer | string) => onKeys(Buffer.from(chunk as Buffer))
  const ends = ['error', 'end', 'close'] as const
  const stopHangup = onHangup(onGone)
  const stopResize = screen.onResize(onResize)
  keys.on('data', onData)
  for (const end of ends) keys.on(end, onGone)
  return () => {
    keys.off('data', onData)
    for (const end of ends) keys.off(end, onGone)
    stopResize()
    stopHangup()
  }
}

const ourHandlers = new WeakSet<() => void>()

/** A process without another handler still dies of the signal, but restores the terminal first. */
function onHangup(callback: () => void): () => void {
  const handle = () => {
    callback()
    process.off('SIGHUP', handle)
    const isForUs = process.listeners('SIGHUP').every((one) => ourHandlers.has(one as () => void))
    if (isForUs) setImmediate(() => process.kill(process.pid, 'SIGHUP'))
  }
  ourHandlers.add(handle)
  process.on('SIGHUP', handle)
  // The end of the input may come before the signal, which must not be lost.
  return () => void roundsOfTheLoop(2).then(() => process.off('SIGHUP', handle))
}

/** After two rounds, everything that had already arrived from the system has been delivered. */
export async function roundsOfTheLoop(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve))
}

/** Writes through a non-blocking descriptor: a terminal that is stopped or full must not stop us. */
class OwnScreen implements Screen {
  readonly #path: string
  readonly #fd: number
  #isOpen = true
  #columns: number | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  }

  columns(): number {
    this.#columns ??= this.#measured()
    return this.#columns
  }

  /** A stream only reads the size when it is created, so this creates a new one. */
  #measured(): number {
    const { WriteStream } = process.getBuiltinModule('node:tty')
    const stream = new WriteStream(openSync(this.#path, constants.O_WRONLY | constants.O_NOCTTY))
    const { columns } = stream
    stream.destroy()
    return columns || DEFAULT_COLUMNS
  }

  write(text: string): Promise<void> {
    this.#last = this.#last.then(() => this.#writeAll(Buffer.from(text)))
    return this.#last
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    for (let left = bytes; left.length > 0 && this.#isOpen; ) {
      const written = this.#writeSome(left)
      left = left.subarray(written)
      if (written === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  #writeSome(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
      throw error
    }
  }

  lastWords(text: string): void {
    try {
      this.#writeSome(Buffer.from(text))
    } catch {
      // The terminal is gone, so there is nobody to tell.
    }
  }

  onResize(callback: () => void): () => void {
    const resized = () => {
      this.#columns = undefined
      callback()
    }
    process.on('SIGWINCH', resized)
    return () => process.off('SIGWINCH', resized)
  }

  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#fd)
  }
}

class GivenScreen implements Screen {
  readonly #output: WriteStream

  constructor(output: WriteStream) {
    this.#output = output
  }

  columns(): number {
    return this.#output.columns || DEFAULT_COLUMNS
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  lastWords(text: string): void {
    if (this.#output.writable) this.#output.write(text, ignore)
  }

  onResize(callback: () => void): () => void {
    this.#output.on('resize', callback)
    return () => this.#output.off('resize', callback)
  }

  end(): void {}
}
