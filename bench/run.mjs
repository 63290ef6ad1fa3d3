// npm run bench [-- --json] [-- --quick] [-- --save] [-- NAME…]: runs every question of this folder and prints ratios. A missed
// limit is printed, not an error. --save keeps the figures for docs/performance.md, and for the next run of the same questions, which
// says what got worse. --quick shows that it runs, not how fast.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { addRun, figuresBefore, isWorse } from './history.mjs'
import { QUESTIONS } from './questions.mjs'

const args = process.argv.slice(2)
const [json, quick, save] = ['--json', '--quick', '--save'].map((flag) => args.includes(flag))
const wanted = args.filter((arg) => !arg.startsWith('-'))
const unknown = wanted.filter((name) => !QUESTIONS.includes(name))
if (unknown.length > 0 || (save && quick)) {
  console.error(
    unknown.length > 0
      ? `There is no question ${unknown.join(', ')}. Choose from: ${QUESTIONS.join(', ')}`
      : 'A quick run cannot be saved: it says nothing about speed.',
  )
  process.exit(64)
}

const questions = wanted.length === 0 ? QUESTIONS : wanted
const before = quick ? undefined : figuresBefore()
if (!json) console.log(line('', 'ratio', 'middle half', 'limit', ''))
const benches = []
for (const question of questions) {
  // Each question has a process of its own: what one leaves in the heap must not slow down the next.
  const rows = questions.length === 1 ? await ask(question) : askAside(question)
  benches.push(...rows)
  if (!json) for (const row of rows) console.log(rowLine(row))
}
if (json) console.log(JSON.stringify({ benches }, null, 2))
else console.log(summary())
if (save) addRun(benches)

async function ask(question) {
  const { bench } = await import(`./${question}.mjs`)
  return (await bench()).map(({ limit = null, ...row }) => ({
    ...{ question, ...row, limit },
    ok: limit === null || row.ratio <= limit,
  }))
}

function askAside(question) {
  const flags = args.filter((arg) => arg === '--quick')
  const own = [...process.execArgv, fileURLToPath(import.meta.url), '--json', ...flags, question]
  const printed = execFileSync(process.execPath, own, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(printed).benches
}

function rowLine(row) {
  const was = before?.[row.name]
  const verdict = row.limit === null ? '' : row.ok ? 'ok' : 'OVER'
  const worse = was && isWorse(row, was) ? `worse: it was ${times(was.ratio)}` : ''
  return line(
    row.name,
    times(row.ratio),
    row.low === row.high ? '' : `${times(row.low)} – ${times(row.high)}`,
    row.limit === null ? '' : `<= ${row.limit}x`,
    [verdict, worse].filter(Boolean).join(', '),
  )
}

function times(ratio) {
  return `${ratio.toFixed(ratio < 0.1 ? 3 : 2)}x`
}

function line(name, ratio, spread, limit, verdict) {
  return [name.padEnd(78), ratio.padStart(8), spread.padStart(19), limit.padStart(9), ` ${verdict}`]
    .join(' ')
    .trimEnd()
}

function summary() {
  const limited = benches.filter(({ limit }) => limit !== null)
  const over = limited.filter(({ ok }) => !ok).length
  const worse = benches.filter((row) => before?.[row.name] && isWorse(row, before[row.name])).length
  return `\n${benches.length} figures; ${limited.length - over} of ${limited.length} within their limits; ${worse} worse than the last that were saved`
}
