// git and npm, run for what they print: no shell, nobody to ask, bounded in time and output, and nothing of them left behind.

import { spawn } from 'node:child_process'
import { textOf } from '../../core/errors.js'
import { plainText } from '../../core/text.js'
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
  const { program, args, cwd, env, input, timeoutMs, maxBytes } = call
  // The shell only sets the bound, and becomes the program: no value is part of its text.
  const limited = ['-c', `ulimit -f ${MOST_WRITTEN_BLOCKS} 2>/dev/null; exec "$@"`, 'sh', program, ...args]
  const child = spawn('/bin/sh', limited, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const group = child.pid === undefined ? undefined : new ProcessGroup(child.pid)
  const out: Buffer[] = []
  let [size, said] = [0, '']
  let stopped: PluginProblem | undefined
  const stop = (why: string) => {
    stopped ??= new PluginProblem('FETCH_FAILED', `${program} ${why} and was ended`)
    group?.end()
    child.stdout.destroy()
    child.stderr.destroy()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) stop(`printed more than ${maxBytes} bytes`)
    else out.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-LONGEST_STDERR)
  })
  child.stdin.on('error', () => undefined) // it ended without reading everything, and its code says why
  child.stdin.end(input ?? '')
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (ended) => resolve(ended ?? -1))
    })
    if (stopped) throw stopped
    if (code === NOT_FOUND) {
      throw new PluginProblem('FETCH_FAILED', `There is no ${program} on the path`, `Install ${program}.`)
    }
    return { code, stdout: Buffer.concat(out), stderr: plainText(said).trim() }
  } catch (error) {
    if (error instanceof PluginProblem) throw error
    throw new PluginProblem('FETCH_FAILED', `${program} cannot be started: ${textOf(error)}`)
  } finally {
    clearTimeout(timer)
    // A helper of it that still waits for the network.
    group?.end()
    await group?.gone
  }
}
