// Results of cases for people: a line each, and of those that failed what was expected, what came, and what the hooks said.

import type { Diagnostic } from '../../core/base/errors.js'
import { withoutSecrets } from '../../core/base/secrets.js'
import { plainText, visible } from '../../core/base/text.js'
import type { Trace } from '../../core/hooks/outcome.js'
import { outcomeLines } from '../firing/print-outcome.js'
import { fitted } from '../print/fit.js'
import { counted, duration, indented, placeOf } from '../print/lines.js'
import { type Paint, width } from '../print/paint.js'
import type { Miss } from './expectation.js'
import type { Subject } from './find-cases.js'
import type { CaseResult } from './run-case.js'

export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export function tallyOf(results: readonly CaseResult[]): Tally {
  const count = (status: CaseResult['status']) => results.filter((one) => one.status === status).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}

export function subjectLines({ name, file }: Subject, paint: Paint): readonly string[] {
  return fitted([`${paint.bold(visible(name))}  ${paint.dim(placeOf({ file }))}`])
}

const MARKS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const
const NAMES = 50
/** Columns of what stands beside a name. */
const BESIDE = 20

export function resultLines(result: CaseResult, paint: Paint): readonly string[] {
  const { status, case: one, ms } = result
  const colour = { passed: paint.green, failed: paint.red, skipped: paint.yellow }[status]
  const name = visible(one.name)
  const after =
    status === 'skipped'
      ? paint.dim(visible(one.skip ?? ''))
      : `${paint.dim(duration(ms))}${isIdle(result) ? paint.dim('  (no hook ran)') : ''}`
  const line =
    `  ${colour(MARKS[status])}  ${name.padEnd(Math.min(NAMES, width() - BESIDE))} ${after}`.trimEnd()
  return fitted(status === 'failed' ? [line, ...failureLines(result, paint)] : [line])
}

/** Passed, and yet nothing was tested but that nobody listens. */
function isIdle({ outcome }: CaseResult): boolean {
  return outcome?.hooks.every(({ status }) => status === 'skipped') ?? false
}

const BY = 8

function failureLines(
  { case: one, misses, problem, outcome, ms }: CaseResult,
  paint: Paint,
): readonly string[] {
  return [
    `${' '.repeat(BY)}${placeOf(one)}`,
    ...(problem === undefined ? [] : indented(safe(problem), BY)),
    ...misses.flatMap((miss) => missLines(miss, paint)),
    ...(outcome ? outcomeLines(one.event, outcome, ms).map((line) => `${' '.repeat(BY)}${line}`) : []),
    ...(outcome?.hooks ?? []).flatMap((trace) => stderrLines(trace, paint)),
  ]
}

export function missLines({ what, expected, received }: Miss, paint: Paint): readonly string[] {
  const label = safe(what).padEnd(10)
  return [
    ...indented(`${label} expected ${paint.green(safe(expected))}`, BY),
    ...indented(`${' '.repeat(label.length)} received ${paint.red(safe(received))}`, BY),
  ]
}

/** What a hook that failed wrote is in its trace already. */
function stderrLines({ name, status, stderr }: Trace, paint: Paint): readonly string[] {
  if (!stderr || status === 'failed') return []
  return [`${' '.repeat(BY)}stderr of ${safe(name)}`, ...indented(safe(stderr), BY + 2).map(paint.dim)]
}

/** Controls first: one that stands before a secret would hide that it is one. */
function safe(text: string): string {
  return withoutSecrets(plainText(text))
}

export function problemLines(problems: readonly Diagnostic[], paint: Paint): readonly string[] {
  return problems.map((one) => `  ${paint.red('FAIL')}  ${placeOf(one)} ${safe(one.text)}`)
}

export function summaryLine(results: readonly CaseResult[], problems: number, paint: Paint): string {
  const { passed, failed, skipped } = tallyOf(results)
  const parts = [
    passed > 0 && paint.green(`${passed} passed`),
    failed > 0 && paint.red(`${failed} failed`),
    skipped > 0 && paint.yellow(`${skipped} skipped`),
    problems > 0 && paint.red(counted(problems, 'mistake')),
  ].filter((part) => part !== false)
  return `${counted(results.length, 'case')}: ${parts.join(', ') || 'none ran'}`
}
