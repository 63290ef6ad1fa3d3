// Runs git and npm for their output: without a shell or prompts, bounded in time and output, and with no process left behind.

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

/** A shell's exit code for this. */
const NOT_FOUND = 127

/** Returns any exit of its own. Throws if the program did not start or was ended for exceeding a limit. */
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
  child.stdin.on('error', () => undefined) // it ended without reading everything; its exit code says why
  child.stdin.end(input)
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
  try {
    const code = await closed(child, program)
    if (stopped) throw stopped
    if (code !== NOT_FOUND) return { code, ...printed() }
    throw new PluginProblem('FETCH_FAILED', `There is no ${program} on the path`, `Install ${program}.`)
  } finally {
    clearTimeout(timer)
    // Ends helpers that still wait for the network.
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
      reject(new PluginProblem('FETCH_FAILED', `${program} cannot be started: ${textOf(error)}`)),
    )
    child.once('close', (code) => resolve(code ?? -1))
  })
}
