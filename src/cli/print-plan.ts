// A plan for people: who would run and in which order, who would not and why, and where each of them stands.

import type { Candidate, Plan } from '../core/plan.js'
import { type Advice, listedOf, type Question } from './advice.js'
import { columns, indented, labelled, nextLines, noticeLines, oneLine, placeOf } from './lines.js'
import { nearMiss } from './near-miss.js'
import { plainData } from './output.js'
import { type Paint, painter } from './paint.js'

export function planLines(question: Question, advice: Advice | undefined): readonly string[] {
  const paint = painter(1)
  const told = { ...plainData({ ...question, kind: undefined }), kind: question.kind }
  return [
    title(told, paint),
    ...running(told, paint),
    ...idle(told, advice !== undefined, paint),
    ...noticeLines(told.notices, paint),
    ...(advice ? adviceLines(plainData(advice), paint) : []),
  ]
}

function title({ kind, value, plan }: Question, paint: Paint): string {
  const about =
    kind.matcher !== null && value !== '' ? `  ${kind.matcher} ${JSON.stringify(oneLine(value, 60))}` : ''
  return `${paint.cyan(plan.event)}${about}`
}

// ---- who would run --------------------------------------------------------------------------------------------

/** A place in the order: the same number runs at once, `then` after the one above it. */
interface Place {
  readonly when: string
  readonly name: string
}

function running(question: Question, paint: Paint): readonly string[] {
  const places = placesOf(question.plan)
  if (places.length === 0) return []
  const atOnce = question.plan.steps.some(({ lanes }) => lanes.length > 1)
  const rows = places.map(({ when, name }) => {
    const one = question.plan.candidates.find((candidate) => candidate.matched && candidate.name === name)
    return { one, cells: [when, name, one ? placeOf(one.origin) : ''] }
  })
  const cells = columns(rows.map((row) => row.cells))
  return [
    `would run${atOnce ? paint.dim(', the same number at once') : ''}`,
    ...rows.flatMap(({ one }, i) => {
      const [when = '', name = '', place = ''] = cells[i] ?? []
      const command = one && listedOf(question, one)?.command
      return [
        `  ${when}  ${paint.green(name)}  ${place}`.trimEnd(),
        ...(command ? indented(command, 6).map(paint.dim) : []),
      ]
    }),
  ]
}

function placesOf({ steps, approvers, observers }: Plan): readonly Place[] {
  return [
    ...steps.flatMap(({ lanes }, i) =>
      lanes.flatMap((lane) => lane.map((name, j) => ({ when: j === 0 ? String(i + 1) : 'then', name }))),
    ),
    ...approvers.map((name) => ({ when: 'approves', name })),
    ...observers.map((name) => ({ when: 'observes', name })),
  ]
}

// ---- who would not --------------------------------------------------------------------------------------------

function idle(question: Question, advised: boolean, paint: Paint): readonly string[] {
  const idlers = question.plan.candidates.filter(({ matched }) => !matched)
  if (idlers.length === 0) return []
  const rows = columns(idlers.map(({ name, origin, why }) => [why ?? '', name, placeOf(origin)]))
  return [
    'would not run',
    ...idlers.flatMap((one, i) => {
      const [why = '', name = '', place = ''] = rows[i] ?? []
      const head = `  ${paint.yellow(why)}  ${name}  ${place}`.trimEnd()
      return [head, ...indented(about(question, one, advised), 6).map(paint.dim)]
    }),
  ]
}

/** Why not; of what only lacks trust also what would run: that is what has to be looked at. */
function about(question: Question, one: Candidate, advised: boolean): string {
  const listed = listedOf(question, one)
  if (one.why === 'untrusted' || one.why === 'modified') {
    return [listed?.command, oneLine(one.detail ?? '')].filter(Boolean).join('\n')
  }
  if (one.why !== 'matcher' || !listed?.matcher) return oneLine(one.detail ?? '')
  if (question.value === '') return `only for ${question.kind.matcher} ${oneLine(listed.matcher)}`
  const remark = advised ? undefined : nearMiss(listed.matcher, question.value)
  return oneLine(remark === undefined ? (one.detail ?? '') : `${one.detail}; ${remark}`)
}

// ---- what now -------------------------------------------------------------------------------------------------

function adviceLines({ reason, next }: Advice, paint: Paint): readonly string[] {
  return [...labelled('nothing would run:', reason, paint.yellow), ...nextLines(next, paint)]
}
