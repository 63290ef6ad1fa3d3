// Runs cases, some at the same time. Each is the real `carabiner fire` in a process of its own: no environment, home or hang is shared.

import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { type Diagnostic, LOSSES, textOf } from '../../core/base/errors.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { isBelow } from '../../files/within.js'
import { type FireRun, fireElsewhere, outcomeIn } from '../fire/fire-process.js'
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
    const outcome = outcomeIn(fired, `the case has a "timeout" of ${one.timeout}`)
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

function fire(subject: Subject, one: TestCase, stage: CaseStage, signal: AbortSignal): Promise<FireRun> {
  const args = [
    ...['fire', '--json', '--trust-all', '--payload', stage.payloadFile(one)],
    ...['--project', stage.folders.project, '--timeout', String(one.timeout)],
    ...[subject.plugin ?? [], subject.plugins ?? []].flat().flatMap((one) => ['--plugin', one]),
    ...(subject.config ? ['--config', stagedFile(subject.config, stage)] : []),
  ]
  return fireElsewhere(args, {
    cwd: stage.folders.project,
    env: stage.env(one.env),
    longestMs: one.timeout * 1000 + GRACE_MS,
    signal,
  })
}

/** The hook file at its place in the project of the case. */
function stagedFile({ file, project }: NonNullable<Subject['config']>, { folders }: CaseStage): string {
  return isBelow(file, project) ? join(folders.project, relative(project, file)) : file
}
