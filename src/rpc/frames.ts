// The frames between the service and its callers, and between a host and its spawner: every message in both directions.
// A frame is the length of its payload (u32, little endian), its type (u8) and the payload. src/service/clip.c is the other side.

/** Raised when an older clip could misread a frame. */
export const PROTOCOL = 2

const KIB = 1024
const MIB = 1024 * KIB
const LARGEST_U32 = 0xffffffff

/** The type of each message from a caller, and the longest payload that is accepted. */
export const FROM_CALLER = {
  /** clip sends at most 4 MiB of standard input. More arguments and variables than fit into the rest run cold. */
  call: { type: 1, longest: 8 * MIB },
  child: { type: 2, longest: KIB },
  output: { type: 3, longest: MIB },
  exited: { type: 4, longest: KIB },
  gone: { type: 5, longest: KIB },
  ending: { type: 6, longest: KIB },
  signal: { type: 7, longest: KIB },
  go: { type: 8, longest: 0 },
  begun: { type: 9, longest: KIB },
  pong: { type: 10, longest: 0 },
  status: { type: 32, longest: 0 },
  stop: { type: 33, longest: 0 },
} as const

/** The same for messages to a caller. Clip accepts no longer ones. */
export const LONGEST_TO_CALLER = 64 * MIB
export const TO_CALLER = {
  cold: { type: 65, longest: LONGEST_TO_CALLER },
  started: { type: 66, longest: LONGEST_TO_CALLER },
  run: { type: 67, longest: LONGEST_TO_CALLER },
  end: { type: 68, longest: LONGEST_TO_CALLER },
  out: { type: 69, longest: LONGEST_TO_CALLER },
  answered: { type: 70, longest: LONGEST_TO_CALLER },
  exit: { type: 71, longest: LONGEST_TO_CALLER },
  alive: { type: 72, longest: LONGEST_TO_CALLER },
  ping: { type: 73, longest: LONGEST_TO_CALLER },
  release: { type: 74, longest: LONGEST_TO_CALLER },
  status: { type: 96, longest: LONGEST_TO_CALLER },
  stopped: { type: 97, longest: LONGEST_TO_CALLER },
} as const

// ---- messages from a caller -----------------------------------------------------------------------------------

