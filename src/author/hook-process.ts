// The process of a hook: its standard input, its one answer on standard output, and its end.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import type { HostAnswer } from '../hosts/host.js'
import { InvalidHookInput, type JsonProblem, parseJson } from '../hosts/payload.js'

const STDOUT = 1
const STDERR = 2
/** Milliseconds between two tries to write into a pipe that is full, and how many of them. */
const RETRY_MS = 5
const RETRIES = 1000

/**
 * Sends what console.log and libraries print to standard error from here on. It uses getters, because touching the streams
 * themselves takes longer than the whole hook.
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

/** Writes for the agent, then for people. A reader that has gone away is not a failure. */
export function leave(
  { stdout, stderr = '', exit }: HostAnswer,
  telemetry: string,
  isRefusal: boolean,
): void {
  const unwritten = tryWrite(STDOUT, stdout)
  const trouble = unwritten ? `The answer could not be written: ${unwritten}\n` : ''
  tryWrite(STDERR, `${stderr}${telemetry}${trouble}`)
  // A refusal that could not be written is told by its exit code.
  process.exitCode = unwritten && isRefusal ? REFUSED : exit
  // An agent that has to wait for what a handler left open may lose patience and drop the answer. Waiting for Node's own
  // end would also take longer.
  setImmediate(() => process.exit())
}

const REFUSED = 2

/** For an error after the answer, which stands. */
export function tellLate(name: string, problem: string): void {
  tryWrite(STDERR, `Hook ${name} failed after it had answered: ${problem}\n`)
}

/** Returns why it was not written. */
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
/** No agent sends more, but a device that never ends would. */
const LARGEST = 64 * 1024 * 1024
/** Seconds until the input must be whole, and one more for each MiB of it. Agents send it at once. */
const PATIENCE = 10
const MIB = 1024 * 1024
/** Milliseconds between two looks into a pipe that is empty. */
const PAUSE_MS = 2

/**
 * The text of one JSON object. It is whole when it parses or when its sender closes the pipe, whichever comes first.
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

  /** Seconds until it must be whole. */
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
   * Some agents leave the pipe open. A full last piece is not checked, so that input in many pieces is not parsed again
   * and again.
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
      // Otherwise more is to come, or the reader will say what is wrong.
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
    return false // closed: reading it will say so
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
    return undefined // another user's, or no /proc: read it like a socket
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

/** The part of Node's own handle of a socket that is used here. */
interface SocketHandle {
  open(fd: number): number
  readStart(): number
  close(): void
  /** Called without bytes at the end of the input. */
  onread?: (bytes?: ArrayBuffer) => void
}

/**
 * Agents written in JavaScript connect a hook by a socket. A blocking read of it has no deadline, and the stream that Node
 * makes of it takes longer to load than the guard takes to judge. Undefined where Node does not hand out the handle.
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

/** Throws unless the input is whole after all, which is not tried after every piece. */
function checkWhole(input: Input, seconds: number): void {
  if (input.parses) return
  throw new InvalidHookInput(
    `the input was not whole within ${seconds} seconds: send one JSON object, or close standard input after it`,
  )
}

/** Checks the kind first: loading tty loads the network, too. */
function isTerminal(): boolean {
  try {
    return fstatSync(STDIN).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(STDIN)
  } catch {
    return false // closed: reading it will say so
  }
}
