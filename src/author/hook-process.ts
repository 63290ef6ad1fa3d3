// The process of a hook: its standard input, its one answer on standard output, and its end.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { type JsonProblem, parseJson } from '../core/base/strict-json.js'
import type { HostAnswer } from '../hosts/host.js'
import { InvalidHookInput } from '../hosts/payload.js'

const STDOUT = 1
const STDERR = 2
/** Milliseconds between two attempts to write to a full pipe, and the number of attempts. */
const RETRY_MS = 5
const RETRIES = 1000

/**
 * From here on, console.log and libraries print to standard error. It uses getters, because touching the streams themselves
 * takes longer than the whole hook.
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

/** Makes the hook answer before an uncaught error, process.exit() or an empty event loop ends the process. */
export function beforeTheEnd(hook: Unanswered): void {
  process.on('uncaughtException', (error) => hook.fail(error))
  process.on('exit', () => {
    if (!hook.isAnswered) hook.fail(new Error('it ended before it answered'))
  })
}

/** Writes the agent's answer first, then the text for people. A reader that has gone away is not a failure. */
export function leave(
  { stdout, stderr = '', exit }: HostAnswer,
  telemetry: string,
  isRefusal: boolean,
): void {
  const unwritten = tryWrite(STDOUT, stdout)
  const trouble = unwritten ? `The answer could not be written: ${unwritten}\n` : ''
  tryWrite(STDERR, `${stderr}${telemetry}${trouble}`)
  // If a refusal cannot be written, the exit code still reports it.
  process.exitCode = unwritten && isRefusal ? REFUSED : exit
  // A handler may have left something open. An agent that waits for it could time out and drop the answer, and waiting for
  // Node to end by itself would take longer.
  setImmediate(() => process.exit())
}

const REFUSED = 2

/** Reports an error after the answer. The answer stands. */
export function tellLate(name: string, problem: string): void {
  tryWrite(STDERR, `Hook ${name} failed after it had answered: ${problem}\n`)
}

/** Returns why the text could not be written; undefined if it was. */
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
      sleep(RETRY_MS)
    }
  }
  return undefined
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

// ---- standard input -------------------------------------------------------------------------------------------
// Read without a stream where possible: a stream takes as long to start as everything else.

const STDIN = 0
const CHUNK = 64 * 1024
/** No agent sends more, but an endless device would. */
const LARGEST = 64 * 1024 * 1024
/** Seconds until the input must be complete, plus one for each MiB. Agents send it at once. */
const PATIENCE = 10
const MIB = 1024 * 1024
/** Milliseconds between two reads of an empty pipe. */
const PAUSE_MS = 2

/**
 * The text of one JSON object. It is complete when it parses or when its sender closes the pipe, whichever comes first.
 * The wait has a deadline; `seconds` makes it shorter.
 */
export async function readStandardInput(seconds?: number): Promise<string> {
  const bytes = await readInputBytes(seconds)
  if (!isUtf8(bytes)) throw new InvalidHookInput('the input is not UTF-8')
  return bytes.toString()
}

/** The bytes, for callers that report bad text in their own words. */
export async function readInputBytes(seconds = Infinity): Promise<Buffer> {
  if (isTerminal()) throw new InvalidHookInput(NOTHING_PIPED)
  const input = new Input()
  try {
    if (mayWait()) await readInTime(input, Math.min(seconds, PATIENCE))
    else readToEnd(STDIN, input)
  } catch (error) {
    if (error instanceof InvalidHookInput) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidHookInput(`the input cannot be read: ${code ?? 'read failed'}`)
  }
  return input.bytes
}

/** Waiting for somebody to type JSON would look like a hang. */
const NOTHING_PIPED =
  'there is no input: standard input is a terminal. Agents pipe one JSON object into a hook; so can you: ' +
  `echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}' | …`

/** The bytes read so far. */
class Input {
  readonly #since = process.hrtime.bigint()
  readonly #chunks: Buffer[] = []
  #size = 0

  /** Seconds until it must be complete. */
  left(seconds: number): number {
    const waited = Number(process.hrtime.bigint() - this.#since) / 1e9
    return seconds + Math.floor(this.#size / MIB) - waited
  }

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > LARGEST) throw new InvalidHookInput('the input is larger than 64 MiB')
  }