/** The first message of clip. */
export interface Call {
  readonly kind: 'call'
  readonly protocol: number
  readonly pid: number
  /** Absolute, or empty if the folder is gone. */
  readonly cwd: string
  /** The arguments after the script, such as `fire --as claude-code`. */
  readonly args: readonly string[]
  readonly script: string
  /** As `process.env` of a cold run would be. It has no prototype, so a variable can have any name. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Buffer
}

export type FromCaller =
  | Call
  /** A program runs. */
  | { readonly kind: 'child'; readonly id: number; readonly pid: number }
  /** It could not be started, because of its folder or because of its file. `errno` is positive. */
  | { readonly kind: 'child'; readonly id: number; readonly errno: number; readonly failed: 'cwd' | 'exec' }
  /** Without bytes: the stream has ended. */
  | { readonly kind: 'output'; readonly id: number; readonly fd: 1 | 2; readonly bytes: Buffer }
  /** Either the code is a number, or the signal is. `alone`: no other process is left in its group. */
  | {
      readonly kind: 'exited'
      readonly id: number
      readonly code: number | null
      readonly signal: number | null
      readonly alone: boolean
    }
  /** No process is left in the group. Not sent if `exited` said so. */
  | { readonly kind: 'gone'; readonly id: number }
  /** Answers `end`: whether there was still a process to stop. */
  | { readonly kind: 'ending'; readonly id: number; readonly living: boolean }
  /** Clip got SIGINT, SIGTERM or SIGHUP. */
  | { readonly kind: 'signal'; readonly number: number }
  /** Clip has read `started` and will not run cold any more. */
  | { readonly kind: 'go' }
  /** A spawner has read `run`. The program may run from now on, so it must not be started again elsewhere. */
  | { readonly kind: 'begun'; readonly id: number }
  /** A spawner answers `ping`, after everything that its programs had said. It also says so when it is ready. */
  | { readonly kind: 'pong' }
  /** For `carabiner service`. */
  | { readonly kind: 'status' }
  | { readonly kind: 'stop' }

// ---- messages to a caller -------------------------------------------------------------------------------------

export type ToCaller =
  /** The service has touched nothing; the caller runs cold. */
  | { readonly kind: 'cold'; readonly why: string }
  /** The service begins as soon as clip says `go`. Clip prints this answer if it loses the service, or waits past the deadline. */
  | {
      readonly kind: 'started'
      /** Milliseconds from now. Infinity is about seven weeks. */
      readonly deadline: number
      readonly exit: number
      readonly stdout: string
      readonly stderr: string
    }
  | {
      readonly kind: 'run'
      /** Not used by another program that still runs. */
      readonly id: number
      readonly file: string
      readonly args: readonly string[]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
      /** Written to its standard input, which is then closed. */
      readonly input: string | Uint8Array
    }
  /** Ends the group: TERM, half a second, KILL. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'out'; readonly fd: 1 | 2; readonly bytes: string | Uint8Array }
  /** The verdict is printed. From now on a lost service means this exit code. */
  | { readonly kind: 'answered'; readonly exit: number }
  | { readonly kind: 'exit'; readonly code: number }
  /** Sent every second while hooks judge. Clip takes silence for a service that is stuck. */
  | { readonly kind: 'alive' }
  /** For a spawner: are you there, and what have your programs said? */
  | { readonly kind: 'ping' }
  /** For a spawner: nobody reads what this program prints any more. */
  | { readonly kind: 'release'; readonly id: number }
  /** Answers `status` with JSON. */
  | { readonly kind: 'status'; readonly json: string }
  | { readonly kind: 'stopped' }

/** A frame that is too long, malformed or of an unknown type. Nothing after it can be read. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/** Throws FrameError for a string with a NUL where a program could not get it: in its file, arguments, folder or environment. */
export function encodeToCaller(message: ToCaller): Buffer {
  const { type, longest } = TO_CALLER[message.kind]
  const to = new Payload(type)
  switch (message.kind) {
    case 'cold':
      return to.text(message.why).frame(longest)
    case 'started':
      to.u32(Math.min(message.deadline, LARGEST_U32)).i32(message.exit)
      return to.text(message.stdout).text(message.stderr).frame(longest)
    case 'run': {
      const { id, file, args, cwd, env, input } = message
      const variables = Object.keys(env).map((name) => `${name}=${env[name]}`)
      to.u32(id).word(file).words(args).word(cwd).words(variables)
      return to.text(input).frame(longest)
    }
    case 'end':
    case 'release':
      return to.u32(message.id).frame(longest)
    case 'out':
      return to.u8(message.fd).bytes(message.bytes).frame(longest)
    case 'answered':
      return to.i32(message.exit).frame(longest)
    case 'exit':
      return to.i32(message.code).frame(longest)
    case 'status':
      return to.text(message.json).frame(longest)
    case 'alive':
    case 'ping':
    case 'stopped':
      return to.frame(longest)
  }
}

/** What a caller sends; for `carabiner service` and for tests. */
export function encodeFromCaller(message: FromCaller): Buffer {
  const { type, longest } = FROM_CALLER[message.kind]
  const to = new Payload(type)
  switch (message.kind) {
    case 'call': {
      const { protocol, pid, cwd, args, script, env, stdin } = message
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      to.u32(protocol).u32(pid).word(cwd).words(args).word(script).words(variables)
      return to.text(stdin).frame(longest)
    }
    case 'child':
      to.u32(message.id)
      if ('pid' in message) return to.i32(message.pid).frame(longest)
      return to.i32(-message.errno).text(message.failed).frame(longest)
    case 'output':
      return to.u32(message.id).u8(message.fd).bytes(message.bytes).frame(longest)
    case 'exited':
      to.u32(message.id).i32(message.code ?? -1)
      return to
        .i32(message.signal ?? 0)
        .flag(message.alone)
        .frame(longest)
    case 'gone':
    case 'begun':
      return to.u32(message.id).frame(longest)
    case 'ending':
      return to.u32(message.id).flag(message.living).frame(longest)
    case 'signal':
      return to.u32(message.number).frame(longest)
    case 'go':
    case 'pong':
    case 'status':
    case 'stop':
      return to.frame(longest)
  }
}

// ---- reading --------------------------------------------------------------------------------------------------

/** Reads the messages of a caller from pieces of any size. `push` throws FrameError. */
export function callerFrames(): Frames<FromCaller> {
  return new Frames(FROM_CALLER, decodeFromCaller)
}

/** Reads the messages to a caller; for `carabiner service` and for tests. */
export function serviceFrames(): Frames<ToCaller> {
  return new Frames(TO_CALLER, decodeToCaller)
}

type Kinds = Readonly<Record<string, { readonly type: number; readonly longest: number }>>

const HEADER = 5
/** Bytes. Most messages fit. */
const USUAL_FRAME = 4096
/** Reading many more would keep every other caller waiting. */
const MOST_WORDS = 10_000

/** Keeps at most one incomplete frame. */
export class Frames<T extends { readonly kind: string }> {
  readonly #longest: ReadonlyMap<number, { readonly kind: T['kind']; readonly longest: number }>
  readonly #decode: (kind: T['kind'], payload: Cursor) => T
  #chunks: Buffer[] = []
  #size = 0
  /** Bytes until the next frame, or its header, is complete. */
  #wanted = HEADER

