// What a played session looks like in text: a step, an event, the summary.

/** @import { Diagnostic, Outcome, Trace, Verification } from 'carabiner' */
/** @import { Played } from './player.mjs' */
/** @import { Plugin, Step } from './script.mjs' */

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }
/** @typedef {Record<keyof typeof CODES, (text: string) => string>} Paint */

/**
 * Colours, or none: where the output is no terminal, or its reader does not want any.
 *
 * @param {boolean} colours
 * @returns {Paint}
 */
export function painter(colours) {
  const entries = Object.entries(CODES).map(([name, code]) => [
    name,
    /** @param {string} text */ (text) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text),
  ])
  return Object.fromEntries(entries)
}

/**
 * @param {Step} step
 * @param {Paint} paint
 * @returns {string[]}
 */
export function stepLines(step, paint) {
  const title = `${String(step.number).padStart(2)}  ${step.verb} ${oneLine(said(step), 84)}`
  return ['', paint.bold(title), ...(step.note ? [paint.dim(`    ${oneLine(step.note, 104)}`)] : [])]
}

/** @param {Step} step */
function said(step) {
  switch (step.verb) {
    case 'start':
      return step.start
    case 'prompt':
      return step.prompt
    case 'model':
      return typeof step.model === 'string' ? step.model : JSON.stringify(step.model)
    case 'tool':
      return `${step.tool} ${JSON.stringify(step.input ?? {})}`
    case 'fire':
      return `${step.fire} ${JSON.stringify(step.data ?? {})}`
    case 'stop':
      return step.stop
    case 'end':
      return step.end
  }
}

/** Of a hook: `command-logger:PreToolUse#1` fits. */
const NAME_WIDTH = 28

/**
 * One event: who ran, what each answered, what came of it, how long it took.
 *
 * @param {Played} played
 * @param {Paint} paint
 * @returns {string[]}
 */
export function eventLines({ event, outcome, ms }, paint) {
  const idle = outcome.hooks.filter(isIdle).length
  const observers = outcome.hooks.filter(isAside).map(({ name }) => name)
  const aside = [
    ...(idle > 0 ? [`${idle} not matched`] : []),
    ...(observers.length > 0 ? [`observed by ${observers.join(', ')}`] : []),
  ]
  return [
    `    ${paint.cyan(event.padEnd(NAME_WIDTH + 23))} ${paint.dim(duration(ms))}`,
    ...outcome.hooks
      .filter((trace) => !isIdle(trace) && !isAside(trace))
      .map((trace) => traceLine(trace, paint)),
    ...(aside.length > 0 ? [paint.dim(`      (${aside.join('; ')})`)] : []),
    ...effects(outcome, paint).flatMap((text) => indented(text)),
    `      ${verdict(event, outcome, paint)}`,
  ]
}

/**
 * Hooks for other tools are counted, not listed: they would hide the ones that ran.
 *
 * @param {Trace} trace
 */
function isIdle(trace) {
  return trace.status === 'skipped' && trace.why === 'matcher'
}

/**
 * Nobody waits for these, so there is nothing to say yet but that they were set off.
 *
 * @param {Trace} trace
 */
function isAside(trace) {
  return trace.status === 'detached'
}

/**
 * @param {Trace} trace
 * @param {Paint} paint
 */
function traceLine({ name, status, why, ms, answer, changed }, paint) {
  const action = answer?.action ?? 'continue'
  const word = status === 'ran' ? action : `${status}${why ? `: ${why}` : ''}`
  const what = (changed ? `${word} ${changed.join(', ')}` : word).padEnd(20)
  const shown = status === 'failed' ? paint.red(what) : (COLOURS[action]?.(paint, what) ?? what)
  return `      ${name.padEnd(NAME_WIDTH)} ${shown} ${status === 'skipped' ? '' : paint.dim(duration(ms))}`.trimEnd()
}

/** @type {Record<string, (paint: Paint, text: string) => string>} */
const COLOURS = {
  deny: (paint, text) => paint.red(text),
  ask_user: (paint, text) => paint.yellow(text),
  modify: (paint, text) => paint.green(text),
  inject_context: (paint, text) => paint.green(text),
  respond: (paint, text) => paint.green(text),
  abort_turn: (paint, text) => paint.red(text),
  hard_abort: (paint, text) => paint.red(text),
}