  /**
   * Some agents leave the pipe open, so the input may be complete before it ends. If the last piece is full, more is likely
   * to follow, and it is not parsed yet.
   */
  get isWhole(): boolean {
    const last = this.#chunks.at(-1)
    if (
      last === undefined ||
      last.length === CHUNK ||
      !/\}\s*$/.test(last.toString('latin1', last.length - 8))
    )
      return false
    return this.parses
  }

  get parses(): boolean {
    let problem: JsonProblem | undefined
    try {
      parseJson(this.bytes.toString().replace(/^\uFEFF/, ''), (text, kind) => {
        problem = kind
        return new InvalidHookInput(text)
      })
      return true
    } catch {
      // Otherwise more is still to come, or the parser reports the problem later.
      return problem === 'repeated'
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

function readToEnd(fd: number, input: Input): void {
  for (let chunk = nextChunk(fd); chunk.length > 0; chunk = nextChunk(fd)) input.keep(chunk)
}

/** Reads a file to its end, whatever is in it. */
export function readWhole(fd: number): Buffer {
  const input = new Input()
  readToEnd(fd, input)
  return input.bytes
}

function nextChunk(fd: number): Buffer {
  const chunk = Buffer.allocUnsafe(CHUNK)
  return chunk.subarray(0, readSync(fd, chunk))
}

/** A file has an end; a pipe only has one when its sender closes it. */
function mayWait(): boolean {
  try {
    const stats = fstatSync(STDIN)
    return stats.isFIFO() || stats.isSocket()
  } catch {
    return false // closed; reading it reports the error
  }
}

async function readInTime(input: Input, seconds: number): Promise<void> {
  const pipe = impatientPipe()
  if (pipe === undefined) return inSeconds(seconds, input)
  try {
    readPipe(pipe, input, seconds)
  } finally {
    closeSync(pipe)
  }
}

/** Opens the same pipe again without blocking, where the system has a name for it. */
function impatientPipe(): number | undefined {
  try {
    if (process.platform !== 'linux' || !fstatSync(STDIN).isFIFO()) return undefined
    return openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined // owned by another user, or no /proc: read it like a socket
  }
}

function readPipe(pipe: number, input: Input, seconds: number): void {
  while (!input.isWhole) {
    try {
      const chunk = nextChunk(pipe)
      if (chunk.length === 0) return
      input.keep(chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      if (input.left(seconds) <= 0) {
        checkWhole(input, seconds)
        return
      }
      sleep(PAUSE_MS)
    }
  }
}

async function inSeconds(seconds: number, input: Input): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<'late'>((resolve) => {
    const look = () => {
      const left = input.left(seconds)
      if (left > 0) timer = setTimeout(look, left * 1000)
      else resolve('late')
    }
    look()
  })
  const handle = socketHandle()
  try {
    const read = handle ? readHandle(handle, input) : readStream(input)
    if ((await Promise.race([read, deadline])) === 'late') checkWhole(input, seconds)
  } finally {
    clearTimeout(timer)
    handle?.close()
  }
}

async function readStream(input: Input): Promise<void> {
  for await (const chunk of process.stdin) {
    input.keep(chunk as Buffer)
    if (input.isWhole) return
  }
}

/** The part of Node's internal socket handle that is used here. */
interface SocketHandle {
  open(fd: number): number
  readStart(): number
  close(): void
  /** Called without bytes at the end of the input. */
  onread?: (bytes?: ArrayBuffer) => void
}

/**
 * Agents written in JavaScript connect a hook by a socket. A blocking read has no deadline, and Node's stream takes longer
 * to load than the guard takes to judge. Undefined where Node does not expose the handle.
 */
function socketHandle(): SocketHandle | undefined {
  try {
    if (!fstatSync(STDIN).isSocket()) return undefined
    const { Pipe, constants: kinds } = (process as unknown as Bindings).binding('pipe_wrap')
    const handle = new Pipe(kinds.SOCKET)
    return handle.open(STDIN) ? undefined : handle
  } catch {
    return undefined // read it as a stream
  }
}

interface Bindings {
  binding(name: 'pipe_wrap'): {
    readonly Pipe: new (kind: number) => SocketHandle
    readonly constants: { readonly SOCKET: number }
  }
}

function readHandle(handle: SocketHandle, input: Input): Promise<void> {
  return new Promise((resolve, reject) => {
    handle.onread = (bytes) => {
      try {
        if (bytes) input.keep(Buffer.from(bytes))
        if (!bytes || input.isWhole) resolve()
      } catch (error) {
        reject(error)
      }
    }
    if (handle.readStart()) reject(new InvalidHookInput('the input cannot be read: read failed'))
  })
}

/** Throws unless the input is complete. This is the last look: not every piece was checked when it arrived. */
function checkWhole(input: Input, seconds: number): void {
  if (input.parses) return
  throw new InvalidHookInput(
    `the input was not complete after ${seconds} seconds: send one JSON object, or close standard input after it`,
  )
}

/** Checks the kind of file first, because loading tty also loads the network modules. */
function isTerminal(): boolean {
  try {
    return fstatSync(STDIN).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(STDIN)
  } catch {
    return false // closed; reading it reports the error
  }
}