  constructor(kinds: Kinds, decode: (kind: T['kind'], payload: Cursor) => T) {
    this.#longest = new Map(
      Object.entries(kinds).map(([kind, { type, longest }]) => [type, { kind, longest }]),
    )
    this.#decode = decode
  }

  /** Bytes of the incomplete frame. */
  get size(): number {
    return this.#size
  }

  /** There is half a frame: if the stream ends now, something is lost. */
  get isInside(): boolean {
    return this.#size > 0
  }

  /** The messages that this piece completes. After a FrameError it must not be called again. */
  push(chunk: Buffer): T[] {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#wanted) return [] // Joining pieces each time would take quadratic time.
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const messages: T[] = []
    let at = 0
    for (;;) {
      const { end, kind } = this.#next(bytes, at)
      this.#wanted = end - at
      if (kind === undefined || end > bytes.length) break
      messages.push(this.#message(kind, bytes.subarray(at + HEADER, end)))
      at = end
    }
    // A copy, so that a few bytes do not keep a whole piece alive.
    this.#chunks = at < bytes.length ? [at === 0 ? bytes : Buffer.from(bytes.subarray(at))] : []
    this.#size = bytes.length - at
    return messages
  }

  /** Where the frame ends that begins here. The kind is undefined while its header is incomplete. */
  #next(bytes: Buffer, at: number): { readonly end: number; readonly kind?: T['kind'] } {
    if (bytes.length - at < HEADER) return { end: at + HEADER }
    const type = bytes.readUInt8(at + 4)
    const length = bytes.readUInt32LE(at)
    const known = this.#longest.get(type)
    if (!known) throw new FrameError(`there is no message of type ${type}`)
    if (length > known.longest) throw new FrameError(`the message ${known.kind} is too long: ${length} bytes`)
    return { end: at + HEADER + length, kind: known.kind }
  }

  #message(kind: T['kind'], payload: Buffer): T {
    const cursor = new Cursor(kind, payload)
    const message = this.#decode(kind, cursor)
    cursor.finish()
    return message
  }
}

