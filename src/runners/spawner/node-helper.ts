// The helper for machines without clip, in Node: it says the same, but is larger and starts programs less quickly.

import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { encodeFromCaller, type FromCaller, serviceFrames, type ToCaller } from '../../rpc/frames.js'
import { Living, ProcessGroup } from '../program/process-group.js'

type Run = Extract<ToCaller, { readonly kind: 'run' }>

/** The bundle loads only the functions of node:os. */
const { constants } = process.getBuiltinModule('node:os')

const HOST_FD = 3
/** Bytes. No more output is read while this much waits for the host. */
const MOST_WAITING = 1024 * 1024
const LOOK_MS = 200

const host = new Socket({ fd: HOST_FD, readable: true, writable: true })
const frames = serviceFrames()
const programs = new Map<number, ChildProcess>()
/** Groups that may have a process left. */
const groups = new Set<number>()

function send(message: FromCaller): void {
  host.write(encodeFromCaller(message))
  if (host.writableLength > MOST_WAITING) for (const stream of outputs()) stream.pause()
}

function outputs(): Readable[] {
  return [...programs.values()].flatMap(({ stdout, stderr }) => [stdout as Readable, stderr as Readable])
}

/** A host that hears `begun` never starts the program itself, so it has to arrive before that. */
function receive(messages: readonly ToCaller[]): void {
  const takeAll = () => messages.forEach(take)
  const runs = messages.filter((message) => message.kind === 'run')
  const begun = Buffer.concat(runs.map(({ id }) => encodeFromCaller({ kind: 'begun', id })))
  if (runs.length === 0) takeAll()
  else host.write(begun, (failure) => failure ?? takeAll())
}

function take(message: ToCaller): void {
  if (message.kind === 'run') run(message)
  else if (message.kind === 'release') release(message.id)
  // Output that has arrived is read first.
  else if (message.kind === 'ping') setImmediate(() => setImmediate(() => send({ kind: 'pong' })))
}

function run({ id, file, args, cwd, env, input }: Run): void {
  const failed = ({ errno = -constants.errno.EINVAL }: NodeJS.ErrnoException) =>
    send({ kind: 'child', id, errno: -errno, failed: 'exec' })
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' })
    if (child.pid === undefined) return void child.once('error', failed)
    follow(id, child, child.pid)
    child.stdin.on('error', () => {}) // A program may close its input early, or never read it.
    child.stdin.end(input)
  } catch (error) {
    failed(error as NodeJS.ErrnoException)
  }
}

function follow(id: number, child: ChildProcess, pid: number): void {
  programs.set(id, child)
  groups.add(pid)
  send({ kind: 'child', id, pid })
  report(id, 1, child.stdout as Readable)
  report(id, 2, child.stderr as Readable)
  child.once('exit', (code, signal) => {
    look(pid)
    const number = signal && constants.signals[signal]
    send({ kind: 'exited', id, code: signal ? null : code, signal: number, alone: !groups.has(pid) })
  })
  child.once('close', () => programs.delete(id))
}

function report(id: number, fd: 1 | 2, stream: Readable): void {
  stream.on('data', (bytes: Buffer) => send({ kind: 'output', id, fd, bytes }))
  stream.on('error', () => undefined) // `close` follows.
  stream.once('close', () => send({ kind: 'output', id, fd, bytes: Buffer.alloc(0) }))
}

function release(id: number): void {
  const child = programs.get(id)
  programs.delete(id)
  for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy()
}

/** Forgets a group that no process is left of. Its number may soon belong to another one. */
function look(pid: number): void {
  try {
    process.kill(-pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') groups.delete(pid)
  }
}

async function end(): Promise<void> {
  const left = new Living<ProcessGroup>()
  for (const pid of groups) left.add(new ProcessGroup(pid))
  await left.end((group) => group.end())
  process.exit(0)
}

setInterval(() => groups.forEach(look), LOOK_MS).unref()
host.on('drain', () => {
  for (const stream of outputs()) stream.resume()
})
host.on('data', (chunk: Buffer) => receive(frames.push(chunk)))
host.on('error', () => undefined) // `close` follows.
host.once('close', () => void end())
send({ kind: 'pong' })
