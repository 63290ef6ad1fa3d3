// The standard input of a hook, read whole: synchronously, because a stream takes as long to start as all the rest.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { InvalidHookInput, parseJson } from '../hosts/payload.js'

const STDIN = 0
const CHUNK = 64 * 1024
/** No agent sends more; a device that never ends would. */
const LARGEST = 64 * 1024 * 1024
/** Seconds for a sender that neither ends its document nor closes the pipe. */
const PATIENCE = 20
/** Milliseconds between two looks into a pipe that is empty. */
const PAUSE_MS = 2

/**
 * The text of one JSON object. It counts as whole when it is one, or when its sender closes the pipe, whichever is first.
 * `seconds` bound the wait whoever sends it; without them only a shell's pipe is bounded, and an agent by its own time-out.
 */
export async function readStandardInput(seconds?: number): Promise<string> {
  const bytes = await readInputBytes(seconds)
  if (!isUtf8(bytes)) throw new InvalidHookInput('the input is not UTF-8')
  return bytes.toString()
}

/** The same for who says in other words what is wrong with them. */
export async function readInputBytes(seconds?: number): Promise<Buffer> {
  if (isTerminal()) throw new InvalidHookInput(NOTHING_PIPED)
  const input = new Input()
  try {
    if (seconds !== undefined && mayWait()) await inSeconds(seconds, input)
    else await readAtOnce(input)
  } catch (error) {
    if (error instanceof InvalidHookInput) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidHookInput(`the input cannot be read: ${code ?? 'read failed'}`)
  }
  return input.bytes
}

/** To wait for somebody to type JSON would look like a hang. */
const NOTHING_PIPED =
  'there is no input: standard input is a terminal. Agents pipe one JSON object into a hook; so can you: ' +
  `echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}' | …`

/** What was read so far. */
class Input {
  readonly #chunks: Buffer[] = []
  #size = 0

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > LARGEST) throw new InvalidHookInput('the input is larger than 64 MiB')
  }

  /**
   * Some agents leave the pipe open. Only where the last piece was not a full one: what is sent in many pieces is not
   * looked through again and again.
   */
  get isWhole(): boolean {
    const last = this.#chunks.at(-1)
    if (
      last === undefined ||
      last.length === CHUNK ||
      !/\}\s*$/.test(last.toString('latin1', last.length - 8))
    )
      return false
    try {
      const text = this.bytes.toString().replace(/^\uFEFF/, '')
      parseJson(text, (problem) => new InvalidHookInput(problem))
      return true
    } catch {
      return false // there is more to come, or it is told when it is read
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

// ---- without a stream -----------------------------------------------------------------------------------------

async function readAtOnce(input: Input): Promise<void> {
  const pipe = impatientPipe()
  try {
    if (pipe === undefined) readSocketOrFile(input)
    else readPipe(pipe, input)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Windows ends a pipe so.
    if (code === 'EOF') return
    if (code !== 'EAGAIN') throw error
    // Somebody made it non-blocking, and only a stream can wait for it.
    await inSeconds(PATIENCE, input)
  } finally {
    if (pipe !== undefined) closeSync(pipe)
  }
}

function readSocketOrFile(input: Input): void {
  for (let chunk = nextChunk(STDIN); chunk.length > 0; chunk = nextChunk(STDIN)) {
    input.keep(chunk)
    if (input.isWhole) return
  }
}

/** Of a file, whatever is in it: to its end. */
export function readWhole(fd: number): Buffer {
  const input = new Input()
  for (let chunk = nextChunk(fd); chunk.length > 0; chunk = nextChunk(fd)) input.keep(chunk)
  return input.bytes
}

/** Where the system has a name for it: the same pipe, opened once more, so that to read it does not mean to wait. */
function impatientPipe(): number | undefined {
  try {
    if (process.platform !== 'linux' || !fstatSync(STDIN).isFIFO()) return undefined
    return openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined // of another user, or without /proc: it is read as any other input
  }
}

function readPipe(pipe: number, input: Input): void {
  const until = Date.now() + PATIENCE * 1000
  while (!input.isWhole) {
    try {
      const chunk = nextChunk(pipe)
      if (chunk.length === 0) return
      input.keep(chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      if (Date.now() > until) throw late(PATIENCE)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
}

function nextChunk(fd: number): Buffer {
  const chunk = Buffer.allocUnsafe(CHUNK)
  return chunk.subarray(0, readSync(fd, chunk))
}

// ---- with one -------------------------------------------------------------------------------------------------

async function inSeconds(seconds: number, input: Input): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(seconds)), seconds * 1000)
  })
  try {
    await Promise.race([readStream(input), deadline])
  } finally {
    clearTimeout(timer)
  }
}

async function readStream(input: Input): Promise<void> {
  for await (const chunk of process.stdin) {
    input.keep(chunk as Buffer)
    if (input.isWhole) return
  }
}

function late(seconds: number): InvalidHookInput {
  return new InvalidHookInput(
    `the input was not there within ${seconds} seconds: whoever sends it must close standard input after it`,
  )
}

// ---- what it is -----------------------------------------------------------------------------------------------

/** A file has an end; a pipe has one when its sender says so. */
function mayWait(): boolean {
  try {
    const stats = fstatSync(STDIN)
    return stats.isFIFO() || stats.isSocket()
  } catch {
    return false // closed: reading it says so
  }
}

/** Looks before it loads what brings the network along. */
function isTerminal(): boolean {
  try {
    return fstatSync(STDIN).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(STDIN)
  } catch {
    return false // closed: reading it says so
  }
}