function decodeFromCaller(kind: FromCaller['kind'], from: Cursor): FromCaller {
  switch (kind) {
    case 'call':
      return decodeCall(from)
    case 'child': {
      const [id, pid] = [from.u32(), from.i32()]
      if (pid > 0) return { kind, id, pid }
      if (pid === 0) throw from.error('a process has number 0')
      return { kind, id, errno: -pid, failed: from.oneOf(['cwd', 'exec']) }
    }
    case 'output':
      return { kind, id: from.u32(), fd: from.stream(), bytes: from.rest() }
    case 'exited': {
      const [id, code, signal, alone] = [from.u32(), from.i32(), from.i32(), from.flag()]
      if (code >= 0 ? code > 255 || signal !== 0 : code !== -1 || signal < 1 || signal > 127)
        throw from.error(`code ${code} with signal ${signal}`)
      return { kind, id, code: code < 0 ? null : code, signal: signal || null, alone }
    }
    case 'gone':
    case 'begun':
      return { kind, id: from.u32() }
    case 'ending':
      return { kind, id: from.u32(), living: from.flag() }
    case 'signal': {
      const number = from.u32()
      if (number < 1 || number > 127) throw from.error(`signal ${number}`)
      return { kind, number }
    }
    case 'go':
    case 'pong':
    case 'status':
    case 'stop':
      return { kind }
  }
}

function decodeCall(from: Cursor): Call {
  const [protocol, pid] = [from.u32(), from.u32()]
  // A later protocol may have other fields. Its caller is told to run cold.
  if (protocol !== PROTOCOL) {
    const nothing = { cwd: '', args: [], script: '', env: {}, stdin: from.rest() }
    return { kind: 'call', protocol, pid, ...nothing }
  }
  if (pid < 1 || pid > 0x7fffffff) throw from.error(`process ${pid}`)
  const cwd = from.word()
  if (cwd !== '' && !cwd.startsWith('/')) throw from.error('the folder is not absolute')
  const [args, script, env] = [from.words(), from.word(), environment(from.words())]
  return { kind: 'call', protocol, pid, cwd, args, script, env, stdin: from.bytes() }
}

/** As Node reads its own: a variable without a value is left out, and the first of two counts. */
function environment(variables: readonly string[]): Record<string, string> {
  const env: Record<string, string> = Object.create(null)
  for (const variable of variables) {
    const at = variable.indexOf('=')
    const name = variable.slice(0, at)
    if (at > 0) env[name] ??= variable.slice(at + 1)
  }
  return env
}

function decodeToCaller(kind: ToCaller['kind'], from: Cursor): ToCaller {
  switch (kind) {
    case 'cold':
      return { kind, why: from.text() }
    case 'started':
      return { kind, deadline: from.u32(), exit: from.i32(), stdout: from.text(), stderr: from.text() }
    case 'run': {
      const [id, file, args, cwd] = [from.u32(), from.word(), from.words(), from.word()]
      return { kind, id, file, args, cwd, env: environment(from.words()), input: from.bytes() }
    }
    case 'end':
    case 'release':
      return { kind, id: from.u32() }
    case 'out':
      return { kind, fd: from.stream(), bytes: from.rest() }
    case 'answered':
      return { kind, exit: from.i32() }
    case 'exit':
      return { kind, code: from.i32() }
    case 'status':
      return { kind, json: from.text() }
    case 'alive':
    case 'ping':
    case 'stopped':
      return { kind }
  }
}

/** Reads the fields of a payload. Every method throws FrameError. */
class Cursor {
  readonly #kind: string
  readonly #payload: Buffer
  #at = 0

  constructor(kind: string, payload: Buffer) {
    this.#kind = kind
    this.#payload = payload
  }

  error(what: string): FrameError {
    return new FrameError(`the message ${this.#kind} is malformed: ${what}`)
  }

  #take(length: number): number {
    const at = this.#at
    if (length > this.#payload.length - at) throw this.error('it ends too early')
    this.#at += length
    return at
  }

  u8(): number {
    return this.#payload.readUInt8(this.#take(1))
  }

