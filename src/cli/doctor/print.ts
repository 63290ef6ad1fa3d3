// Findings for people: family by family, the worst first, each with its place and what to do.

import { plainData } from '../output.js'
import { counted, labelled, oneLine, placeOf } from '../print/lines.js'
import type { Paint } from '../print/paint.js'
import { type Summary, summaryOf } from './examine.js'
import type { Family, Finding, Severity } from './finding.js'

export function familyLines(found: readonly Family[], paint: Paint): readonly string[] {
  const families = plainData(found)
  return [...families.flatMap((family) => linesOf(family, paint)), verdict(summaryOf(families), paint)]
}

function linesOf({ name, what, findings }: Family, paint: Paint): readonly string[] {
  if (findings.length === 0) return [`${paint.green('ok')} ${paint.bold(name)}  ${paint.dim(what)}`]
  return [
    `${paint.bold(name)}  ${paint.dim(what)}`,
    ...findings.slice(0, MOST).flatMap((finding) => findingLines(finding, paint)),
    ...(findings.length > MOST ? [`  and ${findings.length - MOST} more; --json has all`] : []),
  ]
}

/** Of one family: more are not read. */
const MOST = 100

function findingLines(finding: Finding, paint: Paint): readonly string[] {
  const { severity, code, hook, text, fix } = finding
  const place = [placeOf(finding), hook].filter(Boolean).join(' ')
  const head = oneLine(place === '' ? text : `${place}: ${text}`)
  return [
    ...labelled(`${severity} ${code}`, head, colourOf(severity, paint), 2),
    // Whole, so that it can be copied.
    `    ${paint.dim('fix')} ${fix.replace(/\s*\n\s*/g, ' ')}`,
  ]
}

function colourOf(severity: Severity, paint: Paint): (text: string) => string {
  if (severity === 'broken') return paint.red
  return severity === 'warning' ? paint.yellow : paint.cyan
}

/** `1 broken, 2 warnings`. */
function verdict({ broken, warning, note }: Summary, paint: Paint): string {
  const parts = [
    broken > 0 && paint.red(`${broken} broken`),
    warning > 0 && paint.yellow(counted(warning, 'warning')),
    note > 0 && counted(note, 'note'),
  ].filter((part) => part !== false)
  if (parts.length === 0) return paint.green('nothing is wrong')
  return broken > 0 ? parts.join(', ') : `nothing is broken: ${parts.join(', ')}`
}
