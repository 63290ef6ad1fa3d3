// docs/performance.md and its charts, from what `npm run bench -- --save` kept last of each question. What each question asks is the
// comment at the top of its file.

import { readFileSync } from 'node:fs'
import { lastAsked, runs } from '../bench/history.mjs'
import { code, list, made, page, table } from './markdown.mjs'

/** @typedef {import('../bench/history.mjs').Figure} Figure */

/** Pages and pictures, by path. */
export function performancePages() {
  const newest = runs().at(-1)
  if (!newest) throw new Error('bench/history.jsonl has no run: npm run bench -- --save')
  const asked = lastAsked(newest.machine)
  const benches = asked.flatMap((one) => one.benches)
  return {
    'docs/performance.md': performancePage(asked, newest.machine),
    'docs/performance/limits.svg': limitsChart(benches),
    'docs/performance/peers.svg': peersChart(benches),
  }
}

/** @param {readonly import('../bench/history.mjs').Asked[]} asked @param {string} machine */
function performancePage(asked, machine) {
  const benches = asked.flatMap((one) => one.benches)
  const limited = benches.filter(({ limit }) => limit !== null)
  const within = limited.filter((row) => !isOver(row)).length
  return page([
    '# Performance',
    made('bench/history.jsonl'),
    'See what hooks cost, over the least that the same work costs without them. Every figure is a ratio of two things that ran in turn in one run, so it says the same on a fast and on a slow machine.',
    `Measured on ${machine}: ${within} of ${limited.length} figures are within their limits. A limit is a goal that this project set itself: **over** means that it is not reached yet, not that something is broken.`,
    '![How much of its limit each figure takes](performance/limits.svg)',
    '## Beside others',
    'The same work done by other programs and libraries, in the same run. Those that check, time and record nothing are the floor.',
    '![Carabiner and its peers over the same baseline](performance/peers.svg)',
    '## How figures are taken',
    list([
      'Each question is a file in `bench/`, with a process of its own. Everything in it is warmed up first, except programs that are started anew each time.',
      'Then there are 9 to 41 rounds. In each round, everything runs once, in another order. A figure is the median of the rounds’ ratios. The **middle half** of the ratios shows the spread. **There** is the time of what stands before the `/`, on that machine.',
      'Where other programs on the machine would disturb the time, processor time is taken. For a program that is started anew, it is that of the program and of all its threads.',
      '`npm run bench` repeats all of it in a few minutes, and says which figure got worse than the last saved one: its middle half must be more than 5 % above the other. `npm run bench -- NAME` asks one question, `--json` prints for programs, `--save` adds the figures to `bench/history.jsonl`.',
    ]),
    ...asked.flatMap(({ question, date, commit, benches: rows }) => [
      `## ${question}`,
      `${questionOf(question)} Measured on ${date} at ${code(commit)}.`,
      table(['', 'there', 'ratio', 'middle half', 'limit', ''], rows.map(rowOf)),
    ]),
  ])
}

/** The comment at the top of the file. @param {string} question */
function questionOf(question) {
  const text = readFileSync(new URL(`../bench/${question}.mjs`, import.meta.url), 'utf8')
  const comment = /^(?:\/\/.*\n)+/.exec(text)?.[0]
  if (comment === undefined) throw new Error(`bench/${question}.mjs does not begin with its question`)
  return comment
    .replace(/^\/\/ ?/gm, '')
    .replaceAll('\n', ' ')
    .trim()
}

/** @param {Figure} row */
function rowOf(row) {
  const { name, ratio, low, high, value, unit, limit } = row
  const verdict = limit === null ? '' : isOver(row) ? '**over**' : 'within'
  return [
    name.replaceAll('|', '\\|'),
    value === undefined ? '' : `${value} ${unit?.replace('us', 'µs')}`,
    times(ratio),
    low === high ? '' : `${times(low)} – ${times(high)}`,
    limit === null ? '' : times(limit),
    verdict,
  ]
}

/** @param {Figure} row */
function isOver({ ratio, limit }) {
  return limit !== null && ratio > limit
}

/** @param {number} ratio */
function times(ratio) {
  return `${Number(ratio.toPrecision(3))}x`
}

// ---- charts ---------------------------------------------------------------------------------------------------

const WIDTH = 960
const LEFT = 520
const RIGHT = 140
const ROW = 22
const TOP = 30