  u32(): number {
    return this.#payload.readUInt32LE(this.#take(4))
  }

  i32(): number {
    return this.#payload.readInt32LE(this.#take(4))
  }

  flag(): boolean {
    const value = this.u8()
    if (value > 1) throw this.error(`a flag is ${value}`)
    return value === 1
  }

  stream(): 1 | 2 {
    const fd = this.u8()
    if (fd === 1 || fd === 2) return fd
    throw this.error(`there is no stream ${fd}`)
  }

  bytes(): Buffer {
    const length = this.u32()
    const at = this.#take(length)
    return this.#payload.subarray(at, at + length)
  }

  /** Replaces invalid UTF-8, as Node does with its own arguments and environment. */
  text(): string {
    return this.bytes().toString('utf8')
  }

  /** A string of the system, which has no NUL. */
  word(): string {
    const bytes = this.bytes()
    if (bytes.includes(0)) throw this.error('a string has a NUL')
    return bytes.toString('utf8')
  }

  words(): string[] {
    const count = this.u32()
    // Each takes four bytes or more: a wrong number must not fill the memory.
    if (count > (this.#payload.length - this.#at) / 4) throw this.error('it ends too early')
    if (count > MOST_WORDS) throw this.error('it has too many words')
    return Array.from({ length: count }, () => this.word())
  }

  oneOf<T extends string>(values: readonly T[]): T {
    const text = this.text()
    const found = values.find((value) => value === text)
    if (found === undefined) throw this.error(`expected one of ${values.join(', ')}`)
    return found
  }

  rest(): Buffer {
    const rest = this.#payload.subarray(this.#at)
    this.#at = this.#payload.length
    return rest
  }

  finish(): void {
    if (this.#at < this.#payload.length) throw this.error('it goes on after its end')
  }
}

// ---- writing --------------------------------------------------------------------------------------------------

/** Collects the fields of a payload. Numbers are truncated to 32 bits, not refused. */
class Payload {
  #frame: Buffer
  #at = HEADER

  constructor(type: number) {
    this.#frame = Buffer.allocUnsafe(USUAL_FRAME)
    this.#frame.writeUInt8(type, 4)
  }

  /** Makes room for so many bytes, and returns where they begin. */
  #take(length: number): number {
    const at = this.#at
    this.#at += length
    if (this.#at > this.#frame.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#at, this.#frame.length * 2))
      this.#frame.copy(larger, 0, 0, at)
      this.#frame = larger
    }
    return at
  }

  u8(value: number): this {
    const at = this.#take(1)
    this.#frame[at] = value
    return this
  }

  flag(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  u32(value: number): this {
    const at = this.#take(4)
    this.#frame.writeUInt32LE(value >>> 0, at)
    return this
  }

  i32(value: number): this {
    return this.u32(value)
  }

  /** Without its length: only at the end of a payload. */
  bytes(value: string | Uint8Array): this {
    this.#put(value, typeof value === 'string' ? Buffer.byteLength(value) : value.length)
    return this
  }

  text(value: string | Uint8Array): this {
    const length = typeof value === 'string' ? Buffer.byteLength(value) : value.length
    this.u32(length).#put(value, length)
    return this
  }

  #put(value: string | Uint8Array, length: number): void {
    const at = this.#take(length)
    if (typeof value === 'string') this.#frame.write(value, at, length)
    else this.#frame.set(value, at)
  }

  word(value: string): this {
    if (value.includes('\0')) throw new FrameError('a string for a program has a NUL')
    return this.text(value)
  }

  words(values: readonly string[]): this {
    this.u32(values.length)
    for (const value of values) this.word(value)
    return this
  }

  frame(longest: number): Buffer {
    const length = this.#at - HEADER
    if (length > longest) throw new FrameError(`a message is too long: ${length} bytes`)
    this.#frame.writeUInt32LE(length)
    return this.#frame.subarray(0, this.#at)
  }
}
