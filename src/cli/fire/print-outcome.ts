// An outcome for people: the hooks and their answers, messages for model and user, and the verdict.

import type { Diagnostic } from '../../core/base/errors.js'
import { redactedData } from '../../core/base/secrets.js'
import { visible } from '../../core/base/text.js'
import { type ActionTone, actionRow, isAction } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Approval, Outcome, Trace } from '../../core/hooks/outcome.js'
import { answererWords } from '../../store/audit/entry-words.js'
import { plainData } from '../output.js'
import { fitted } from '../print/fit.js'
import { duration, indented, labelled, noticeLines, oneLine } from '../print/lines.js'
import { type Paint, painter } from '../print/terminal.js'

export interface ToldOutcome extends Omit<Outcome, 'diagnostics'> {
  readonly diagnostics: readonly Diagnostic[]
}

/** Hooks that were not asked. */
export interface Elsewhere {
  /** Of an event without hooks here: where there are some. */
  readonly notCarried?: string | undefined
  /** The standard hooks that an agent asks itself. */
  readonly also?: string | undefined
  /** That the agent does not ask the hooks here. */
  readonly notAsked?: string | undefined
}

export function outcomeLines(
  event: string,
  told: ToldOutcome,
  ms: number,
  { notCarried, also, notAsked }: Elsewhere = {},
): readonly string[] {
  const paint = painter(1)
  // Secrets that the model gets are not shown to an onlooker.
  const outcome = redactedData(plainData(told))
  const shown = outcome.hooks.filter((trace) => !isIdle(trace))
  const names = Math.max(22, ...shown.map((trace) => nameOf(trace).length))
  const missed = switchedOff(event, outcome)
  return [
    ...fitted([
      `${paint.cyan(oneLine(plainData(event)).padEnd(names + 23))} ${paint.dim(duration(ms))}`,
      ...shown.flatMap((trace, i) => [
        ...traceLines(trace, names, paint),
        ...offLines(trace, [missed, ...shown.slice(0, i)], paint),
      ]),
    ]),
    ...idleLines(outcome, paint, notCarried),
    ...effects(outcome, paint).flatMap(([label, text, colour]) => labelled(label, text, colour, 2)),
    ...noticeLines(unmentioned(outcome), paint, 2),
    ...fitted([`  ${verdict(event, outcome, missed, paint)}`]),
    ...(also === undefined ? [] : fitted([paint.yellow(`  ${visible(also)}, with the same payload`)])),
    ...(notAsked === undefined ? [] : fitted([paint.yellow(`  ${visible(notAsked)}`)])),
  ]
}

/** A process may have several hooks of one name. */
function nameOf({ name, role }: Trace): string {
  return role === undefined ? visible(name) : `${visible(name)} (${role})`
}

/** Hooks for other tools are counted, not listed: they would hide the ones that ran. */
function isIdle({ status, why }: Trace): boolean {
  return status === 'skipped' && why === 'matcher'
}

function idleLines({ hooks }: ToldOutcome, paint: Paint, elsewhere = ''): readonly string[] {
  const idle = hooks.filter(isIdle).length
  if (hooks.length === 0) {
    const more = elsewhere === '' ? '' : `; ${visible(elsewhere)}`
    return fitted([paint.dim(`  (no hook listens to this event${more})`)])
  }
  return idle === 0 ? [] : [paint.dim(`  (${idle} not matched)`)]
}

function traceLines(trace: Trace, names: number, paint: Paint): readonly string[] {
  const { status, why, ms, answer, changed } = trace
  const action = answer?.action ?? 'continue'
  const word = status === 'ran' ? action : `${status}${why ? `: ${why}` : ''}`
  const what = (changed ? `${word} ${changed.join(', ')}` : word).padEnd(20)
  const time = status === 'skipped' ? '' : paint.dim(duration(ms))
  const line = `  ${nameOf(trace).padEnd(names)} ${coloured(status, action, what, paint)} ${time}`.trimEnd()
  return status === 'failed' && trace.stderr ? [line, ...indented(trace.stderr, 4).map(paint.dim)] : [line]
}

