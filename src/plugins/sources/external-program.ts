// git and npm, run for what they print: no shell, nobody to ask, bounded in time and output, and nothing of them left behind.

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
  /** Of standard output. */
  readonly maxBytes: number
}

export interface Ended {
  readonly code: number
  readonly stdout: Buffer
  /** Its end, for people. */
  readonly stderr: string
}

const LONGEST_STDERR = 16 * 1024
/** Of one file that it writes: a repository without end fills no disk. In blocks of 512 bytes, as POSIX has it. */
const MOST_WRITTEN_BLOCKS = 512 * 1024

/** As a shell says it. */
const NOT_FOUND = 127

/** Answers however it ended by itself; throws where it did not start, or was ended because it went beyond its bounds. */
export async function runProgram(call: ProgramCall): Promise<Ended> {
  const { program, input = '', timeoutMs } = call
  const child = started(call)
  const group = child.pid === undefined ? undefined : new ProcessGroup(child.pid)
  let stopped: PluginProblem | undefined
  const stop = (why: string) => {
    stopped ??= new PluginProblem('FETCH_FAILED', `${program} ${why} and was ended`)
    group?.end()
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const printed = collected(child, call.maxBytes, stop)
  child.stdin.on('error', () => undefined) // it ended without reading everything, and its code says why
  child.stdin.end(input)
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
  try {
    const code = await closed(child, program)
    if (stopped) throw stopped
    if (code !== NOT_FOUND) return { code, ...printed() }
    throw new PluginProblem('FETCH_FAILED', `There is no ${program} on the path`, `Install ${program}.`)
  } finally {
    clearTimeout(timer)
    // A helper of it that still waits for the network.
    group?.end()
    await group?.gone
  }
}

/** The shell only sets the bound, and becomes the program: no value is part of its text. */
function started({ program, args, cwd, env }: ProgramCall): ChildProcessWithoutNullStreams {
  const limited = ['-c', `ulimit -f ${MOST_WRITTEN_BLOCKS} 2>/dev/null; exec "$@"`, 'sh', program, ...args]
  return spawn('/bin/sh', limited, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
}

/** What it has printed until somebody asks. */
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

/** Its exit code; of one that a signal ended, -1. */
function closed(child: ChildProcessWithoutNullStreams, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new PluginProblem('FETCH_FAILED', `${program} cannot be started: ${textOf(error)}`)),
    )
    child.once('close', (code) => resolve(code ?? -1))
  })
}
