// Results of cases for people (a line each, and details of a failure) and for CI (JUnit XML).

import type { Diagnostic } from '../../core/base/errors.js'
import { withoutSecrets } from '../../core/base/secrets.js'
import { plainText, visible } from '../../core/base/text.js'
import type { Trace } from '../../core/hooks/outcome.js'
import { outcomeLines } from '../fire/print-outcome.js'
import { fitted } from '../print/fit.js'
import { counted, duration, indented, placeOf } from '../print/lines.js'
import { type Paint, painter, width } from '../print/terminal.js'
import type { Miss } from './expectation.js'
import type { Subject } from './find-cases.js'
import type { CaseResult, Suite } from './run-cases.js'

interface Tally {
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
/** Columns beside a name. */
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

/** A case that passes without any hook tested only that none listens. */
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

function missLines({ what, expected, received }: Miss, paint: Paint): readonly string[] {
  const label = safe(what).padEnd(10)
  return [
    ...indented(`${label} expected ${paint.green(safe(expected))}`, BY),
    ...indented(`${' '.repeat(label.length)} received ${paint.red(safe(received))}`, BY),
  ]
}

/** The trace of a failed hook has its stderr already. */
function stderrLines({ name, status, stderr }: Trace, paint: Paint): readonly string[] {
  if (!stderr || status === 'failed') return []
  return [`${' '.repeat(BY)}stderr of ${safe(name)}`, ...indented(safe(stderr), BY + 2).map(paint.dim)]
}

/** Removes control characters first: they could disguise a secret. */
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

// ---- for CI: JUnit XML -----------------------------------------------------------------------------------------

/** One testsuite for each plugin. A mistake in a file of cases counts as an error. */
export function junitXml(suites: readonly Suite[], results: readonly CaseResult[]): string {
  const elements = suites.map((suite) => {
    const own = results.filter(({ subject }) => subject === suite.subject)
    const { failed, skipped } = tallyOf(own)
    const problems = suite.problems.map(({ file = '', line = 1, text }) =>
      element(
        'testcase',
        { classname: suite.subject.name, name: `${file}:${line}`, file, line },
        element('error', { message: text }),
      ),
    )
    const time = seconds(own.reduce((sum, { ms }) => sum + ms, 0))
    return element(
      'testsuite',
      {
        name: suite.subject.name,
        tests: own.length + problems.length,
        failures: failed,
        errors: problems.length,
        skipped,
        time,
      },
      [...problems, ...own.map(caseElement)].join(''),
    )
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', { name: 'carabiner' }, elements.join(''))}`
}

function caseElement({ subject, case: one, status, ms, misses, problem, outcome }: CaseResult): string {
  const { name, file, line, skip = '' } = one
  const attributes = { classname: subject.name, name, file, line, time: seconds(ms) }
  if (status === 'passed') return element('testcase', attributes)
  if (status === 'skipped') return element('testcase', attributes, element('skipped', { message: skip }))
  const [first] = misses
  const message =
    problem ?? `${first?.what ?? ''}: expected ${first?.expected ?? ''}, received ${first?.received ?? ''}`
  const stderr = (outcome?.hooks ?? []).flatMap((trace) =>
    trace.stderr ? [`${trace.name}: ${trace.stderr}`] : [],
  )
  const details = misses.flatMap((miss) => missLines(miss, PLAIN)).join('\n')
  return element(
    'testcase',
    attributes,
    element('failure', { message }, escaped(details)) +
      (stderr.length === 0 ? '' : element('system-err', {}, escaped(stderr.join('\n')))),
  )
}

/** XML has no colours. */
const PLAIN = { ...painter(2), green: String, red: String }

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** `content` is XML. */
function element(name: string, attributes: Readonly<Record<string, string | number>>, content = ''): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  return content === '' ? `<${name}${list.join('')}/>\n` : `<${name}${list.join('')}>${content}</${name}>\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
}

/** Drops characters that XML cannot carry. */
function escaped(text: string): string {
  return withoutSecrets(plainText(text))
    .replace(/[\uFFFE\uFFFF]/g, '')
    .replace(/[&<>"\n\t]/g, (char) => ENTITIES[char] ?? char)
}