/** @typedef {{ label: string, value: number, low: number, high: number, told: string, kind: 'ours' | 'over' | 'peer' }} Bar */

/** @param {readonly Figure[]} benches */
function limitsChart(benches) {
  const bars = benches.flatMap((/** @type {Figure} */ row) => {
    const { name, ratio, low, high, limit } = row
    if (limit === null) return []
    const kind = /** @type {Bar['kind']} */ (isOver(row) ? 'over' : 'ours')
    const told = `${times(ratio)} of ${times(limit)}`
    return [{ label: name, value: ratio / limit, low: low / limit, high: high / limit, told, kind }]
  })
  const most = Math.max(2, ...bars.map(({ high }) => high))
  const mark = { at: 1, label: 'limit' }
  return chart('How much of its limit each figure takes', [{ title: '', bars, most, mark }])
}

/** Figures over one baseline, where a peer has one. @param {readonly Figure[]} benches */
function peersChart(benches) {
  const baselineOf = (/** @type {Figure} */ { question, name }) =>
    JSON.stringify([question, name.split(' / ').at(-1)])
  const baselines = [...new Set(benches.filter(({ peer }) => peer).map(baselineOf))]
  const groups = baselines.map((baseline) => {
    const rows = benches.filter((row) => baselineOf(row) === baseline)
    const bars = rows.map(({ name, ratio, low, high, peer }) => ({
      label: name.split(' / ').slice(0, -1).join(' / '),
      ...{ value: ratio, low, high, told: times(ratio) },
      kind: /** @type {Bar['kind']} */ (peer ? 'peer' : 'ours'),
    }))
    const most = Math.max(...rows.map(({ high }) => high))
    return { title: `over: ${JSON.parse(baseline)[1]}`, bars, most, mark: { at: 1, label: '1x' } }
  })
  return chart('Carabiner and its peers over the same baseline', groups)
}

/**
 * @param {string} title
 * @param {readonly { title: string, bars: readonly Bar[], most: number, mark: { at: number, label: string } }[]} groups
 */
function chart(title, groups) {
  let y = 0
  const parts = groups.flatMap(({ title: heading, bars, most, mark }) => {
    const begin = y + TOP
    y = begin + bars.length * ROW + ROW / 2
    const x = (/** @type {number} */ value) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT)
    return [
      `<text class="heading" x="10" y="${begin - 10}">${escaped(heading)}</text>`,
      ...bars.flatMap((bar, i) => drawnBar(bar, begin + i * ROW, x)),
      `<path class="mark" d="M${round(x(mark.at))} ${begin - 6}V${y - ROW / 2}"/>`,
      `<text class="mark-label" x="${round(x(mark.at))}" y="${begin - 10}">${mark.label}</text>`,
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${y}" rx="8"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** @param {Bar} bar @param {number} y @param {(value: number) => number} x */
function drawnBar({ label, value, low, high, told, kind }, y, x) {
  const middle = y + ROW / 2
  return [
    `<text class="label" x="${LEFT - 10}" y="${middle + 4}">${escaped(shortened(label))}</text>`,
    `<rect class="${kind}" x="${LEFT}" y="${y + 4}" width="${round(x(value) - LEFT)}" height="${ROW - 8}" rx="2"/>`,
    ...(low === high ? [] : [`<path class="spread" d="M${round(x(low))} ${middle}H${round(x(high))}"/>`]),
    `<text class="told" x="${WIDTH - 10}" y="${middle + 4}">${escaped(told)}</text>`,
  ]
}

const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #24292f }
.paper { fill: #f6f8fa }
.heading { font-weight: bold }
.label, .told { text-anchor: end }
.mark-label { text-anchor: middle; fill: #57606a }
.ours { fill: #2da44e }
.over { fill: #cf222e }
.peer { fill: #8c959f }
.spread { stroke: #24292f; stroke-width: 2 }
.mark { stroke: #57606a; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #d5dae3 } .paper { fill: #15181e } .mark-label { fill: #7d8694 }
  .spread { stroke: #d5dae3 } .mark { stroke: #7d8694 } .ours { fill: #3fb950 } .over { fill: #f85149 }
}
`

/** So that it fits beside its bar. @param {string} label */
function shortened(label) {
  const MOST = 78
  return label.length > MOST ? `${label.slice(0, MOST - 1)}…` : label
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
