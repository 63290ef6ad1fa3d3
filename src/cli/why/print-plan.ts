// A plan for people: which hooks would run in which order, which would not and why, and where each is configured.

import { visible } from '../../core/base/text.js'
import type { Candidate, Plan } from '../../core/run/plan.js'
import type { ListedHook } from '../../hooks.js'
import { plainData } from '../output.js'
import { fitted } from '../print/fit.js'
import { columns, indented, labelled, nextLines, noticeLines, oneLine, placeOf } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { type Paint, painter } from '../print/terminal.js'
import { type Advice, listedOf, type Question } from './advice.js'
import type { PackHook } from './first-steps.js'
import { type Forecast, type Terms, termsText } from './forecast.js'
import { type HookAnswer, lastText } from './hook-answer.js'
import { nearMiss } from './matching.js'

/** What explain says in addition to the plan. */
export interface Explained {
  /** By place in the order. */
  readonly terms: ReadonlyMap<number, Terms>
  /** Undefined if nothing would run. */
  readonly forecast: Forecast | undefined
  readonly advice: Advice | undefined
  /** Why a hook would fail at its start, by place in the order. */
  readonly faults: ReadonlyMap<number, string>
  /** Hooks of the standard pack that an agent asks about this event itself. */
  readonly pack: readonly PackHook[]
  /** Says so, and what to type to ask them. */
  readonly also: { readonly text: string | undefined; readonly next: readonly string[] }
}

export function planLines(question: Question, explained: Explained): readonly string[] {
  const { forecast, advice, faults, also } = explained
  const paint = painter(1)
  const told = toldOf(question)
  return [
    ...fitted([
      title(told, paint),
      ...running(told, explained, paint),
      ...idle(told, advice !== undefined, paint),
    ]),
    ...(forecast ? forecastLines(plainData(forecast), paint) : []),
    ...noticeLines(told.notices, paint),
    ...(also.text === undefined ? [] : fitted([paint.yellow(plainData(also.text))])),
    ...nextLines(plainData(also.next), paint),
    ...(advice ? adviceLines(plainData(advice), also.text !== undefined, paint) : []),
    ...(!advice && faults.size > 0 ? nextLines([visible(typed(['doctor'], question.sources))], paint) : []),
  ]
}

function toldOf(question: Question): Question {
  const { kind, foreseen } = question
  return { ...plainData({ ...question, kind: undefined, foreseen: undefined }), kind, foreseen }
}

/** About one hook. */
export function focusLines(
  question: Question,
  hook: ListedHook,
  terms: Terms | undefined,
  answer: HookAnswer,
): readonly string[] {
  const paint = painter(1)
  const told = toldOf(question)
  const { name, command, ...place } = plainData(hook)
  const { runs, text, next, last } = plainData(answer)
  return [
    ...fitted([
      title(told, paint),
      `${paint.cyan(visible(name))}  ${placeOf(place)}`.trimEnd(),
      ...(command ? indented(command, 4).map(paint.dim) : []),
      ...(terms ? [paint.dim(`    ${termsText(plainData(terms), question.kind)}`)] : []),
    ]),
    ...labelled(
      text.slice(0, text.search(/[:,]/) + 1),
      text.slice(text.search(/[:,]/) + 2),
      runs ? paint.green : paint.yellow,
    ),
    ...(last ? fitted([lastText(last)]) : []),
    ...nextLines(next, paint),
  ]
}

function title({ kind, value, plan }: Question, paint: Paint): string {
  const about =
    kind.matcher !== null && value !== '' ? `  ${kind.matcher} ${JSON.stringify(oneLine(value, 60))}` : ''
  return `${paint.cyan(plan.event)}${about}`
}

// ---- who would run --------------------------------------------------------------------------------------------

/** A place in the order. Hooks with the same number run at once; `then` follows the one above. */
interface Place {
  readonly when: string
  readonly name: string
}

function running(question: Question, { terms, faults }: Explained, paint: Paint): readonly string[] {
  const { foreseen } = question
  const places = placesOf(question.plan)
  if (places.length === 0) return []
  const atOnce = question.plan.steps.some(({ lanes }) => lanes.length > 1)
  const rows = places.map(({ when, name }) => {
    const one = question.plan.candidates.find((candidate) => candidate.matched && candidate.name === name)
    return { one, cells: [when, visible(name), one ? placeOf(one.origin) : ''] }
  })
  const cells = columns(rows.map((row) => row.cells))
  const told = rows.map(({ one }, i) => {
    const [when = '', name = '', place = ''] = cells[i] ?? []
    const command = one && listedOf(question, one)?.command
    const own = one && terms.get(one.order)
    const fault = one && faults.get(one.order)
    const lines = [
      `  ${when}  ${(fault ? paint.red : paint.green)(name)}  ${place}`.trimEnd(),
      ...(command ? indented(command, 6).map(paint.dim) : []),
      ...(own ? [paint.dim(`      ${termsText(plainData(own), question.kind)}`)] : []),
      ...(foreseen.get(one?.name ?? '') ?? []).flatMap((text) => indented(plainData(text), 6)),
      ...(fault ? [paint.red(`      cannot start: ${oneLine(plainData(fault))}`)] : []),
    ]
    return { fails: fault !== undefined, lines }
  })
  const part = (label: string, those: typeof told) =>
    those.length === 0 ? [] : [label, ...those.flatMap(({ lines }) => lines)]
  const order = atOnce ? paint.dim(', hooks with the same number at once') : ''
  return [
    ...part(
      `would run${order}`,
      told.filter(({ fails }) => !fails),
    ),
    ...part(
      'would fail',
      told.filter(({ fails }) => fails),
    ),
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
  const rows = columns(idlers.map(({ name, origin, why }) => [why ?? '', visible(name), placeOf(origin)]))
  return [
    'would not run',
    ...idlers.flatMap((one, i) => {
      const [why = '', name = '', place = ''] = rows[i] ?? []
      const head = `  ${paint.yellow(why)}  ${name}  ${place}`.trimEnd()
      return [head, ...indented(about(question, one, advised), 6).map(paint.dim)]
    }),
  ]
}

/** Why it would not run. For a hook that only lacks trust, also its command, which has to be reviewed. */
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

// ---- what would come of it ------------------------------------------------------------------------------------

function forecastLines(
  { deny, failure, change, ask, longest, caps }: Forecast,
  paint: Paint,
): readonly string[] {
  const rows: readonly (readonly [label: string, text: string])[] = [
    ['deny', deny],
    ['failure', failure],
    ['change', change],
    ['ask', ask],
    ['at most', [`${longest} s`, ...caps].join('; ')],
  ]
  return [
    'what could happen',
    ...rows.flatMap(([label, text]) => labelled(label.padEnd(7), text, paint.dim, 2)),
  ]
}

// ---- what now -------------------------------------------------------------------------------------------------

function adviceLines({ reason, next }: Advice, isAlone: boolean, paint: Paint): readonly string[] {
  const label = isAlone ? 'nothing else would run:' : 'nothing would run:'
  return [...labelled(label, reason, paint.yellow), ...nextLines(next, paint)]
}