/**
 * Everything but the verdict.
 *
 * @param {Outcome} outcome
 * @param {Paint} paint
 * @returns {string[]}
 */
function effects(outcome, paint) {
  const { approval, hooks, data, injections, messages, diagnostics } = outcome
  const changed = new Set(hooks.flatMap((trace) => trace.changed ?? []))
  return [
    ...(approval?.question.asks ?? []).map((ask) => `${paint.yellow('asked')} ${ask.prompt}`),
    ...(approval ? [`${paint.yellow('answered')} ${answerOf(approval)}`] : []),
    ...[...changed].map(
      (key) => `${paint.green('changed')} ${key}: ${oneLine(JSON.stringify(data[key]), 80)}`,
    ),
    ...injections.map(({ text, source }) => `${paint.green('to the model')} (${source}) ${text}`),
    ...messages.map(({ text, level, source }) => {
      const label = `to the user, ${level}`
      return `${level === 'info' ? label : paint.yellow(label)} (${source}) ${text}`
    }),
    ...diagnostics.map((one) => diagnosticLine(one, paint)),
  ]
}

/** @param {NonNullable<Outcome['approval']>} approval */
function answerOf({ question, answer }) {
  if (!answer) return 'by nobody'
  const among = answer.option ? ` "${answer.option}" among ${question.options.join(', ')}` : ''
  return `${answer.decision} by ${answer.by}${among}`
}

/**
 * @param {string} event
 * @param {Outcome} outcome
 * @param {Paint} paint
 */
function verdict(event, { action, reason, response }, paint) {
  const because = reason ? `: ${oneLine(reason, 96)}` : ''
  switch (action) {
    case 'continue':
      return 'went on'
    case 'deny':
      return paint.red(`${event === 'Stop' ? 'refused to stop' : 'denied'}${because}`)
    case 'ask_user':
      return paint.yellow(`waits for a person${because}`)
    case 'respond':
      return paint.green(`answered: ${oneLine(JSON.stringify(response), 96)}`)
    default:
      return paint.red(`${action === 'abort_turn' ? 'ended the turn' : 'ended the agent'}${because}`)
  }
}

/**
 * @param {Diagnostic} diagnostic
 * @param {Paint} paint
 */
export function diagnosticLine({ code, text }, paint) {
  return `${paint.yellow(`note ${code}`)} ${oneLine(text)}`
}

/**
 * A plugin that is not played.
 *
 * @param {Plugin} plugin
 * @param {Paint} paint
 */
export function skippedLine({ path, needs }, paint) {
  return paint.yellow(`${oneLine(path)} is skipped: ${needs} is not installed`)
}

/**
 * What the agent did after its events.
 *
 * @param {string} text
 */
export function resultLine(text) {
  return `    = ${oneLine(text)}`
}

/**
 * Counts over all events; observers are off the path and not counted.
 *
 * @param {readonly Played[]} played
 * @returns {string}
 */
export function summaryLine(played) {
  const outcomes = played.map(({ outcome }) => outcome)
  const traces = outcomes.flatMap(({ hooks }) => hooks)
  const counts = {
    events: played.length,
    'hooks run': traces.filter(({ status }) => status === 'ran' || status === 'failed').length,
    denied: outcomes.filter(({ action }) => action === 'deny').length,
    asked: outcomes.filter(({ approval }) => approval).length,
    changed: outcomes.filter(({ modified }) => modified).length,
    injected: outcomes.flatMap(({ injections }) => injections).length,
    failed: traces.filter(({ status }) => status === 'failed').length,
  }
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')
}

/** @param {number} ms */
function duration(ms) {
  return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`
}

/**
 * Text of hooks and scripts goes to a terminal: it must stay on its line and control nothing.
 *
 * @param {string} text
 * @param {number} [width]
 */
function oneLine(text, width = Infinity) {
  const line = text.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim()
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}

/** @param {string} text */
function indented(text) {
  const [first = '', ...rest] = text.split('\n')
  return [`      ${first}`, ...rest.map((line) => `        ${line}`)]
}

/**
 * The last line: what was played is on record, and nobody changed it.
 *
 * @param {Verification} audit
 * @param {Paint} paint
 */
export function auditLine({ ok, records, problems }, paint) {
  const said = ok ? paint.green('whole') : paint.red(`not whole: ${problems[0]?.what}`)
  return `the audit of this session has ${records} entries and is ${said}`
}
