// Runs git and npm for their output: no prompts, bounded time and output, and no process left behind.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { textOf } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'
import { ProcessGroup } from '../../runners/program/process-group.js'
import { PluginProblem } from '../plugin-problem.js'

interface ProgramCall {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
  readonly timeoutMs: number
  /** The most that it may print to standard output. */
  readonly maxBytes: number
}

export interface Ended {
  readonly code: number
  readonly stdout: Buffer
  /** The end of it, for people. */
  readonly stderr: string
}

const LONGEST_STDERR = 16 * 1024
/** The largest file it may write, so that an endless repository cannot fill the disk. In POSIX blocks of 512 bytes. */
const MOST_WRITTEN_BLOCKS = 512 * 1024

/** A shell's exit code for a program that it cannot find. */
const NOT_FOUND = 127

/** Returns whatever exit code the program ends with. Throws if it did not start or was stopped for exceeding a limit. */
export async function runProgram(call: ProgramCall): Promise<Ended> {
  const { program, input = '', timeoutMs } = call
  const child = started(call)
  const group = child.pid === undefined ? undefined : new ProcessGroup(child.pid)
  let stopped: PluginProblem | undefined
  const stop = (why: string) => {
    stopped ??= new PluginProblem('FETCH_FAILED', `${program} ${why} and was stopped`)
    group?.end()
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const printed = collected(child, call.maxBytes, stop)
  child.stdin.on('error', () => undefined) // It ended without reading everything; its exit code says why.
  child.stdin.end(input)
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
  try {
    const code = await closed(child, program)
    if (stopped) throw stopped
    if (code !== NOT_FOUND) return { code, ...printed() }
    throw new PluginProblem('FETCH_FAILED', `${program} is not on the PATH`, `Install ${program}.`)
  } finally {
    clearTimeout(timer)
    // Stops its children that still wait for the network.
    group?.end()
    await group?.gone
  }
}

/** The shell only sets the limit and then becomes the program. No value is part of its text. */
function started({ program, args, cwd, env }: ProgramCall): ChildProcessWithoutNullStreams {
  const limited = ['-c', `ulimit -f ${MOST_WRITTEN_BLOCKS} 2>/dev/null; exec "$@"`, 'sh', program, ...args]
  return spawn('/bin/sh', limited, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
}

/** Returns a function that gives the output so far. */
function collected(
  { stdout, stderr }: ChildProcessWithoutNullStreams,
  maxBytes: number,
  stop: (why: string) => void,
): () => Pick<Ended, 'stdout' | 'stderr'> {
  const out: Buffer[] = []
  let [size, said] = [0, '']
  stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) stop(`printed more than ${maxBytes} bytes`)
    else out.push(chunk)
  })
  stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-LONGEST_STDERR)
  })
  return () => ({ stdout: Buffer.concat(out), stderr: plainText(said).trim() })
}

/** Its exit code, or -1 if a signal ended it. */
function closed(child: ChildProcessWithoutNullStreams, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new PluginProblem('FETCH_FAILED', `Cannot start ${program}: ${textOf(error)}`)),
    )
    child.once('close', (code) => resolve(code ?? -1))
  })
}
