// npm run bench [-- --json] [-- --quick] [-- NAME…]: runs every question of this folder and prints ratios. A missed limit
// is printed, not an error; --quick shows that it runs, not how fast.

import { readdirSync } from 'node:fs'

const args = process.argv.slice(2)
const json = args.includes('--json')
const wanted = args.filter((arg) => !arg.startsWith('-'))
const questions = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.mjs') && file !== 'run.mjs' && file !== 'measure.mjs')
  .map((file) => file.replace('.mjs', ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name))

const benches = []
for (const name of questions) {
  const { bench } = await import(`./${name}.mjs`)
  for (const row of await bench()) {
    const ratio = row.value / row.baseline
    benches.push({
      ...row,
      limit: row.limit ?? null,
      ratio,
      ok: row.limit === undefined || ratio <= row.limit,
    })
  }
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
