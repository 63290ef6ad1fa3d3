// Runs many cases, some at once, and tells of each in the order in which they stand.

import { availableParallelism } from 'node:os'
import type { Diagnostic } from '../../core/base/errors.js'
import { readCaseFile, type TestCase } from './case-file.js'
import type { Subject } from './find-cases.js'
import { type CaseResult, runCase } from './run-case.js'

/** The cases of one subject. */
export interface Suite {
  readonly subject: Subject
  readonly cases: readonly TestCase[]
  readonly sequential: boolean
  readonly problems: readonly Diagnostic[]
}

/** The cases whose name, with the one of their plugin before it, has the text in it; `env` is for all of them. */
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

/** Each case is a process or two, and most of them wait for each other's disk. */
const MOST_AT_ONCE = 8

/** `told` gets every result, in order, as soon as those before it are there. */
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

/** At most so many at once; whoever came first goes first. */
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
