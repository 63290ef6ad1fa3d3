// One run of an agent against the mock model. It happens inside the enclosure, in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { endLeftovers, MARK } from './leftovers.js'
import { MockModel, type Role, type Script } from './model/mock-model.js'

export interface AgentRun {
  /** The program, and its arguments. */
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  readonly script: Script
  /** Milliseconds. */
  readonly limit: number
  /** Words to look for in requests. */
  readonly words: readonly string[]
  /** The agent has this many milliseconds more after the file was written, or the script is over. */
  readonly settles?: { readonly file: string; readonly after: number }
  /** A file for the requests as they were sent. */
  readonly requestsFile?: string
}

export interface RunResult {
  /** Why it ended: by itself, because it settled, or because its time was over. */
  readonly ended: 'itself' | 'settled' | 'limit' | 'not-started'
  readonly exit: number | null
  readonly requests: readonly SeenRequest[]
  /** Requests that no protocol answers. */
  readonly unknown: readonly string[]
  /** The end of what the agent printed. */
  readonly output: string
  /** Processes that were still there at the end. */
  readonly leftovers: number
  readonly ms: number
}

interface SeenRequest {
  readonly protocol: string
  readonly role: Role
  readonly turn: number
  /** Those of the words that were in it. */
  readonly words: readonly string[]
}

const OUTPUT_KEPT = 8 * 1024
const LOOK_MS = 200

/** Reads a run from a file, and writes its result beside it. */
export async function runFromFile(path: string): Promise<void> {
  const run = JSON.parse(readFileSync(path, 'utf8')) as AgentRun
  writeFileSync(resultFile(path), JSON.stringify(await runAgent(run)))
}

export function resultFile(path: string): string {
  return `${path}.result`
}

async function runAgent(run: AgentRun): Promise<RunResult> {
  const model = new MockModel(run.script)
  const started = performance.now()
  await model.start(run.port)
  try {
    const ended = await agentEnds(run, model)
    if (run.requestsFile !== undefined)
      writeFileSync(run.requestsFile, model.requests.map(({ body }) => `${body}\n`).join(''))
    return {
      ...ended,
      requests: model.requests.map(({ protocol, role, turn, body }) => ({
        protocol,
        role,
        turn,
        words: run.words.filter((word) => body.includes(word)),
      })),
      unknown: model.unknown,
      leftovers: endLeftovers(run.env[MARK] ?? 'none'),
      ms: Math.round(performance.now() - started),
    }
  } finally {
    await model.stop()
  }
}

type Ended = Pick<RunResult, 'ended' | 'exit' | 'output'>

function agentEnds({ command, cwd, env, limit, settles }: AgentRun, model: MockModel): Promise<Ended> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((done) => {
    let ended: Ended['ended'] = 'itself'
    const stop = (why: Ended['ended']) => {
      ended = why
      endGroup(child)
    }
    const timer = setTimeout(() => stop('limit'), limit)
    const isOver = () => settles !== undefined && (existsSync(settles.file) || model.isOver)
    const look = settles && settling(isOver, settles.after, () => stop('settled'))
    const finish = (result: Ended) => {
      clearTimeout(timer)
      look?.()
      done(result)
    }
    child.on('error', (error) => finish({ ended: 'not-started', exit: null, output: error.message }))
    // A child of the agent may keep the pipes open.
    child.on('exit', (exit) => setImmediate(() => finish({ ended, exit, output })))
  })
}

/** Calls back some time after it is over. Returns a function that stops looking. */
function settling(isOver: () => boolean, after: number, settled: () => void) {
  let timer: NodeJS.Timeout | undefined
  const look = setInterval(() => {
    if (!isOver()) return
    clearInterval(look)
    timer = setTimeout(settled, after)
  }, LOOK_MS)
  return () => {
    clearInterval(look)
    clearTimeout(timer)
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // it ended by itself
  }
}
