// `carabiner fire` in a process of its own: no environment, home or hang is shared with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { isObject } from '../../core/base/json.js'
import { onAbort } from '../../core/base/promise.js'
import type { Outcome } from '../../core/hooks/outcome.js'

/** After that it is killed. */
const LAST_GRACE_MS = 5000
const MOST_OUTPUT = 64 * 1024 * 1024

export interface FireRun {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  /** Why it was ended. */
  readonly ended: string | undefined
}

export interface FireElsewhere {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** It is ended if it takes longer. */
  readonly longestMs: number
  readonly signal: AbortSignal
  /** Default: the program that runs now. */
  readonly program?: string
}

/** Rejects if it cannot be started. */
export function fireElsewhere(
  args: readonly string[],
  { cwd, env, longestMs, signal, program = process.argv[1] ?? '' }: FireElsewhere,
): Promise<FireRun> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
  return new ChildEnd(child, longestMs, signal).end
}

/** Waits for a child process, and makes sure that it ends. */
class ChildEnd {
  readonly end: Promise<FireRun>
  readonly #child: ChildProcess
  readonly #timers: ReturnType<typeof setTimeout>[] = []
  #why: string | undefined

  constructor(child: ChildProcess, longest: number, signal: AbortSignal) {
    this.#child = child
    const stdout = this.#collected(child.stdout)
    const stderr = this.#collected(child.stderr)
    this.#later(longest, () => this.#stop(`It did not end within ${longest / 1000} seconds`))
    const stopListening = onAbort(signal, () => this.#stop('It was interrupted'))
    this.end = new Promise<FireRun>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => {
        resolve({ stdout: stdout(), stderr: stderr(), code, ended: this.#why })
      })
    }).finally(() => {
      stopListening()
      for (const timer of this.#timers) clearTimeout(timer)
    })
  }

  /** Asks first, so that it can end its hooks. */
  #stop(why: string): void {
    this.#why ??= why
    this.#child.kill('SIGTERM')
    this.#later(LAST_GRACE_MS, () => {
      this.#child.kill('SIGKILL')
      // A surviving hook may hold the pipes open.
      this.#child.stdout?.destroy()
      this.#child.stderr?.destroy()
    })
  }

  #later(ms: number, work: () => void): void {
    this.#timers.push(setTimeout(work, ms))
  }

  #collected(stream: ChildProcess['stdout']): () => string {
    const chunks: Buffer[] = []
    let length = 0
    stream?.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MOST_OUTPUT) chunks.push(chunk)
      else this.#stop(`It printed more than ${MOST_OUTPUT} bytes`)
    })
    return () => Buffer.concat(chunks).toString()
  }
}

// ---- what it said ---------------------------------------------------------------------------------------------

/** The outcome, or why there is none. `limit`: where the time that it had comes from. */
export function outcomeIn({ stdout, stderr, code, ended }: FireRun, limit: string): Outcome | string {
  // Even with a verdict: an async hook was cut off, and its effect is not known.
  if (ended !== undefined) return `${ended}; ${limit}`
  const said = parsed(stdout)
  if (isObject(said) && isObject(said.error)) {
    const { message, hint } = said.error
    return [message, hint].filter((text) => typeof text === 'string').join('. ')
  }
  if (isObject(said) && typeof said.action === 'string' && Array.isArray(said.hooks)) {
    return said as unknown as Outcome
  }
  return `carabiner fire ended with ${code ?? 'a signal'} and no outcome: ${stderr.trim().slice(0, 2000)}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
