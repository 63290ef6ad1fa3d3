// Results of cases as JUnit XML, which every CI reads.

import { withoutSecrets } from '../../core/base/secrets.js'
import { plainText } from '../../core/base/text.js'
import { painter } from '../print/paint.js'
import { missLines, tallyOf } from './print-cases.js'
import type { CaseResult } from './run-case.js'
import type { Suite } from './run-cases.js'

/** One testsuite for each plugin; what is wrong with a file of cases is a case that could not be run. */
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

/** What XML cannot carry at all is dropped. */
function escaped(text: string): string {
  return withoutSecrets(plainText(text))
    .replace(/[\uFFFE\uFFFF]/g, '')
    .replace(/[&<>"\n\t]/g, (char) => ENTITIES[char] ?? char)
}