function coloured(status: Trace['status'], action: string, text: string, paint: Paint): string {
  if (status === 'failed') return paint.red(text)
  if (status === 'skipped') return paint.yellow(text)
  return inTone(isAction(action) ? actionRow(action).tone : 'good', text, paint)
}

function inTone(tone: ActionTone, text: string, paint: Paint): string {
  if (tone === 'bad') return paint.red(text)
  if (tone === 'open') return paint.yellow(text)
  return tone === 'good' ? paint.green(text) : text
}

/** Some diagnostics are also messages to the user, and a gate that missed the call has a slip in its matcher: each is shown once. */
function unmentioned({ diagnostics, messages }: ToldOutcome): readonly Diagnostic[] {
  const missed = diagnostics.find(({ code }) => code === 'matcher-missed')?.hook
  return diagnostics
    .filter(({ code, hook }) => code !== 'matcher-never' || missed === undefined || hook !== missed)
    .filter((one) => !messages.some(({ text, source }) => `${source}: ${text}`.includes(one.text)))
}

type Effect = readonly [label: string, text: string, colour: (text: string) => string]

/** Everything but notes and the verdict. */
function effects(outcome: ToldOutcome, paint: Paint): readonly Effect[] {
  const { approval, hooks, data, injections, messages, host, permission } = outcome
  const changed = new Set(hooks.flatMap((trace) => trace.changed ?? []))
  const { green, yellow } = paint
  return [
    ...(approval?.question.asks ?? []).map((ask): Effect => ['asked', ask.prompt, yellow]),
    ...(approval ? [['answered', answerOf(approval), yellow] as const] : []),
    ...[...changed].map((key): Effect => ['changed', `${key}: ${JSON.stringify(data[key])}`, green]),
    ...injections.map(({ text, source }): Effect => ['to the model', `(${source}) ${text}`, green]),
    ...messages.map(({ text, level, source }): Effect => {
      return [`to the user, ${level}`, `(${source}) ${text}`, level === 'info' ? String : yellow]
    }),
    ...(host ? [['to the host', JSON.stringify(host), green] as const] : []),
    ...(permission === 'allow' ? [['allowed', 'by a hook: the agent need not ask', green] as const] : []),
  ]
}

function answerOf({ question, answer }: Approval): string {
  if (!answer) return 'by nobody'
  const among = answer.option ? ` "${answer.option}" among ${question.options.join(', ')}` : ''
  return `${answer.decision} by ${answererWords(answer)}${among}`
}

/** Who switched it off, and how to undo it, unless one of the others says so. */
function offLines(trace: Trace, others: readonly (Trace | undefined)[], paint: Paint): readonly string[] {
  const { status, why, detail } = trace
  if (status !== 'skipped' || why !== 'disabled' || detail === undefined) return []
  const isTold = others.some((one) => one?.detail === detail)
  return isTold ? [] : indented(detail, 4).map(paint.dim)
}

/** A gate that somebody switched off must not look as if it had let the call pass. */
function switchedOff(event: string, { action, hooks }: ToldOutcome): Trace | undefined {
  if (resolveEvent(event).deny !== 'block' || actionRow(action).tone !== 'plain') return undefined
  return hooks.find(({ status, why, role }) => status === 'skipped' && why === 'disabled' && !role)
}

function verdict(event: string, outcome: ToldOutcome, missed: Trace | undefined, paint: Paint): string {
  const { action, reason, response } = outcome
  const because = reason ? `: ${oneLine(reason)}` : ''
  const { tone, said = action } = actionRow(action)
  if (missed) {
    const why = oneLine(missed.detail ?? 'it is switched off')
    return paint.yellow(`${said}, unguarded by ${nameOf(missed)}: ${why}`)
  }
  if (tone === 'plain') return said
  if (action === 'respond') return inTone(tone, `${said}: ${JSON.stringify(response)}`, paint)
  const words = action === 'deny' && event === 'Stop' ? 'refused to stop' : said
  return inTone(tone, `${words}${because}`, paint)
}
