// npm run bench [-- --json] [-- --quick] [-- NAME…]: runs every question of this folder and prints ratios. A missed limit
// is printed, not an error; --quick shows that it runs, not how fast.

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const args = process.argv.slice(2)
const json = args.includes('--json')
const wanted = args.filter((arg) => !arg.startsWith('-'))
const questions = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.mjs') && file !== 'run.mjs' && file !== 'measure.mjs')
  .map((file) => file.replace('.mjs', ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name))

/** Each question has a process of its own: what one leaves in the heap must not slow down the next. */
const benches = questions.length === 1 ? await ask(questions[0]) : questions.flatMap(askAside)

async function ask(name) {
  const { bench } = await import(`./${name}.mjs`)
  return (await bench()).map((row) => {
    const ratio = row.value / row.baseline
    return { ...row, limit: row.limit ?? null, ratio, ok: row.limit === undefined || ratio <= row.limit }
  })
}

function askAside(name) {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--json')
  const own = [...process.execArgv, fileURLToPath(import.meta.url), '--json', ...flags, name]
  const printed = execFileSync(process.execPath, own, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(printed).benches
}

if (json) console.log(JSON.stringify({ benches }, null, 2))
else for (const line of table(benches)) console.log(line)

function table(rows) {
  const cells = rows.map(({ name, unit, value, baseline, ratio, limit, ok }) => [
    name,
    `${value.toFixed(3)} ${unit}`,
    `${baseline.toFixed(3)} ${unit}`,
    `${ratio.toFixed(2)}x`,
    limit === null ? '' : `<= ${limit}x`,
    limit === null ? '' : ok ? 'ok' : 'OVER',
  ])
  const all = [['', 'value', 'baseline', 'ratio', 'limit', ''], ...cells]
  const widths = all[0].map((_, column) => Math.max(...all.map((line) => line[column].length)))
  return all.map((line) =>
    line.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  '),
  )
}
