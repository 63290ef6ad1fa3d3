// Tests of clip: a compiled clip in a folder of its own, a service that is played, and a recorder as the cold path.

import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import {
  type Call,
  callerFrames,
  encodeToCaller,
  FrameError,
  type FromCaller,
  serviceFrames,
  type ToCaller,
} from '../../src/rpc/frames.js'
import { livingMembers } from '../../src/runners/program/process-group.js'
import { here } from '../../src/service/socket/running-services.js'

// ---- compiling ------------------------------------------------------------------------------------------------

/** Other compilers or options, for trying clip by hand: CARABINER_TEST_CC="clang -fsanitize=address,undefined". */
const [CC = 'cc', ...CC_OPTIONS] = (process.env.CARABINER_TEST_CC ?? 'cc').split(' ')

export const hasCompiler =
  process.platform !== 'win32' && spawnSync(CC, ['--version'], { stdio: 'ignore' }).status === 0

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Programs in a folder that is removed by `remove`. */
export class Tools {
  readonly #folder = mkdtempSync(join(realpathSync(tmpdir()), 'clip-tools-'))
  readonly clip = this.#compile(file('../../src/service/clip.c'), 'clip')
  readonly recorder = this.#compile(file('recorder.c'), 'recorder')

  #compile(source: string, name: string): string {
    const target = join(this.#folder, name)
    const options = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', ...CC_OPTIONS]
    const { status, stderr } = spawnSync(CC, [...options, '-o', target, source], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${CC} failed: ${stderr}`)
    return target
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

// ---- the service ----------------------------------------------------------------------------------------------

type Run = Extract<ToCaller, { kind: 'run' }>
type Of<K extends FromCaller['kind']> = Extract<FromCaller, { kind: K }>

/** One caller, as the service sees it. */
export class Peer {
  readonly received: FromCaller[] = []
  readonly closed: Promise<void>
  /** Why what it sent could not be read. */
  problem: unknown
  readonly #socket: Socket
  readonly #waiting = new Set<() => void>()

  constructor(socket: Socket) {
    this.#socket = socket
    const frames = callerFrames()
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      try {
        this.received.push(...frames.push(chunk))
      } catch (error) {
        this.problem = error
        socket.destroy()
      }
      this.#tell()
    })
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        if (frames.isInside) this.problem ??= new Error('it closed inside a frame')
        resolve()
        this.#tell()
      })
    })
  }

  #tell(): void {
    for (const look of [...this.#waiting]) look()
  }

  send(...messages: ToCaller[]): void {
    this.write(Buffer.concat(messages.map(encodeToCaller)))
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Sends these bytes, and is gone. */
  async die(last: Uint8Array = Buffer.alloc(0)): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(last, () => resolve()))
    this.#socket.destroy()
  }

  /** Does not read what comes. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Settles with the first value that is not undefined. Rejects if the caller goes before. */
  when<T>(look: (received: readonly FromCaller[]) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const again = () => {
        const found = look(this.received)
        if (found === undefined && !this.#socket.destroyed) return
        this.#waiting.delete(again)
        if (found === undefined) reject(this.problem ?? new Error('the caller is gone'))
        else resolve(found)
      }
      this.#waiting.add(again)
      again()
    })
  }

  next<K extends FromCaller['kind']>(kind: K): Promise<Of<K>> {
    return this.when((all) => all.find((one): one is Of<K> => one.kind === kind))
  }

  call(): Promise<Call> {
    return this.next('call')
  }

  #ids = 0
  /** Lets the caller run it, and returns what it reports once nothing of it is left. */
  async run(program: Partial<Run>): Promise<Ran> {
    return this.ran(this.start(program))
  }

  /** Returns its id. */
  start(program: Partial<Run>): number {
    const id = ++this.#ids
    const usual = { file: 'sh', args: [], cwd: '/', env: { PATH: process.env.PATH ?? '' }, input: '' }
    this.send({ ...usual, ...program, kind: 'run', id })
    return id
  }

  async ran(id: number): Promise<Ran> {
    const reports = await this.when((all) => {
      const own = all.filter((one) => 'id' in one && one.id === id)
      const isEnded = (fd: 1 | 2) =>
        own.some((one) => one.kind === 'output' && one.fd === fd && one.bytes.length === 0)
      const isGone = own.some((one) => one.kind === 'gone' || (one.kind === 'exited' && one.alone))
      const hasFailed = own.some((one) => one.kind === 'child' && 'errno' in one)
      return hasFailed || (isEnded(1) && isEnded(2) && isGone) ? own : undefined
    })
    const text = (fd: 1 | 2) =>
      Buffer.concat(reports.flatMap((one) => (one.kind === 'output' && one.fd === fd ? [one.bytes] : [])))
    const child = reports.find((one) => one.kind === 'child')
    const exited = reports.find((one) => one.kind === 'exited')
    return { child, exited, stdout: text(1).toString(), stderr: text(2).toString(), reports }
  }
}

export interface Ran {
  readonly child: Of<'child'> | undefined
  readonly exited: Of<'exited'> | undefined
  readonly stdout: string
  readonly stderr: string
  readonly reports: readonly FromCaller[]
}

// ---- the scene ------------------------------------------------------------------------------------------------

/** What the recorder wrote down. */
export interface Recorded {
  readonly args: readonly string[]
  readonly env: readonly string[]
  readonly cwd: string
  readonly umask: string
  readonly session: string
  /** Such as `0 null`. */
  readonly fds: readonly string[]
  /** Of the descriptors above 2. */
  readonly inodes: readonly string[]
  readonly ignored: readonly string[]
  readonly blocked: readonly string[]
  readonly stdin: Buffer
  readonly pid: number
}

export interface Result {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Start {
  readonly args?: readonly string[]
  /** Undefined leaves a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** From a file, unless `isPiped`. Null: a pipe that stays open. A number: a descriptor. */
  readonly stdin?: string | Buffer | null | number
  /** A pipe that is filled too late, because the machine is busy, leads to the cold path. */
  readonly isPiped?: boolean
  readonly stdout?: number
  /** Put before the program, such as `nice`. */
  readonly before?: readonly string[]
}

/** A program that was started. */
export interface Started {
  readonly pid: number
  readonly result: Promise<Result>
  kill(signal: NodeJS.Signals): void
  write(text: string): void
  /** Closes our end of its standard output. */
  closeOutput(): void
}

export class Scene {
  readonly base = mkdtempSync(join(realpathSync(tmpdir()), 'clip-'))
  readonly home = join(this.base, 'home')
  readonly cwd = join(this.base, 'project')
  readonly script = join(this.base, 'bin', 'program')
  readonly folder = join(this.home, '.local/state/carabiner/service')
  readonly name = `abc-1.${here()}`
  readonly socket = join(this.folder, `${this.name}.sock`)
  readonly lock = join(this.folder, `${this.name}.lock`)
  readonly #tools: Tools
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #problems: unknown[] = []
  /** The names of records. */
  readonly #forgotten = new Set<string>()
  #inputs = 0

  /** No service is started, because one has just failed. */
  constructor(tools: Tools) {
    this.#tools = tools
    mkdirSync(join(this.base, 'bin', 'runs'), { recursive: true })
    mkdirSync(this.cwd)
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    writeFileSync(this.script, '')
    writeFileSync(join(this.base, 'bin', 'build-id'), 'abc-1\n')
    this.failLately()
  }

  failLately(): void {
    writeFileSync(join(this.folder, 'failed.txt'), '')
  }

  /** Listens, and plays the service to every caller. */
  async serve(play: (peer: Peer) => Promise<unknown>, socket = this.socket): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      const peer = new Peer(socket)
      void play(peer).catch((error: unknown) => this.#problems.push(error))
      void peer.closed.then(() => {
        if (peer.problem !== undefined) this.#problems.push(peer.problem)
      })
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(socket, 4096, resolve))
  }

  /** Says `started`, waits for `go`, and plays on. */
  async judge(play: (peer: Peer) => Promise<unknown>, started = STARTED): Promise<void> {
    await this.serve(async (peer) => {
      await peer.call()
      peer.send(started)
      await peer.next('go')
      const alive = setInterval(() => peer.send({ kind: 'alive' }), 1000)
      void peer.closed.then(() => clearInterval(alive))
      await play(peer)
    })
  }

  /** Starts clip. */
  start(how: Start = {}): Started {
    return this.#spawn([this.#tools.clip], how)
  }

  /** Starts the cold program without clip. */
  startDirect(how: Start = {}): Started {
    return this.#spawn([], how)
  }

  run(how: Start = {}): Promise<Result> {
    return this.start(how).result
  }

  #spawn(clip: readonly string[], how: Start): Started {
    const {
      args = ['fire', '--as', 'claude-code'],
      env = {},
      cwd = this.cwd,
      before = [],
      stdin = '{}',
    } = how
    const [program = '', ...rest] = [...before, ...clip, this.#tools.recorder, this.script, ...args]
    const isFile = stdin !== null && typeof stdin !== 'number' && !how.isPiped
    const input = isFile ? this.#file(stdin) : stdin
    const options: SpawnOptions = {
      cwd,
      env: { PATH: process.env.PATH, HOME: this.home, A: 'b', ...env } as NodeJS.ProcessEnv,
      stdio: [typeof input === 'number' ? input : 'pipe', how.stdout ?? 'pipe', 'pipe'],
    }
    const child = spawn(program, rest, options)
    if (isFile) closeSync(input as number)
    const text = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk
      })
    child.stdin?.on('error', () => undefined) // It need not read.
    if (input !== null && typeof input !== 'number') child.stdin?.end(input)
    const result = new Promise<Result>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        child.stdin?.destroy()
        resolve({ code, signal, ...text })
      })
    })
    return {
      pid: child.pid ?? 0,
      result,
      kill: (signal) => void child.kill(signal),
      write: (more) => void child.stdin?.write(more),
      closeOutput: () => void child.stdout?.destroy(),
    }
  }

  /** Returns a descriptor. */
  #file(content: string | Buffer): number {
    const path = join(this.base, `input-${++this.#inputs}`)
    writeFileSync(path, content)
    return openSync(path, 'r')
  }

  /** Every run of the recorder so far. */
  #recorded(): Recorded[] {
    const runs = join(this.base, 'bin', 'runs')
    const names = readdirSync(runs).filter((name) => /^\d+$/.test(name) && !this.#forgotten.has(name))
    return names.map((name) => readRecord(readFileSync(join(runs, name)), Number(name)))
  }

  /** What ran on the cold path. */
  cold(): Recorded[] {
    return this.#recorded().filter(({ args }) => args[1] !== 'service')
  }

  /** The services that were started. */
  services(): Recorded[] {
    return this.#recorded().filter(({ args }) => args[1] === 'service')
  }

  /** Services stay, because one may be starting. */
  forgetCold(): void {
    for (const { pid } of this.cold()) this.#forgotten.add(String(pid))
  }

  /** Throws what went wrong in the service, such as a malformed report. */
  async end(): Promise<void> {
    for (const { pid } of this.services()) process.kill(pid, 'SIGKILL')
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
    if (this.#problems.length > 0) throw this.#problems[0]
  }
}

function readRecord(bytes: Buffer, pid: number): Recorded {
  const start = bytes.indexOf('\0stdin\0') + '\0stdin\0'.length
  const words = bytes
    .subarray(0, start - 1)
    .toString()
    .split('\0')
  const all = (name: string) => words.filter((_, index) => index % 2 === 1 && words[index - 1] === name)
  const one = (name: string) => all(name)[0] ?? ''
  return {
    args: all('arg'),
    env: all('env'),
    cwd: one('cwd'),
    umask: one('umask'),
    session: one('session'),
    fds: all('fd'),
    inodes: all('inode'),
    ignored: all('ignored'),
    blocked: all('blocked'),
    stdin: bytes.subarray(start),
    pid,
  }
}

// ---- what is said ---------------------------------------------------------------------------------------------

/** With the answer that clip prints if it loses the service. */
export const STARTED: Extract<ToCaller, { kind: 'started' }> = {
  kind: 'started',
  deadline: 120_000,
  exit: 3,
  stdout: '{"refused":true}\n',
  stderr: 'judging was interrupted\n',
}

export const INTERRUPTED: Result = {
  code: STARTED.exit,
  signal: null,
  stdout: STARTED.stdout,
  stderr: STARTED.stderr,
}

export const COLD: Result = { code: 7, signal: null, stdout: 'cold\n', stderr: 'cold, too\n' }

/** What clip has to do after these bytes, if the service is gone then. */
export function expected(bytes: Buffer): Result | 'cold' {
  const messages: ToCaller[] = []
  const frames = serviceFrames()
  try {
    for (const byte of bytes) messages.push(...frames.push(Buffer.from([byte])))
  } catch (error) {
    if (!(error instanceof FrameError)) throw error
  }
  const [started, ...rest] = messages
  if (started?.kind !== 'started') return 'cold'
  const lost = { code: started.exit, signal: null, stdout: started.stdout, stderr: started.stderr }
  const text = { stdout: '', stderr: '' }
  let answered: number | undefined
  const printed = { stdout: '', stderr: '' }
  const code = (given: number) => (given >= 0 && given <= 255 ? given : 2)
  for (const message of rest) {
    if (message.kind === 'out') text[message.fd === 1 ? 'stdout' : 'stderr'] += message.bytes.toString()
    else if (message.kind === 'answered') answered = message.exit
    else if (message.kind === 'exit') return { code: code(message.code), signal: null, ...text }
    else if (message.kind !== 'end' && message.kind !== 'run') break
    if (answered !== undefined) Object.assign(printed, text)
  }
  return answered === undefined ? lost : { code: code(answered), signal: null, ...printed }
}

/** Settles once no process of these groups lives. */
export async function areGone(groups: readonly number[]): Promise<void> {
  await vi.waitFor(
    () => {
      for (const group of groups) {
        const living = livingMembers(group)
        if (living === undefined ? isGroup(group) : living.length > 0) throw new Error(`${group} still lives`)
      }
    },
    { timeout: 10_000, interval: 20 },
  )
}

function isGroup(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}
