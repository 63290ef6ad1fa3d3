// Runs cases, some at the same time. Each is the real `carabiner fire` in a process of its own: no environment, home or hang is shared.

import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { type Diagnostic, LOSSES, textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { onAbort } from '../../core/base/promise.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { isBelow } from '../../files/within.js'
import { readCaseFile, type TestCase } from './case-file.js'
import { CaseStage, withFolders, withStandIns } from './case-stage.js'
import { type Miss, missesOf } from './expectation.js'
import type { Subject } from './find-cases.js'

/** The cases of one subject. */
export interface Suite {
  readonly subject: Subject
  readonly cases: readonly TestCase[]
  readonly sequential: boolean
  readonly problems: readonly Diagnostic[]
}

/** Cases whose plugin or name contains the filter. `env` goes to all of them. */
export function readSuites(
  subjects: readonly Subject[],
  filter: string | undefined,
  env: TestCase['env'],
): readonly Suite[] {
  const wanted = filter?.toLowerCase() ?? ''
  return subjects.map((subject) => {
    const { cases, ...rest } = readCaseFile(subject.file)
    const isWanted = ({ name }: TestCase) => `${subject.name} ${name}`.toLowerCase().includes(wanted)
    const theirs = cases.filter(isWanted).map((one) => ({ ...one, env: { ...env, ...one.env } }))
    return { subject, cases: theirs, ...rest }
  })
}

/** Each case starts a process or two, and they wait for the disk. */
const MOST_AT_ONCE = 8

/** `told` gets every result in order, as soon as those before it are done. */
export async function runSuites(
  suites: readonly Suite[],
  signal: AbortSignal,
  told: (result: CaseResult) => Promise<void>,
): Promise<readonly CaseResult[]> {
  const slots = new Slots(Math.min(availableParallelism(), MOST_AT_ONCE))
  const running = suites.flatMap(({ subject, cases, sequential }) => {
    let before: Promise<unknown> = Promise.resolve()
    return cases.map((one) => {
      const turn = sequential ? before : Promise.resolve()
      const result = turn.then(() => slots.use(() => runCase(subject, one, signal)))
      before = result
      return result
    })
  })
  const results: CaseResult[] = []
  for (const one of running) {
    const result = await one
    results.push(result)
    if (!signal.aborted) await told(result)
  }
  return results
}

/** Runs at most so many at once, in the order in which they came. */
class Slots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

// ---- one case --------------------------------------------------------------------------------------------------

export interface CaseResult {
  readonly subject: Subject
  readonly case: TestCase
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly ms: number
  readonly misses: readonly Miss[]
  /** Why it could not be evaluated. */
  readonly problem?: string
  /** With stand-ins for the temporary folders. */
  readonly outcome?: Outcome
}

/** A fire ends its hooks at its timeout. If it takes longer than this after that, it is ended. */
const GRACE_MS = 10_000
/** After that it is killed. */
const LAST_GRACE_MS = 5000
const MOST_OUTPUT = 64 * 1024 * 1024

async function runCase(subject: Subject, one: TestCase, signal: AbortSignal): Promise<CaseResult> {
  const base = { subject, case: one }
  if (one.skip !== undefined) return { ...base, status: 'skipped', ms: 0, misses: [] }
  if (signal.aborted) return { ...base, status: 'failed', ms: 0, misses: [], problem: 'It was interrupted' }
  const startedAt = performance.now()
  const timed = () => ({ ...base, ms: performance.now() - startedAt })
  let stage: CaseStage | undefined
  try {
    stage = new CaseStage(subject, one)
    const fired = await fire(subject, one, stage, signal)
    const outcome = outcomeIn(fired, one)
    if (typeof outcome === 'string') return { ...timed(), status: 'failed', misses: [], problem: outcome }
    const { project, home } = stage.folders
    const misses = [...lossesOf(outcome), ...missesOf(withFolders(one.expect, stage.folders), outcome)]
    return {
      ...timed(),
      status: misses.length === 0 ? 'passed' : 'failed',
      misses: withStandIns(misses, { project, home }),
      outcome: withStandIns(outcome, { project, home }),
    }
  } catch (error) {
    return { ...timed(), status: 'failed', misses: [], problem: textOf(error) }
  } finally {
    stage?.remove()
  }
}

/** Hooks that could not be read were not asked, so the outcome is not the plugin's. */
function lossesOf({ diagnostics }: Outcome): readonly Miss[] {
  return diagnostics
    .filter(({ code }) => LOSSES.has(code))
    .map(({ text, file, line }) => ({
      what: 'configuration',
      expected: 'hooks that can be read',
      received: `${file ?? ''}:${line ?? 1} ${text}`,
    }))
}

// ---- the process ----------------------------------------------------------------------------------------------

interface FireRun {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  /** Why it was ended. */
  readonly ended: string | undefined
}

function fire(subject: Subject, one: TestCase, stage: CaseStage, signal: AbortSignal): Promise<FireRun> {
  const args = [
    ...['fire', '--json', '--trust-all', '--payload', stage.payloadFile(one)],
    ...['--project', stage.folders.project, '--timeout', String(one.timeout)],
    ...[subject.plugin ?? [], subject.plugins ?? []].flat().flatMap((one) => ['--plugin', one]),
    ...(subject.config ? ['--config', stagedFile(subject.config, stage)] : []),
  ]
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...args], {
    cwd: stage.folders.project,
    env: stage.env(one.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
  return new ChildEnd(child, one.timeout * 1000 + GRACE_MS, signal).end
}

/** The hook file at its place in the project of the case. */
function stagedFile({ file, project }: NonNullable<Subject['config']>, { folders }: CaseStage): string {
  return isBelow(file, project) ? join(folders.project, relative(project, file)) : file
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

/** The outcome, or why there is none. */
function outcomeIn({ stdout, stderr, code, ended }: FireRun, { timeout }: TestCase): Outcome | string {
  // Even with a verdict: an async hook was cut off, and its effect is not known.
  if (ended !== undefined) return `${ended}; the case has a "timeout" of ${timeout}`
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
