// Findings for people: family by family, the worst first, each with its place and what to do.

import { plainData } from '../output.js'
import { fitted } from '../print/fit.js'
import { counted, oneLine, placeOf, todoLines } from '../print/lines.js'
import { type Paint, width } from '../print/paint.js'
import { severityColour } from '../print/severity.js'
import { type Summary, summaryOf } from './examine.js'
import type { Family, Finding } from './finding.js'

export function familyLines(found: readonly Family[], paint: Paint): readonly string[] {
  const families = plainData(found)
  return [...families.flatMap((family) => linesOf(family, paint)), verdict(summaryOf(families), paint)]
}

function linesOf({ name, what, findings }: Family, paint: Paint): readonly string[] {
  if (findings.length === 0) return fitted([`${paint.green('ok')} ${paint.bold(name)}  ${paint.dim(what)}`])
  return [
    ...fitted([`${paint.bold(name)}  ${paint.dim(what)}`]),
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
    // Further in than the fix: no part of it can pass for one.
    ...fitted([`  ${severityColour(severity, paint)(`${severity} ${code}`)} ${head}`], width(), 6),
    ...todoLines('fix', fix, paint, 4),
  ]
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
